from __future__ import annotations

import numpy as np
import pytest

from core.analysis.images.follow.partial import (
    Ground,
    Question,
    beyond,
    prepared,
    within_rows,
    without_two_way,
)

SIZE = 18


def question(seed: int, *, controls: int = 3, even: bool = False) -> Question:
    draw = np.random.default_rng(seed)
    matrices = draw.normal(size=(controls + 1, SIZE, SIZE))
    s = np.ones(SIZE) if even else draw.uniform(0, 1, SIZE)
    s[:2] *= even  # two patches without colour
    return Question(matrices[0], Ground(matrices[1:], s))


def scores_like(asked: Question, heads: int = 3) -> np.ndarray:
    draw = np.random.default_rng(9)
    mix = draw.normal(size=(heads, 2))
    return np.asarray(
        np.tensordot(mix, [asked.target, asked.ground.controls.sum(axis=0)], axes=1)
        + draw.normal(size=(heads, SIZE, SIZE))
        + 3 * draw.normal(size=(heads, SIZE, 1)),
        dtype=np.float32,
    )


def by_least_squares(scores: np.ndarray, asked: Question) -> float:
    """Partial correlation from residuals of a regression with a column per row, key and control."""
    pairs = [(i, j) for i in range(SIZE) for j in range(SIZE) if i != j]
    design = np.zeros((len(pairs), 2 * SIZE + len(asked.ground.controls)))
    roots = np.empty(len(pairs))
    for place, (i, j) in enumerate(pairs):
        design[place, i] = design[place, SIZE + j] = 1
        design[place, 2 * SIZE :] = asked.ground.controls[:, i, j]
        roots[place] = np.sqrt(asked.ground.s[i] * asked.ground.s[j])
    design *= roots[:, None]
    left = []
    for matrix in (scores, asked.target):
        values = roots * np.array([matrix[pair] for pair in pairs], dtype=np.float64)
        left.append(values - design @ np.linalg.lstsq(design, values)[0])
    return float(left[0] @ left[1] / np.linalg.norm(left[0]) / np.linalg.norm(left[1]))


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("controls", [0, 3])
def test_the_partial_correlation_is_that_of_residuals(controls: int, even: bool) -> None:
    asked = [question(seed, controls=controls, even=even) for seed in (1, 2)]
    scores = scores_like(asked[0])
    expected = [[by_least_squares(each, one) for each in scores] for one in asked]
    np.testing.assert_allclose(beyond(prepared(scores), asked), expected, atol=2e-5)
    assert np.abs(expected[0]).max() > 0.3


def test_the_correlation_within_rows_by_loops() -> None:
    asked = question(4)
    scores = scores_like(asked)
    for head in range(len(scores)):
        sums = np.zeros(3)
        for i in range(SIZE):
            others = [j for j in range(SIZE) if j != i]
            w = asked.ground.s[others]
            x, y = scores[head, i, others].astype(float), asked.target[i, others]
            x, y = x - (w * x).sum() / w.sum(), y - (w * y).sum() / w.sum()
            sums += asked.ground.s[i] * np.array(
                [(w * x * y).sum(), (w * x * x).sum(), (w * y * y).sum()]
            )
        expected = sums[0] / np.sqrt(sums[1] * sums[2])
        found = within_rows(scores, asked.target, asked.ground.s)[head]
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_what_softmax_does_not_see_and_what_all_queries_share_changes_nothing() -> None:
    asked = question(5)
    scores = scores_like(asked)
    draw = np.random.default_rng(0)
    moved = scores + draw.normal(size=(3, SIZE, 1)) + draw.normal(size=(3, 1, SIZE))
    before, after = (beyond(prepared(each.astype(np.float32)), [asked]) for each in (scores, moved))
    np.testing.assert_allclose(after, before, atol=2e-5)


def test_rows_plus_columns_leave_nothing() -> None:
    draw = np.random.default_rng(6)
    values = draw.normal(size=(SIZE, 1)) + draw.normal(size=SIZE)
    assert np.abs(without_two_way(values, question(6).ground.s)[2:, 2:]).max() < 1e-12


def test_without_a_ground_to_stand_on_there_is_no_answer() -> None:
    asked = question(7, even=True)
    scores = scores_like(asked)
    controls, ground = asked.ground.controls, asked.ground
    explained = Question(controls.sum(axis=0), ground)
    few = Question(asked.target, Ground(controls, np.eye(SIZE)[0] + 0.01))
    grey = Question(asked.target, Ground(controls, np.zeros(SIZE)))
    assert np.isnan(beyond(prepared(scores), [explained, few, grey])).all()
    same_everywhere = prepared(np.full((1, SIZE, SIZE), 7.3, dtype=np.float32))
    assert np.isnan(beyond(same_everywhere, [asked])).all()
    empty = Question(asked.target, Ground(np.concatenate([controls, controls[:1] * 0]), ground.s))
    np.testing.assert_allclose(beyond(prepared(scores), [empty]), beyond(prepared(scores), [asked]))
