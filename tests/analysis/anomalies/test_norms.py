"""Lengths of queries and keys, and whether their clouds can be told apart."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.anomalies.norms import norm_disparity, separability
from tests.analysis.traces import random_trace

if TYPE_CHECKING:
    from core.model.trace import Array


def test_norms_are_compared_by_mean_and_by_median() -> None:
    trace = random_trace(0, layers=1, heads=1, size=3, dim=2)
    queries = np.array([[[[3, 4], [0, 5], [0, 20]]]], dtype=np.float32)  # 5, 5, 20
    keys = np.array([[[[1, 0], [0, 2.5], [0, 4]]]], dtype=np.float32)  # 1, 2.5, 4
    norms = norm_disparity(replace(trace, queries=queries, kv_keys=keys))
    distance = math.hypot(2 / 3, 7.5)  # of the centroids (1, 29 / 3) and (1 / 3, 6.5 / 3)
    expected = [10, 2.5, 7.5, 1, distance, 0]
    assert [each.item() for each in norms.values()] == pytest.approx(expected, abs=1e-5)


def test_equal_clouds_cannot_be_told_apart_and_a_shift_does_not_help() -> None:
    trace = random_trace(1, size=120)
    shifted = replace(trace, kv_keys=trace.kv_keys + np.float32(50))
    for each in (trace, shifted):
        assert separability(each) == pytest.approx(0.5, abs=0.12)


def test_a_cloud_inside_the_other_can_be_told_apart_after_translation() -> None:
    trace = random_trace(1, size=60)
    keys = trace.kv_keys.copy()
    keys[1, 2] *= 0.1
    shares = separability(replace(trace, kv_keys=keys))
    assert shares[1, 2] > 0.95
    assert np.delete(shares.ravel(), 1 * 4 + 2).max() < 0.75


def energy_distance(point: Array, cloud: Array) -> float:
    """Mean distance to the cloud's points, less half their mean distance from each other."""
    gaps = [np.linalg.norm(a - b) for a, b in itertools.permutations(cloud, 2)]
    return float(np.linalg.norm(cloud - point, axis=1).mean() - np.mean(gaps) / 2)


def test_separability_agrees_with_leaving_each_token_out_in_a_loop() -> None:
    trace = random_trace(7, layers=1, heads=40, size=7, dim=3)
    sizes = np.linspace(0.3, 1, 40, dtype=np.float32)  # keys are shorter than queries, or as long
    trace = replace(trace, kv_keys=trace.kv_keys * sizes[:, None, None])
    expected = []
    for queries, keys in zip(trace.queries[0], trace.keys[0], strict=True):
        recognised = 0
        for i in range(7):
            q, k = np.delete(queries, i, axis=0), np.delete(keys, i, axis=0)
            shift = q.mean(axis=0) - k.mean(axis=0)
            for point, own, other in (
                (queries[i], q, k + shift),
                (keys[i] + shift, k + shift, q),
            ):
                recognised += energy_distance(point, own) < energy_distance(point, other)
        expected.append(recognised / 14)
    np.testing.assert_allclose(separability(trace)[0], expected)


def test_two_tokens_are_too_few_to_tell_clouds_apart() -> None:
    assert np.isnan(separability(random_trace(0, size=2))).all()
