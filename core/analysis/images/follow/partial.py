"""Weighted correlation over pairs of patches, of many heads at once, beyond other quantities.

A pair (i, j), i not j, weighs s_i s_j. :func:`beyond` is the partial correlation: what rows share
(softmax does not see it), what columns share (a key that draws all queries alike says nothing of
pairs) and the controls are taken out of both sides by least squares (Frisch and Waugh 1933). The
two-way part has a closed form in spite of the missing diagonal, so that many permutations can be
afforded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.analysis.arrays import Floats
from core.model.trace import Array

MIN_WEIGHING = 8.0  # effective number of patches, (sum s)^2 / sum s^2: fewer have no say
_COLLINEAR = 1e-6  # share of a quantity's length that remains; less is rounding


@dataclass(frozen=True, eq=False)
class Ground:
    """What targets must go beyond: `controls`, in pairs weighing s_i s_j."""

    controls: Floats  # (control, patch, patch)
    s: Floats  # (patch,), not negative
    base: Ground | None = None  # of the same weights: its controls count as well, worked out once

    @property
    def answerable(self) -> bool:
        """Whether enough patches carry weight, none of them half of it."""
        total = self.s.sum()
        enough = total**2 >= MIN_WEIGHING * (self.s**2).sum()
        return bool(total > 0 and enough and 2 * self.s.max() < total)

    @cached_property
    def roots(self) -> Floats:
        """Roots of the weights of pairs, (patch, patch), 0 on the diagonal."""
        roots = np.sqrt(np.outer(self.s, self.s))
        np.fill_diagonal(roots, 0)
        return roots

    @cached_property
    def directions(self) -> list[Floats]:
        """Orthonormal directions of the weighted controls; without those that others explain."""
        found = [] if self.base is None else list(self.base.directions)
        for control in self.controls:
            direction = self.direction(control, found)
            if direction is not None:
                found.append(direction)
        return found

    def direction(self, values: Floats, others: list[Floats]) -> Floats | None:
        """The weighted direction of `values` beyond rows, columns and others; None if none is left.

        (patch, patch), of length 1.
        """
        vector = self.roots * without_two_way(values, self.s)
        whole = np.linalg.norm(self.roots * values)
        for _ in range(2):  # a second pass removes what rounding left of nearly equal quantities
            for other in others:
                vector -= np.vdot(other, vector) * other
        length = np.linalg.norm(vector)
        return vector / length if length > _COLLINEAR * whole else None


@dataclass(frozen=True, eq=False)
class Question:
    """With what heads are compared: `target` (patch, patch) beyond the controls of `ground`."""

    target: Floats
    ground: Ground


@dataclass(frozen=True, eq=False)
class Heads:
    """Scores of heads (head, patch, patch) less their rows' means, in units of their sd.

    Diagonals are 0. The squares are kept beside them: every block of permutations asks for both.
    """

    scores: Array
    squares: Array


def prepared(scores: Array) -> Heads:
    """Heads by their scores (head, patch, patch)."""
    size = scores.shape[-1]
    diagonal = np.arange(size)
    centred = scores.astype(np.float64)
    centred[:, diagonal, diagonal] = 0
    centred -= centred.sum(axis=-1, keepdims=True) / (size - 1)
    centred[:, diagonal, diagonal] = 0
    spread = np.sqrt((centred**2).mean(axis=(1, 2), keepdims=True))
    # A head that attends alike to all patches has only rounding left, which must not be blown up.
    varies = spread > _COLLINEAR * np.abs(scores).max(axis=(1, 2), keepdims=True)
    units = np.divide(centred, spread, out=np.zeros_like(centred), where=varies).astype(np.float32)
    return Heads(units, np.square(units))


def within_rows(scores: Array, target: Floats, s: Floats) -> Floats:
    """Weighted Pearson correlation of each head with `target`, both less their row's mean, (head,).

    `scores` are (head, patch, patch). NaN where either does not vary within any row.
    """
    weights = np.outer(s, s)
    np.fill_diagonal(weights, 0)
    row_weights = weights.sum(axis=1, keepdims=True)

    def centred(values: Floats) -> Floats:
        totals = (weights * values).sum(axis=-1, keepdims=True)
        return values - np.divide(
            totals, row_weights, out=np.zeros_like(totals), where=row_weights > 0
        )

    y = centred(target) * weights
    found = np.full(len(scores), np.nan)
    y_square = (y * centred(target)).sum()
    for head, matrix in enumerate(scores):
        x = centred(matrix.astype(np.float64))
        square = (weights * x**2).sum() * y_square
        if square > 0:
            found[head] = np.clip((x * y).sum() / np.sqrt(square), -1, 1)
    return found


def beyond(heads: Heads, questions: Sequence[Question]) -> Floats:
    """Partial correlation of each head with each question's target, (question, head).

    NaN where a question has no answer: too few patches weigh,
    the controls explain the target, or the head does not vary.
    """
    count, size, _ = heads.scores.shape
    sides = [_directions(question) for question in questions]
    stacked = np.concatenate(sides).reshape(-1, size * size)
    products = heads.scores.reshape(count, -1) @ stacked.T  # (head, direction of any question)
    squares = _squares(heads, np.stack([question.ground.s for question in questions]))
    ends = np.cumsum([len(side) for side in sides])
    result = np.full((len(questions), count), np.nan)
    for k, (side, end) in enumerate(zip(sides, ends, strict=True)):
        if not len(side):
            continue
        own = products[:, end - len(side) : end].astype(np.float64)
        left = squares[:, k] - (own[:, :-1] ** 2).sum(axis=1)
        varies = left > _COLLINEAR * questions[k].ground.s.sum() ** 2
        result[k, varies] = own[varies, -1] / np.sqrt(left[varies])
    return np.clip(result, -1, 1)


def _squares(heads: Heads, s: Floats) -> Floats:
    """Weighted sum of squares of each head beyond its rows and columns, (head, question)."""
    count, size, _ = heads.scores.shape
    weights = np.einsum("ki,kj->kij", s, s).astype(np.float32)
    weights[:, np.arange(size), np.arange(size)] = 0
    whole = heads.squares.reshape(count, -1) @ weights.reshape(len(s), -1).T
    return whole.astype(np.float64) - _two_way_squares(heads.scores, s)


def _directions(question: Question) -> Array:
    """Weighted directions of the controls and, last, of the target beyond them.

    Float32 (direction, patch, patch), such that their sum of products with scores is a coordinate
    of the scores; none where the target has nothing left.
    """
    ground, none = question.ground, np.empty((0, *question.target.shape), dtype=np.float32)
    if not ground.answerable:
        return none
    last = ground.direction(question.target, ground.directions)
    if last is None:
        return none
    return np.stack([*ground.directions, last], dtype=np.float32, casting="same_kind") * (
        ground.roots.astype(np.float32)
    )


def without_two_way(values: Floats, s: Floats) -> Floats:
    """What is left of `values` (patch, patch) beyond the best a_i + b_j, pairs weighing s_i s_j."""
    off = values - np.diag(np.diag(values))
    row_effects, column_effects = _two_way(off @ s, s @ off, s)
    left = off - row_effects[:, None] - column_effects
    np.fill_diagonal(left, 0)
    return left


def _two_way(rows: Floats, columns: Floats, s: Floats) -> tuple[Floats, Floats]:
    """The a_i and b_j of weighted least squares, from weighted sums of rows and of columns.

    Both are (..., patch): r_i = sum over j of s_j x_ij, c_j = sum over i of s_i x_ij, no diagonal.
    With sum s_j b_j = 0 the normal equations are, for T = sum s and A = sum s_i a_i,
    (T - s_i) a_i - s_i b_i = r_i and (T - s_i) b_i - s_i a_i = c_i - A.
    """
    total = s.sum(axis=-1, keepdims=True)
    determinant = total * (total - 2 * s)
    determinant = np.where(determinant > 0, determinant, np.inf)
    known = s * ((total - s) * rows + s * columns) / determinant
    shift = known.sum(axis=-1, keepdims=True) / (
        1 + (s**2 / determinant).sum(axis=-1, keepdims=True)
    )
    rest = columns - shift
    a = ((total - s) * rows + s * rest) / determinant
    b = (s * rows + (total - s) * rest) / determinant
    return a, b


def _two_way_squares(scores: Array, s: Floats) -> Floats:
    """Weighted sum of squares that rows and columns explain of each head, (head, question)."""
    single = s.astype(np.float32)
    rows = (scores @ single.T).swapaxes(1, 2).astype(np.float64)  # (head, question, patch)
    columns = (single @ scores).astype(np.float64)
    a, b = _two_way(rows, columns, s)
    return np.asarray((s * (a * rows + b * columns)).sum(axis=-1))
