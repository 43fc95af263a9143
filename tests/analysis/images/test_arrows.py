from __future__ import annotations

import numpy as np
import pytest

from core.analysis.images import links_above, strongest_keys
from core.analysis.images.arrows import KINDS
from tests.analysis.images.pictures import picture, with_attention
from tests.analysis.traces import random_weights

PATCHES = picture(np.random.default_rng(0).random((2, 2, 3)))
# Tokens: CLS, one register, four patches. The four rows go to CLS, the register, itself, a patch.
ROWS = [
    [0.60, 0.10, 0.10, 0.10, 0.05, 0.05],
    [0.10, 0.50, 0.10, 0.20, 0.05, 0.05],
    [0.05, 0.05, 0.20, 0.10, 0.40, 0.20],
    [0.05, 0.05, 0.30, 0.30, 0.15, 0.15],
]
WEIGHTS = np.array([[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]] * 2 + ROWS)[None, None]
TRACE = with_attention(PATCHES, WEIGHTS, ("[CLS]", "[REG1]"))


def test_the_strongest_key_of_each_patch_and_its_kind() -> None:
    arrows = strongest_keys(TRACE, 0, 0)
    assert arrows.queries.tolist() == [2, 3, 4, 5]
    assert arrows.keys.tolist()[:3] == [0, 1, 4]
    assert arrows.keys[3] in {2, 3}
    assert [KINDS[kind] for kind in arrows.kinds] == ["CLS", "register", "itself", "patch"]
    np.testing.assert_allclose(arrows.weights, [0.6, 0.5, 0.4, 0.3], rtol=1e-5)


def test_all_links_above_a_weight_the_strongest_of_a_patch_first() -> None:
    arrows = links_above(TRACE, 0, 0, 0.18)
    pairs = list(zip(arrows.queries.tolist(), arrows.keys.tolist(), strict=True))
    assert pairs[:4] == [(2, 0), (3, 1), (3, 3), (4, 4)]
    assert set(pairs[4:]) == {(4, 2), (4, 5), (5, 2), (5, 3)}


@pytest.mark.parametrize("weight", [0.01, 0.1, 0.4])
def test_links_by_loops(weight: float) -> None:
    weights = random_weights(1, 2, 2, 6)
    arrows = links_above(with_attention(PATCHES, weights, ("[CLS]", "[REG1]")), 1, 1, weight)
    expected = {(i, j) for i in range(2, 6) for j in range(6) if weights[1, 1, i, j] >= weight}
    assert set(zip(arrows.queries.tolist(), arrows.keys.tolist(), strict=True)) == expected
    assert (np.diff(arrows.queries) >= 0).all()


@pytest.mark.parametrize("weight", [0, -1, 1.5])
def test_a_weight_that_is_none_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        links_above(TRACE, 0, 0, weight)
