"""Rows and columns of patches as the scripts work them out, against the trace's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.layer_payload import LayerPayload
from core.components.patches import PatchesView, pack_patches
from core.model.trace import Layer, Trace
from tests.analysis.pictures import image_trace, picture
from tests.scripts.conftest import Run, RunWith

TOKENS, FIRST = 14, 2


def made() -> Trace:
    """2 layers, 4 heads that share keys, a register, 3 x 4 patches; capped scores and a bias."""
    draw = np.random.default_rng(7)
    queries, keys = 2 * draw.normal(size=(2, 2, 4, TOKENS, 6))
    patches = picture(draw.random((3, 4, 3)))
    bias = draw.normal(size=(4, TOKENS, TOKENS)).astype(np.float32)
    trace = image_trace(patches, queries, keys[:, :2], specials=("[CLS]", "[REG1]"))
    return replace(trace, layers=(Layer(0.4, bias, 1.5),) * 2)


TRACE = made()


@pytest.fixture(scope="module")
def run(run_with: RunWith) -> Run:
    run = run_with("shared/layer", "patches/attention", "patches/drawing")
    facts = PatchesView({}, 1, FIRST, {})
    data = pack_patches(TRACE, {1: LayerPayload.of(TRACE, 1)}, facts)
    return lambda body, **values: run(body, data=data, **values)


@pytest.mark.parametrize("only_patches", [False, True])
@pytest.mark.parametrize("head", [0, 3, "mean", "max"])
def test_a_row_and_a_column_are_the_attention(
    run: Run, head: int | str, only_patches: bool
) -> None:
    found = run(
        """const layer = readLayer(data, 1)
        return ["from", "to"].map((direction) => tokens.map((token) => {
          const heads = headWeights(layer, token, { direction, onlyPatches }, data.grid)
          return [...chosenWeights(heads, head)]
        }))""",
        head=head,
        tokens=list(range(TOKENS)),
        onlyPatches=only_patches,
    )
    weights = TRACE.attention(1).astype(float)  # (head, token, token)
    if only_patches:
        weights[:, :, :FIRST] = 0
        weights /= weights.sum(axis=2, keepdims=True)
    summary = {"mean": weights.mean(0), "max": weights.max(0)}
    expected = summary[head] if isinstance(head, str) else weights[head]
    np.testing.assert_allclose(found, [expected, expected.T], atol=2e-6)


def test_a_rollout_is_shared_out_over_patches_where_only_they_count(run: Run) -> None:
    rollout = [0.4, 0.1, *[0.05] * 8, 0.02, 0.03, 0.04, 0.01]
    whole, only, said = run(
        """const row = Float32Array.from(rollout)
        const asked = { direction: "from", onlyPatches: false, names: [], grid: data.grid }
        return [
          ...[false, true].map((only) => rolledWeights(row, { onlyPatches: only }, data.grid)),
          tokenSentence(0, Float64Array.from(rollout), asked).at(-1)[0],
        ]""",
        rollout=rollout,
    )
    np.testing.assert_allclose(whole, rollout, atol=1e-6)
    np.testing.assert_allclose(only, [0, 0, *(np.array(rollout[2:]) / 0.5)], atol=1e-6)
    assert said == "0.500 goes to patches, 0.500 elsewhere."


@pytest.mark.parametrize("width", [320, 700, 960, 1400])
@pytest.mark.parametrize(("side", "heads"), [(12, 6), (37, 6), (14, 12), (16, 16)])
def test_pictures_fit_the_window(run: Run, width: int, side: int, heads: int) -> None:
    body = "return sizesFor(width, 720, { rows: side, columns: side }, heads)"
    sizes = run(body, width=width, side=side, heads=heads)
    assert side * sizes["cell"] <= min(520, width, 720 * 0.56 if sizes["isWide"] else width)
    if sizes["isWide"] and heads <= 12:
        assert sizes["stage"] + 28 + 34 + heads * (sizes["small"] + 3) <= width + 3
