"""What the neuron view's scripts work out: scores, weights, lines and their sentence."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.analysis.layer_payload import LayerPayload
from tests.analysis.traces import causal_mask, made_trace
from tests.scripts import test_layer
from tests.scripts.conftest import Run

SCRIPTS = "shared/layer neuron_view/numbers neuron_view/drawing neuron_view/words"
SENTENCE = re.compile(
    r"The (?:(\d+) )?largest\D* of 12 \D+ ([−\d.]+), within 10\u00a0% of ([−\d.]+),"
)
DRAW = """
  const head = readLayer(data, 1), lines = []
  let from
  const row = (y) => y / 10 - 0.5
  const pen = { beginPath() {}, moveTo(x, y) { from = y }, stroke() {},
    bezierCurveTo(...to) { lines.push([row(from), row(to[5]), this.globalAlpha]) } }
  const layout = { lead: 100, asking: 50, gap: 5, row: 10 }
  const [queries, keys] = [head.size.queries, head.size.keys].map((n) => [...Array(n).keys()])
  const view = { queries, keys, query }
  drawQueries(pen, { head, view, layout, colours: {} }, { first, last })
  return lines
"""


def sent(q: NDArray[np.float32], k: NDArray[np.float32], **rule: Any) -> bytes:
    """One head of (token, dim) queries and keys."""
    trace = made_trace(q[None, None], k[None, None], **rule)
    return test_layer.sent(trace, LayerPayload.of(trace, 0, 0), heads=1)


@pytest.mark.parametrize("chosen", [None, 2])
def test_lines_are_the_attention_of_all_queries_or_of_the_chosen_one(
    run: Run, chosen: int | None
) -> None:
    tokens, dim = 6, 4
    q, k = np.random.default_rng(7).normal(0, 2, size=(2, tokens, dim)).astype(np.float32)
    data = sent(q, k, scaling=0.5, mask=causal_mask(tokens))
    lines = run(DRAW, data=data, query=chosen, first=0, last=tokens)
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
    nothing = np.zeros((40, 1), dtype=np.float32)  # uniform attention, 0.025 each
    lines = run(DRAW, data=sent(nothing, nothing), query=None, first=10, last=20)
    assert len(lines) == 40**2 - 30**2  # all but those with both ends out of view


def test_the_fewest_products_that_make_a_score_are_counted_and_their_sum_is_as_stated(
    run: Run,
) -> None:
    draws = np.random.default_rng(3).normal(0.3, 1, size=(200, 12)).round(3).tolist()
    *sentences, cancelled, nothing = run(
        """return draws.map((queries) => {
          const head = { queries, keys: queries.map(() => 1), dim: queries.length }
          return enoughWords(head, contributionsOf(head, 0, 0))
        })""",
        draws=[*draws, [3, -3], [0]],
    )
    assert "cancel out" in cancelled
    assert nothing == "Every product is zero."
    above = 0
    for products, sentence in zip(draws, sentences, strict=True):
        stated = SENTENCE.match(sentence)
        assert stated is not None, sentence
        part, whole = (float(number.replace("−", "-")) for number in stated.groups()[1:])
        count = int(stated[1] or 1)
        ranked = sorted(products, key=abs, reverse=True)
        assert part == pytest.approx(sum(ranked[:count]), abs=0.0051)
        assert whole == pytest.approx(sum(products), abs=0.0051)
        sums = np.cumsum(ranked)
        is_near = np.abs(sums - sums[-1]) <= 0.1 * abs(sums[-1]) + 1e-9
        assert is_near[count - 1 :].all()
        assert count == 1 or not is_near[count - 2]
        above += abs(part) > abs(whole)
    assert above > 20  # sums that exceed the whole: "90%" would be false of them
