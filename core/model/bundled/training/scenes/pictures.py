"""The pictures that vit-scenes learns from: scenes, mosaics, and crops of photographs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from core.model.box import BOX, open_box
from core.model.bundled.training.drawing import HUES, SHAPES, Scene, draw_mosaic, random_scene
from core.model.bundled.training.drawing.paint import GREY

SIDE, PATCH = 96, 8  # pixels
HUE_NAMES = (*HUES, GREY)
SHAPE_NAMES = tuple(SHAPES)
LABELS = tuple(f"{hue} {shape}" for hue in HUE_NAMES for shape in SHAPE_NAMES)
# Seeds from here on are held back from training.
HELD_BACK = 10_000_000
GROUND, UNKNOWN = 0, -100  # what a patch shows; UNKNOWN where no label is known, or it is an edge
SMALLEST_CROP = 0.3  # of a photograph's side
ORDERS = tuple(permutations(range(3)))  # of the colour channels


@dataclass(frozen=True)
class Pictures:
    """Pictures and their labels.

    Attributes
    ----------
    pixels : uint8 (picture, side, side, 3), sRGB.
    names : bool (picture, hue, shape), whether it shows such a thing; none for a mosaic or a
        photograph.
    shown : int8 (picture, row, column), what a patch shows: GROUND, 1 + the number of a shape that
        covers most of it, or UNKNOWN.
    outline : bool (picture, side, side), which pixels show things; none of a mosaic or photograph.
    """

    pixels: NDArray[np.uint8]
    names: NDArray[np.bool_]
    shown: NDArray[np.int8]
    outline: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.pixels)

    def rows(self, chosen: NDArray[np.int64]) -> Pictures:
        """Some of them."""
        return Pictures(
            self.pixels[chosen], self.names[chosen], self.shown[chosen], self.outline[chosen]
        )


def draw_scenes(seeds: Sequence[int]) -> Pictures:
    """The scenes of these seeds."""
    scenes = [random_scene(seed, SIDE) for seed in seeds]
    return Pictures(
        np.stack([scene.pixels for scene in scenes]),
        np.stack([_names(scene) for scene in scenes]),
        np.stack([_shown(scene) for scene in scenes]),
        np.stack([scene.owner > 0 for scene in scenes]),
    )


def draw_mosaics(seeds: Sequence[int]) -> Pictures:
    """The mosaics of these seeds."""
    return _unlabelled(np.stack([draw_mosaic(seed, SIDE) for seed in seeds]))


def crop_photographs(count: int, seed: int) -> Pictures:
    """Random squares of the box's photographs."""
    generator = np.random.default_rng((seed, 19))
    photographs = [open_box(name) for name, image in BOX.items() if image.group == "photograph"]
    crops = []
    for number in generator.integers(0, len(photographs), count):
        photograph = photographs[number]
        side = generator.uniform(SMALLEST_CROP, 1) * min(photograph.size)
        left, top = (generator.uniform(0, length - side) for length in photograph.size)
        corners = (left, top, left + side, top + side)
        crop = photograph.resize((SIDE, SIDE), Image.Resampling.BILINEAR, corners)
        crops.append(np.asarray(crop))
    return _unlabelled(np.stack(crops))


def join(parts: Sequence[Pictures]) -> Pictures:
    """All of them, one after the other."""
    return Pictures(
        np.concatenate([part.pixels for part in parts]),
        np.concatenate([part.names for part in parts]),
        np.concatenate([part.shown for part in parts]),
        np.concatenate([part.outline for part in parts]),
    )


def varied(pictures: Pictures, generator: np.random.Generator) -> Pictures:
    """Each picture turned, mirrored, and with its colour channels in another order, at random.

    The names follow: red, yellow, ... are sixths of the circle, which such orders only exchange.
    """
    pixels, shown = np.empty_like(pictures.pixels), np.empty_like(pictures.shown)
    names, outline = np.empty_like(pictures.names), np.empty_like(pictures.outline)
    turns, orders = generator.integers(0, 8, len(pictures)), generator.integers(0, 6, len(pictures))
    for row, (turn, order) in enumerate(zip(turns, orders, strict=True)):
        pixels[row] = _turned(pictures.pixels[row], turn)[..., ORDERS[order]]
        shown[row] = _turned(pictures.shown[row], turn)
        outline[row] = _turned(pictures.outline[row], turn)
        names[row] = pictures.names[row][_sources(ORDERS[order])]
    return Pictures(pixels, names, shown, outline)


def _turned(grid: np.ndarray, turn: int) -> np.ndarray:  # type: ignore[type-arg]
    """One of the eight ways to lay a square on itself."""
    grid = np.rot90(grid, turn % 4)
    return grid[:, ::-1] if turn >= 4 else grid


def _sources(order: tuple[int, ...]) -> list[int]:
    """For each of `HUE_NAMES` the one that becomes it when the channels take this order."""
    pure = [(1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1), (0, 0, 0)]
    after = [tuple(colour[channel] for channel in order) for colour in pure]
    return [after.index(colour) for colour in pure]


def _names(scene: Scene) -> NDArray[np.bool_]:
    """What is to be seen of a scene's things, (hue, shape)."""
    names = np.zeros((len(HUE_NAMES), len(SHAPE_NAMES)), dtype=bool)
    for thing in scene.things:
        names[HUE_NAMES.index(thing.paint.name), SHAPE_NAMES.index(thing.shape)] = True
    return names


def _shown(scene: Scene) -> NDArray[np.int8]:
    """What each patch shows, (row, column)."""
    shapes = np.array([GROUND, *(1 + SHAPE_NAMES.index(thing.shape) for thing in scene.things)])
    grid = shapes[scene.owner].reshape(SIDE // PATCH, PATCH, SIDE // PATCH, PATCH)
    shares = np.stack(
        [(grid == what).mean(axis=(1, 3)) for what in range(1 + len(SHAPE_NAMES))], axis=-1
    )
    return np.where(shares.max(axis=-1) > 0.6, shares.argmax(axis=-1), UNKNOWN).astype(np.int8)


def _unlabelled(pixels: NDArray[np.uint8]) -> Pictures:
    count, grid = len(pixels), SIDE // PATCH
    return Pictures(
        pixels,
        np.zeros((count, len(HUE_NAMES), len(SHAPE_NAMES)), dtype=bool),
        np.full((count, grid, grid), UNKNOWN, dtype=np.int8),
        np.zeros((count, SIDE, SIDE), dtype=bool),
    )
