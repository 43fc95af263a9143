"""What the colours of an atlas's points can stand for: one registered function each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.analysis.images.colour import HUES
from core.atlas.data import Atlas
from core.atlas.pixels import CorpusImages

ToTones: TypeAlias = "Callable[[Atlas], Tones]"
Scale = Literal["type", "sequential", "hue", "category"]
Needs = Literal["nothing", "texts", "labels", "images"]
MAX_CATEGORIES = 6  # in a legend; rarer ones are merged into "other"
_ENDS = ("first token", "last token")
_PERIOD = 5  # AttentionViz's choice, to show repeating patterns of positions


@dataclass(frozen=True, eq=False)
class Tones:
    """A colour for every point."""

    scale: Scale  # by query or key alone, along a ramp, by the name of a hue, or by category
    # 0 to 1 along a ramp, or category numbers; ([layer, head,] 2 token), queries first
    numbers: Floats
    legend: tuple[str, ...] = ()  # the two ends of the ramp, or the categories


@dataclass(frozen=True)
class Colouring:
    """One way to colour points: its title on the page, and the tones of an atlas."""

    title: str
    tones: ToTones
    needs: Needs = "nothing"


COLOURINGS: dict[str, Colouring] = {}  # by name in links, in menu order


def colouring(name: str, title: str, *, needs: Needs = "nothing") -> Callable[[ToTones], ToTones]:
    """Register a function as the colouring called `name` in links and `title` on the page."""

    def register(tones: ToTones) -> ToTones:
        COLOURINGS[name] = Colouring(title, tones, needs)
        return tones

    return register


def point_tones(atlas: Atlas, name: str) -> Tones:
    """Colours for one of ``COLOURINGS``; `KeyError` for any other name."""
    return COLOURINGS[name].tones(atlas)


def offered_colourings(atlas: Atlas) -> list[str]:
    """The names that make sense for this atlas: some need texts, labels or images."""
    has: dict[Needs, bool] = {
        "nothing": True,
        "texts": atlas.images is None,
        "labels": bool(atlas.labels),
        "images": atlas.images is not None,
    }
    return [name for name, one in COLOURINGS.items() if has[one.needs]]


@colouring("type", "query or key")
def _type(atlas: Atlas) -> Tones:
    return Tones("type", np.zeros(2 * len(atlas.tokens)))


@colouring("position", "position in the sentence", needs="texts")
def _position(atlas: Atlas) -> Tones:
    return Tones("sequential", _both(_share_of_sentence(atlas)), _ENDS)


@colouring("position mod 5", "position mod 5", needs="texts")
def _position_mod(atlas: Atlas) -> Tones:
    legend = tuple(f"{i}, {i + _PERIOD}, {i + 2 * _PERIOD} …" for i in range(1, _PERIOD + 1))
    return Tones("category", _both(atlas.tokens.position % _PERIOD), legend)


@colouring("frequency", "frequency in the corpus", needs="texts")
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


@colouring("special", "special tokens")
def _special(atlas: Atlas) -> Tones:
    pairs = zip(atlas.tokens.displays, atlas.tokens.special, strict=True)
    other = "text" if atlas.images is None else "patch"
    return _categories([display if special else other for display, special in pairs])


@colouring("label", "label", needs="labels")
def _label(atlas: Atlas) -> Tones:
    return _categories([atlas.labels[i] for i in atlas.tokens.sentence])


@colouring("hue", "hue of the patch", needs="images")
def _hue(atlas: Atlas) -> Tones:
    """By the nearest of eight hue names; grey patches and other tokens have none."""
    looks = _images(atlas).looks
    centres = np.array(list(HUES.values())) / 360
    away = np.abs(looks.hue[:, None] - centres)
    nearest = np.minimum(away, 1 - away).argmin(axis=1).astype(np.float64)
    numbers = _of_patches(atlas, np.where(looks.saturation > 0, nearest, np.nan))
    legend = (*HUES, "grey, or no patch")
    return Tones("hue", np.nan_to_num(numbers, nan=len(HUES)), legend)


@colouring("brightness", "brightness of the patch", needs="images")
def _brightness(atlas: Atlas) -> Tones:
    brightness = _images(atlas).looks.brightness
    return Tones("sequential", _of_patches(atlas, brightness), ("black", "white"))


@colouring("row", "row in the image", needs="images")
def _row(atlas: Atlas) -> Tones:
    images = _images(atlas)
    rows = np.arange(images.patches) // images.columns / max(images.rows - 1, 1)
    return Tones("sequential", _of_every_image(atlas, rows), ("top", "bottom"))


@colouring("column", "column in the image", needs="images")
def _column(atlas: Atlas) -> Tones:
    images = _images(atlas)
    columns = np.arange(images.patches) % images.columns / max(images.columns - 1, 1)
    return Tones("sequential", _of_every_image(atlas, columns), ("left", "right"))


def _images(atlas: Atlas) -> CorpusImages:
    if atlas.images is None:
        raise ValueError("an atlas of texts has no patches")
    return atlas.images


def _of_every_image(atlas: Atlas, values: Floats) -> Floats:
    """A value for each patch of the grid, the same in all images."""
    return _of_patches(atlas, np.tile(values, len(_images(atlas).pixels)))


def _of_patches(atlas: Atlas, values: Floats) -> Floats:
    """A value per patch, image after image, for both points of its token; nan for other tokens."""
    images = _images(atlas)
    place = images.places(atlas.tokens.position)
    of_tokens = values[atlas.tokens.sentence * images.patches + np.maximum(place, 0)]
    return _both(np.where(place >= 0, of_tokens, np.nan))


def _categories(names: Sequence[str]) -> Tones:
    """Most common first; all beyond ``MAX_CATEGORIES`` become "other"."""
    counts = Counter(names)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    legend = order if len(order) <= MAX_CATEGORIES else [*order[: MAX_CATEGORIES - 1], "other"]
    number = {name: min(i, len(legend) - 1) for i, name in enumerate(order)}
    return Tones("category", _both(np.array([number[name] for name in names])), tuple(legend))


def _logarithmic(counts: NDArray[np.integer], unit: str) -> Tones:
    low, high = int(counts.min()), int(counts.max())
    values = np.log(counts / low) / max(np.log(high / low), 1e-9)
    return Tones("sequential", _both(values), (f"{low:,}{unit}", f"{high:,}{unit}"))


def _share_of_sentence(atlas: Atlas) -> Floats:
    """How far into its sentence each token is, 0 to 1."""
    return np.asarray(atlas.tokens.position / np.maximum(atlas.tokens.lengths - 1, 1))


def _both(values: NDArray[np.generic]) -> Floats:
    """The same value for a token's query and its key."""
    return np.tile(np.asarray(values, dtype=np.float64), 2)
