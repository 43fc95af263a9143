"""What comes with the app of pages' first inputs is what their models compute of them."""

from __future__ import annotations

import numpy as np
import pytest

from core.model.bundled.first import FILES, IMAGE, SENTENCE, TEXT
from core.model.weights.output_projection import output_projections
from core.ui import cache
from core.ui.cache import TraceKey
from tests.model.bundled import loaded
from tests.rounding import assert_same_pass, assert_same_shares
from tests.tools.first import compute

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", FILES)
def test_what_comes_with_the_app_is_what_the_model_computes(name: str) -> None:
    shipped, computed = cache.first_of(name), compute(name)
    assert shipped is not None
    one, other = shipped.trace, computed.trace
    for field in ("tokens", "model", "depth", "attention_type", "causal", "dropped", "layers"):
        assert getattr(one, field) == getattr(other, field), field
    for field in ("queries", "kv_keys", "kv_values", "hidden_states"):
        assert_same_pass(getattr(one, field), getattr(other, field), where=field)
    assert_same_shares(one.attention(), other.attention(), other)
    if one.patches is not None and other.patches is not None:
        assert np.array_equal(one.patches.pixels, other.patches.pixels)
        assert one.patches.given == other.patches.given
    for field in ("norms", "similarity", "induction", "effects", "directions", "fresh"):
        values, expected = getattr(shipped, field), getattr(computed, field)
        assert (values is None) == (expected is None), field
        if values is not None:
            assert_same_pass(values, expected, where=field)
    (labels, shares), (own, expected) = (
        (dict(each.classes).keys(), [share for _, share in each.classes])
        for each in (shipped, computed)
    )
    assert labels == own
    assert_same_pass(shares, expected, 10)  # of logits
    # The head view may offer transformed values before the model is here.
    assert output_projections(loaded(name)) is not None


@pytest.mark.parametrize(
    "key",
    [
        TraceKey(TEXT, SENTENCE + " "),
        TraceKey(TEXT, SENTENCE, "Was it good?"),
        TraceKey("bundled/gpt2-novels", SENTENCE),
        TraceKey(IMAGE, "", image="cat"),
    ],
)
def test_it_is_of_exactly_these_inputs(key: TraceKey) -> None:
    assert cache.first_input(key) is None
