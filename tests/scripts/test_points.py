"""Colours, places and words of points as the scripts do them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.scripts.conftest import Run

NAMES = "labels lines viewport clouds raster gestures"
SCRIPTS = " ".join(f"points/{name}" for name in NAMES.split())
# 6 x 12 tiles in a window of 1200 x 600 pixels at (30, 20)
GRID = """const box = { left: 30, top: 20, width: 1200, height: 600 }
  const grid = gridFor({ tops: [0, 1, 2, 3, 4, 5], high: 6 }, 12, box, 240)\n"""


def test_lines_are_those_of_a_point_and_lead_to_other_ends(run: Run) -> None:
    """In "a b", b attends to a and to itself, a only to itself; c attends to nothing."""
    counts, ends, marks = run(
        """const names = ["a", "b", "c", "a", "b", "c"]
        const table = Float32Array.from([0, 0, 0.25, 0, 1, 1, 0.3, 0, 1, 0, 0.7, 0])
        const own = { queries: 3, texts: [], sources: [2], targets: [] }
        const [lines] = readLines({ ...own, lines: table, lineCounts: [3] })
        return [
          [-1, 1, 3, 4, 2].map((point) => linesOf(lines, point).length),
          [1, 3, 2].map((point) => endsOf(lines, point, names)),
          [-1, 1].map((focus) => names.map((_, i) => markBy(own, lines, focus, -1)(i))),
        ]"""
    )
    assert counts == [3, 2, 2, 1, 0]
    assert ends == [["a 0.700", "b 0.300"], ["b 0.700", "a 0.250"], []]
    assert marks == [[1, 1, 3, 1, 1, 1], [0, 5, 0, 1, 1, 0]]  # plain, chosen; faded, in focus


def test_a_line_is_red_where_a_chosen_sources_strongest_key_is_a_chosen_target(run: Run) -> None:
    """Query 0 attends most to key 1, query 1 to key 0; hidden points have no lines."""
    every, some = run(
        """const table = [0, 0, 0.1, 0, 1, 1, 0.2, 0, 1, 0, 0.6, 1, 0, 1, 0.9, 1]
        const chosen = { queries: 2, lineCounts: [4], sources: [0], targets: [0, 1] }
        const nameOf = (line) => Object.keys(LOOKS).find((name) => LOOKS[name] === line.look)
        return [[0, 1, 2, 3], [0, 1, 3]].map((shown) => (
          readLines({ ...chosen, shown, lines: Float32Array.from(table) })[0]
            .map((line) => [line.from, line.to, nameOf(line)])
        ))"""
    )
    assert every == [[0, 2, "chosen"], [1, 3, "other"], [1, 2, "strongest"], [0, 3, "red"]]
    assert some == [every[1], every[3]]


@pytest.mark.parametrize(("is_key", "reach"), [(False, 2), (False, 5), (True, 3), (True, 7)])
def test_a_disc_and_a_diamond_cover_their_area(run: Run, is_key: bool, reach: int) -> None:
    """Within half a pixel of a radius, of which 1.35 is the reach of a diamond."""
    radius = reach / 1.35 if is_key else reach
    shape = run("return [...pixelsOf(isKey, radius)]", isKey=is_key, radius=round(radius))
    x, y, cover = np.array(shape).reshape(-1, 3).T
    assert abs(x @ cover) == abs(y @ cover) == 0
    least, most = (2 if is_key else np.pi) * np.square(reach + np.array([-0.2, 0.6]))
    assert least <= cover.sum() / cover.max() <= most


def test_rare_labels_come_first_and_none_covers_another(run: Run) -> None:
    marks = [1, 1, 1, 1, 5, 0]  # the key of the second "the" is picked, that of "bank" has faded
    places = np.random.default_rng(4).uniform(0, [600, 400], size=(3000, 2))
    rank, strong, shown = run(
        """const labels = places.map(([x, y]) => ({ x, y, radius: 3, text: "" }))
        const pen = { measureText: () => ({ width: 48 }) } // and one pixel on either side
        const placed = placeLabels(600, 400, [], labels, 60, pen, {})
        const names = ["the", "the", "bank", "the", "the", "bank"]
        const rank = (lines) => ranked(names, shuffled([...names.keys()]), marks, lines)
        const lines = [{ from: 0, to: 3, weight: 0.5 }]
        return [rank([]), rank(lines), placed.map(({ left, top }) => [left, top])]""",
        places=places.tolist(),
        marks=marks,
    )
    assert rank[:2] == [4, 2]
    assert sorted(rank) == [0, 1, 2, 3, 4]
    assert (strong[0], {*strong[1:3]}, strong[3]) == (4, {0, 3}, 2)  # ends of a line before others
    boxes = np.array(shown)
    assert 20 <= len(boxes) <= 60
    distances = np.abs(boxes[:, None] - boxes)
    overlaps = (distances[..., 0] < 50) & (distances[..., 1] < 14)
    assert not np.triu(overlaps, 1).any()
    assert boxes.min() >= 0
    assert (boxes.max(axis=0) <= [550, 386]).all()


@pytest.mark.parametrize(
    ("text", "span", "shown"),
    [
        ("it is what it is", [11, 13], "it is what [it] is"),
        ("one " * 30 + "bank " + "two " * 30, [120, 124], "one one [bank] two two"),
        ("🐍 one " * 20 + "banking hours", [124, 127], "one bank[ing] hours"),
        ("short", [0, 0], "short"),
    ],
)
def test_a_sentence_is_cut_at_words(run: Run, text: str, span: list[int], shown: str) -> None:
    excerpt = run("return inContext(text, ...span)", text=text, span=span)
    assert shown in excerpt
    assert len(excerpt) < 110


def test_what_a_search_found_is_taken_before_a_nearer_point(run: Run) -> None:
    """The queries of "a" and "b" at 50 and 54.4 pixels; found is "b"."""
    marks, points = run("""const xs = [50, 54.4]
        const search = { texts: ["a b"], sentence: [0, 0], matches: [0, 1] }
        const place = { xOf: (i) => xs[i], yOf: () => 50 }
        const nearest = (rank) => (
          Clouds.prototype.nearest.call({ items: [0, 1] }, { rank }, place, 52, 50, 12)
        )
        const found = markBy({ queries: 2, ...search }, [], -1, -1)
        return [[0, 1, 2, 3].map(found), [[], [1]].map(nearest)]""")
    assert marks == [0, 2, 0, 2]  # faded, found
    assert points == [0, 1]


@pytest.mark.parametrize("zoom", [1.0, 3.0, 9.0])
def test_a_place_in_a_tile_leads_back_to_that_tile(run: Run, zoom: float) -> None:
    body = """const view = zoomAt(wholeView(grid), grid, zoom, 700, 300)
      const middle = (from, side, start, room) => (
        (Math.max(from, start) + Math.min(from + side, start + room)) / 2
      )
      return tilesInView(view, grid).map((tile) => {
        const { left, top, side } = tileSpot(view, grid, tile)
        const x = middle(left, side, box.left, box.width)
        return [tile, tileAt(view, grid, x, middle(top, side, box.top, box.height))]
      })"""
    pairs = run(GRID + body, zoom=zoom)
    assert all(tile == there for tile, there in pairs)
    assert len(pairs) == 72 if zoom == 1 else 0 < len(pairs) < 72


def test_tiles_keep_gaps_the_window_stays_near_and_a_zoom_keeps_its_place(run: Run) -> None:
    """A head alone, rows with gaps (from 0.5 to 1.5 and 2 to 3 of 3.5 tiles), and many heads."""
    body = """const size = { width: 600, height: 400 }
      const alone = freeGrid({ wide: 1, high: 0.5 }, size, { x: 20, y: 20 })
      const all = wholeView(alone), away = panBy(all, alone, -1e6, 0)
      const hybrid = gridFor({ tops: [0.5, 2], high: 3.5 }, 4, box, 240)
      const view = wholeView(hybrid)
      const { left } = tileSpot(view, hybrid, 0)
      const at = (down) => tileAt(view, hybrid, left, box.top + down * hybrid.pitch)
      const first = zoomAt(wholeView(grid), grid, 2, 640, 330)
      const large = zoomAt(wholeView(grid), grid, 4, 600, 300)
      return {
        pitches: [alone.pitch, hybrid.pitch],
        spot: tileSpot(all, alone, 0),
        zooms: [1e-3, 1e3].map((factor) => zoomAt(all, alone, factor, 300, 200).zoom),
        far: away.x,
        rows: [0.25, 0.6, 1.4, 1.7, 2.5, 3.2].map((down) => Math.floor(at(down) / 4)),
        top: tileSpot(view, hybrid, 4).top - box.top,
        places: [first, zoomAt(first, grid, 1.7, 610, 300)].map(({ zoom, x, y }) => (
          [x + (610 - 630) / (grid.pitch * zoom), y + (300 - 320) / (grid.pitch * zoom)]
        )),
        corner: panBy(large, grid, -1e5, -1e5),
        back: zoomAt(large, grid, 1e-3, 100, 100),
      }"""
    found = run(GRID + body)
    assert found["pitches"] == pytest.approx([560, 600 / 3.5])  # the width decides, the height
    assert found["spot"] == pytest.approx({"left": 20, "top": -80, "side": 560})
    assert found["zooms"] == pytest.approx([1, 80 * 400 / 560])
    assert found["far"] == 0.5  # all of it is in the window
    assert found["rows"] == [-1, 0, 0, -1, 1, -1]
    assert found["top"] == pytest.approx(2 * 600 / 3.5, abs=5)  # and half the space between tiles
    assert found["places"][1] == pytest.approx(found["places"][0], abs=1e-9)
    assert found["corner"] == {"zoom": 4, "x": 12 - 12 / 8, "y": 6 - 6 / 8}
    assert found["back"] == {"zoom": 1, "x": 6, "y": 3}


def test_a_finger_is_told_of_no_key_wheel_or_click(run: Run) -> None:
    mouse, touch = run("""return [false, true].map((matches) => {
      globalThis.window = { matchMedia: () => ({ matches }) }
      return ["clouds", "heads"].map((kind) => hintFor(kind))
    })""")
    keys = re.compile("click|shift|ctrl|wheel|key|escape|hover|press", re.IGNORECASE)
    assert all(keys.search(each) for each in mouse)
    assert not any(keys.search(each) for each in touch)
