"""Permutations of patches that chance is measured by, and what they say of many heads at once."""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import Floats, Indices

_TIE = 1e-5  # of a correlation: two that differ by less are equal up to rounding


def moved_grids(rows: int, columns: int, count: int, seed: int) -> Indices:
    """Ways to lay the image over its grid that keep neighbours together, (way, patch).

    The image is shifted around the edges, and mirrored or (a square one) turned: entry p is the
    patch whose look comes to p. Nearby patches look alike; a free permutation would tear them
    apart, and then every head with any order in space seems to follow colours (Guillot and Rousset
    2013, "Dismantling the Mantel tests"): with scores and scenes that were both smooth and had
    nothing to do with each other, a level of 0.05 was passed in 38 of 40 images, here in 2. Shifts
    around the edges keep that order (Lotwick and Silverman 1982; Harms et al. 2001). `count`
    different ones are drawn, or all there are; the image as it is is none of them.
    """
    grid = np.arange(rows * columns).reshape(rows, columns)
    turned = [grid, grid[::-1], grid[:, ::-1], grid[::-1, ::-1]]
    if rows == columns:
        turned += [each.T for each in turned]
    total = len(turned) * rows * columns
    drawn = np.random.default_rng(seed).permutation(np.arange(1, total))[:count]
    moved = [
        np.roll(turned[number // grid.size], np.divmod(number % grid.size, columns), (0, 1)).ravel()
        for number in drawn
    ]
    return np.array(moved, dtype=np.intp).reshape(-1, grid.size)


def shuffled(size: int, count: int, seed: int) -> Indices:
    """`count` random permutations of so many patches, (permutation, patch)."""
    draw = np.random.default_rng(seed)
    return np.array([draw.permutation(size) for _ in range(count)], dtype=np.intp)


def p_values(observed: Floats, chance: Floats) -> Floats:
    """(1 + permutations that reach it) / (1 + all), (head,); nan where nothing was observed.

    `observed` (head,) is compared with `chance` (permutation, head), one-sided.
    """
    reached = (np.nan_to_num(chance, nan=np.inf) >= observed - _TIE).sum(axis=0)
    return np.where(np.isnan(observed), np.nan, (1 + reached) / (1 + len(chance)))


def adjusted_p_values(observed: Floats, chance: Floats) -> Floats:
    """P-values corrected for the number of heads: that of any false alarm among them, (head,).

    Step-down maxima over heads (Westfall and Young 1993; Nichols and Holmes 2002) of correlations
    in units of each head's own mean and sd over all permutations. All heads share the permutations,
    so that what they have in common is not paid for twice, and the smallest p is
    1 / (1 + permutations) however many heads there are.
    """
    result = np.full(observed.shape, np.nan)
    known = np.flatnonzero(np.isfinite(observed))
    if not known.size:
        return result
    drawn = np.where(np.isnan(chance), observed, chance)  # no answer counts against the head
    together = np.concatenate([observed[None], drawn])[:, known]
    spread = np.maximum(together.std(axis=0), _TIE)
    units = (together - together.mean(axis=0)) / spread
    ascending = np.argsort(units[0], kind="stable")
    largest = np.maximum.accumulate(units[1:, ascending], axis=1)  # over weaker heads and itself
    reached = (largest >= units[0, ascending] - _TIE / spread[ascending]).sum(axis=0)
    p = (1 + reached) / (1 + len(chance))
    result[known[ascending]] = np.maximum.accumulate(p[::-1])[::-1]
    return result
