"""Traces of images made by hand: the looks are known, and so is what each head follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.model.trace import Layer, Patches, Token, Trace

Float = np.ndarray
SIZE = 4  # side of a patch in pixels


def picture(colours: Float, size: int = SIZE, first: int = 1) -> Patches:
    """Patches of one colour each; `colours` are (row, column, 3), 0 to 1."""
    pixels = np.rint(np.asarray(colours) * 255).astype(np.uint8)
    pixels = pixels.repeat(size, axis=0).repeat(size, axis=1)
    rows, columns = np.asarray(colours).shape[:2]
    return Patches(pixels, rows, columns, size, first, pixels.shape[:2])


def tokens_of(patches: Patches, specials: Sequence[str]) -> tuple[Token, ...]:
    named = [
        Token(name, name, -1, special=True, segment=0, position=i, word=-1)
        for i, name in enumerate(specials)
    ]
    for place in range(patches.count):
        row, column = divmod(place, patches.columns)
        name = f"r{row + 1}c{column + 1}"
        token = Token(name, name, -1, special=False, segment=0, position=len(named), word=place)
        named.append(replace(token, row=row, column=column))
    return tuple(named)


def image_trace(
    patches: Patches,
    queries: Float,
    keys: Float,
    values: Float | None = None,
    specials: Sequence[str] = ("[CLS]",),
) -> Trace:
    """A trace of these vectors (layer, head, token, dim) for an image, scaling 1."""
    q, k = queries.astype(np.float32), keys.astype(np.float32)
    v = k.copy() if values is None else values.astype(np.float32)
    patches = replace(patches, first=len(specials))
    rules = (Layer(1.0, None),) * len(q)
    tokens = tokens_of(patches, specials)
    return Trace("by hand", tokens, q, k, v, rules, causal=False, patches=patches)


def with_attention(patches: Patches, weights: Float, specials: Sequence[str] = ("[CLS]",)) -> Trace:
    """A trace whose attention is `weights` (layer, head, token, token)."""
    keys = np.broadcast_to(np.eye(weights.shape[-1]), weights.shape).copy()
    return image_trace(patches, np.log(weights), keys, specials=specials)


def with_scores(patches: Patches, scores: Sequence[Float]) -> Trace:
    """One layer of heads with these scores (patch, patch); CLS scores 0 with everything."""
    size = patches.count + 1
    queries = np.zeros((1, len(scores), size, size))
    queries[0, :, 1:, 1:] = scores
    return image_trace(patches, queries, np.broadcast_to(np.eye(size), queries.shape).copy())


def of_hue(hue: Float, value: Float | float = 0.9, saturation: float = 0.8) -> NDArray[np.float64]:
    """HSV hue (row, column) as sRGB (row, column, 3), worked out as Smith 1978 does."""
    sixth = (np.asarray(hue) % 1)[..., None] * 6
    wheel = np.clip(np.abs((sixth + np.array([0.0, 4.0, 2.0])) % 6 - 3) - 1, 0, 1)
    return np.asarray(np.broadcast_to(value, hue.shape))[..., None] * (1 - saturation * (1 - wheel))


def confetti(seed: int, rows: int = 10, columns: int = 10) -> Patches:
    """Patches of random hue and random brightness, neither of which tells anything of the other."""
    draw = np.random.default_rng(seed)
    hue, value = draw.random((rows, columns)), draw.uniform(0.35, 1, (rows, columns))
    return picture(of_hue(hue, value))


def scene(seed: int, rows: int = 12, columns: int = 12, shapes: int = 4) -> Patches:
    """Rectangles of random colours over a plain ground: neighbours look alike."""
    draw = np.random.default_rng(seed)
    hue = np.full((rows, columns), draw.random())
    value = np.full((rows, columns), draw.uniform(0.3, 1))
    for _ in range(shapes):
        top, left = draw.integers(0, rows - 3), draw.integers(0, columns - 3)
        box = slice(top, top + draw.integers(3, 6)), slice(left, left + draw.integers(3, 6))
        hue[box], value[box] = draw.random(), draw.uniform(0.3, 1)
    noise = draw.normal(0, 0.015, (2, rows, columns))
    return picture(of_hue(hue + noise[0], np.clip(value + noise[1], 0, 1)))
