"""What comes with the app of pages' first inputs is what their models compute of them."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from core.model.bundled.first import FILES, IMAGE, SENTENCE, TEXT, FirstInput, first_of
from core.model.weights.output_projection import output_projections
from core.ui import cache
from core.ui.cache import TraceKey
from tests.model.bundled import loaded
from tests.rounding import assert_same_pass, assert_same_shares
from tests.tools.first import compute

pytestmark = pytest.mark.slow

computed = functools.cache(compute)


@pytest.fixture(params=FILES)
def both(request: pytest.FixtureRequest) -> tuple[FirstInput, FirstInput]:
    """What comes with the app, and what the model computes."""
    shipped = cache.first_of(request.param)
    assert shipped is not None
    return shipped, computed(request.param)


def test_the_shipped_trace_is_what_the_model_computes(both: tuple[FirstInput, FirstInput]) -> None:
    one, other = (each.trace for each in both)
    assert one.tokens == other.tokens
    assert (one.model, one.depth, one.attention_type) == (other.model, other.depth, "self")
    assert (one.causal, one.dropped, one.layers) == (other.causal, other.dropped, other.layers)
    for name in ("queries", "kv_keys", "kv_values", "hidden_states"):
        values, expected = getattr(one, name), getattr(other, name)
        assert_same_pass(values, expected, where=name)
    assert_same_shares(one.attention(), other.attention(), other)
    if one.patches is not None and other.patches is not None:
        assert np.array_equal(one.patches.pixels, other.patches.pixels)
        assert one.patches.given == other.patches.given


def test_so_is_what_takes_the_weights(both: tuple[FirstInput, FirstInput]) -> None:
    one, other = both
    for name in ("norms", "similarity", "induction", "effects", "directions", "fresh"):
        values, expected = getattr(one, name), getattr(other, name)
        assert (values is None) == (expected is None), name
        if values is not None:
            assert_same_pass(values, expected, where=name)


def test_so_are_the_classes_of_the_image() -> None:
    one, other = first_of(IMAGE), computed(IMAGE)
    shipped, live = dict(one.classes), dict(other.classes)
    assert shipped.keys() == live.keys()
    assert_same_pass(list(shipped.values()), list(live.values()), 10)  # of logits


@pytest.mark.parametrize("name", FILES)
def test_the_head_view_may_offer_transformed_values_before_the_model_is_here(name: str) -> None:
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
