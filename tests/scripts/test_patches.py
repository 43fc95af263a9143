"""Rows and columns of patches as the scripts work them out, against the trace's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.layer_payload import LayerPayload
from core.components.patches import PatchesView, pack_patches
from core.model.trace import Layer
from tests.analysis.pictures import image_trace, picture
from tests.scripts.conftest import Run, RunWith

if TYPE_CHECKING:
    from core.model.trace import Trace

SPECIALS = ("[CLS]", "[REG1]")
TOKENS, FIRST = 14, 2
HEAT = {"from": "#010203", "to": "#040506"}


def made() -> Trace:
    """2 layers, 4 heads that share keys, a register, 3 x 4 patches; capped scores and a bias."""
    draw = np.random.default_rng(7)
    queries, keys = 2 * draw.normal(size=(2, 2, 4, TOKENS, 6))
    patches = picture(draw.random((3, 4, 3)))
    bias = draw.normal(size=(4, TOKENS, TOKENS)).astype(np.float32)
    trace = image_trace(patches, queries, keys[:, :2], specials=SPECIALS)
    return replace(trace, layers=(Layer(0.4, bias, 1.5),) * 2)


TRACE = made()


def packed(trace: Trace, *layers: int) -> bytes:
    assert trace.patches is not None
    facts = PatchesView({}, 1, FIRST, HEAT)
    return pack_patches(
        trace, trace.patches, {each: LayerPayload.of(trace, each) for each in layers}, facts
    )


@pytest.fixture(scope="module")
def run(run_with: RunWith) -> Run:
    scripts = ["patches/attention", "patches/drawing"]
    return run_with("shared/layer", *scripts)


WEIGHTS = """
  const layer = readLayer(data, 1)
  return [...chosenWeights(headWeights(layer, token, asked, data.grid), head)]
"""


@pytest.mark.parametrize("head", [0, 3, "mean", "max"])
def test_a_row_and_a_column_are_the_attention(run: Run, head: int | str) -> None:
    by_head = TRACE.attention(1).astype(float)  # (head, token, token)
    only = by_head.copy()
    only[:, :, :FIRST] = 0
    only /= only.sum(axis=2, keepdims=True)
    for only_patches, weights in ((False, by_head), (True, only)):
        summary = {"mean": weights.mean(0), "max": weights.max(0)}
        expected = summary[head] if isinstance(head, str) else weights[head]
        for token in (0, 5, TOKENS - 1):
            asked = {"direction": "from", "onlyPatches": only_patches}
            row = run(WEIGHTS, data=packed(TRACE, 1), head=head, token=token, asked=asked)
            np.testing.assert_allclose(row, expected[token], atol=2e-6)
            column = run(
                WEIGHTS,
                data=packed(TRACE, 1),
                head=head,
                token=token,
                asked={**asked, "direction": "to"},
            )
            np.testing.assert_allclose(column, expected[:, token], atol=2e-6)


def test_a_rollout_is_shared_out_over_patches_where_only_they_count(run: Run) -> None:
    rollout = [0.4, 0.1, *[0.05] * 8, 0.02, 0.03, 0.04, 0.01]
    body = """
      const row = Float32Array.from(rollout)
      return [false, true].map((onlyPatches) => [...rolledWeights(row, { onlyPatches }, data.grid)])
    """
    whole, only = run(body, data=packed(TRACE, 1), rollout=rollout)
    np.testing.assert_allclose(whole, rollout, atol=1e-6)
    np.testing.assert_allclose(only, [0, 0, *(np.array(rollout[2:]) / 0.5)], atol=1e-6)


def test_a_sentence_says_where_attention_goes(run: Run) -> None:
    body = """
      const weights = Float64Array.from([0.5, 0.3, 0.15, 0.05])
      const grid = { rows: 1, columns: 3, first: 1, count: 3 }
      const names = ["CLS", "r1c1", "r1c2", "r1c3"]
      const view = { direction, onlyPatches: false, names, grid, head: 0, place: "L1 H1" }
      return tokenSentence(1, weights, view).map(([text]) => text).join("")
    """
    assert run(body, direction="from") == (
        "r1c1 attends to CLS 0.500 · itself 0.300 · r1c2 0.150 in L1 H1."
        " 0.500 goes to patches, 0.500 elsewhere."
    )
    assert run(body, direction="to") == (
        "r1c1 gets 0.500 from CLS · 0.300 from itself · 0.150 from r1c2 in L1 H1."
        " It gets 1.00 in all; the mean over keys is 1."
    )


@pytest.mark.parametrize("width", [320, 700, 960, 1400])
@pytest.mark.parametrize(("side", "heads"), [(12, 6), (37, 6), (14, 12), (16, 16)])
def test_pictures_fit_the_window(run: Run, width: int, side: int, heads: int) -> None:
    grid = {"rows": side, "columns": side, "first": 0, "count": 1}
    body = "return sizesFor(width, 720, grid, heads)"
    sizes = run(body, width=width, grid=grid, heads=heads)
    assert side * sizes["cell"] <= min(520, width, 720 * 0.56 if sizes["isWide"] else width)
    if sizes["isWide"] and heads <= 12:
        assert sizes["stage"] + 28 + 34 + heads * (sizes["small"] + 3) <= width + 3
