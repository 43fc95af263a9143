"""The sample scenes, arranged by hand; each function takes the side in pixels."""

from __future__ import annotations

import numpy as np

from core.model.bundled.training.drawing import HUES, SHAPES, Ground, Paint, Scene, Thing, compose

PALE = Ground(Paint(0.6, 0.15, 0.88))
DARK = Ground(Paint(0.66, 0.5, 0.16))
NINE = [(column, row) for row in (0.2, 0.5, 0.8) for column in (0.2, 0.5, 0.8)]


def three_shapes(side: int) -> Scene:
    """A red circle, a blue square and a green triangle on a pale ground."""
    things = (
        Thing("circle", Paint(HUES["red"], 0.9, 0.42), 0.27, 0.3, 0.17),
        Thing("square", Paint(HUES["blue"], 0.9, 0.3), 0.72, 0.36, 0.17),
        Thing("triangle", Paint(HUES["green"], 0.9, 0.55), 0.45, 0.74, 0.2, turn=np.pi),
    )
    return compose(PALE, things, side)


def crowd(side: int) -> Scene:
    """Twenty-four shapes of six hues on a graded ground."""
    generator = np.random.default_rng(5)
    hues, shapes = list(HUES.values()), list(SHAPES)
    things = [
        Thing(
            shapes[int(generator.integers(len(shapes)))],
            Paint(hues[(row + 2 * column) % 6], 0.9, float(generator.uniform(0.35, 0.75))),
            (column + 0.5) / 5 + float(generator.uniform(-0.02, 0.02)),
            (row + 0.5) / 5 + float(generator.uniform(-0.02, 0.02)),
            0.085,
            turn=float(generator.uniform(0, 2 * np.pi)),
        )
        for row in range(5)
        for column in range(5)
        if (row, column) != (2, 2)
    ]
    ground = Ground(Paint(0.6, 0.2, 0.1), other=Paint(0.8, 0.2, 0.22), turn=np.pi / 4)
    return compose(ground, tuple(things), side)


def odd_one_out(side: int) -> Scene:
    """Fifteen blue circles, and a yellow square among them."""
    things = [
        Thing("circle", Paint(HUES["blue"], 0.8, 0.45), (n % 4 + 0.5) / 4, (n // 4 + 0.5) / 4, 0.09)
        for n in range(16)
    ]
    odd = things[6]
    things[6] = Thing("square", Paint(HUES["yellow"], 0.95, 0.8), odd.x, odd.y, 0.1)
    return compose(DARK, tuple(things), side)


def repeated_pair(side: int) -> Scene:
    """A magenta star beside a green ring, twice."""
    things = []
    for x, y in ((0.2, 0.22), (0.58, 0.76)):
        things.append(Thing("star", Paint(HUES["magenta"], 0.9, 0.5), x, y, 0.13))
        things.append(Thing("ring", Paint(HUES["green"], 0.9, 0.5), x + 0.24, y, 0.11))
    return compose(Ground(Paint(0.1, 0.2, 0.85)), tuple(things), side)


def same_hue(side: int) -> Scene:
    """Nine discs of one hue, from dark to bright, in mixed order, on pale grey."""
    order = (4, 8, 1, 6, 0, 3, 7, 2, 5)
    paints = [Paint(HUES["red"], 0.9, 0.14 + 0.08 * step) for step in order]
    return _nine(paints, side)


def same_brightness(side: int) -> Scene:
    """Nine discs of nine hues, all of one brightness, in mixed order, on pale grey."""
    order = (4, 8, 1, 6, 0, 3, 7, 2, 5)
    return _nine([Paint(step / 9, 0.9, 0.5) for step in order], side)


def _nine(paints: list[Paint], side: int) -> Scene:
    places = zip(paints, NINE, strict=True)
    things = tuple(Thing("circle", paint, x, y, 0.12) for paint, (x, y) in places)
    return compose(Ground(Paint(0.0, 0.0, 0.93)), things, side)
