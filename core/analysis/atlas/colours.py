"""What the colours of an atlas's points can stand for."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from core.analysis.atlas.data import Atlas

    Floats = NDArray[np.float64]

Colouring = Literal["type", "sequential", "category"]
MAX_CATEGORIES = 6  # of a legend; what is rarer is "other"
_PERIOD = 5  # of the positions; AttentionViz chose it to show repeating patterns


@dataclass(frozen=True, eq=False)
class Tones:
    """A colour for every point.

    Attributes
    ----------
    colouring : by query and key alone; along a ramp; by category.
    numbers : 0 to 1 along a ramp, or numbers of categories; (2 token,), queries first, or where
        heads differ (layer, head, 2 token).
    legend : what the ends of the ramp are, or the categories.
    """

    colouring: Colouring
    numbers: Floats
    legend: tuple[str, ...] = ()


def point_tones(atlas: Atlas, by: str) -> Tones:
    """Colours by one of ``COLOURINGS``.

    Raises
    ------
    KeyError
        For another name.
    """
    return COLOURINGS[by](atlas)


def offered_colourings(atlas: Atlas) -> list[str]:
    """The names that mean something for this atlas: "label" needs labels."""
    return [name for name in COLOURINGS if name != "label" or atlas.labels]


def _type(atlas: Atlas) -> Tones:
    return Tones("type", np.zeros(2 * len(atlas.tokens)))


def _position(atlas: Atlas) -> Tones:
    tokens = atlas.tokens
    values = tokens.position / np.maximum(tokens.lengths - 1, 1)
    return Tones("sequential", _both(values), ("first token", "last token"))


def _position_mod(atlas: Atlas) -> Tones:
    legend = tuple(", ".join(str(i + 1 + _PERIOD * k) for k in range(3)) + " …" for i in range(5))
    return Tones("category", _both(atlas.tokens.position % _PERIOD), legend)


def _frequency(atlas: Atlas) -> Tones:
    counts = Counter(atlas.tokens.texts)
    return _logarithmic(np.array([counts[text] for text in atlas.tokens.texts]), "×")


def _norm(atlas: Atlas) -> Tones:
    low, high = (np.percentile(atlas.norms, share, axis=2, keepdims=True) for share in (2, 98))
    values = (atlas.norms - low) / np.where(high > low, high - low, 1)
    return Tones(
        "sequential", values.clip(0, 1).astype(np.float64), ("shortest of the head", "longest")
    )


def _token_length(atlas: Atlas) -> Tones:
    return _logarithmic(
        np.array([max(1, len(shown)) for shown in atlas.tokens.displays]), " characters"
    )


def _sentence_length(atlas: Atlas) -> Tones:
    return _logarithmic(atlas.tokens.lengths, " tokens")


def _punctuation(atlas: Atlas) -> Tones:
    marks = [
        not special and bool(shown) and all(_is_mark(letter) for letter in shown)
        for shown, special in zip(atlas.tokens.displays, atlas.tokens.special, strict=True)
    ]
    return Tones("category", _both(np.array(marks)), ("words and pieces", "punctuation"))


def _special(atlas: Atlas) -> Tones:
    names = [
        shown if special else "text"
        for shown, special in zip(atlas.tokens.displays, atlas.tokens.special, strict=True)
    ]
    return _categories(names)


def _label(atlas: Atlas) -> Tones:
    return _categories([atlas.labels[i] for i in atlas.tokens.sentence])


def _categories(names: Sequence[str]) -> Tones:
    """The commonest first; what has no colour of its own left is "other"."""
    counts = Counter(names)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    legend = order if len(order) <= MAX_CATEGORIES else [*order[: MAX_CATEGORIES - 1], "other"]
    number = {name: min(i, len(legend) - 1) for i, name in enumerate(order)}
    return Tones("category", _both(np.array([number[name] for name in names])), tuple(legend))


def _logarithmic(counts: NDArray[np.int_] | NDArray[np.int32], unit: str) -> Tones:
    low, high = int(counts.min()), int(counts.max())
    values = np.log(counts / low) / max(np.log(high / low), 1e-9)
    return Tones("sequential", _both(values), (f"{low:,}{unit}", f"{high:,}{unit}"))


def _both(values: NDArray[np.generic]) -> Floats:
    """The same for a token's query and for its key."""
    return np.tile(np.asarray(values, dtype=np.float64), 2)


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "PS"


COLOURINGS: dict[str, Callable[[Atlas], Tones]] = {
    "type": _type,
    "position": _position,
    "mod5": _position_mod,
    "frequency": _frequency,
    "norm": _norm,
    "token_length": _token_length,
    "sentence_length": _sentence_length,
    "punctuation": _punctuation,
    "special": _special,
    "label": _label,
}
