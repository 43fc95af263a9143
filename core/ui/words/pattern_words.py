"""Names of head patterns and their scores, and sentences about heads that follow them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.analysis.head_patterns.naming import NAMING, NONE, TOO_SHORT
from core.analysis.head_patterns.registry import PATTERNS, Pattern
from core.analysis.head_patterns.search import HIGHLIGHTED
from core.model.trace import Trace


@dataclass(frozen=True)
class Words:
    """The words for one pattern; those left out follow from `title` and `where`.

    Attributes
    ----------
    title : of the pattern.
    short : the heading of a narrow column.
    where : where attention goes, to follow "to" and "on": "the token before".
    score : the title of its score.
    highlight : its title in the model view.
    gives : what a head with the score {} does, to follow the head's name.
    evident : the same on one text.
    rule : what the model view looks for in a head; {} is the threshold.
    missing : why there is no score, if the text is the reason; a sentence.
    """

    title: str
    short: str = ""
    where: str = ""
    score: str = ""
    highlight: str = ""
    gives: str = ""
    evident: str = ""
    rule: str = ""
    missing: str = ""

    def __post_init__(self) -> None:
        defaults = {
            "short": self.title,
            "score": self.title,
            "highlight": self.title,
            "gives": f"gives {{}} of its attention to {self.where}",
            "evident": f"gives {{}} to {self.where}",
            "rule": f"more than {{}} of attention on {self.where}",
        }
        for name, words in defaults.items():
            object.__setattr__(self, name, getattr(self, name) or words)


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PATTERN_WORDS: Mapping[str, Words] = {name: Words(**each) for name, each in _FILE["text"].items()}
# For patches of an image; patterns not listed here do not apply to them.
_OF_PATCHES = {name: Words(**each) for name, each in _FILE["patches"].items()}
_TOP_LEFT = Words(**_FILE["top_left"])


PATTERN_NAMES = {name: PATTERN_WORDS[name].title for name in NAMING} | {
    NONE: "no pattern",
    TOO_SHORT: "too short to say",
}


def words_for(trace: Trace) -> Mapping[str, Words]:
    """The words for each pattern, by its name, for a text or an image."""
    if trace.input.has_words:
        return PATTERN_WORDS
    own = {**PATTERN_WORDS, **_OF_PATCHES}
    specials = sum(token.special for token in trace.tokens)
    if specials == 1:  # there are no registers
        return {**own, "delimiter": own["first"]}
    return own if specials else {**own, "first": _TOP_LEFT}


def pattern_names(trace: Trace) -> Mapping[str, str]:
    """The titles of patterns, by their names in links."""
    words = words_for(trace)
    return PATTERN_NAMES | {name: words[name].title for name in PATTERN_NAMES if name in words}


def score_words(trace: Trace) -> Mapping[str, Words]:
    """The words for each score, by its column of the table."""
    words = words_for(trace)
    return {each.score: words[each.name] for each in PATTERNS if each.name in words}


def score_names(trace: Trace) -> Mapping[str, str]:
    """The titles of scores, by their columns of the table."""
    names = {name: each.score for name, each in score_words(trace).items()}
    return {"class": "head pattern", **names}


def highlight_names(trace: Trace) -> Mapping[str, str]:
    """What the model view can highlight, by its name in links; only patterns that apply."""
    words = words_for(trace)
    return {"none": "nothing"} | {
        link: words[pattern.name].highlight
        for link, pattern in HIGHLIGHTED.items()
        if has_meaning(trace, pattern)
    }


def has_meaning(trace: Trace, pattern: Pattern) -> bool:
    """Whether a pattern applies to this trace.

    In cross attention it must be about key tokens alone; in an image, one that patches can have.
    """
    kind = trace.input.kind  # decides what a pattern must be
    is_present = pattern.keys is None or any(map(pattern.keys, trace.tokens))
    return {"text": True, "cross": pattern.across, "image": pattern.of_patches and is_present}[kind]
