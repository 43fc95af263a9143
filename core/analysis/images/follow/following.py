"""What each head follows in an image: looks or position of the patches, each beyond the rest.

A head follows hue when the scores of its queries are higher for keys of a nearby hue; so with
brightness and with spatial frequency. Three traps lie here, and the numbers that decide avoid them:

- Nearby patches look alike, so a head that looks near correlates with hue. So the deciding
  correlation is the one beyond position (same row, same column, distance) and beyond the other
  looks; for position beyond all looks.
- Some order in space is left even so. Chance is therefore measured by moving the whole image over
  the grid (:func:`permutations.moved_grids`), which keeps neighbours together, with the same
  statistic worked out anew for each. On an image where a look is a function of the place, such as
  a gradient or rings, no head is said to follow it: one cannot know (`by_place`).
- Many heads are asked. p is corrected for all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from core.analysis.arrays import Floats, Indices, one_thread, sample_indices
from core.analysis.images.closeness import (
    colour_closeness,
    hue_closeness,
    position_closeness,
    value_closeness,
)
from core.analysis.images.colour import PatchLooks, patch_looks
from core.analysis.images.follow.by_place import MAX_BY_PLACE, by_place, hue_by_place
from core.analysis.images.follow.partial import (
    Ground,
    Heads,
    Question,
    beyond,
    prepared,
    within_rows,
)
from core.analysis.images.follow.permutations import moved_grids, shuffled
from core.analysis.images.frequency import fine_shares
from core.analysis.images.patch_scores import patches_of, scores_between
from core.model.trace import Array, Patches, Trace

FEATURES = ("hue", "brightness", "frequency", "row", "column", "distance")
LOOKS, PLACES = slice(0, 3), slice(3, 6)  # of FEATURES
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
    # The same beyond what the other features explain; also nan for a look that is a matter of place
    beyond: Floats
    chance: Floats  # that of each permutation, (permutation, feature, layer, head)
    patches: int  # compared
    count: int  # patches of the image
    layer_labels: tuple[int, ...]  # of the layers, from 1
    by_place: tuple[float, ...]  # of each look, how much of it is a matter of place


def follow_alike(
    traces: Sequence[Trace], permutations: int = PERMUTATIONS, seed: int = SEED
) -> list[Following]:
    """What the heads of each of these traces follow, which are of the same patches.

    Small grids have fewer ways to be moved than `permutations`: then all of them are used. A model
    and its untrained twin are asked about the same closeness of patches, moved in the same ways,
    and working that out takes most of the time.
    """
    grid = patches_of(traces[0])
    if any(not np.array_equal(patches_of(each).pixels, grid.pixels) for each in traces):
        raise ValueError("traces of different images")
    looks = _Looks(patch_looks(traces[0]), fine_shares(grid.cells))
    placed = looks.by_place(grid)
    sample = sample_indices(grid.count, MAX_PATCHES, seed)
    with one_thread():
        scores = np.concatenate([_patch_scores(each, sample) for each in traces])
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
    unknown = np.flatnonzero(np.array(placed) > MAX_BY_PLACE)
    observed[:, unknown] = chance[:, unknown] = np.nan
    ends = np.cumsum([layers * heads for layers, heads, *_ in (each.shape for each in traces)])
    parts = (np.split(each, ends[:-1], axis=-1) for each in (plain, observed[0], chance))
    return [
        Following(
            own_plain.reshape(-1, *trace.shape[:2]),
            own.reshape(-1, *trace.shape[:2]),
            own_chance.reshape(*chance.shape[:2], *trace.shape[:2]),
            len(sample),
            grid.count,
            trace.layer_labels,
            placed,
        )
        for trace, own_plain, own, own_chance in zip(traces, *parts, strict=True)
    ]


class _Looks(NamedTuple):
    """How patches look: the hue and brightness of each, and how fine it is."""

    colour: PatchLooks
    frequency: Floats

    def at(self, patches: Indices) -> _Looks:
        """Of these patches, in this order."""
        return _Looks(self.colour.at(patches), self.frequency[patches])

    def by_place(self, grid: Patches) -> tuple[float, ...]:
        """How much of each look is a matter of place, in the order of `LOOKS`."""
        shape = grid.rows, grid.columns
        numbers = (self.colour.brightness, self.frequency)
        shares = (by_place(each[:, None], *shape) for each in numbers)
        return (hue_by_place(self.colour, *shape), *shares)


def _patch_scores(trace: Trace, sample: Indices) -> Array:
    """Scores between these patches in all heads, (layer x head, patch, patch)."""
    tokens = sample + patches_of(trace).first
    layers = range(trace.shape[0])
    return np.concatenate([scores_between(trace, each, tokens, tokens) for each in layers])


def _plain(scores: Array, looks: _Looks, places: Floats) -> Floats:
    """Correlation of each head with each feature, (feature, head)."""
    colour, ones = looks.colour, np.ones(len(looks.frequency))
    hue = np.full(len(scores), np.nan)
    if Ground(places, colour.saturation).answerable:
        hue = within_rows(scores, hue_closeness(colour), colour.saturation)
    others = (value_closeness(colour.brightness), value_closeness(looks.frequency), *places)
    return np.stack([hue, *(within_rows(scores, target, ones) for target in others)])


def _asking_looks(
    looks: _Looks, sample: Indices, grid: Patches
) -> Callable[[Indices], list[Question]]:
    """Questions about each look of the image laid over its grid in a given way."""
    places, ones = position_closeness(sample, grid.columns), np.ones(len(sample))
    base = Ground(places, ones)

    def ask(way: Indices) -> list[Question]:
        moved = looks.at(way[sample])
        colour = colour_closeness(moved.colour)
        brightness = value_closeness(moved.colour.brightness)
        fine = value_closeness(moved.frequency)
        beside_hue = Ground(np.stack([*places, brightness, fine]), moved.colour.saturation)
        return [
            Question(hue_closeness(moved.colour), beside_hue),
            Question(brightness, Ground(np.stack([*colour, fine]), ones, base)),
            Question(fine, Ground(np.stack([*colour, brightness]), ones, base)),
        ]

    return ask


def _asking_places(
    looks: _Looks, sample: Indices, grid: Patches
) -> Callable[[Indices], list[Question]]:
    """Questions about row, column and distance of the patches put in another order."""
    numbers = (looks.colour.brightness, looks.frequency)
    controls = np.stack([*map(value_closeness, numbers), *colour_closeness(looks.colour)])
    ground = Ground(controls, np.ones(len(sample)))  # one for all orders, worked out once

    def ask(order: Indices) -> list[Question]:
        places = position_closeness(sample[order], grid.columns)
        return [Question(place, ground) for place in places]

    return ask


def _answers(heads: Heads, ask: Callable[[Indices], list[Question]], ways: Indices) -> Floats:
    """Partial correlations of what is asked of each way, (way, question, head)."""
    size = heads.scores.shape[-1]
    block = max(1, _BLOCK_NUMBERS // (18 * size**2))
    parts = []
    for start in range(0, len(ways), block):
        asked = [ask(way) for way in ways[start : start + block]]
        flat = beyond(heads, [question for each in asked for question in each])
        parts.append(flat.reshape(len(asked), -1, len(heads.scores)))
    return np.concatenate(parts)
