"""Any weight of a layer, worked out in the browser from what is sent of it, is the trace's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.analysis.layer_payload import LayerPayload, Weighting
from core.components.packing import pack_layers, sides_of
from core.model.trace import Trace
from tests.analysis.traces import causal_mask, crossing, numbered, random_trace
from tests.scripts.conftest import Run

SCRIPTS = "shared/layer"
EVERY_WEIGHT = """
  const shown = readLayer(data, 1)
  const { queries, keys } = shown.size
  const indices = Array.from({ length: shown.heads * queries * keys }, (_, i) => i)
  return indices.map((i) => weightOf(
    shown, Math.floor(i / (queries * keys)), Math.floor(i / keys) % queries, i % keys
  ))"""


def trace_of(kind: str, size: int = 12) -> Trace:
    """Layers of four heads that score in one of the ways that models do it."""
    if kind == "cross":
        sides = ([each.display for each in numbered(count)] for count in (size, size + 7))
        queries, keys = map(tuple, sides)
        return crossing(4, 4, queries=queries, keys=keys)
    trace = random_trace(3, size=size)
    bias = np.random.default_rng(4).normal(size=(4, size, size)).astype(np.float32)
    added: dict[str, dict[str, Any]] = {
        "causal": {"mask": causal_mask(size)},
        "biased": {"mask": bias},
        "capped": {"softcap": 0.5},
        "sink": {"sink": np.ones(4, np.float32)},
    }
    trace = replace(trace, layers=(replace(trace.layers[0], **added.get(kind, {})),) * 3)
    if kind == "grouped":  # two heads share a key head
        return replace(trace, kv_keys=trace.kv_keys[:, :2], kv_values=trace.kv_values[:, :2])
    return trace


def sent(trace: Trace, layer: LayerPayload, heads: int = 4) -> bytes:
    sides = sides_of(trace.tokens, trace.source)
    return pack_layers({"heads": heads, "sides": sides, "layerLabels": [1, 2]}, {1: layer})


@pytest.mark.parametrize("size", [5, 40])  # the weights themselves travel where they are smaller
@pytest.mark.parametrize(
    "kind", ["plain", "causal", "biased", "capped", "sink", "grouped", "cross"]
)
def test_any_weight_is_the_traces_own(run: Run, kind: str, size: int) -> None:
    trace = trace_of(kind, size)
    weights = trace.attention(1).astype(float)
    norms = np.random.default_rng(6).random((2, 4, weights.shape[2]), dtype=np.float32)
    for head, heads in ((3, [3]), (None, [0, 1, 2, 3])):
        data = sent(trace, LayerPayload.of(trace, 1, head), len(heads))
        np.testing.assert_allclose(run(EVERY_WEIGHT, data=data), weights[heads].ravel(), atol=1e-6)
    factors: dict[Weighting, Any] = {
        "attention": 1,
        "value": np.linalg.norm(trace.values[1], axis=-1)[:, None],
        "transformed": norms[1][:, None],
    }
    for weighting, factor in factors.items():
        layer, expected = LayerPayload.drawn(trace, 1, weighting, norms), weights * factor
        assert (layer.weights is not None) == (size == 5 or kind == "biased")
        np.testing.assert_allclose(
            run(EVERY_WEIGHT, data=sent(trace, layer)), expected.ravel(), atol=1e-5
        )
        assert layer.steps is not None
        assert np.abs(layer.steps / 255 * layer.top - expected).max() <= layer.top / 500
