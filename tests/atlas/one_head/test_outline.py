"""Points inside an outline."""

from __future__ import annotations

import numpy as np
import pytest

from core.atlas.one_head.table import points_inside


def test_a_circle_holds_what_is_nearer_its_middle_than_its_radius() -> None:
    points = np.random.default_rng(1).uniform(-1, 1, size=(3000, 2)).astype(np.float32)
    angles = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    circle = np.column_stack([0.1 + 0.6 * np.cos(angles), 0.6 * np.sin(angles)])
    distances = np.linalg.norm(points - [0.1, 0], axis=1)
    clear = np.abs(distances - 0.6) > 1e-4  # none so near that 720 corners decide
    inside = np.isin(np.arange(3000), points_inside(points, circle))
    assert (inside == (distances < 0.6))[clear].all()


def test_what_an_outline_runs_around_twice_is_outside() -> None:
    square = np.array([[0, 0], [4, 0], [4, 4], [0, 4]], dtype=float)
    smaller = np.array([[1, 1], [3, 1], [3, 3], [1, 3]], dtype=float)
    both = np.vstack([square, square[:1], smaller, smaller[:1]])
    points = np.array([[0.5, 2], [2, 2], [3.5, 2], [5, 2]])
    assert points_inside(points, square).tolist() == [0, 1, 2]
    assert points_inside(points, both).tolist() == [0, 2]


@pytest.mark.parametrize("corners", [0, 2])
def test_a_line_holds_nothing(corners: int) -> None:
    assert points_inside(np.zeros((3, 2)), np.zeros((corners, 2))).size == 0
