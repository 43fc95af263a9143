"""What the colours of an atlas's points can stand for, one registered function each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from unicodedata import category

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from core.analysis.arrays import Floats
    from core.analysis.atlas.data import Atlas

    ToTones = Callable[[Atlas], "Tones"]

Scale = Literal["type", "sequential", "category"]
MAX_CATEGORIES = 6  # in a legend; rarer ones become "other"
_PERIOD = 5  # AttentionViz's choice for showing repeating patterns of positions


@dataclass(frozen=True, eq=False)
class Tones:
    """A colour for every point."""

    scale: Scale  # by query or key alone, along a ramp, or by category
    # 0 to 1 along a ramp, or category numbers; ([layer, head,] 2 token), queries first
    numbers: Floats
    legend: tuple[str, ...] = ()  # the two ends of the ramp, or the categories


@dataclass(frozen=True)
class Colouring:
    """One way to colour points: its title on the page, and the tones of an atlas."""

    title: str
    tones: ToTones
    needs_labels: bool = False


COLOURINGS: dict[str, Colouring] = {}  # by name in links, in menu order


def colouring(name: str, title: str, *, needs_labels: bool = False) -> Callable[[ToTones], ToTones]:
    """Register a function as the colouring called `name` in links and `title` on the page."""

    def register(tones: ToTones) -> ToTones:
        COLOURINGS[name] = Colouring(title, tones, needs_labels)
        return tones

    return register


def point_tones(atlas: Atlas, name: str) -> Tones:
    """Colours by one of ``COLOURINGS``; `KeyError` for any other name."""
    return COLOURINGS[name].tones(atlas)


def offered_colourings(atlas: Atlas) -> list[str]:
    """The names that make sense for this atlas: some need labels."""
    return [name for name, one in COLOURINGS.items() if atlas.labels or not one.needs_labels]


@colouring("type", "query or key")
def _type(atlas: Atlas) -> Tones:
    return Tones("type", np.zeros(2 * len(atlas.tokens)))


@colouring("position", "position in the sentence")
def _position(atlas: Atlas) -> Tones:
    tokens = atlas.tokens
    values = tokens.position / np.maximum(tokens.lengths - 1, 1)
    return Tones("sequential", _both(values), ("first token", "last token"))


@colouring("mod5", "position mod 5")
def _position_mod(atlas: Atlas) -> Tones:
    legend = tuple(f"{i}, {i + _PERIOD}, {i + 2 * _PERIOD} …" for i in range(1, _PERIOD + 1))
    return Tones("category", _both(atlas.tokens.position % _PERIOD), legend)


@colouring("frequency", "frequency in the corpus")
def _frequency(atlas: Atlas) -> Tones:
    counts = Counter(atlas.tokens.texts)
    return _logarithmic(np.array([counts[text] for text in atlas.tokens.texts]), "×")


@colouring("norm", "length of the vector")
def _norm(atlas: Atlas) -> Tones:
    low, high = (np.percentile(atlas.norms, share, axis=2, keepdims=True) for share in (2, 98))
    values = (atlas.norms - low) / np.where(high > low, high - low, 1)
    return Tones(
        "sequential", values.clip(0, 1).astype(np.float64), ("shortest in the head", "longest")
    )


@colouring("token_length", "letters of the token")
def _token_length(atlas: Atlas) -> Tones:
    lengths = [max(1, len(display)) for display in atlas.tokens.displays]
    return _logarithmic(np.array(lengths), " characters")


@colouring("sentence_length", "length of the sentence")
def _sentence_length(atlas: Atlas) -> Tones:
    return _logarithmic(atlas.tokens.lengths, " tokens")


@colouring("punctuation", "punctuation")
def _punctuation(atlas: Atlas) -> Tones:
    marks = [
        not special and display != "" and all(category(char)[0] in "PS" for char in display)
        for display, special in zip(atlas.tokens.displays, atlas.tokens.special, strict=True)
    ]
    return Tones("category", _both(np.array(marks)), ("words and pieces", "punctuation"))


@colouring("special", "special tokens")
def _special(atlas: Atlas) -> Tones:
    pairs = zip(atlas.tokens.displays, atlas.tokens.special, strict=True)
    return _categories([display if special else "text" for display, special in pairs])


@colouring("label", "label", needs_labels=True)
def _label(atlas: Atlas) -> Tones:
    return _categories([atlas.labels[i] for i in atlas.tokens.sentence])


def _categories(names: Sequence[str]) -> Tones:
    """Most common first; those beyond ``MAX_CATEGORIES`` share "other"."""
    counts = Counter(names)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    legend = order if len(order) <= MAX_CATEGORIES else [*order[: MAX_CATEGORIES - 1], "other"]
    number = {name: min(i, len(legend) - 1) for i, name in enumerate(order)}
    return Tones("category", _both(np.array([number[name] for name in names])), tuple(legend))


def _logarithmic(counts: NDArray[np.integer], unit: str) -> Tones:
    low, high = int(counts.min()), int(counts.max())
    values = np.log(counts / low) / max(np.log(high / low), 1e-9)
    return Tones("sequential", _both(values), (f"{low:,}{unit}", f"{high:,}{unit}"))


def _both(values: NDArray[np.generic]) -> Floats:
    """The same value for a token's query and its key."""
    return np.tile(np.asarray(values, dtype=np.float64), 2)
