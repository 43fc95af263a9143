"""What Home's picture works out in the browser: the cards' numbers, the arcs and where they run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.analysis.layer_payload import LayerPayload
from core.components.packing import pack_layers, sides_of
from core.model.trace import Trace
from tests.analysis.traces import causal_mask, random_trace, spelled
from tests.scripts.conftest import Run, RunWith

QUERY = 5
LAYER = "const layer = readLayer(data, 0)\n"
STEPS = LAYER + "return stepsOf(layer, head, query, key, hasSink)"


@pytest.fixture(scope="module")
def run(run_with: RunWith) -> Run:
    names = ("reading", "curves", "cards")
    return run_with("shared/layer", *(f"arcs/{name}" for name in names))


def sent(trace: Trace) -> bytes:
    settings = {"heads": trace.shape[1], "sides": sides_of(trace.tokens), "layerLabels": [1]}
    return pack_layers(settings, {0: LayerPayload.of(trace, 0)})


def trace_of(kind: str) -> Trace:
    """Three layers, four heads, twelve tokens, scored in one of the ways that models do it."""
    trace = random_trace(3)
    size = trace.shape[2]
    bias = np.random.default_rng(4).normal(size=(4, size, size)).astype(np.float32)
    added: dict[str, dict[str, Any]] = {
        "plain": {},
        "causal": {"mask": causal_mask(size)},
        "biased": {"mask": bias},
        "capped": {"softcap": 0.5},
        "sink": {"sink": np.ones(4, np.float32)},
        "grouped": {},
    }
    rule = replace(trace.layers[0], **added[kind])
    trace = replace(trace, layers=(rule,) * 3)
    if kind == "grouped":  # two heads share a key head
        return replace(trace, kv_keys=trace.kv_keys[:, :2], kv_values=trace.kv_values[:, :2])
    return trace


@pytest.mark.parametrize("kind", ["plain", "causal", "biased", "capped", "sink", "grouped"])
@pytest.mark.parametrize(("head", "key"), [(0, 1), (3, 4), (2, QUERY)])
def test_the_cards_numbers_are_those_of_the_trace(run: Run, kind: str, head: int, key: int) -> None:
    trace = trace_of(kind)
    values = {"head": head, "query": QUERY, "key": key, "hasSink": kind == "sink"}
    found = run(STEPS, data=sent(trace), **values)
    product = trace.queries[0, head, QUERY].astype(np.float64) @ trace.keys[0, head, key]
    scores, shares = (of(0, head)[QUERY] for of in (trace.scores, trace.attention))
    assert found["product"] == pytest.approx(product, rel=1e-6)
    assert found["scaled"] == pytest.approx(product * trace.layers[0].scaling, rel=1e-6)
    assert found["score"] == pytest.approx(scores[key], rel=1e-5)
    assert found["isPlain"] == (kind not in {"biased", "capped"})
    *first, last = np.argsort(-shares, kind="stable")[:4].tolist()
    expected = [*first, last if key in first else key]
    assert [row["key"] for row in found["rows"]] == expected
    for row in found["rows"]:
        assert row["score"] == pytest.approx(scores[row["key"]], rel=1e-5)
        assert row["share"] == pytest.approx(shares[row["key"]], abs=1e-6)
    assert found["rest"]["count"] == np.isfinite(scores).sum() - 4
    assert found["rest"]["share"] == pytest.approx(shares.sum() - shares[expected].sum(), abs=1e-6)
    assert found["sink"] == pytest.approx(1 - shares.sum() if kind == "sink" else 0, abs=1e-6)


def test_the_card_s_vectors_are_the_pair_s(run: Run) -> None:
    trace = trace_of("grouped")
    found = run(LAYER + "return vectorsOf(layer, 3, 5, 2)", data=sent(trace))
    np.testing.assert_array_equal(np.float32(found["query"]), trace.queries[0, 3, 5])
    np.testing.assert_array_equal(np.float32(found["key"]), trace.kv_keys[0, 1, 2])


def test_an_arc_leads_from_each_ordinary_token_to_the_other_that_it_attends_to_most(
    run: Run,
) -> None:
    trace = replace(random_trace(5, size=7), tokens=spelled("[CLS] it was , and it [SEP]"))
    trace = replace(trace, layers=(replace(trace.layers[0], mask=causal_mask(7)),) * 3)
    special = [token.special for token in trace.tokens]
    arcs = run(LAYER + "return arcsOf(layer, 1, special)", data=sent(trace), special=special)
    weights = trace.attention(0, 1).copy()
    weights[:, special] = 0
    np.fill_diagonal(weights, 0)
    targets = {query: int(weights[query].argmax()) for query in range(2, 6)}  # 1 sees no other
    assert {arc["query"]: arc["key"] for arc in arcs} == targets
    for arc in arcs:
        assert arc["weight"] == pytest.approx(weights[arc["query"], arc["key"]], abs=1e-6)


@pytest.mark.parametrize(
    ("count", "pair", "shown"),
    [
        (14, (0, 13), list(range(14))),
        (30, (20, 4), [None, *range(1, 8), None, *range(17, 24), None]),
        (30, (1, 28), [*range(5), None, *range(25, 30)]),
        (30, (15, 15), [None, *range(12, 19), None]),
    ],
)
def test_a_long_text_shows_the_tokens_around_the_pair(
    run: Run, count: int, pair: tuple[int, int], shown: list[int | None]
) -> None:
    assert run("return aroundPair(count, ...pair)", count=count, pair=pair) == shown


def box(left: float, top: float) -> dict[str, float]:
    return {"left": left, "top": top, "width": 40, "height": 40}


@pytest.mark.parametrize("room", [40, 64, 150])
@pytest.mark.parametrize("apart", [0, 30, 300, 900])
def test_no_arc_above_a_line_leaves_its_room_or_hides_its_number(
    run: Run, room: int, apart: int
) -> None:
    body = "return curveOf(from, apart ? to : from, room, 900)"
    boxes = {"from": box(300, room), "to": box(300 + apart, room)}
    curve = run(body, room=room, apart=apart, **boxes)
    crown = curve["crown"]
    assert 15 <= crown["y"] < room  # letters of 15 pixels stand above it
    assert curve["points"][0] == {"x": 320, "y": room}
    assert curve["points"][3] == {"x": 320 + apart, "y": room}


@pytest.mark.parametrize(("top", "ends"), [(0, (100, 40)), (200, (140, 200))])
def test_between_lines_an_arc_runs_from_one_word_s_edge_to_the_other_s(
    run: Run, top: int, ends: tuple[int, int]
) -> None:
    body = "return curveOf(from, to, 60, 900)"
    curve = run(body, **{"from": box(0, 100), "to": box(500, top)})
    assert curve["crown"] is None
    assert (curve["points"][0]["y"], curve["points"][3]["y"]) == ends


def test_the_score_is_divided_by_a_root_only_where_the_model_does(run: Run) -> None:
    steps = {"product": -8.0, "scaled": -2.0, "score": -1.5, "isPlain": False}
    body = "return scoreWords(steps, scaling, 16)"
    added = ["with what this model adds", "−1.50"]
    usual = run(body, steps=steps, scaling=0.25)
    assert usual == [["query · key", "−8.00"], ["divided by √16", "−2.00"], added]
    assert run(body, steps={**steps, "isPlain": True}, scaling=1.0)[1:] == [["times 1", "−2.00"]]


def test_what_is_attended_to_by_itself_is_called_so(run: Run) -> None:
    parts = run('return pairWords(4, 1, 0.5, "it", "it")')
    said = "".join(text for text, _ in parts)
    assert said == "Layer 4, head 2 gives 0.50 of the attention of it to itself."


def test_rounded_shares_add_up_and_so_do_the_products_that_are_drawn(run: Run) -> None:
    shares = [0.932, 0.026, 0.026, 0.006, 0.0051, 0.0049]
    body = "return [shareWords(shares), partWords(Float32Array.from(products), 2)]"
    written, parts = run(body, shares=shares, products=[1.5, 2.25, -3, 0.5])
    assert written == ["0.93", "0.03", "0.03", "0.01", "0.00", "0.00"]
    assert parts == [["2 drawn + 2 more", "3.75 − 2.50"]]
