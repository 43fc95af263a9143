"""Paths through the layers, against an enumeration of all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from core.analysis.rollout import (
    as_many_paths,
    follow_paths,
    overall_attention,
    paths_table,
    uniform_mixing,
    uniform_overall,
)
from core.model.trace import Array
from tests.analysis.traces import causal, random_weights, trace_with_attention

LAYERS, TOKENS, TARGET = 3, 4, 2


@pytest.fixture
def mixing() -> Array:
    weights = random_weights(5, LAYERS, 1, TOKENS)[:, 0]
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True), dtype=np.float32)


def all_paths(mixing: Array) -> list[tuple[list[tuple[int, int, int]], float]]:
    """Every path from the target, as steps (layer, after, before) from the last layer on."""
    found = []
    for places in product(range(TOKENS), repeat=LAYERS):
        rows = (TARGET, *places)
        steps = [(LAYERS - 1 - k, rows[k], rows[k + 1]) for k in range(LAYERS)]
        found.append((steps, float(np.prod([mixing[step] for step in steps]))))
    return found


def test_relevance_and_flows_are_sums_over_all_paths(mixing: Array) -> None:
    paths = follow_paths(mixing, TARGET)
    flows = np.zeros_like(mixing)
    for steps, share in all_paths(mixing):
        for step in steps:
            flows[step] += share
    np.testing.assert_allclose(paths.flows, flows, atol=1e-6)
    np.testing.assert_allclose(paths.relevance[0], flows[0].sum(axis=0), atol=1e-6)
    np.testing.assert_allclose(paths.relevance.sum(axis=1), 1, atol=1e-6)
    assert paths.relevance[LAYERS, TARGET] == 1


@pytest.mark.parametrize("count", [4, 7, 12, 100])
def test_the_kept_flows_account_for_the_paths_on_them_alone(mixing: Array, count: int) -> None:
    paths = follow_paths(mixing, TARGET, count)
    strongest = {
        tuple(map(int, step))
        for step in np.argwhere(paths.flows >= np.sort(paths.flows, axis=None)[-min(count, 36)])
    }
    whole = [(steps, share) for steps, share in all_paths(mixing) if {*steps} <= strongest]
    assert paths.accounted == pytest.approx(sum(share for _, share in whole), abs=1e-6)
    drawn = {step for steps, share in whole if share for step in steps}
    assert {tuple(map(int, step)) for step in np.argwhere(paths.kept)} == drawn
    assert paths.count == len(drawn) <= count


@pytest.mark.parametrize("lines", [3, 5, 9, 21, LAYERS * TOKENS**2])
def test_a_control_has_the_fewest_strongest_flows_that_draw_as_many_lines(
    mixing: Array, lines: int
) -> None:
    even = np.full_like(mixing, 1 / TOKENS)  # its strongest flows lead nowhere
    for flows in (mixing, even):
        drawn = [follow_paths(flows, TARGET, count).count for count in range(flows.size + 1)]
        control = as_many_paths(flows, TARGET, lines)
        assert control.count == next((each for each in drawn if each >= lines), drawn[-1])
    assert follow_paths(even, TARGET, 5).count == 0


def test_a_token_that_nothing_reaches_comes_from_itself_along_one_line() -> None:
    paths = follow_paths(np.stack([np.eye(TOKENS, dtype=np.float32)] * LAYERS), TARGET)
    assert paths.accounted == 1
    assert np.argwhere(paths.kept).tolist() == [[layer, TARGET, TARGET] for layer in range(LAYERS)]


def test_under_uniform_attention_a_token_keeps_its_share_and_spreads_the_rest(
    mixing: Array,
) -> None:
    trace = causal(trace_with_attention(random_weights(2, LAYERS, 2, TOKENS)))
    uniform = uniform_mixing(trace, mixing)
    for layer in range(LAYERS):
        assert uniform[layer, 0].tolist() == [1, 0, 0, 0]
        for token in range(1, TOKENS):
            own = mixing[layer, token, token]
            expected = [(1 - own) / token] * token + [own] + [0] * (TOKENS - 1 - token)
            np.testing.assert_allclose(uniform[layer, token], expected, atol=1e-6)


def test_the_table_has_a_row_for_each_line(mixing: Array) -> None:
    trace = trace_with_attention(random_weights(2, LAYERS, 1, TOKENS))
    paths = follow_paths(mixing, TARGET, 8)
    table = paths_table(trace, paths)
    assert len(table) == paths.count
    assert table["layer"].is_monotonic_decreasing
    for _, row in table.iterrows():
        place = row["layer"] - 1, row["position"] - 1, row["from_position"] - 1
        assert paths.kept[place]
        assert row["flow"] == pytest.approx(paths.flows[place])
    assert table.attrs["target"] == TARGET + 1
    assert table.attrs["shares"] == pytest.approx(paths.relevance[0].tolist())


def test_rollout_multiplies_half_of_the_mean_and_half_of_the_identity() -> None:
    weights = random_weights(1, 3, 2, 4)
    first, second, third = (weights.mean(axis=1).astype(np.float64) + np.eye(4)) / 2
    result = overall_attention(trace_with_attention(weights), "rollout")
    np.testing.assert_allclose(result, third @ second @ first, atol=1e-6)
    np.testing.assert_allclose(result.sum(axis=1), 1, atol=1e-6)


def test_in_a_causal_model_nothing_rolls_out_to_what_comes_later() -> None:
    trace = causal(trace_with_attention(random_weights(3, 2, 2, 4)))
    for kind in ("mean", "rollout"):
        assert not np.triu(overall_attention(trace, kind), 1).any()  # type: ignore[arg-type]
        assert not np.triu(uniform_overall(trace, kind), 1).any()  # type: ignore[arg-type]
    rows = np.array([[1, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0], [1 / 4] * 4])
    step = (rows + np.eye(4)) / 2
    np.testing.assert_allclose(uniform_overall(trace, "rollout"), step @ step, atol=1e-6)
