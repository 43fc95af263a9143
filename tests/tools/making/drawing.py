"""Scenes of coloured shapes and mosaics, the same for the same seed. NumPy only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Share of the circle (HSV), by name. Sixths of it, so that swapping colour channels maps names to
# names.
HUES = {
    "red": 0.0,
    "yellow": 1 / 6,
    "green": 2 / 6,
    "cyan": 3 / 6,
    "blue": 4 / 6,
    "magenta": 5 / 6,
}
GREY = "grey"
# Luma of ITU-R BT.601, of sRGB values as they stand.
LUMA = np.array((0.299, 0.587, 0.114))


@dataclass(frozen=True)
class Paint:
    """A colour."""

    hue: float  # share of the circle as in HSV, 0 (red) to 1 (red again)
    saturation: float  # 0 (grey) to 1 (as saturated as the brightness permits)
    brightness: float  # luma, 0 (black) to 1 (white)

    @property
    def rgb(self) -> Floats:
        """The sRGB values, (3,), 0 to 1."""
        return mix(self.hue, self.saturation, self.brightness)

    @property
    def name(self) -> str:
        """The nearest of `HUES`, or "grey"."""
        if self.saturation < 0.2:
            return GREY
        return list(HUES)[round(self.hue * len(HUES)) % len(HUES)]

    def with_brightness(self, brightness: float) -> Paint:
        """The same paint at another brightness, kept between 0 and 1."""
        return replace(self, brightness=min(max(brightness, 0.0), 1.0))


def mix(hue: float | Floats, saturation: float | Floats, brightness: float | Floats) -> Floats:
    """SRGB values (..., 3), 0 to 1, that have exactly this HSV hue and this luma.

    The pure colour of the hue is mixed with black or white until its luma is right, and then with
    the grey of that luma, which changes neither.

    >>> mix(0.0, 1.0, 0.299).round(3).tolist()  # pure red has this luma
    [1.0, 0.0, 0.0]
    >>> mix(0.0, 0.0, 0.299).round(3).tolist()
    [0.299, 0.299, 0.299]
    """
    hue, saturation, brightness = (
        np.asarray(value, dtype=np.float64)[..., None] for value in (hue, saturation, brightness)
    )
    offsets = np.array((0.0, 4.0, 2.0))  # of red, green and blue along the circle, in sixths
    pure = np.clip(np.abs((6 * hue + offsets) % 6 - 3) - 1, 0, 1)
    luma = (pure @ LUMA)[..., None]
    with_black = pure * (brightness / luma)
    with_white = 1 - (1 - pure) * (1 - brightness) / (1 - luma)
    full = np.where(brightness <= luma, with_black, with_white)
    return np.clip(brightness + saturation * (full - brightness), 0, 1)


def _circle(x: Floats, y: Floats) -> Floats:
    return np.hypot(x, y) - 0.9


def _square(x: Floats, y: Floats) -> Floats:
    return np.maximum(np.abs(x), np.abs(y)) - 0.8


def _triangle(x: Floats, y: Floats) -> Floats:
    """Equilateral, its corners at distance 1."""
    return np.maximum(np.abs(x) * 3**0.5 / 2 + y / 2, -y) - 0.5


def _star(x: Floats, y: Floats) -> Floats:
    """Five points at distance 1, notches at distance 0.45."""
    angle = np.arctan2(x, -y)
    sector = 2 * np.pi / 5
    folded = np.abs((angle + sector / 2) % sector - sector / 2)  # 0 at a point, pi / 5 at a notch
    radius = np.hypot(x, y)
    along, across = radius * np.cos(folded), radius * np.sin(folded)
    notch = 0.45 * np.array((np.cos(sector / 2), np.sin(sector / 2)))
    edge = notch - np.array((1.0, 0.0))
    normal = np.array((edge[1], -edge[0])) / np.hypot(*edge)
    distance: Floats = (along - 1) * normal[0] + across * normal[1]
    return distance


def _ring(x: Floats, y: Floats) -> Floats:
    return np.abs(np.hypot(x, y) - 0.7) - 0.25


def _cross(x: Floats, y: Floats) -> Floats:
    far, near = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
    return np.maximum(far - 0.95, near - 0.3)


def _bar(x: Floats, y: Floats) -> Floats:
    return np.maximum(np.abs(x) - 1, np.abs(y) - 0.3)


SHAPES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "circle": _circle,
    "square": _square,
    "triangle": _triangle,
    "star": _star,
    "ring": _ring,
    "cross": _cross,
    "bar": _bar,
}


def coverage(shape: str, x: Floats, y: Floats, radius: float) -> Floats:
    """How much of each pixel the shape covers, 0 to 1, so that edges are smooth.

    Parameters
    ----------
    x, y : offsets of the pixels from the shape's centre, in pixels, in the shape's own directions.
    radius : in pixels.

    >>> coverage("square", np.array([0.0, 8.0, 20.0]), np.zeros(3), radius=10).tolist()
    [1.0, 0.5, 0.0]
    """
    return np.clip(0.5 - radius * SHAPES[shape](x / radius, y / radius), 0, 1)


def _plain(x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    del y, generator
    return np.zeros_like(x)


def _stripes(x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    del y, generator
    return _wave(x)


def _checks(x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    del generator
    return _wave(x) * _wave(y)


def _dots(x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    del generator
    distance = np.hypot(x - np.rint(x), y - np.rint(y))
    return np.clip((0.3 - distance) * 10, -1, 1)


def _noise(x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    """Uniform values on a lattice of half periods, the nearest for each pixel."""
    table = generator.uniform(-1, 1, (64, 64))
    rows, columns = np.floor(2 * y).astype(int) % 64, np.floor(2 * x).astype(int) % 64
    noise: Floats = table[rows, columns]
    return noise


def _wave(x: Floats) -> Floats:
    """A square wave of period 1 with soft edges."""
    return np.clip(4 * np.sin(2 * np.pi * x), -1, 1)


TEXTURES: dict[str, Callable[[Floats, Floats, np.random.Generator], Floats]] = {
    "plain": _plain,
    "stripes": _stripes,
    "checks": _checks,
    "dots": _dots,
    "noise": _noise,
}


@dataclass(frozen=True)
class Surface:
    """A painted texture. Lengths are shares of the picture's side."""

    paint: Paint
    texture: str  # a name of `TEXTURES`, and its length
    period: float
    depth: float  # how much lighter and darker the texture makes the paint, in brightness
    turn: float  # radians, clockwise; a texture turns with its thing


@dataclass(frozen=True)
class Ground(Surface):
    """What lies behind the things."""

    other: Paint | None  # the colour that it grades into, along `turn`


@dataclass(frozen=True)
class Thing(Surface):
    """One coloured shape."""

    shape: str  # a name of `SHAPES`
    radius: float
    x: float = 0.5  # of its centre, from the upper left corner
    y: float = 0.5

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


def compose(ground: Ground, things: tuple[Thing, ...], side: int, seed: int) -> Scene:
    """Draw a scene of `side` x `side` pixels; `seed` is for textures that are random."""
    generator = np.random.default_rng(seed)
    image = _ground(ground, side, generator)
    owner = np.zeros((side, side), dtype=np.uint8)
    centres = np.arange(0.5, side, dtype=np.float64)
    for number, thing in enumerate(things, start=1):
        columns, rows = (np.subtract(centres, each * side) for each in (thing.x, thing.y))
        x, y = _turned(columns, rows, thing.turn)
        covered = coverage(thing.shape, x, y, thing.radius * side)
        period = thing.period * side
        texture = TEXTURES[thing.texture](x / period, y / period, generator)
        colours = _shaded(thing.paint, thing.depth, texture)
        image += covered[..., None] * (colours - image)
        owner[covered > 0.5] = number
    return Scene(np.rint(255 * image).astype(np.uint8), owner, things)


def _turned(columns: Floats, rows: Floats, turn: float) -> tuple[Floats, Floats]:
    """The pixels of these columns and rows in the directions of what is turned, (row, column)."""
    cosine, sine = np.cos(turn), np.sin(turn)
    across, down = columns[None], rows[:, None]
    return across * cosine + down * sine, down * cosine - across * sine


def _ground(ground: Ground, side: int, generator: np.random.Generator) -> Floats:
    """The colours of a ground, (side, side, 3), 0 to 1."""
    centres = (np.arange(side) + 0.5) / side
    x, y = _turned(centres, centres, ground.turn)
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


SIZES = (8, 8, 8, 16, 24)  # sides of the tiles in pixels; as small as a patch most often


def draw_mosaic(seed: int, side: int = 96, tile: int | None = None) -> NDArray[np.uint8]:
    """A mosaic of square tiles, uint8 (side, side, 3).

    Half of the mosaics take their tiles from three to eight paints; the others draw each tile's hue
    and brightness anew. Hue and brightness are independent.

    Parameters
    ----------
    tile : side of a tile in pixels; one of `SIZES` by default.
    """
    generator = np.random.default_rng((seed, 18))
    tile = tile or int(generator.choice(SIZES))
    count = -(-side // tile)
    if generator.random() < 0.5:
        paints = _random_paints(generator, (int(generator.integers(3, 9)),))
        colours = paints[generator.integers(0, len(paints), (count, count))]
    else:
        colours = _random_paints(generator, (count, count))
    image = np.kron(colours, np.ones((tile, tile, 1)))[:side, :side]
    return np.rint(255 * image).astype(np.uint8)


def _random_paints(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Colours (..., 3), 0 to 1; one in eight has no hue."""
    saturation = generator.uniform(0.4, 1, shape) * (generator.random(shape) > 1 / 8)
    return mix(generator.random(shape), saturation, generator.uniform(0.08, 0.92, shape))


SMALLEST, LARGEST = 0.08, 0.24  # radius of a thing, as a share of the picture's side
PLAIN = 0.5  # share of the things without a texture
GREY_THINGS = 0.12  # share of the things, and GREY_GROUND of the grounds, without a hue
GREY_GROUND = 0.25
# How far a hue may be from the one that names it: names stay clear, and all sixths differ.
SPREAD = 0.05
# A thing stands out from its ground by its brightness or by its hue.
CONTRAST = 0.22
TRIES = 40  # places tried for a thing; on a full picture it is left out


def random_scene(seed: int, side: int = 96) -> Scene:
    """The scene of a seed, `side` x `side` pixels.

    Its things share two to four hues, each at several brightnesses, so that neither tells the
    other; one thing in five is the one before it again, at another place and size.
    """
    generator = np.random.default_rng((seed, 17))
    ground = _random_ground(generator)
    hues = generator.choice(list(HUES.values()), generator.integers(2, 5), replace=False)
    things: list[Thing] = []
    for _ in range(generator.integers(2, 8)):
        thing = _random_thing(generator, hues, ground)
        if things and generator.random() < 0.2:
            thing = replace(things[-1], radius=thing.radius)
        if place := _free_place(generator, thing, things):
            things.append(replace(thing, x=place[0], y=place[1]))
    return compose(ground, tuple(things), side, seed)


def _random_ground(generator: np.random.Generator) -> Ground:
    paints = [
        Paint(
            hue=float(generator.random()),
            saturation=0.0
            if generator.random() < GREY_GROUND
            else float(generator.uniform(0.3, 0.9)),
            brightness=float(generator.uniform(0.1, 0.9)),
        )
        for _ in range(2)
    ]
    return Ground(
        paint=paints[0],
        other=paints[1] if generator.random() < 0.4 else None,
        texture="plain" if generator.random() < PLAIN else str(generator.choice(list(TEXTURES))),
        period=float(generator.uniform(0.04, 0.2)),
        depth=float(generator.uniform(0.03, 0.15)),
        turn=float(generator.uniform(0, 2 * np.pi)),
    )


def _random_thing(generator: np.random.Generator, hues: Floats, ground: Ground) -> Thing:
    """One of these hues; not yet in a free place."""
    paint = _random_paint(generator, hues)
    for _ in range(TRIES):
        if _stands_out(paint, ground):
            break
        paint = _random_paint(generator, hues)
    return Thing(
        shape=str(generator.choice(list(SHAPES))),
        paint=paint,
        radius=float(generator.uniform(SMALLEST, LARGEST)),
        turn=float(generator.uniform(0, 2 * np.pi)),
        texture="plain" if generator.random() < PLAIN else str(generator.choice(list(TEXTURES))),
        period=float(generator.uniform(0.04, 0.12)),
        depth=float(generator.uniform(0.08, 0.2)),
    )


def _random_paint(generator: np.random.Generator, hues: Floats) -> Paint:
    hue = float(generator.choice(hues) + generator.uniform(-SPREAD, SPREAD)) % 1
    grey = generator.random() < GREY_THINGS
    saturation = 0.0 if grey else float(generator.uniform(0.6, 1))
    return Paint(hue, saturation, float(generator.uniform(0.12, 0.88)))


def _stands_out(paint: Paint, ground: Ground) -> bool:
    """Whether the paint differs from the ground's paints by `CONTRAST` in luma or chroma."""
    behind = [ground.paint, *([ground.other] if ground.other else [])]
    return all(
        abs(paint.brightness - other.brightness) > CONTRAST
        or float(np.ptp(paint.rgb - other.rgb)) > 2 * CONTRAST
        for other in behind
    )


def _free_place(
    generator: np.random.Generator, thing: Thing, things: list[Thing]
) -> tuple[float, float] | None:
    """Where the thing covers at most the edge of another, or None if no try found such a place."""
    for x, y in generator.uniform(0.8 * thing.radius, 1 - 0.8 * thing.radius, (TRIES, 2)):
        apart = (np.hypot(x - each.x, y - each.y) / (thing.radius + each.radius) for each in things)
        if all(gap > 0.9 for gap in apart):
            return float(x), float(y)
    return None
