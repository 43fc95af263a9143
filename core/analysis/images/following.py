"""What each head follows in an image: hue, brightness or position of the patches, beyond the rest.

A head follows hue when the scores of its queries are higher for keys of a nearby hue. Three traps
lie here, and the numbers that decide avoid them:

- Nearby patches look alike, so a head that looks near correlates with hue. So the deciding
  correlation is the one beyond position (same row, same column, distance) and beyond brightness;
  for brightness beyond position and hue, for position beyond both looks.
- Some order in space is left even so. Chance is therefore measured by moving the whole image over
  the grid (:func:`permutations.moved_grids`), which keeps neighbours together, with the same
  statistic worked out anew for each. On an image where hue is a function of the place, such as a
  gradient, moving changes nothing, and no head is said to follow hue: one cannot know.
- Many heads are asked. p is corrected for all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.arrays import one_thread
from core.analysis.images.closeness import (
    brightness_closeness,
    colour_closeness,
    hue_closeness,
    position_closeness,
)
from core.analysis.images.colour import patch_looks
from core.analysis.images.partial import Ground, Question, beyond, prepared, within_rows
from core.analysis.images.patch_scores import patches_of, scores_between
from core.analysis.images.permutations import moved_grids, shuffled

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.analysis.arrays import Floats, Indices
    from core.analysis.images.colour import PatchLooks
    from core.analysis.images.partial import Heads
    from core.model.trace import Array, Patches, Trace

FEATURES = ("hue", "brightness", "row", "column", "distance")
LOOKS, PLACES = slice(0, 2), slice(2, 5)  # of FEATURES
PERMUTATIONS = 199  # the smallest p is 0.005
# Of more patches (a grid of 16 x 16 has as many) a random sample stands for all: pairs grow with
# the square, and a correlation over 65,000 of them is known better than anything said of it.
MAX_PATCHES = 256
SEED = 20_230_504
_BLOCK_NUMBERS = 8_000_000  # of a block of questions that are worked out at once: 64 MB


@dataclass(frozen=True, eq=False)
class Following:
    """How the heads of one image correlate with closeness of patches, by feature of `FEATURES`."""

    # Over all pairs of different patches, both sides less their row's mean; of hue weighted by the
    # product of the saturations. (feature, layer, head); nan where the image has no such feature
    plain: Floats
    beyond: Floats  # the same beyond what the other features explain
    chance: Floats  # that of each permutation, (permutation, feature, layer, head)
    patches: int  # compared
    count: int  # patches of the image
    numbers: tuple[int, ...]  # of the layers, from 1


def follow(trace: Trace, permutations: int = PERMUTATIONS, seed: int = SEED) -> Following:
    """What the heads of an image follow; `ValueError` for a text.

    Small grids have fewer ways to be moved than `permutations`: then all of them are used.
    """
    grid, looks = patches_of(trace), patch_looks(trace)
    sample = sample_patches(grid.count, MAX_PATCHES, seed)
    shape = trace.shape[:2]
    with one_thread():
        scores = _patch_scores(trace, sample)
        plain = _plain(scores, looks.at(sample), position_closeness(sample, grid.columns))
        heads = prepared(scores)
        as_it_is = np.arange(grid.count)[None]
        ways = moved_grids(grid.rows, grid.columns, permutations, seed)
        orders = shuffled(len(sample), len(ways), seed)
        ask_looks = _asking_looks(looks, sample, grid)
        ask_places = _asking_places(looks.at(sample), sample, grid)
        observed = np.concatenate(
            [
                _answers(heads, ask_looks, as_it_is),
                _answers(heads, ask_places, np.arange(len(sample))[None]),
            ],
            axis=1,
        )
        chance = np.concatenate(
            [_answers(heads, ask_looks, ways), _answers(heads, ask_places, orders)], axis=1
        )
    return Following(
        plain.reshape(-1, *shape),
        observed[0].reshape(-1, *shape),
        chance.reshape(*chance.shape[:2], *shape),
        len(sample),
        grid.count,
        trace.numbers,
    )


def sample_patches(count: int, max_count: int, seed: int) -> Indices:
    """All of `count` patches, or a random sample, ascending."""
    if count <= max_count:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, max_count, replace=False))


def _patch_scores(trace: Trace, sample: Indices) -> Array:
    """Scores between these patches in all heads, (layer x head, patch, patch)."""
    tokens = sample + patches_of(trace).first
    layers = range(trace.shape[0])
    return np.concatenate([scores_between(trace, each, tokens, tokens) for each in layers])


def _plain(scores: Array, looks: PatchLooks, places: Floats) -> Floats:
    """Correlation of each head with each feature, (feature, head)."""
    ones = np.ones(len(looks.hue))
    hue = np.full(len(scores), np.nan)
    if Ground(places, looks.saturation).answerable:
        hue = within_rows(scores, hue_closeness(looks), looks.saturation)
    others = (brightness_closeness(looks), *places)
    return np.stack([hue, *(within_rows(scores, target, ones) for target in others)])


def _asking_looks(
    looks: PatchLooks, sample: Indices, grid: Patches
) -> Callable[[Indices], list[Question]]:
    """Questions about hue and brightness of the image laid over its grid in a given way."""
    places, ones = position_closeness(sample, grid.columns), np.ones(len(sample))

    def ask(way: Indices) -> list[Question]:
        moved = looks.at(way[sample])
        brightness, colour = brightness_closeness(moved), colour_closeness(moved)
        return [
            Question(
                hue_closeness(moved), Ground(np.stack([*places, brightness]), moved.saturation)
            ),
            Question(brightness, Ground(np.stack([*places, *colour]), ones)),
        ]

    return ask


def _asking_places(
    looks: PatchLooks, sample: Indices, grid: Patches
) -> Callable[[Indices], list[Question]]:
    """Questions about row, column and distance of the patches put in another order."""
    controls = np.stack([brightness_closeness(looks), *colour_closeness(looks)])
    ground = Ground(controls, np.ones(len(sample)))  # one for all orders, worked out once

    def ask(order: Indices) -> list[Question]:
        places = position_closeness(sample[order], grid.columns)
        return [Question(place, ground) for place in places]

    return ask


def _answers(heads: Heads, ask: Callable[[Indices], list[Question]], ways: Indices) -> Floats:
    """Partial correlations of what is asked of each way, (way, question, head)."""
    size = heads.scores.shape[-1]
    block = max(1, _BLOCK_NUMBERS // (12 * size**2))
    parts = []
    for start in range(0, len(ways), block):
        asked = [ask(way) for way in ways[start : start + block]]
        flat = beyond(heads, [question for each in asked for question in each])
        parts.append(flat.reshape(len(asked), -1, len(heads.scores)))
    return np.concatenate(parts)
