"""A scene drawn at random: a few paints, a ground, and two to seven things."""

from __future__ import annotations

import numpy as np

from core.model.bundled.training.drawing.paint import HUES, Paint
from core.model.bundled.training.drawing.scene import Ground, Scene, Thing, compose
from core.model.bundled.training.drawing.shapes import SHAPES
from core.model.bundled.training.drawing.textures import TEXTURES

SMALLEST, LARGEST = 0.08, 0.24  # radius of a thing, as a share of the picture's side
PLAIN = 0.5  # share of the things without a texture
GREY = 0.12  # share of the things, and GREY_GROUND of the grounds, without a hue
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
            thing = _moved(things[-1], thing)
        if place := _free_place(generator, thing, things):
            things.append(_moved(thing, thing, *place))
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


def _random_thing(
    generator: np.random.Generator,
    hues: np.ndarray[tuple[int], np.dtype[np.float64]],
    ground: Ground,
) -> Thing:
    """One of these hues; not yet in a free place."""
    paint = _random_paint(generator, hues)
    for _ in range(TRIES):
        if _stands_out(paint, ground):
            break
        paint = _random_paint(generator, hues)
    return Thing(
        shape=str(generator.choice(list(SHAPES))),
        paint=paint,
        x=0.5,
        y=0.5,
        radius=float(generator.uniform(SMALLEST, LARGEST)),
        turn=float(generator.uniform(0, 2 * np.pi)),
        texture="plain" if generator.random() < PLAIN else str(generator.choice(list(TEXTURES))),
        period=float(generator.uniform(0.04, 0.12)),
        depth=float(generator.uniform(0.08, 0.2)),
    )


def _random_paint(
    generator: np.random.Generator, hues: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> Paint:
    hue = float(generator.choice(hues) + generator.uniform(-SPREAD, SPREAD)) % 1
    grey = generator.random() < GREY
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


def _moved(thing: Thing, other: Thing, x: float = 0.5, y: float = 0.5) -> Thing:
    """The thing at a place, as large as `other`."""
    return Thing(
        shape=thing.shape,
        paint=thing.paint,
        x=x,
        y=y,
        radius=other.radius,
        turn=thing.turn,
        texture=thing.texture,
        period=thing.period,
        depth=thing.depth,
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
