"""What pages call head patterns and their scores, and say of a head that follows one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.analysis.head_patterns.naming import NAMING, NONE, TOO_SHORT
from core.analysis.head_patterns.registry import PATTERNS
from core.analysis.head_patterns.search import HIGHLIGHTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.analysis.head_patterns.registry import Pattern
    from core.model import Trace


@dataclass(frozen=True)
class Words:
    """The words for one pattern; what is left out follows from `title` and `where`.

    Attributes
    ----------
    title : of the pattern.
    short : the heading of a narrow column.
    where : attention goes, after "to" and "on": "the token before".
    score : the title of its score.
    highlight : its title in the model view.
    gives : what a head with the score {} does, after the head's name.
    evident : the same on one text.
    rule : what the model view looks for in a head, {} being the threshold.
    note : what the score is, in a tooltip.
    missing : why a score has no number, if that is the text's doing; a sentence.
    lacks : why it cannot be measured, after a colon, in the model view.
    """

    title: str
    short: str = ""
    where: str = ""
    score: str = ""
    highlight: str = ""
    gives: str = ""
    evident: str = ""
    rule: str = ""
    note: str = ""
    missing: str = ""
    lacks: str = "this text has no such pair of tokens"

    def __post_init__(self) -> None:
        defaults = {
            "short": self.title,
            "score": self.title,
            "highlight": self.title,
            "gives": f"gives {{}} of its attention to {self.where}",
            "evident": f"gives {{}} to {self.where}",
            "rule": f"more than {{}} of attention on {self.where}",
            "note": f"Mean attention to {self.where}",
        }
        for name, words in defaults.items():
            object.__setattr__(self, name, getattr(self, name) or words)


NO_SECOND = "there is no second sentence; Pair, beside the text, adds one"
WORDS: Mapping[str, Words] = {
    "previous": Words(
        "previous token", "previous", "the token before", lacks="this text has a single token"
    ),
    "next": Words(
        "next token",
        "next",
        "the token after",
        rule="more than {} of attention on the token that follows",
        missing="In a model that reads left to right no token sees the next one.",
        lacks="this model does not permit a token to attend to a later one",
    ),
    "self": Words("itself", where="the token itself"),
    "first": Words("first token", "first", "the first token"),
    "cls": Words(
        "opening special token", "opening", missing="This text does not open with a special token."
    ),
    "sep": Words(
        "[SEP] and other special tokens",
        "special",
        "special tokens after the first position",
        score="other special tokens",
        missing="There is no special token after the first position.",
    ),
    "punctuation": Words(
        "full stops, commas",
        ". and ,",
        "full stops and commas",
        missing="The text has no full stop and no comma.",
    ),
    "delimiter": Words(
        "delimiters (all three)",
        "delimiters",
        "special tokens, full stops and commas",
        highlight="delimiters",
        missing="The text has no special token, full stop or comma.",
        lacks="this text has no token",
    ),
    "same_token": Words(
        "same token elsewhere",
        "same",
        "other copies of the token",
        missing="No token occurs twice in this text.",
    ),
    "related_word": Words(
        "words of similar spelling",
        rule="more than {} of the attention of words that occur again, in this or a similar form,"
        " on those",
        lacks="no word of this text occurs twice, or in two forms",
    ),
    "related": Words("related words"),
    "other_sentence": Words(
        "other sentence",
        "other s.",
        "the other sentence",
        highlight="the other sentence",
        rule="more than {} of the attention of words on words of the other sentence",
        missing="There is only one sentence: Pair, beside the text, adds a second one.",
        lacks=NO_SECOND,
    ),
    "related_other": Words("related words across sentences"),
    "distance": Words("mean distance", "distance"),
    "broad": Words(
        "broad",
        "entropy",
        score="entropy / ln n",
        highlight="many tokens",
        gives="spreads its attention to {} of the maximum entropy",
        evident="spreads to {} of the maximum entropy",
        rule="attention spread like a bag of words: entropy above {} of the maximum",
        note="How widely a token spreads its attention: 0 on one token, 1 uniformly on all",
        missing="No token of this text sees more than one token.",
        lacks="no token of this text has a choice",
    ),
    "induction": Words(
        "induction",
        gives="gives {} to the token after an earlier copy, on repeated random sequences",
        evident="gives {} to what followed an earlier copy, on this text",
        missing="This model takes too few tokens to repeat a sequence.",
    ),
}

_NO_PATCHES = "this image has no patches"
# Of the patches of an image; what is not here has no meaning for them.
_OF_PATCHES: Mapping[str, Words] = {
    "previous": Words(
        "left neighbour",
        "left",
        "the patch to its left",
        missing="This image has a single column of patches.",
        lacks="this image has a single column of patches",
    ),
    "next": Words(
        "right neighbour",
        "right",
        "the patch to its right",
        missing="This image has a single column of patches.",
        lacks="this image has a single column of patches",
    ),
    "self": Words("itself", where="the patch itself", lacks=_NO_PATCHES),
    "first": Words("CLS", where="CLS", lacks=_NO_PATCHES),
    "sep": Words(
        "registers",
        "registers",
        "registers and other tokens that are no patches",
        score="registers and the like",
        missing="Besides CLS, this model has no token that is no patch.",
        lacks="besides CLS, all tokens of this model are patches",
    ),
    "delimiter": Words(
        "CLS and registers",
        "all of these",
        "CLS, registers and other tokens that are no patches",
        missing="All tokens of this model are patches.",
        lacks="all tokens of this model are patches",
    ),
    "broad": Words(
        "broad",
        "entropy",
        score="entropy / ln n",
        highlight="many patches",
        gives="spreads its attention to {} of the maximum entropy",
        evident="spreads to {} of the maximum entropy",
        rule="attention spread over the image: entropy above {} of the maximum",
        note="How widely a patch spreads its attention: 0 on one patch, 1 uniformly on all",
        missing="This image has a single patch.",
        lacks="this image has a single patch",
    ),
}
_TOP_LEFT = Words("top left patch", "top left", "the patch at the top left", lacks=_NO_PATCHES)


PATTERN_NAMES = {name: WORDS[name].title for name in NAMING} | {
    NONE: "no pattern",
    TOO_SHORT: "too short to say",
}


def words_for(trace: Trace) -> Mapping[str, Words]:
    """The words for each pattern, by its name: of a text, or of an image."""
    if trace.patches is None:
        return WORDS
    own = {**WORDS, **_OF_PATCHES}
    if trace.patches.first == 1:  # there are no registers
        return {**own, "delimiter": own["first"]}
    return own if trace.patches.first else {**own, "first": _TOP_LEFT}


def pattern_names(trace: Trace) -> Mapping[str, str]:
    """What patterns are called, by their names in links."""
    if trace.patches is None:
        return PATTERN_NAMES
    words = words_for(trace)
    short = "too few patches to say"
    return {name: words[name].title for name in NAMING} | {NONE: "no pattern", TOO_SHORT: short}


def score_words(trace: Trace) -> Mapping[str, Words]:
    """The words for each score, by its column of the table."""
    words = words_for(trace)
    return {each.score: words[each.name] for each in PATTERNS if each.name in words}


def score_names(trace: Trace) -> Mapping[str, str]:
    """What scores are called, by their columns of the table."""
    names = {name: each.score for name, each in score_words(trace).items()}
    return {"class": "head pattern", **names}


def highlight_names(trace: Trace) -> Mapping[str, str]:
    """What the model view can highlight, by its name in links; no more than means something."""
    words = words_for(trace)
    return {"none": "nothing"} | {
        link: words[pattern.name].highlight
        for link, pattern in HIGHLIGHTED.items()
        if has_meaning(trace, pattern)
    }


def has_meaning(trace: Trace, pattern: Pattern) -> bool:
    """Whether a pattern can be looked for.

    In cross attention, one of the key tokens alone; in an image, one that patches can have.
    """
    if trace.patches is not None:
        there = pattern.keys is None or any(map(pattern.keys, trace.tokens))
        return pattern.of_patches and there
    return trace.source is None or pattern.across
