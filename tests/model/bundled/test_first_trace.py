"""The trace that comes with the app is what the default model computes of its sentence."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from core.model import DEFAULT_MODEL, load
from core.model.bundled import first_trace
from core.model.catalog import bundled_folder
from core.model.trace.stored import read_notes
from core.model.weights.output_projection import output_projections

pytestmark = pytest.mark.slow

ROUNDING = 2e-5  # of values up to 10, computed in float32 by another processor


def test_the_shipped_trace_is_what_the_model_computes() -> None:
    shipped, computed = first_trace.first_trace(), first_trace.compute()
    assert shipped is not None
    assert shipped.tokens == computed.tokens
    assert [shipped.model, shipped.depth, shipped.attention_type] == [DEFAULT_MODEL, 6, "self"]
    assert (shipped.causal, shipped.dropped) == (computed.causal, computed.dropped)
    assert shipped.layers == computed.layers
    for name in ("queries", "kv_keys", "kv_values", "hidden_states"):
        one, other = getattr(shipped, name), getattr(computed, name)
        np.testing.assert_allclose(one, other, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(shipped.attention(), computed.attention(), rtol=0, atol=1e-5)


def test_its_file_names_the_weights_it_was_made_with() -> None:
    weights = (bundled_folder() / "model.safetensors").read_bytes()
    assert read_notes(first_trace.FILE)["weights"] == hashlib.sha256(weights).hexdigest()


def test_the_head_view_may_offer_transformed_values_before_the_model_is_here() -> None:
    assert output_projections(load(first_trace.MODEL)) is not None
