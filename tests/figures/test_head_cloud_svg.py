"""One head's cloud as SVG."""

from __future__ import annotations

import re

import numpy as np
import pytest

from core.figures.query_key.head_cloud_svg import MAX_TOKENS, head_cloud_svg


def circles(svg: str) -> np.ndarray:
    found = re.findall(r'<circle cx="([\d.-]+)" cy="([\d.-]+)"', svg)
    return np.array(found, dtype=float)


def test_both_axes_have_one_scale_and_the_second_points_up() -> None:
    points = np.array([[0, 0], [10, 0], [0, 5], [10, 5]], dtype=float)  # two queries, two keys
    svg = head_cloud_svg(points, "t")
    (left, right), diamonds = circles(svg), re.findall(r'<path d="M([\d.]+) ([\d.]+)', svg)
    assert right[0] - left[0] == pytest.approx(640 - 24, abs=0.2)
    assert left[1] == right[1]
    key_x, key_top = map(float, diamonds[0])
    assert key_x == pytest.approx(left[0], abs=0.2)
    assert left[1] - key_top == pytest.approx((640 - 24) / 2 + 2.75, abs=0.3)


def test_of_many_tokens_a_sample_is_drawn_and_equal_points_are_in_the_middle() -> None:
    many = np.random.default_rng(0).normal(size=(2 * MAX_TOKENS + 20, 3))
    svg = head_cloud_svg(many, "t")
    assert len(circles(svg)) == svg.count("<path") == MAX_TOKENS
    assert circles(head_cloud_svg(np.ones((2, 2)), "t")).tolist() == [[320, 210]]
