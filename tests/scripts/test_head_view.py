"""What the head view's scripts work out, run by Node and compared with NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.layer_payload import LayerPayload, value_norms
from core.components.head_view import HeadView, pack_head_view
from core.model import load, trace_text
from tests.analysis.traces import crossing, numbered, random_weights, trace_with_attention
from tests.model.families import FAMILIES, SENTENCES, build
from tests.model.oracle import Oracle
from tests.scripts.conftest import Run, RunWith

if TYPE_CHECKING:
    from pathlib import Path

    from core.model.trace import Trace

SCRIPTS = [f"head_view/{name}" for name in ("filters", "lines", "words")]
SCRIPTS += ["shared/layer", "shared/sentences"]
VIEW = {"pairs": "all", "hide": False}


@pytest.fixture(scope="module")
def run(run_with: RunWith) -> Run:
    return run_with(*SCRIPTS)


def packed(trace: Trace, layers: dict[int, LayerPayload]) -> bytes:
    facts = HeadView({}, 1, (), {"light": [], "dark": []})
    return pack_head_view(trace, layers, "attention", facts)


def words(*texts: str) -> dict[str, list[object]]:
    """Tokens as the scripts get them; [x] is special, | begins the second sentence."""
    labels = [text for text in texts if text != "|"]
    second = texts.index("|") if "|" in texts else len(texts)
    return {
        "labels": [*labels],
        "special": [label.startswith("[") for label in labels],
        "segments": [int(place >= second) for place in range(len(labels))],
    }


EVERY_WEIGHT = """
const shown = readLayer(data, layer)
const { queries, keys } = shown.size
const indices = Array.from({ length: shown.heads * queries * keys }, (_, i) => i)
return indices.map((i) => weightOf(
  shown, Math.floor(i / (queries * keys)), Math.floor(i / keys) % queries, i % keys
))"""


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma2", "modernbert"])
def test_the_number_on_hover_is_the_models_own_attention(
    run: Run, tmp_path: Path, name: str
) -> None:
    folder = build(FAMILIES[name], tmp_path)
    for text in (SENTENCES[2], SENTENCES[1]):  # short, long
        trace = trace_text(load(str(folder)), text)
        for layer, expected in enumerate(Oracle(folder).attention(text)):
            data = packed(trace, {layer: LayerPayload.drawn(trace, layer)})
            weights = np.reshape(run(EVERY_WEIGHT, layer=layer, data=data), expected.shape)
            assert np.abs(weights - expected).max() < 1e-5


@pytest.mark.parametrize(("queries", "keys"), [(3, 5), (12, 20), (20, 12)])
def test_cross_attention_is_read_from_rows_of_another_length(
    run: Run, queries: int, keys: int
) -> None:
    asking, asked = ([each.display for each in numbered(size)] for size in (queries, keys))
    trace = crossing(4, queries=tuple(asking), keys=tuple(asked))
    layer = LayerPayload.drawn(trace, 1, "value")
    assert (layer.weights is not None) == (queries == 3)  # else queries and keys travel
    weights = np.array(run(EVERY_WEIGHT, layer=1, data=packed(trace, {1: layer})))
    norms = np.linalg.norm(trace.values[1], axis=-1)
    expected = trace.attention(1) * norms[:, None]
    np.testing.assert_allclose(weights, expected.ravel(), atol=1e-5)
    assert layer.steps is not None
    assert np.abs(layer.steps / 255 * layer.top - expected).max() <= layer.top / 500


def test_a_weighted_number_is_attention_times_the_length_of_the_value(run: Run) -> None:
    trace = trace_with_attention(random_weights(1, 1, 2, 5))
    norms = (value_norms(trace, 0) * np.arange(1, 6)).astype(np.float32)
    data = packed(trace, {0: LayerPayload.drawn(trace, 0, "transformed", norms[None])})
    weights = np.reshape(run(EVERY_WEIGHT, layer=0, data=data), (2, 5, 5))
    np.testing.assert_allclose(weights, trace.attention(0) * norms[:, None], atol=1e-6)


ALIKE = words("[CLS]", "a", "b", "[SEP]", "|", "c", "d", "[SEP]")
SIDES = {
    "one text": {"queries": ALIKE, "keys": ALIKE},
    "cross": {
        "queries": words("[START]", "wo", "ist"),
        "keys": words("where", "is", "[SEP]", "|", "it", "[SEP]"),
    },
}


@pytest.mark.parametrize(
    ("sides", "view", "queries", "keys"),
    [
        ("one text", {}, [0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]),
        ("one text", {"pairs": "aa"}, [0, 1, 2, 3], [0, 1, 2, 3]),
        ("one text", {"pairs": "ab"}, [0, 1, 2, 3], [4, 5, 6]),
        ("one text", {"pairs": "ba"}, [4, 5, 6], [0, 1, 2, 3]),
        ("one text", {"pairs": "bb", "hide": True}, [4, 5], [4, 5]),
        ("one text", {"hide": True}, [1, 2, 4, 5], [1, 2, 4, 5]),
        ("cross", {}, [0, 1, 2], [0, 1, 2, 3, 4]),
        ("cross", {"hide": True}, [1, 2], [0, 1, 3]),
        ("cross", {"pairs": "ab"}, [0, 1, 2], [3, 4]),
    ],
)
def test_filters_choose_the_tokens_of_both_columns(
    run: Run, sides: str, view: dict[str, object], queries: list[int], keys: list[int]
) -> None:
    shown = run("return shownTokens(tokens, view)", tokens=SIDES[sides], view=VIEW | view)
    assert (shown["queries"], shown["keys"]) == (queries, keys)


@pytest.mark.parametrize(
    ("queries", "keys", "cross", "labels"),
    [
        ([0, 0], [0, 0], False, []),
        ([0, 1], [0, 1], False, ["All", "A→A", "A→B", "B→A", "B→B"]),
        ([0, 0], [0, 0, 0], True, []),
        ([0, 0], [0, 1, 1], True, ["All", "→A", "→B"]),
    ],
)
def test_pairs_are_offered_where_a_side_has_two_sentences(
    run: Run, queries: list[int], keys: list[int], cross: bool, labels: list[str]
) -> None:
    sides = {"queries": {"segments": queries}, "keys": {"segments": keys} if cross else None}
    offered = run("return offeredPairs(sides)", sides=sides)
    assert [each["label"] for each in offered] == labels


@pytest.mark.parametrize(
    ("written", "on"),
    [([], [0, 1, 2]), ([0], []), ([2], [1]), ([1, 3], [0, 2])],
)
def test_a_link_names_the_heads_that_are_on(run: Run, written: list[int], on: list[int]) -> None:
    assert run("return headsOn(written, 3)", written=written) == on
    assert run("return headsWritten(on, 3)", on=on[::-1]) == written


def test_lines_come_strongest_first_and_none_is_lost(run: Run) -> None:
    steps = np.random.default_rng(4).integers(0, 256, (3, 6, 4))
    shown = {"queries": [0, 2, 5], "keys": [1, 2]}
    cells = run(
        """const size = { queries: 6, keys: 4 }
        return [...strongestFirst(Uint8Array.from(steps), size, [0, 2], shown, 40)]""",
        steps=steps.ravel().tolist(),
        shown=shown,
    )
    drawn = [steps.ravel()[cell] for cell in cells]
    assert drawn == sorted(drawn, reverse=True)
    expected = {
        (head * 6 + query) * 4 + key
        for head in (0, 2)
        for query in shown["queries"]
        for key in shown["keys"]
        if steps[head, query, key] >= 40
    }
    assert set(cells) == expected
    assert len(cells) == len(expected)


def test_the_threshold_leaves_few_enough_lines(run: Run) -> None:
    few = np.zeros((2, 64, 64), dtype=int)
    few[0, :, 0] = 200
    many = np.full((2, 64, 64), 20)  # 8192 lines of 0.08
    cases = [few, many, np.full((2, 64, 64), 255)]
    thresholds = run(
        """const every = Array.from({ length: 64 }, (_, i) => i)
        const [shown, size] = [{ queries: every, keys: every }, { queries: 64, keys: 64 }]
        return cases.map((steps) => (
          thresholdOf(Uint8Array.from(steps), size, [0, 1], shown)
        ))""",
        cases=[steps.ravel().tolist() for steps in cases],
    )
    assert thresholds == [0.02, 0.1, 0.9]


def test_a_line_is_drawn_when_it_crosses_the_view(run: Run) -> None:
    size, first, last = 9, 4, 7  # keys; there are 12 queries
    cells = list(range(12 * size))
    result = run(
        """const rows = new Map(Array.from({ length: 12 }, (_, row) => [row, row]))
        const [rowOf, size] = [{ queries: rows, keys: rows }, { queries: 12, keys: 9 }]
        const { cells, ends } = nearestFirst(Uint32Array.from(all), size, rowOf, 4, 7)
        return { cells: [...cells], ends }""",
        all=cells,
    )
    inside = [(first <= c // size < last) + (first <= c % size < last) for c in cells]
    passing = [c for c in cells if inside[c] == 0 and (c // size < first) != (c % size < first)]
    both, one = ([c for c in cells if inside[c] == ends] for ends in (2, 1))
    assert result["cells"] == both + one + passing
    assert result["ends"] == [len(both), len(both) + len(one)]


def test_a_point_is_on_a_token_on_its_bar_or_between(run: Run) -> None:
    hits = run(
        """const shown = { queries: [3, 5], keys: [2, 5, 7] }
        const layout = layOut(1000, 60, shown, [0, 1])
        const { linesLeft, linesRight, token, row } = layout
        return [
          [linesLeft - 5, row * 1.5], [linesRight + token + 20, 1], [linesRight + 5, row * 2.5],
          [(linesLeft + linesRight) / 2, 5], [linesLeft - 5, row * 2.5],
        ].map(([x, y]) => hitAt(layout, shown, x, y))"""
    )
    assert hits == [
        {"side": "queries", "bar": False, "row": 1, "position": 5},
        {"side": "keys", "bar": True, "row": 0, "position": 2},
        {"side": "keys", "bar": False, "row": 2, "position": 7},
        None,  # lines
        None,  # the left column has two rows
    ]


@pytest.mark.parametrize("width", [320, 390, 800, 1400])
@pytest.mark.parametrize("heads", [1, 12, 32])
def test_everything_fits_the_width_and_heads_stay_in_their_row(
    run: Run, width: int, heads: int
) -> None:
    layout = run(
        """const { ports, ...layout } = layOut(width, 500, { queries: [0], keys: [0] }, heads)
        return { ...layout, ports: [...ports.values()] }""",
        width=width,
        heads=list(range(heads)),
    )
    assert layout["linesLeft"] - layout["token"] - layout["bar"] >= -0.5
    assert layout["linesRight"] + layout["token"] + layout["bar"] <= width + 0.5
    assert all(0 < port < layout["row"] for port in layout["ports"])
    assert len(set(layout["ports"])) == heads


def test_a_bars_segments_are_the_heads_weights(run: Run) -> None:
    ends, heads = run(
        """const ends = segmentEnds([[0.5, 0.1], [0.25, 0.3]], 0, 100) // two heads, two tokens
        return [ends, [10, 60, 80].map((x) => segmentAt(ends, x))]"""
    )
    assert ends == pytest.approx([50, 75])
    assert heads == [0, 1, -1]


def test_the_sentence_names_the_strongest_pairs_over_heads(run: Run) -> None:
    tokens = {
        side: {"labels": names}
        for side, names in {
            "queries": ("x", "y", "it₂"),
            "keys": ("it", "book", "it₂"),
        }.items()
    }
    parts = run(
        """const profile = [[0.1, 0.9324, 0], [0.5, 0.2, 0.3]].map((row) => Float64Array.from(row))
        return tokenSentence({ side: "queries", position: 2 }, profile, {
          tokens, on: [1, 4], top: 1, isPinned: false,
          shown: { queries: [2], keys: [0, 1, 2] },
        }).map(([text]) => text).join("")""",
        tokens=tokens,
    )
    assert parts == "it₂ attends to book 0.932 in H2 · it 0.500 in H5 · it₂ 0.300 in H5"


def test_a_pair_the_model_does_not_permit_is_called_so_and_is_no_possible_line(run: Run) -> None:
    trace = trace_with_attention(np.tril(np.full((1, 1, 3, 3), 0.5, dtype=np.float32)))
    bits = np.packbits(np.tril(np.ones((3, 3), dtype=bool)))
    sent = replace(LayerPayload.drawn(trace, 0), permitted=bits)
    note, count = run(
        """const layer = readLayer(data, 0)
        const shown = { queries: [0, 1, 2], keys: [0, 1, 2] }
        return [pairNote(0, 2, {
          tokens: bothSides(data.sides), layer, on: [0],
          top: 1, colours: ["#000"], causal: true,
        }, -1), countSentence({ cells: [1, 3], layer, on: [0, 0], shown })]""",
        data=packed(trace, {0: sent}),
    )
    assert count == "2 of 12 lines"
    assert note == ["t0 → t2", [["no attention to later tokens", None]]]
