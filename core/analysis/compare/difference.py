"""How differently heads attend on two sides whose words are aligned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Floats, Indices, one_thread
from core.analysis.compare.alignment import Alignment
from core.analysis.head_patterns import similarity
from core.analysis.statistics import interval_of_mean
from core.model.trace import Array, Trace


@dataclass(frozen=True, eq=False)
class Matching:
    """For each head of A, all layers in order, a head of B."""

    partner: Indices  # (heads of A,); -1 where none is left
    distance: Floats  # mean over the samples; nan without a partner
    low: Floats  # its bootstrap interval; nan for fewer than 5 samples
    high: Floats


def aligned_rows(trace: Trace, groups: Sequence[Sequence[int]], layer: int) -> Array:
    """Attention of a layer between groups of tokens, float32 (head, group, group + 1).

    Mean over the rows of a group, sum over its columns (Clark et al. 2019, section 4.1). The last
    column is the attention to all other tokens and to a learned sink, so that rows sum to one.
    """
    members = np.zeros((trace.shape[2], len(groups) + 1), dtype=np.float32)
    for column, group in enumerate(groups):
        members[list(group), column] = 1
    members[:, -1] = 1 - members.sum(axis=1)
    means = (members / np.maximum(members.sum(axis=0), 1))[:, :-1].T
    with one_thread():
        rows = means @ (trace.attention(layer) @ members)
    if trace.layers[layer].sink is not None:
        rows[..., -1] += 1 - rows.sum(axis=-1)
    return rows


def head_distances(a: Trace, b: Trace, alignment: Alignment) -> Floats:
    """How differently each head attends on two sides, float64 (layer, head), 0 to 1.

    The Jensen-Shannon distance of two rows is the square root of their divergence in bits (Endres
    and Schindelin 2003); this is its mean over the pairs. Equal sides differ by exactly 0.
    Needs a pair. Raises `ValueError` where the models differ in layers or heads.
    """
    return _distances(*np.stack(_rows(a, b, alignment)))


def between_heads(a: Trace, b: Trace, alignment: Alignment) -> Floats:
    """The same distance of each head of A to each head of B, (heads of A, heads of B)."""
    heads = [rows.reshape(-1, *rows.shape[2:]) for rows in _rows(a, b, alignment)]
    count = len(heads[0])
    return similarity.head_distances(np.concatenate(heads))[:count, count:]


def largest_turn(change: Array) -> tuple[int, int, int] | None:
    """The row that changed most, and its columns that lost and gained most; None for no change."""
    if not change.any():
        return None
    row = np.abs(change).sum(axis=1).argmax()
    return int(row), int(change[row].argmin()), int(change[row].argmax())


def match_heads(distances: Floats, *, one_to_one: bool = True) -> Matching:
    """The most alike head of B for each head of A, from `distances` (sample, heads A, heads B).

    With `one_to_one`, by the assignment with the least sum of mean distances (Kuhn 1955), so that
    each head of B is taken once; otherwise each head of A has its nearest.
    """
    from scipy.optimize import linear_sum_assignment

    mean = distances.mean(axis=0)
    nearest = np.arange(len(mean)), mean.argmin(axis=1)
    heads, partners = linear_sum_assignment(mean) if one_to_one else nearest
    partner, found = np.full(len(mean), -1), np.full((3, len(mean)), np.nan)
    partner[heads], chosen = partners, distances[:, heads, partners]
    found[:, heads] = [chosen.mean(axis=0), *interval_of_mean(chosen)]
    return Matching(partner, *found)


def _rows(a: Trace, b: Trace, alignment: Alignment) -> list[Array]:
    """The aligned rows of all layers of A, and of B, float32 (layer, head, pair, pair + 1)."""
    return [
        np.stack([aligned_rows(trace, groups, layer) for layer in range(trace.shape[0])])
        for trace, groups in zip((a, b), alignment.groups, strict=True)
    ]


def _distances(a: Array, b: Array) -> Floats:
    """Mean over rows (..., row, column) of their Jensen-Shannon distance, float64 (...)."""
    of_a, of_b = a.astype(np.float64), b.astype(np.float64)
    divergence = _entropy((of_a + of_b) / 2) - (_entropy(of_a) + _entropy(of_b)) / 2
    return np.sqrt(divergence.clip(0, 1)).mean(axis=-1)


def _entropy(rows: Floats) -> Floats:
    """Entropy of each row in bits; 0 log 0 counts as 0."""
    return -(rows * np.log(np.maximum(rows, np.finfo(rows.dtype).tiny))).sum(axis=-1) / np.log(2)
