"""From scores to the name of a pattern: thresholds, and which pattern a head is said to follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Class -> the score that decides, from the narrowest pattern to the widest: the first that passes
# names the head. 0.5, 0.6 and 0.78 for previous, next, delimiter and broad are the project's
# definitions after Clark et al. 2019; "more than half" for the others is ours.
SCORE_OF = {
    "previous": "previous",
    "next": "next",
    "induction": "induction",
    "same_token": "same_token",  # before "self", where such a head rests when nothing is repeated
    "self": "self",
    "first": "first",
    "delimiter": "delimiter",
    "other_sentence": "other_sentence",
    "broad": "entropy",
}
CLASSES = tuple(SCORE_OF)
NONE = "none"
THRESHOLDS: Mapping[str, float] = {
    **dict.fromkeys(CLASSES, 0.5),
    "delimiter": 0.6,
    "broad": 0.78,
}


@dataclass(frozen=True, eq=False)
class Classified:
    """Attributes: `number`, of the class in `CLASSES`, -1 for none; `confidence`, nan for none.

    Both have the shape of the scores.
    """

    number: NDArray[np.int_]
    confidence: Floats

    @property
    def names(self) -> NDArray[np.str_]:
        """The classes in words, "none" where no pattern passes."""
        return np.array([*CLASSES, NONE])[self.number]


def complete(thresholds: Mapping[str, float] | None) -> dict[str, float]:
    """All thresholds, with these in place of the usual ones.

    Raises
    ------
    ValueError
        For an unknown class.
    """
    unknown = set(thresholds or {}) - set(CLASSES)
    if unknown:
        raise ValueError(f"no class is called {min(unknown)!r}: there are {', '.join(CLASSES)}")
    return {**THRESHOLDS, **(thresholds or {})}


def bars(
    even: Mapping[str, Floats], thresholds: Mapping[str, float] | None = None
) -> dict[str, Floats]:
    """What a score must exceed, by class: the threshold, and chance where that is higher.

    An even head has the largest entropy there is: for "broad" chance is no bar.
    """
    wanted = complete(thresholds)
    return {
        name: np.full_like(even[score], wanted[name])
        if name == "broad"
        else np.maximum(even[score], wanted[name])
        for name, score in SCORE_OF.items()
    }


def classify(
    scores: Mapping[str, Floats],
    even: Mapping[str, Floats],
    thresholds: Mapping[str, float] | None = None,
) -> Classified:
    """The first class of `CLASSES` whose score exceeds its bar, and how far.

    Parameters
    ----------
    scores, even : by score, all of one shape; nan never passes. `even` is chance.

    The confidence is (score - bar) / (1 - bar): 0 at the bar, 1 when all attention follows.
    """
    limits = bars(even, thresholds)
    shape = scores["previous"].shape
    number = np.full(shape, -1)
    confidence = np.full(shape, np.nan)
    for index, (name, score) in enumerate(SCORE_OF.items()):
        value, bar = scores[score], limits[name]
        passes = (number < 0) & (value > bar)
        number[passes] = index
        confidence[passes] = ((value - bar)[passes] / (1 - bar)[passes]).clip(0, 1)
    return Classified(number, confidence)
