"""A ground and the things on it -> pixels, and what stands where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.model.bundled.training.drawing.paint import Paint
from core.model.bundled.training.drawing.shapes import coverage
from core.model.bundled.training.drawing.textures import TEXTURES

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ground:
    """What lies behind the things. Lengths are shares of the picture's side.

    Attributes
    ----------
    paint : its colour; `other` the colour that it grades into, along `turn`, unless None.
    texture, period, depth, turn : a name of `TEXTURES`, its length, how much lighter and darker it
        makes the paint (in brightness), and its direction in radians.
    """

    paint: Paint
    other: Paint | None = None
    texture: str = "plain"
    period: float = 0.1
    depth: float = 0.15
    turn: float = 0.0


@dataclass(frozen=True)
class Thing:
    """One coloured shape. Lengths are shares of the picture's side.

    Attributes
    ----------
    shape : a name of `SHAPES`.
    x, y, radius : of its centre, from the upper left corner, and its size.
    turn : radians, clockwise.
    texture, period, depth : as of a ground; a texture turns with its thing.
    """

    shape: str
    paint: Paint
    x: float
    y: float
    radius: float
    turn: float = 0.0
    texture: str = "plain"
    period: float = 0.06
    depth: float = 0.15

    @property
    def label(self) -> str:
        """Such as "red circle"."""
        return f"{self.paint.name} {self.shape}"


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture and its labels.

    Attributes
    ----------
    pixels : uint8 (side, side, 3), sRGB.
    owner : uint8 (side, side): 0 where the ground shows, n where ``things[n - 1]`` does.
    things : from the back to the front.
    """

    pixels: NDArray[np.uint8]
    owner: NDArray[np.uint8]
    things: tuple[Thing, ...]

    def shares(self, patch: int) -> Floats:
        """Share of each patch's pixels that things cover, (row, column), 0 to 1."""
        side = len(self.owner) // patch
        covered = (self.owner > 0).reshape(side, patch, side, patch)
        shares: Floats = covered.mean(axis=(1, 3))
        return shares


def compose(ground: Ground, things: tuple[Thing, ...], side: int, seed: int = 0) -> Scene:
    """Draw a scene of `side` x `side` pixels; `seed` is for textures that are random."""
    generator = np.random.default_rng(seed)
    image = _ground(ground, side, generator)
    owner = np.zeros((side, side), dtype=np.uint8)
    for number, thing in enumerate(things, start=1):
        window, x, y = _window(thing, side)
        covered = coverage(thing.shape, x, y, thing.radius * side)
        period = thing.period * side
        texture = TEXTURES[thing.texture](x / period, y / period, generator)
        colours = _shaded(thing.paint, thing.depth, texture)
        image[window] += covered[..., None] * (colours - image[window])
        owner[window][covered > 0.5] = number
    return Scene(np.rint(255 * image).astype(np.uint8), owner, things)


def _window(thing: Thing, side: int) -> tuple[tuple[slice, slice], Floats, Floats]:
    """The part of the picture that may show the thing, and its pixels' offsets as `coverage` has.

    A star's corners are nowhere farther than 1.05 radii; a bar's are the farthest.
    """
    reach = 1.1 * thing.radius * side + 1
    left, top = (max(0, int(centre * side - reach)) for centre in (thing.x, thing.y))
    right, bottom = (min(side, int(centre * side + reach) + 1) for centre in (thing.x, thing.y))
    rows = np.arange(top, max(bottom, top))[:, None] + 0.5 - thing.y * side
    columns = np.arange(left, max(right, left))[None] + 0.5 - thing.x * side
    cosine, sine = np.cos(thing.turn), np.sin(thing.turn)
    x, y = columns * cosine + rows * sine, rows * cosine - columns * sine
    return (slice(top, bottom), slice(left, right)), x, y


def _ground(ground: Ground, side: int, generator: np.random.Generator) -> Floats:
    """The colours of a ground, (side, side, 3), 0 to 1."""
    centres = (np.arange(side) + 0.5) / side
    cosine, sine = np.cos(ground.turn), np.sin(ground.turn)
    x = centres[None] * cosine + centres[:, None] * sine
    y = centres[:, None] * cosine - centres[None] * sine
    texture = TEXTURES[ground.texture](x / ground.period, y / ground.period, generator)
    colours = _shaded(ground.paint, ground.depth, texture)
    if ground.other is None:
        return colours
    grade = ((x - x.min()) / (x.max() - x.min()))[..., None]
    return colours + grade * (_shaded(ground.other, ground.depth, texture) - colours)


def _shaded(paint: Paint, depth: float, texture: Floats) -> Floats:
    """The paint, lighter and darker by `depth` where the texture says so, (..., 3)."""
    darker, lighter = (paint.with_brightness(paint.brightness + s * depth).rgb for s in (-1, 1))
    step = np.abs(texture)[..., None]
    towards = np.where(texture[..., None] > 0, lighter, darker)
    return paint.rgb + step * (towards - paint.rgb)
