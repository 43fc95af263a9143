"""Scenes of coloured shapes and mosaics, the same for the same seed. NumPy only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Share of the circle (HSV), by name. Sixths of it, so that swapping colour channels maps names to
# names.
_NAMES = ("red", "yellow", "green", "cyan", "blue", "magenta")
HUES = {name: place / 6 for place, name in enumerate(_NAMES)}
GREY = "grey"
# Luma of ITU-R BT.601, of sRGB values as they stand.
LUMA = np.array((0.299, 0.587, 0.114))


@dataclass(frozen=True)
class Paint:
    """A colour."""

    hue: float  # share of the circle as in HSV, 0 (red) to 1 (red again)
    saturation: float  # 0 (grey) to 1 (as saturated as the brightness permits)
    brightness: float  # luma, 0 (black) to 1 (white)

    def rgb(self, lighter: float = 0.0) -> Floats:
        """The sRGB values, (3,), 0 to 1, of the paint or of one that much lighter."""
        brightness = min(max(self.brightness + lighter, 0.0), 1.0)
        return mix(self.hue, self.saturation, brightness)

    @property
    def name(self) -> str:
        """The nearest of `HUES`, or "grey"."""
        if self.saturation < 0.2:
            return GREY
        return list(HUES)[round(self.hue * len(HUES)) % len(HUES)]


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


def _cross(x: Floats, y: Floats) -> Floats:
    far, near = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
    return np.maximum(far - 0.95, near - 0.3)


# Of each shape the distance from its edge, negative within; the corners of the triangle are at 1.
SHAPES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "circle": lambda x, y: np.hypot(x, y) - 0.9,
    "square": lambda x, y: np.maximum(np.abs(x), np.abs(y)) - 0.8,
    "triangle": lambda x, y: np.maximum(np.abs(x) * 3**0.5 / 2 + y / 2, -y) - 0.5,
    "star": _star,
    "ring": lambda x, y: np.abs(np.hypot(x, y) - 0.7) - 0.25,
    "cross": _cross,
    "bar": lambda x, y: np.maximum(np.abs(x) - 1, np.abs(y) - 0.3),
}
TEXTURES = ("plain", "stripes", "checks", "dots", "noise")


def texture_of(kind: str, x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    """A texture of period 1 from -1 (dark) to 1 (light); 0 if it is plain."""
    if kind == "stripes":
        return _wave(x)
    if kind == "checks":
        return _wave(x) * _wave(y)
    if kind == "dots":
        return np.clip((0.3 - np.hypot(x - np.rint(x), y - np.rint(y))) * 10, -1, 1)
    if kind == "noise":  # on a lattice of half periods, the nearest for each pixel
        table = generator.uniform(-1, 1, (64, 64))
        return table[np.floor(2 * y).astype(int) % 64, np.floor(2 * x).astype(int) % 64]  # type: ignore[no-any-return]
    return np.zeros_like(x)


def _wave(x: Floats) -> Floats:
    """A square wave of period 1 with soft edges."""
    return np.clip(4 * np.sin(2 * np.pi * x), -1, 1)


@dataclass(frozen=True)
class Surface:
    """A painted texture. Lengths are shares of the picture's side."""

    paint: Paint
    texture: str  # one of `TEXTURES`, and its length
    period: float
    depth: float  # how much lighter and darker the texture makes the paint, in brightness
    turn: float  # radians, clockwise; a texture turns with its thing

    def colours(self, texture: Floats) -> Floats:
        """The paint, lighter and darker where the texture says so, (..., 3)."""
        step = np.abs(texture)[..., None]
        towards = np.where(
            texture[..., None] > 0, self.paint.rgb(self.depth), self.paint.rgb(-self.depth)
        )
        return self.paint.rgb() + step * (towards - self.paint.rgb())


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


# A ground is a surface and the paint that it grades into along its turn, or the same surface again.
Ground = tuple[Surface, Surface]


def compose(ground: Ground, things: tuple[Thing, ...], side: int, seed: int) -> Scene:
    """Draw a scene of `side` x `side` pixels; `seed` is for textures that are random."""
    generator = np.random.default_rng(seed)
    centres = (np.arange(side) + 0.5) / side
    x, y = _turned(centres, centres, ground[0].turn)
    period = ground[0].period
    texture = texture_of(ground[0].texture, x / period, y / period, generator)
    image = ground[0].colours(texture)
    if ground[1] is not ground[0]:
        grade = ((x - x.min()) / (x.max() - x.min()))[..., None]
        image = image + grade * (ground[1].colours(texture) - image)
    owner = np.zeros((side, side), dtype=np.uint8)
    centres = np.arange(0.5, side, dtype=np.float64)
    for number, thing in enumerate(things, start=1):
        x, y = _turned(centres - thing.x * side, centres - thing.y * side, thing.turn)
        radius = thing.radius * side
        distance = radius * SHAPES[thing.shape](x / radius, y / radius)  # in pixels
        covered = np.clip(0.5 - distance, 0, 1)  # of each pixel, so that edges are smooth
        period = thing.period * side
        texture = texture_of(thing.texture, x / period, y / period, generator)
        image += covered[..., None] * (thing.colours(texture) - image)
        owner[covered > 0.5] = number
    return Scene(np.rint(255 * image).astype(np.uint8), owner, things)


def _turned(columns: Floats, rows: Floats, turn: float) -> tuple[Floats, Floats]:
    """The pixels of these columns and rows in the directions of what is turned, (row, column)."""
    cosine, sine = np.cos(turn), np.sin(turn)
    across, down = columns[None], rows[:, None]
    return across * cosine + down * sine, down * cosine - across * sine


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
        paints = _random_colours(generator, (int(generator.integers(3, 9)),))
        colours = paints[generator.integers(0, len(paints), (count, count))]
    else:
        colours = _random_colours(generator, (count, count))
    image = np.kron(colours, np.ones((tile, tile, 1)))[:side, :side]
    return np.rint(255 * image).astype(np.uint8)


def _random_colours(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
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
        reach = 0.8 * thing.radius
        for x, y in generator.uniform(reach, 1 - reach, (TRIES, 2)):
            thing = replace(thing, x=float(x), y=float(y))
            if all(_is_apart(thing, other) for other in things):
                things.append(thing)
                break
    return compose(ground, tuple(things), side, seed)


def _is_apart(thing: Thing, other: Thing) -> bool:
    """Whether they cover at most the edge of one another."""
    gap = np.hypot(thing.x - other.x, thing.y - other.y) / (thing.radius + other.radius)
    return bool(gap > 0.9)


def _random_ground(generator: np.random.Generator) -> Ground:
    paints = []
    for _ in range(2):
        hue, grey = float(generator.random()), generator.random() < GREY_GROUND
        saturation = 0.0 if grey else float(generator.uniform(0.3, 0.9))
        paints.append(Paint(hue, saturation, float(generator.uniform(0.1, 0.9))))
    grades = generator.random() < 0.4
    surface = Surface(
        paint=paints[0],
        texture=_random_texture(generator),
        period=float(generator.uniform(0.04, 0.2)),
        depth=float(generator.uniform(0.03, 0.15)),
        turn=float(generator.uniform(0, 2 * np.pi)),
    )
    return surface, replace(surface, paint=paints[1]) if grades else surface


def _random_texture(generator: np.random.Generator) -> str:
    return "plain" if generator.random() < PLAIN else str(generator.choice(TEXTURES))


def _random_thing(generator: np.random.Generator, hues: Floats, ground: Ground) -> Thing:
    """One of these hues; not yet in a free place."""
    paint = _random_paint(generator, hues)
    for _ in range(TRIES):
        if all(_stands_out(paint, behind.paint) for behind in ground):
            break
        paint = _random_paint(generator, hues)
    return Thing(
        shape=str(generator.choice(list(SHAPES))),
        paint=paint,
        radius=float(generator.uniform(SMALLEST, LARGEST)),
        turn=float(generator.uniform(0, 2 * np.pi)),
        texture=_random_texture(generator),
        period=float(generator.uniform(0.04, 0.12)),
        depth=float(generator.uniform(0.08, 0.2)),
    )


def _random_paint(generator: np.random.Generator, hues: Floats) -> Paint:
    hue = float(generator.choice(hues) + generator.uniform(-SPREAD, SPREAD)) % 1
    grey = generator.random() < GREY_THINGS
    saturation = 0.0 if grey else float(generator.uniform(0.6, 1))
    return Paint(hue, saturation, float(generator.uniform(0.12, 0.88)))


def _stands_out(paint: Paint, behind: Paint) -> bool:
    """Whether the paint differs from one behind it by `CONTRAST` in luma or chroma."""
    difference = abs(paint.brightness - behind.brightness)
    return difference > CONTRAST or float(np.ptp(paint.rgb() - behind.rgb())) > 2 * CONTRAST
