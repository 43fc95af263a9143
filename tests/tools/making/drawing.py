"""Scenes of coloured shapes and mosaics, the same for the same seed. NumPy only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

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


def mix(hue: float | Floats, saturation: float | Floats, brightness: float | Floats) -> Floats:
    """SRGB values (..., 3), 0 to 1, that have exactly this HSV hue and this luma.

    The pure colour of the hue is mixed with black or white until its luma is right, and then with
    the grey of that luma, which changes neither.

    >>> mix(0.0, 1.0, 0.299).round(3).tolist()  # pure red has this luma
    [1.0, 0.0, 0.0]
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
    sector = 2 * np.pi / 5
    folded = np.abs((np.arctan2(x, -y) + sector / 2) % sector - sector / 2)  # 0 at a point
    point = np.hypot(x, y) * np.exp(1j * folded) - 1
    edge = 0.45 * np.exp(0.5j * sector) - 1
    distance: Floats = (point * np.conj(edge)).imag / -np.abs(edge)
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
    across, down = (np.clip(4 * np.sin(2 * np.pi * each), -1, 1) for each in (x, y))  # soft squares
    if kind == "dots":
        return np.clip((0.3 - np.hypot(x - np.rint(x), y - np.rint(y))) * 10, -1, 1)
    if kind == "noise":  # on a lattice of half periods, the nearest for each pixel
        table = generator.uniform(-1, 1, (64, 64))
        return table[np.floor(2 * y).astype(int) % 64, np.floor(2 * x).astype(int) % 64]  # type: ignore[no-any-return]
    return {"stripes": across, "checks": across * down}.get(kind, np.zeros_like(x))


@dataclass(frozen=True)
class Surface:
    """A painted texture. Lengths are shares of the picture's side."""

    hue: float  # share of the circle as in HSV, 0 (red) to 1 (red again)
    saturation: float  # 0 (grey) to 1 (as saturated as the brightness permits)
    brightness: float  # luma, 0 (black) to 1 (white)
    texture: str  # one of `TEXTURES`, and its length
    period: float
    depth: float  # how much lighter and darker the texture makes the paint, in brightness
    turn: float  # radians, clockwise; a texture turns with its thing

    @property
    def hue_name(self) -> str:
        """The nearest of `HUES`, or "grey"."""
        return GREY if self.saturation < 0.2 else list(HUES)[round(self.hue * 6) % 6]

    def rgb(self, lighter: float = 0.0) -> Floats:
        """The sRGB values, (3,), 0 to 1, of the paint or of one that much lighter."""
        return mix(self.hue, self.saturation, np.clip(self.brightness + lighter, 0, 1))

    def turned(self, columns: Floats, rows: Floats) -> tuple[Floats, Floats]:
        """The pixels of these columns and rows in its own directions, (row, column) each."""
        cosine, sine = np.cos(self.turn), np.sin(self.turn)
        across, down = columns[None], rows[:, None]
        return across * cosine + down * sine, down * cosine - across * sine

    def pattern(self, x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
        """Its texture at these places in its own directions."""
        return texture_of(self.texture, x / self.period, y / self.period, generator)

    def colours(self, pattern: Floats) -> Floats:
        """The paint, lighter and darker where the pattern says so, (..., 3)."""
        ends = self.rgb(self.depth), self.rgb(-self.depth)
        towards = np.where(pattern[..., None] > 0, *ends) - self.rgb()
        return self.rgb() + np.abs(pattern)[..., None] * towards


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
        return f"{self.hue_name} {self.shape}"


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


# A ground is a surface and the one that it grades into along its turn, or the same surface again.
Ground = tuple[Surface, Surface]


def compose(ground: Ground, things: tuple[Thing, ...], side: int, seed: int) -> Scene:
    """Draw a scene of `side` x `side` pixels; `seed` is for textures that are random."""
    generator = np.random.default_rng(seed)
    centres = (np.arange(side) + 0.5) / side
    x, y = ground[0].turned(centres, centres)
    pattern, grade = ground[0].pattern(x, y, generator), ((x - x.min()) / np.ptp(x))[..., None]
    image = ground[0].colours(pattern)
    image += grade * (ground[1].colours(pattern) - image)
    owner = np.zeros((side, side), dtype=np.uint8)
    for number, thing in enumerate(things, start=1):
        x, y = thing.turned(centres - thing.x, centres - thing.y)
        distance = thing.radius * side * SHAPES[thing.shape](x / thing.radius, y / thing.radius)
        covered = np.clip(0.5 - distance, 0, 1)  # of each pixel, so that edges are smooth
        image += covered[..., None] * (thing.colours(thing.pattern(x, y, generator)) - image)
        owner[covered > 0.5] = number
    return Scene(np.rint(255 * image).astype(np.uint8), owner, things)


SIZES = (8, 8, 8, 16, 24)  # sides of the tiles in pixels; as small as a patch most often


def draw_mosaic(seed: int, side: int = 96, tile: int | None = None) -> NDArray[np.uint8]:
    """A mosaic of square tiles, uint8 (side, side, 3).

    Half of the mosaics take their tiles from three to eight paints; the others draw each tile's hue
    and brightness anew. Hue and brightness are independent. `tile` is the side of one in pixels,
    one of `SIZES` by default.
    """
    generator = np.random.default_rng((seed, 18))
    tile = tile or int(generator.choice(SIZES))
    count = -(-side // tile)
    few = generator.random() < 0.5
    shape = (int(generator.integers(3, 9)),) if few else (count, count)
    # One in eight has no hue.
    saturation = generator.uniform(0.4, 1, shape) * (generator.random(shape) > 1 / 8)
    colours = mix(generator.random(shape), saturation, generator.uniform(0.08, 0.92, shape))
    if few:
        colours = colours[generator.integers(0, len(colours), (count, count))]
    image = np.kron(colours, np.ones((tile, tile, 1)))[:side, :side]
    return np.rint(255 * image).astype(np.uint8)


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
            gaps = [
                np.hypot(x - each.x, y - each.y) / (thing.radius + each.radius) for each in things
            ]
            if min(gaps, default=1) > 0.9:  # they cover at most the edge of one another
                things.append(replace(thing, x=float(x), y=float(y)))
                break
    return compose(ground, tuple(things), side, seed)


def _random_ground(generator: np.random.Generator) -> Ground:
    paints = [
        _random_paint(generator, generator.random(), GREY_GROUND, (0.3, 0.9), (0.1, 0.9))
        for _ in range(2)
    ]
    grades = generator.random() < 0.4
    surface = Surface(
        **paints[0],
        texture=_random_texture(generator),
        period=generator.uniform(0.04, 0.2),
        depth=generator.uniform(0.03, 0.15),
        turn=generator.uniform(0, 2 * np.pi),
    )
    return surface, replace(surface, **paints[grades])


def _random_paint(
    generator: np.random.Generator,
    hue: float,
    greys: float,
    saturations: tuple[float, float],
    brightnesses: tuple[float, float],
) -> dict[str, Any]:
    """Fields of a surface: this hue, or with the chance of `greys` none."""
    grey = generator.random() < greys
    saturation = 0.0 if grey else generator.uniform(*saturations)
    brightness = generator.uniform(*brightnesses)
    return {"hue": hue, "saturation": saturation, "brightness": brightness}


def _random_texture(generator: np.random.Generator) -> str:
    return "plain" if generator.random() < PLAIN else str(generator.choice(TEXTURES))


def _random_thing(generator: np.random.Generator, hues: Floats, ground: Ground) -> Thing:
    """One of these hues, not yet in a free place; it stands out from the ground if one can."""
    for tried in range(1 + TRIES):
        hue = (generator.choice(hues) + generator.uniform(-SPREAD, SPREAD)) % 1
        paint = _random_paint(generator, hue, GREY_THINGS, (0.6, 1), (0.12, 0.88))
        rgb = mix(**paint)
        if tried == TRIES or all(
            abs(paint["brightness"] - behind.brightness) > CONTRAST
            or np.ptp(rgb - behind.rgb()) > 2 * CONTRAST
            for behind in ground
        ):
            break
    return Thing(
        **paint,
        shape=str(generator.choice(list(SHAPES))),
        radius=generator.uniform(SMALLEST, LARGEST),
        turn=generator.uniform(0, 2 * np.pi),
        texture=_random_texture(generator),
        period=generator.uniform(0.04, 0.12),
        depth=generator.uniform(0.08, 0.2),
    )
