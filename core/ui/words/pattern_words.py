"""What pages call head patterns and their scores, and say of a head that follows one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.analysis.head_patterns.naming import NAMING, NONE, TOO_SHORT
from core.analysis.head_patterns.registry import PATTERNS
from core.analysis.head_patterns.search import HIGHLIGHTED

if TYPE_CHECKING:
    from collections.abc import Mapping


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


NO_SECOND = "there is no second sentence; the sidebar has a switch for it"
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
        "delimiters (sum of the three)",
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
        missing="There is only one sentence: add a second one in the sidebar.",
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

PATTERN_NAMES = {name: WORDS[name].title for name in NAMING} | {
    NONE: "no pattern",
    TOO_SHORT: "too short to say",
}
SCORE_WORDS = {each.score: WORDS[each.name] for each in PATTERNS if each.name in WORDS}
SCORE_NAMES = {"class": "head pattern"} | {name: each.score for name, each in SCORE_WORDS.items()}
HIGHLIGHT_NAMES = {"none": "nothing"} | {
    link: WORDS[pattern.name].highlight for link, pattern in HIGHLIGHTED.items()
}
