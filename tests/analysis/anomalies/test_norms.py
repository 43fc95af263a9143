"""Lengths of queries and keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.anomalies.norms import norm_disparity
from tests.analysis.traces import random_trace


def test_norms_are_compared_by_mean_and_by_median() -> None:
    trace = random_trace(0, layers=1, heads=1, size=3, dim=2)
    queries = np.array([[[[3, 4], [0, 5], [0, 20]]]], dtype=np.float32)  # 5, 5, 20
    keys = np.array([[[[1, 0], [0, 2.5], [0, 4]]]], dtype=np.float32)  # 1, 2.5, 4
    norms = norm_disparity(replace(trace, queries=queries, kv_keys=keys))
    assert [each.item() for each in norms.values()] == pytest.approx([10, 2.5, 7.5, 1], abs=1e-5)
