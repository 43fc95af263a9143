"""What the neuron view's scripts work out: scores, weights, lines and their sentence."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from core.analysis.layer_payload import LayerPayload
from core.components.packing import pack_layers, sides_of
from tests.analysis.traces import causal_mask, made_trace
from tests.scripts.conftest import Run, RunWith

SENTENCE = re.compile(
    r"The (?:(\d+) )?largest\D* of 12 \D+ ([−\d.]+), within 10\u00a0% of ([−\d.]+),"
)
HEAD = "const head = readLayer(data, 0)\n"


@pytest.fixture(scope="module")
def run(run_with: RunWith) -> Run:
    names = ("numbers", "drawing", "words")
    return run_with("shared/layer", *(f"neuron_view/{name}" for name in names))


def sent(q: NDArray[np.float32], k: NDArray[np.float32], **rule: Any) -> bytes:
    """One head of (token, dim) queries and keys."""
    trace = made_trace(q[None, None], k[None, None], k[None, None], **rule)
    settings = {"heads": 1, "sides": sides_of(trace.tokens)}
    return pack_layers(settings, {0: LayerPayload.of(trace, 0, 0)})


def number(text: str) -> float:
    """Of a text with a true minus sign."""
    return float(text.replace("−", "-"))


def test_scores_and_softmax_are_those_of_the_definition(run: Run) -> None:
    n, d = 6, 8
    q, k = np.random.default_rng(3).normal(size=(2, n, d)).astype(np.float32)
    data = sent(q, k, mask=causal_mask(n), scaling=0.3, softcap=0.8)
    weights = run(
        HEAD + "return [...Array(6).keys()].map((i) => [...scoreRow(head, i).weights])", data=data
    )
    scores = 0.8 * np.tanh(0.3 * (q.astype(float) @ k.astype(float).T) / 0.8)
    powers = np.exp(scores) * np.tri(n)
    assert_allclose(weights, powers / powers.sum(axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("chosen", [None, 2])
def test_lines_are_the_attention_of_all_queries_or_of_the_chosen_one(
    run: Run, chosen: int | None
) -> None:
    tokens, dim = 6, 4
    q, k = np.random.default_rng(7).normal(0, 2, size=(2, tokens, dim)).astype(np.float32)
    every = list(range(tokens))
    lines = run(
        HEAD
        + """
        const lines = []
        let from
        const row = (y) => y / 10 - 0.5
        const pen = { beginPath() {}, moveTo(x, y) { from = y }, stroke() {},
          bezierCurveTo(...to) { lines.push([row(from), row(to[5]), this.globalAlpha]) } }
        const span = { first: 0, last: 6 }
        const layout = { lead: 100, asking: 50, gap: 5, row: 10 }
        drawQueries(pen, { head, view, layout, colours: { strong: "blue" } }, span)
        return lines
        """,
        data=sent(q, k, scaling=0.5, mask=causal_mask(tokens)),
        view={"queries": every, "keys": every, "query": chosen},
    )
    scores = np.where(np.tri(tokens, dtype=bool), 0.5 * (q.astype(float) @ k.T), -np.inf)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    expected = {
        (i, j): weights[i, j] ** 0.65
        for i, j in np.argwhere(weights >= 0.01).tolist()
        if chosen is None or i == chosen
    }
    drawn_lines = {(round(i), round(j)): alpha for i, j, alpha in lines}
    assert drawn_lines == pytest.approx(expected, rel=1e-4)


def test_a_long_text_draws_the_lines_that_end_in_view(run: Run) -> None:
    tokens = 40
    nothing = np.zeros((tokens, 1), dtype=np.float32)  # uniform attention, 0.025 each
    every = list(range(tokens))
    count = run(
        HEAD
        + """
        let count = 0
        const pen = { beginPath() {}, moveTo() {}, bezierCurveTo() {}, stroke() { count++ } }
        const layout = { lead: 100, asking: 50, gap: 5, row: 10 }
        drawQueries(pen, { head, view, layout, colours: {} }, { first: 10, last: 20 })
        return count
        """,
        data=sent(nothing, nothing),
        view={"queries": every, "keys": every, "query": None},
    )
    assert count == tokens**2 - 30**2  # all but those with both ends out of view


@pytest.mark.parametrize(
    ("products", "enough"),
    [([1, 6, 3], 2), ([-1, -6, -3], 2), ([10, -4, 1], 3), ([7], 1), ([3, -3], None), ([0], None)],
)
def test_dimensions_that_make_a_score_are_counted_as_the_page_says(
    run: Run, products: list[float], enough: int | None
) -> None:
    head = {"queries": products, "keys": [1] * len(products), "dim": len(products)}
    parts = run("return contributionsOf(head, 0, 0)", head=head)
    assert parts["enough"] == enough
    assert parts["total"] == sum(products)


def test_the_sum_the_sentence_states_is_within_the_share_that_it_states(run: Run) -> None:
    draws = np.random.default_rng(3).normal(0.3, 1, size=(200, 12)).round(3).tolist()
    sentences = run(
        """
        return draws.map((queries) => {
          const head = { queries, keys: queries.map(() => 1), dim: queries.length }
          return enoughWords(head, contributionsOf(head, 0, 0))
        })
        """,
        draws=draws,
    )
    above = 0
    for products, sentence in zip(draws, sentences, strict=True):
        stated = SENTENCE.match(sentence)
        assert stated is not None, sentence
        count, part, whole = int(stated[1] or 1), number(stated[2]), number(stated[3])
        ranked = sorted(products, key=abs, reverse=True)
        assert part == pytest.approx(sum(ranked[:count]), abs=0.0051)
        assert whole == pytest.approx(sum(products), abs=0.0051)
        sums = np.cumsum(ranked)
        assert (np.abs(sums[count - 1 :] - sums[-1]) <= 0.1 * abs(sums[-1]) + 1e-9).all()
        above += abs(part) > abs(whole)
    assert above > 20  # sums that exceed the whole: "90%" would be false of them
