"""Methods judged against a truth that is made up."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.effect.trust import trust_table


def test_a_method_is_judged_by_what_it_finds_misses_and_points_to_in_error() -> None:
    judged = [
        {"zero": np.array([[1.0, 0.0]]), "attention": np.array([[0.95, 0.3]])},
        {"zero": np.array([[0.05, 1.0]]), "attention": np.array([[0.99, 0.1]])},
    ]
    needed, idle = [[True, False], [True, False]], [[False, False], [False, True]]
    table = trust_table(judged, needed, idle, [["a", "b"], ["c", "d"]])
    zero, attention = table.to_dict("records")
    assert zero["method"] == "zero"
    assert zero["auc"] == pytest.approx((1 + 0.5 + 1 + 0) / 4)  # pairs of a needed and another head
    assert zero["auc_active"] == pytest.approx((1 + 1) / 2)  # against b alone
    assert table.attrs == {"others": 2, "idle": 1}
    assert (zero["found"], zero["needed"]) == (1, 2)
    assert (zero["missed"], zero["wrong"]) == ("c", "d")
    assert attention["auc"] == 1.0
    assert (attention["found"], attention["missed"], attention["wrong"]) == (2, "", "")
