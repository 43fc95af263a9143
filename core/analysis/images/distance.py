"""How far patches look: the mean attention distance of each head, in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.arrays import Floats, one_thread
from core.analysis.images.patch_scores import patches_of
from core.model.trace import Array, Patches, Trace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class AttentionDistances:
    """Mean attention distance of each head, for one image or on average over several."""

    pixels: Floats  # (layer, head)
    uniform: float  # pixels, for uniform attention: mean over all pairs, self-pairs included
    images: int
    layer_labels: tuple[int, ...]  # of the layers, from 1


def attention_distance(trace: Trace) -> AttentionDistances:
    """How far the patches of an image look in each head, in pixels of the model's input.

    Attention to patches times the distance between centres, summed over keys and averaged over
    patch queries; CLS and registers are left out and rows divided by what they give to patches
    (Dosovitskiy et al. 2021, figure 7 and appendix D.7). Queries that attend to no patch are left
    out; nan if all are. `ValueError` for a text.
    """
    patches = patches_of(trace)
    apart = centre_distances(patches)
    layers, heads = trace.shape[:2]
    pixels = np.empty((layers, heads))
    with one_thread():
        for layer in range(layers):
            for head in range(heads):
                weights = trace.attention(layer, head)[patches.tokens, patches.tokens]
                sums = weights.sum(axis=1, dtype=np.float64)
                totals = np.einsum("ij,ij->i", weights, apart).astype(np.float64)
                attends = sums > 0
                pixels[layer, head] = (
                    (totals[attends] / sums[attends]).mean() if attends.any() else np.nan
                )
    uniform = float(apart.mean(dtype=np.float64))
    return AttentionDistances(pixels, uniform, 1, trace.layer_labels)


def mean_of_distances(parts: Sequence[AttentionDistances]) -> AttentionDistances:
    """The mean over images, each counting the same."""
    return AttentionDistances(
        np.mean([part.pixels for part in parts], axis=0),
        float(np.mean([part.uniform for part in parts])),
        sum(part.images for part in parts),
        parts[0].layer_labels,
    )


def distance_table(distances: AttentionDistances) -> pd.DataFrame:
    """A row for each head.

    Columns: `layer` and `head` (from 1), `pixels` (mean attention distance), `of_uniform` (relative
    to uniform attention) and `images` (over how many).
    """
    import pandas as pd

    layers, heads = distances.pixels.shape
    return pd.DataFrame(
        {
            "layer": np.repeat(distances.layer_labels, heads),
            "head": np.tile(np.arange(1, heads + 1), layers),
            "pixels": distances.pixels.ravel(),
            "of_uniform": distances.pixels.ravel() / distances.uniform,
            "images": distances.images,
        }
    )


def centre_distances(patches: Patches) -> Array:
    """Distances between the centres of patches in pixels, float32 (patch, patch)."""
    row, column = np.divmod(np.arange(patches.count, dtype=np.float32), np.float32(patches.columns))
    apart = np.hypot(row[:, None] - row, column[:, None] - column)
    return np.asarray(apart * np.float32(patches.size))
