"""What the head view's scripts work out, run in the browser and compared with NumPy."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.analysis.view_weights import (
    ExactWeights,
    LayerWeights,
    layer_weights,
    quantise,
    value_norms,
)
from core.components.head_view import HeadView, pack_head_view
from core.model import load, trace_text
from tests.analysis.traces import random_weights, token, trace_with_attention
from tests.browser.scripts import as_globals
from tests.model.families import FAMILIES, SENTENCES, build, oracle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from core.model.trace import Trace

SCRIPTS = (
    "shared/packed",
    "head_view/weights",
    "head_view/filters",
    "head_view/layout",
    "head_view/words",
)
VIEW = {"pairs": "all", "hide": False, "without": []}


@pytest.fixture(scope="module")
def run(browser: Browser) -> Iterator[Callable[..., Any]]:
    """Evaluate an expression with the scripts; `data` is what the component would get."""
    page = browser.new_page()
    page.add_script_tag(content=as_globals(*SCRIPTS))

    def evaluate(expression: str, *values: object, data: bytes = b"") -> Any:
        return page.evaluate(
            """([expression, values, data]) => {
              const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))
              const given = bytes.length ? unpack(bytes) : null
              return new Function("data", "values", `return ${expression}`)(given, values)
            }""",
            [expression, list(values), base64.b64encode(data).decode()],
        )

    yield evaluate
    page.close()


def packed(trace: Trace, layers: dict[int, LayerWeights]) -> bytes:
    facts = HeadView({}, 1, (), {"light": [], "dark": []})
    return pack_head_view(trace, layers, "attention", facts)


def words(*texts: str) -> list[dict[str, object]]:
    """Tokens as the scripts get them; [x] is special, | begins the second sentence."""
    segment, tokens = 0, []
    for text in texts:
        if text == "|":
            segment = 1
        else:
            tokens.append({"display": text, "special": text.startswith("["), "segment": segment})
    return tokens


EVERY_WEIGHT = """(() => {
  const layer = readLayer(data, values[0])
  const weights = []
  for (let h = 0; h < layer.heads; h++) for (let i = 0; i < layer.size; i++)
    for (let j = 0; j < layer.size; j++) weights.push(exactWeight(layer, h, i, j))
  return weights
})()"""


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "mistral", "gemma2", "modernbert"])
@pytest.mark.parametrize("text", [SENTENCES[2], SENTENCES[1]], ids=["short", "long"])
def test_the_number_on_hover_is_the_models_own_attention(
    run: Callable[..., Any], tmp_path: Path, name: str, text: str
) -> None:
    folder = build(FAMILIES[name], tmp_path)
    trace = trace_text(load(str(folder)), text)
    expected = oracle(folder).attention(text)
    for layer in range(trace.shape[0]):
        data = packed(trace, {layer: layer_weights(trace, layer)})
        weights = np.array(run(EVERY_WEIGHT, layer, data=data)).reshape(expected[layer].shape)
        assert np.abs(weights - expected[layer]).max() < 1e-5


def test_the_bundled_models_numbers_are_exact_too(run: Callable[..., Any]) -> None:
    text = "The brown capybara is sleeping now, and so is everybody else in this house. " * 6
    trace = trace_text(load("bundled/minilm"), text)
    assert trace.shape[2] > 64  # queries and keys travel
    data = packed(trace, {0: layer_weights(trace, 0)})
    weights = np.array(run(EVERY_WEIGHT, 0, data=data))
    assert np.abs(weights - trace.attention(0).ravel()).max() < 1e-5


def test_a_weighted_number_is_attention_times_the_length_of_the_value(
    run: Callable[..., Any],
) -> None:
    trace = trace_with_attention(random_weights(1, 1, 2, 5))
    norms = (value_norms(trace, 0) * np.arange(1, 6)).astype(np.float32)
    data = packed(trace, {0: layer_weights(trace, 0, norms)})
    weights = np.array(run(EVERY_WEIGHT, 0, data=data)).reshape(2, 5, 5)
    np.testing.assert_allclose(weights, trace.attention(0) * norms[:, None], atol=1e-6)


@pytest.mark.parametrize(
    ("view", "queries", "keys"),
    [
        ({}, [0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]),
        ({"pairs": "aa"}, [0, 1, 2, 3], [0, 1, 2, 3]),
        ({"pairs": "ab"}, [0, 1, 2, 3], [4, 5, 6]),
        ({"pairs": "ba"}, [4, 5, 6], [0, 1, 2, 3]),
        ({"pairs": "bb", "hide": True}, [4, 5], [4, 5]),
        ({"hide": True, "without": [2, 6]}, [2, 4], [2, 4]),
        ({"without": [1, 2, 3, 4, 5, 6, 7]}, [], []),
    ],
)
def test_filters_choose_the_tokens_of_both_columns(
    run: Callable[..., Any], view: dict[str, object], queries: list[int], keys: list[int]
) -> None:
    tokens = words("[CLS]", "a", "b", "[SEP]", "|", "c", "d", "[SEP]")
    shown = run("shownTokens(values[0], values[1])", tokens, VIEW | view)
    assert (shown["queries"], shown["keys"]) == (queries, keys)


@pytest.mark.parametrize(
    ("written", "on"),
    [([], [0, 1, 2]), ([0], []), ([2], [1]), ([1, 3], [0, 2])],
)
def test_a_link_names_the_heads_that_are_on(
    run: Callable[..., Any], written: list[int], on: list[int]
) -> None:
    assert run("headsOn(values[0], 3)", written) == on
    assert run("headsWritten(values[0], 3)", on[::-1]) == written


def test_lines_come_strongest_first_and_none_is_lost(run: Callable[..., Any]) -> None:
    steps = np.random.default_rng(4).integers(0, 256, (3, 6, 6))
    shown = {"queries": [0, 2, 5], "keys": [1, 2]}
    cells = run(
        "Array.from(strongestFirst(Uint8Array.from(values[0]), 6, [0, 2], values[1], 40))",
        steps.ravel().tolist(),
        shown,
    )
    drawn = [steps.ravel()[cell] for cell in cells]
    assert drawn == sorted(drawn, reverse=True)
    expected = {
        (head * 6 + query) * 6 + key
        for head in (0, 2)
        for query in shown["queries"]
        for key in shown["keys"]
        if steps[head, query, key] >= 40
    }
    assert set(cells) == expected
    assert len(cells) == len(expected)


def test_the_automatic_threshold_leaves_few_enough_lines(run: Callable[..., Any]) -> None:
    expression = "leastOf(values[0], Uint8Array.from(values[1]), 64, [0, 1], values[2])"
    every = {"queries": list(range(64)), "keys": list(range(64))}
    few = np.zeros((2, 64, 64), dtype=int)
    few[0, :, 0] = 200
    assert run(expression, "auto", few.ravel().tolist(), every) == 0.02
    many = np.full((2, 64, 64), 20)  # 8192 lines of 0.08
    assert run(expression, "auto", many.ravel().tolist(), every) == 0.1
    assert run(expression, "0.3", many.ravel().tolist(), every) == 0.3
    assert run(expression, "auto", np.full((2, 64, 64), 255).ravel().tolist(), every) == 0.9


RENORMALISED = """(() => {
  const { steps, sums } = renormalise(readLayer(data, 0), values[0])
  return { steps: Array.from(steps), sums: Array.from(sums) }
})()"""


@pytest.mark.parametrize("size", [6, 40], ids=["from weights", "from queries and keys"])
def test_renormalised_rows_are_divided_by_what_is_left(run: Callable[..., Any], size: int) -> None:
    rng = np.random.default_rng(size)
    weights = rng.dirichlet(np.full(size, 0.2), (1, 2, size)).astype(np.float32)
    trace = trace_with_attention(weights)
    shown = {"queries": [1, 3, 4], "keys": [0, 4, 5]}
    result = run(RENORMALISED, shown, data=packed(trace, {0: layer_weights(trace, 0)}))
    steps = np.array(result["steps"]).reshape(2, size, size)
    left = trace.attention(0).astype(np.float64)[:, [1, 3, 4]][:, :, [0, 4, 5]]
    sums = left.sum(axis=-1)
    np.testing.assert_allclose(
        np.array(result["sums"]).reshape(2, size)[:, [1, 3, 4]], sums, atol=1e-6
    )
    expected = 255 * left / sums[..., None]
    assert np.abs(steps[:, [1, 3, 4]][:, :, [0, 4, 5]] - expected).max() <= 0.5 + 0.01
    assert steps.sum() == steps[:, [1, 3, 4]][:, :, [0, 4, 5]].sum()  # nothing elsewhere


def test_a_row_with_nothing_left_stays_empty(run: Callable[..., Any]) -> None:
    itself = np.eye(4, dtype=np.float32)[None]
    sent = LayerWeights(quantise(itself), 1.0, ExactWeights(itself), None, None)
    shown = {"queries": [0, 1], "keys": [1, 2]}
    result = run(RENORMALISED, shown, data=packed(trace_with_attention(itself[None]), {0: sent}))
    steps = np.array(result["steps"]).reshape(4, 4)
    assert steps[0].tolist() == [0, 0, 0, 0]
    assert steps[1].tolist() == [0, 255, 0, 0]


def test_a_line_is_drawn_when_it_crosses_the_view(run: Callable[..., Any]) -> None:
    size, first, last = 12, 4, 7
    cells = list(range(size * size))
    result = run(
        """(() => {
          const rows = new Map(values[0].map((row) => [row, row]))
          const rowOf = { queries: rows, keys: rows }
          const { cells, ends } = nearestFirst(Uint32Array.from(values[1]), 12, rowOf, 4, 7)
          return { cells: Array.from(cells), ends }
        })()""",
        list(range(size)),
        cells,
    )
    inside = [(first <= c // size < last) + (first <= c % size < last) for c in cells]
    passing = [c for c in cells if inside[c] == 0 and (c // size < first) != (c % size < first)]
    both = [c for c in cells if inside[c] == 2]
    one = [c for c in cells if inside[c] == 1]
    assert result["cells"] == both + one + passing
    assert result["ends"] == [len(both), len(both) + len(one)]


def test_a_point_is_on_a_token_on_its_bar_or_between(run: Callable[..., Any]) -> None:
    shown = {"queries": [3, 5], "keys": [2, 5, 7]}
    where = run(
        """(() => {
          const layout = layOut(1000, 60, values[0], [0, 1])
          const at = (x, y) => hitAt(layout, values[0], x, y)
          const { linesLeft, linesRight, token, row } = layout
          return {
            query: at(linesLeft - 5, row * 1.5), keyBar: at(linesRight + token + 20, 1),
            key: at(linesRight + 5, row * 2.5), lines: at((linesLeft + linesRight) / 2, 5),
            below: at(linesLeft - 5, row * 2.5),
          }
        })()""",
        shown,
    )
    assert where["query"] == {"side": "queries", "bar": False, "row": 1, "position": 5}
    assert where["keyBar"] == {"side": "keys", "bar": True, "row": 0, "position": 2}
    assert where["key"] == {"side": "keys", "bar": False, "row": 2, "position": 7}
    assert where["lines"] is None
    assert where["below"] is None  # the left column has two rows


@pytest.mark.parametrize("width", [320, 390, 800, 1400])
@pytest.mark.parametrize("heads", [1, 12, 32])
def test_everything_fits_the_width_and_heads_stay_in_their_row(
    run: Callable[..., Any], width: int, heads: int
) -> None:
    layout = run(
        """(() => {
          const heads = Array.from({ length: values[1] }, (_, head) => head)
          const { ports, ...layout } = layOut(values[0], 500, { queries: [0], keys: [0] }, heads)
          return { ...layout, ports: Array.from(ports.values()) }
        })()""",
        width,
        heads,
    )
    assert layout["linesLeft"] - layout["token"] - layout["bar"] >= -0.5
    assert layout["linesRight"] + layout["token"] + layout["bar"] <= width + 0.5
    assert all(0 < port < layout["row"] for port in layout["ports"])
    assert len(set(layout["ports"])) == heads


def test_a_bars_segments_are_the_heads_weights(run: Callable[..., Any]) -> None:
    profile = [[0.5, 0.1], [0.25, 0.3]]  # two heads, two tokens
    ends = run("segmentEnds(values[0], 0, 100)", profile)
    assert ends == pytest.approx([50, 75])
    found = [run("segmentAt(values[0], values[1])", ends, x) for x in (10, 60, 80)]
    assert found == [0, 1, -1]


def test_the_sentence_names_the_strongest_pairs_over_heads(run: Callable[..., Any]) -> None:
    tokens = [{"label": name} for name in ("it", "book", "it (2)")]
    parts = run(
        """tokenSentence({ side: "queries", position: 2 }, {
          tokens: values[0], on: [1, 4], top: 1, pinned: false,
          shown: { queries: [2], keys: [0, 1, 2] },
          profile: [Float64Array.from([0.1, 0.9324, 0]), Float64Array.from([0.5, 0.2, 0.3])],
        }).map(([text]) => text).join("")""",
        tokens,
    )
    assert parts == "it (2) attends to book 0.932 in H2 · it 0.500 in H5 · it (2) 0.300 in H5"


def test_a_pair_the_model_does_not_permit_is_called_so(run: Callable[..., Any]) -> None:
    trace = trace_with_attention(np.tril(np.full((1, 1, 3, 3), 0.5, dtype=np.float32)))
    sent = layer_weights(trace, 0)
    bits = np.packbits(np.tril(np.ones((3, 3), dtype=bool)))
    sent = LayerWeights(sent.steps, sent.top, sent.exact, bits, None)
    note = run(
        """pairNote(0, 2, {
          tokens: data.tokens, layer: readLayer(data, 0), on: [0], top: 1, colours: ["#000"],
          causal: true,
        }, -1)""",
        data=packed(trace, {0: sent}),
    )
    assert note == ["t0 → t2", [["no attention to later tokens", None]]]


def test_hostile_names_travel_as_they_are(run: Callable[..., Any]) -> None:
    names = ("</script><img src=x onerror=alert(1)>", "$x$", ":red[x]", "😀", "مرحبا")
    tokens = tuple(token(name, i, i) for i, name in enumerate(names))
    trace = trace_with_attention(random_weights(1, 1, 1, 5), tokens)
    data = packed(trace, {0: layer_weights(trace, 0)})
    assert run("data.tokens.map(({ display }) => display)", data=data) == list(names)
