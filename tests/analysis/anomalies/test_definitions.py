"""Definitions of anomaly flags, each beside the numbers that decide whether it is true."""

from __future__ import annotations

import numpy as np

from core.analysis.anomalies import FLAGS


def test_a_straight_cut_finds_skew_and_spread_though_the_means_agree() -> None:
    draw = np.random.default_rng(0)
    narrow = draw.normal(size=20_000)
    skewed = draw.exponential(size=20_000) - 1
    for other in (3 * narrow, skewed):
        assert abs(narrow.mean() - other.mean()) < 0.05
        shares = [((narrow < cut).mean() + (other > cut).mean()) / 2 for cut in (-1, 0, 1)]
        assert max(abs(share - 0.5) for share in shares) > 0.05  # either side may be named first
    assert "A straight cut would find spread and skew" in FLAGS["clouds apart"].definition


def test_with_the_same_weights_a_token_need_not_score_itself_highest() -> None:
    weights = np.array([[1.0, 0.0], [0.0, 1.0]])
    states = np.array([[1.0, 0.2], [3.0, 1.0]])  # the second is longer, and points elsewhere
    scores = (states @ weights) @ (states @ weights).T
    assert scores[0].argmax() == 1
    assert "Longer vectors score higher" in FLAGS["alike weights"].definition
