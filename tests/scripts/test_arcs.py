"""What Home's picture works out in the browser: the cards' numbers, the arcs and where they run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.layer_payload import LayerPayload
from core.model.trace import Trace
from tests.analysis.traces import causal_mask, random_trace, spelled
from tests.scripts import test_layer
from tests.scripts.conftest import Run

SCRIPTS = "shared/layer arcs/reading arcs/curves arcs/cards"
QUERY = 5
LAYER = "const layer = readLayer(data, 1)\n"


def sent(trace: Trace) -> bytes:
    return test_layer.sent(trace, LayerPayload.of(trace, 1))


@pytest.mark.parametrize("kind", ["plain", "causal", "biased", "capped", "sink", "grouped"])
@pytest.mark.parametrize(("head", "key"), [(0, 1), (3, 4), (2, QUERY)])
def test_the_cards_numbers_are_those_of_the_trace(run: Run, kind: str, head: int, key: int) -> None:
    trace = test_layer.trace_of(kind)
    body = LAYER + "return [stepsOf(layer, ...pair, hasSink), vectorsOf(layer, ...pair)]"
    values = {"pair": (head, QUERY, key), "hasSink": kind == "sink"}
    found, vectors = run(body, data=sent(trace), **values)
    q, k = trace.queries[1, head, QUERY], trace.keys[1, head, key]
    np.testing.assert_allclose([vectors["query"], vectors["key"]], [q, k], rtol=1e-7)
    product = q.astype(np.float64) @ k
    scores, shares = (of(1, head)[QUERY] for of in (trace.scores, trace.attention))
    assert found["product"] == pytest.approx(product, rel=1e-6)
    assert found["scaled"] == pytest.approx(product * trace.layers[1].scaling, rel=1e-6)
    assert found["score"] == pytest.approx(scores[key], rel=1e-5)
    assert found["isPlain"] == (kind not in {"biased", "capped"})
    *first, last = np.argsort(-shares, kind="stable")[:4].tolist()
    expected = [*first, last if key in first else key]
    rows = np.array([[row[name] for name in ("key", "score", "share")] for row in found["rows"]])
    np.testing.assert_allclose(
        rows, np.transpose([expected, scores[expected], shares[expected]]), rtol=1e-5, atol=1e-6
    )
    assert found["rest"]["count"] == np.isfinite(scores).sum() - 4
    assert found["rest"]["share"] == pytest.approx(shares.sum() - shares[expected].sum(), abs=1e-6)
    assert found["sink"] == pytest.approx(1 - shares.sum() if kind == "sink" else 0, abs=1e-6)


def test_an_arc_leads_from_each_ordinary_token_to_the_other_that_it_attends_to_most(
    run: Run,
) -> None:
    trace = replace(random_trace(5, size=7), tokens=spelled("[CLS] it was , and it [SEP]"))
    trace = replace(trace, layers=(replace(trace.layers[0], mask=causal_mask(7)),) * 3)
    special = [token.special for token in trace.tokens]
    arcs = run(LAYER + "return arcsOf(layer, 1, special)", data=sent(trace), special=special)
    weights = trace.attention(1, 1).copy()
    weights[:, special] = 0
    np.fill_diagonal(weights, 0)
    expected = [(query, weights[query].argmax(), weights[query].max()) for query in range(2, 6)]
    found = [[arc["query"], arc["key"], arc["weight"]] for arc in arcs]  # 1 sees no other
    np.testing.assert_allclose(found, expected, atol=1e-6)


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
def test_an_arc_above_a_line_leaves_room_for_its_number_else_it_runs_from_edge_to_edge(
    run: Run, room: int, apart: int
) -> None:
    curve, up, down = run(
        """const others = apart ? boxes.slice(1) : [boxes[0], ...boxes.slice(2)]
        return others.map((to) => curveOf(boxes[0], to, room, 900))""",
        boxes=[box(300, room), box(300 + apart, room), box(800, -200), box(800, 200 + room)],
        room=room,
        apart=apart,
    )
    assert 15 <= curve["crown"]["y"] < room  # letters of 15 pixels stand above it
    assert curve["points"][0] == {"x": 320, "y": room}
    assert curve["points"][3] == {"x": 320 + apart, "y": room}
    assert up["crown"] is down["crown"] is None
    assert [up["points"][end]["y"] for end in (0, 3)] == [room, -160]
    assert [down["points"][end]["y"] for end in (0, 3)] == [room + 40, 200 + room]


def test_numbers_and_words_of_the_cards(run: Run) -> None:
    steps = {"product": -8.0, "scaled": -2.0, "score": -1.5, "isPlain": False}
    usual, plain, said, shares, parts = run(
        """return [
          scoreWords(steps, 0.25, 16),
          scoreWords({ ...steps, isPlain: true }, 1, 16),
          pairWords(4, 1, 0.5, "it", "it").map(([text]) => text).join(""),
          shareWords([0.9255, 0.0276, 0.0267, 0.0066, 0.0066, 0.007], 0),
          partWords(Float32Array.from([1.5, 2.25, -3, 0.5]), 2),
        ]""",
        steps=steps,
    )
    added = ["with what this model adds", "−1.50"]
    assert usual == [["query · key", "−8.00"], ["divided by √16", "−2.00"], added]
    assert plain[1:] == [["times 1", "−2.00"]]
    assert said == "Layer 4, head 2 gives 0.50 of the attention of it to itself."
    assert shares == ["0.93", "0.03", "0.03", "0.00", "0.00", "0.01"]  # which add up to one
    assert parts == [["2 drawn + 2 more", "3.75 − 2.50"]]
