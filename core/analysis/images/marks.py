"""Heads of an image worth a look first: a few rows of each head show what it tends to.

These are quick figures for choosing examples. Whether a head really follows hue or brightness is
up to :func:`core.analysis.images.selectivity.selectivity`, which tests it against moved images.
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
FAR = 3.0  # patches: closer ones have similar colours simply because they are close


@dataclass(frozen=True, eq=False)
class HeadMarks:
    """Means over patch queries, float64 (layer, head)."""

    itself: Floats  # attention to the patch itself
    cls: Floats | None  # attention to CLS; None if there is none
    # How much closer in colour to the query the patches attended to are than average, among those
    # at least `FAR` away: 0 like uniform attention, 1 all of the query's own colour
    colour: Floats


def head_marks(trace: Trace) -> HeadMarks:
    """The marks of every head, from at most `MAX_QUERIES` patches; `ValueError` for a text."""
    patches = patches_of(trace)
    chosen = sample_indices(patches.count, MAX_QUERIES)
    lab = oklab(patches.colours)
    apart = np.linalg.norm(lab[chosen, None] - lab, axis=-1)  # in colour, (query, patch)
    far = (centre_distances(patches)[chosen] >= FAR * patches.size).astype(np.float64)
    uniform = (apart * far).sum(axis=1) / np.maximum(far.sum(axis=1), 1)
    has_far = uniform > 0
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
            if has_far.any():
                colour[layer] = 1 - (means[:, has_far] / uniform[has_far]).mean(axis=1)
    return HeadMarks(itself, on_cls if cls is not None else None, colour)
