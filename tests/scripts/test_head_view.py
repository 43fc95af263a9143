"""What the head view's scripts work out, run by Node and compared with NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.layer_payload import LayerPayload
from core.components.packing import sides_of
from tests.analysis.traces import spelled, trace_with_attention
from tests.scripts.conftest import Run
from tests.scripts.test_layer import sent

SCRIPTS = "shared/layer shared/sentences head_view/filters head_view/lines head_view/words"
VIEW = {"pairs": "all", "hide": False}
ALIKE = sides_of(spelled("[CLS] a b [SEP] c d [SEP]"))
SIDES = {
    "one text": ALIKE | {"keys": ALIKE["queries"]},
    "cross": sides_of(spelled("[CLS] wo ist"), spelled("where is [SEP] it [SEP]")),
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
    ("queries", "keys", "labels"),
    [
        ([0, 0], None, []),
        ([0, 1], None, ["All", "A→A", "A→B", "B→A", "B→B"]),
        ([0, 0], [0, 0, 0], []),
        ([0, 0], [0, 1, 1], ["All", "→A", "→B"]),
    ],
)
def test_pairs_are_offered_where_a_side_has_two_sentences(
    run: Run, queries: list[int], keys: list[int] | None, labels: list[str]
) -> None:
    sides = {"queries": {"segments": queries}, "keys": keys and {"segments": keys}}
    assert run("return offeredPairs(sides).map(({ label }) => label)", sides=sides) == labels


@pytest.mark.parametrize(
    ("written", "on"), [([], [0, 1, 2]), ([0], []), ([2], [1]), ([1, 3], [0, 2])]
)
def test_a_link_names_the_heads_that_are_on(run: Run, written: list[int], on: list[int]) -> None:
    assert run("return headsOn(written, 3)", written=written) == on
    assert run("return headsWritten(on, 3)", on=on[::-1]) == written


def test_lines_come_strongest_first_and_none_is_lost(run: Run) -> None:
    steps = np.random.default_rng(4).integers(0, 256, (3, 6, 4))
    cells = run(
        """const shown = { queries: [0, 2, 5], keys: [1, 2] }
        const size = { queries: 6, keys: 4 }
        return [...strongestFirst(Uint8Array.from(steps), size, [0, 2], shown, 40)]""",
        steps=steps.ravel().tolist(),
    )
    wanted = np.zeros(steps.shape, dtype=bool)
    wanted[np.ix_([0, 2], [0, 2, 5], [1, 2])] = True
    assert sorted(cells) == np.flatnonzero(wanted & (steps >= 40)).tolist()
    assert (np.diff(steps.ravel()[cells]) <= 0).all()


def test_the_threshold_leaves_few_enough_lines(run: Run) -> None:
    few = np.zeros((2, 64, 64), dtype=int)
    few[0, :, 0] = 200
    many = np.full((2, 64, 64), 20)  # 8192 lines of 0.08
    thresholds = run(
        """const every = Array.from({ length: 64 }, (_, i) => i)
        const about = [{ queries: 64, keys: 64 }, [0, 1], { queries: every, keys: every }]
        return cases.map((steps) => thresholdOf(Uint8Array.from(steps.flat(2)), ...about))""",
        cases=np.stack([few, many, np.full((2, 64, 64), 255)]).tolist(),
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


def test_a_point_is_on_a_token_on_its_bar_and_its_head_or_between(run: Run) -> None:
    hits, ends, heads = run(
        """const shown = { queries: [3, 5], keys: [2, 5, 7] }
        const layout = layOut(1000, 60, shown, [0, 1])
        const { linesLeft, linesRight, token, row } = layout
        const ends = segmentEnds([[0.5, 0.1], [0.25, 0.3]], 0, 100) // two heads, two tokens
        return [[
          [linesLeft - 5, row * 1.5], [linesRight + token + 20, 1], [linesRight + 5, row * 2.5],
          [(linesLeft + linesRight) / 2, 5], [linesLeft - 5, row * 2.5],
        ].map(([x, y]) => hitAt(layout, shown, x, y)),
        ends, [10, 60, 80].map((x) => segmentAt(ends, x))]"""
    )
    assert hits == [
        {"side": "queries", "bar": False, "row": 1, "position": 5},
        {"side": "keys", "bar": True, "row": 0, "position": 2},
        {"side": "keys", "bar": False, "row": 2, "position": 7},
        None,  # lines
        None,  # the left column has two rows
    ]
    assert ends == pytest.approx([50, 75])
    assert heads == [0, 1, -1]


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


def test_words_name_the_strongest_pairs_over_heads_and_pairs_that_are_not_permitted(
    run: Run,
) -> None:
    trace = trace_with_attention(np.tril(np.full((2, 1, 3, 3), 0.5, dtype=np.float32)))
    bits = np.packbits(np.tril(np.ones((3, 3), dtype=bool)))
    sentence, note, count = run(
        """const layer = readLayer(data, 1)
        const shown = { queries: [0, 1, 2], keys: [0, 1, 2] }
        const profile = [[0.1, 0.9324, 0], [0.5, 0.2, 0.3]].map((row) => Float64Array.from(row))
        const state = { tokens: bothSides(data.sides), layer, top: 1, shown }
        const token = { side: "queries", position: 2 }
        return [
          tokenSentence(token, profile, { ...state, on: [1, 4] }).map(([text]) => text).join(""),
          pairNote(0, 2, { ...state, on: [0], colours: ["#000"], causal: true }, -1),
          countSentence({ ...state, cells: [1, 3], on: [0, 0] }),
        ]""",
        data=sent(trace, replace(LayerPayload.drawn(trace, 1), permitted=bits), heads=1),
    )
    assert sentence == "t2 attends to t1 0.932 in H2 · t0 0.500 in H5 · t2 0.300 in H5"
    assert count == "2 of 12 lines"
    assert note == ["t0 → t2", [["no attention to later tokens", None]]]
