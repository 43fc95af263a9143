"""Heads of an image worth a look at once: a few rows of each head say what it leans to.

These are quick figures to choose examples by. Whether a head follows hue or brightness at all is
for :func:`core.analysis.images.selectivity.selectivity`, which tests it against moved images.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Floats, one_thread, sample_indices
from core.analysis.images.colour import oklab
from core.analysis.images.distance import centre_distances
from core.analysis.images.patch_scores import cls_position, patches_of, scores_between
from core.model.trace import Trace

MAX_QUERIES = 200  # patches whose rows are read
FAR = 3.0  # patches: nearer ones are alike in colour because they are near


@dataclass(frozen=True, eq=False)
class HeadMarks:
    """Means over patch queries, float64 (layer, head)."""

    itself: Floats  # attention to the patch itself
    cls: Floats | None  # attention to CLS; None without one
    # How much nearer in colour the patches attended to are than patches are on average, of those at
    # least `FAR` away: 0 as uniform attention, 1 all of the query's own colour
    colour: Floats


def head_marks(trace: Trace) -> HeadMarks:
    """The marks of every head, from at most `MAX_QUERIES` patches; `ValueError` for a text."""
    patches = patches_of(trace)
    chosen = sample_indices(patches.count, MAX_QUERIES)
    lab = oklab(patches.colours)
    apart = np.linalg.norm(lab[chosen, None] - lab, axis=-1)  # in colour, (query, patch)
    far = (centre_distances(patches)[chosen] >= FAR * patches.size).astype(np.float64)
    uniform = (apart * far).sum(axis=1) / np.maximum(far.sum(axis=1), 1)
    counted = uniform > 0
    cls, everything = cls_position(trace), np.arange(len(trace.key_tokens))
    shape = trace.shape[:2]
    itself, on_cls, colour = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    with one_thread():
        for layer in range(shape[0]):
            scores = scores_between(trace, layer, chosen + patches.first, everything)
            weights = trace.layers[layer].weights(scores)  # (head, query, key)
            itself[layer] = weights[:, np.arange(len(chosen)), chosen + patches.first].mean(axis=1)
            if cls is not None:
                on_cls[layer] = weights[:, :, cls].mean(axis=1)
            away = weights[:, :, patches.tokens] * far
            mass = away.sum(axis=2, dtype=np.float64)
            means = np.divide(
                (away * apart).sum(axis=2),
                mass,
                out=np.tile(uniform, (shape[1], 1)),
                where=mass > 0,
            )
            if counted.any():
                colour[layer] = 1 - (means[:, counted] / uniform[counted]).mean(axis=1)
    return HeadMarks(itself, on_cls if cls is not None else None, colour)
