"""Colours, places and words of points as the scripts do them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.scripts.conftest import Run, RunWith

NAMES = "texts labels lines marks viewport one_head all_heads raster"
# "a b" and "c": b attends to a and to itself, a only to itself.
LINES = {"lines": [0, 0, 0.25, 0, 1, 1, 0.3, 0, 1, 0, 0.7, 0], "lineCounts": [3]}
TWO_TEXTS = {"names": ["a", "b", "c"] * 2, "queries": 3, "sentence": [0, 0, 1], **LINES}
READ = "const [lines] = readLines({ ...texts, lines: Float32Array.from(texts.lines) })"


@pytest.fixture(scope="module")
def run(run_with: RunWith) -> Run:
    return run_with(*(f"points/{name}" for name in NAMES.split()))


@pytest.fixture(scope="module")
def in_grid(run_with: RunWith) -> Run:
    """Run a body with `grid`: 6 x 12 tiles in a window of 1200 x 600 pixels at (30, 20)."""
    run = run_with("points/viewport")
    box = {"left": 30, "top": 20, "width": 1200, "height": 600}
    stack = {"tops": [0, 1, 2, 3, 4, 5], "high": 6}
    return lambda body, **values: run(
        f"const grid = gridFor(stack, 12, box, 240)\n{body}", stack=stack, box=box, **values
    )


def test_lines_are_those_of_the_picked_sentence_or_of_a_point_in_it(run: Run) -> None:
    # nothing picked; a picked; then query b, key a, key b; c elsewhere; c picked
    pointed = [[-1, -1], [0, -1], [0, 1], [0, 3], [0, 4], [0, 2], [2, -1]]
    counts, ends = run(
        f"""{READ}
        return [
          pointed.map(([picked, hovered]) => linesShown(texts, lines, picked, hovered).length),
          [1, 3, 2].map((point) => endsOf(lines, point, texts.names)),
        ]""",
        texts=TWO_TEXTS,
        pointed=pointed,
    )
    assert counts == [0, 3, 2, 2, 1, 3, 0]
    assert ends == [["a 0.700", "b 0.300"], ["b 0.700", "a 0.250"], []]


def test_a_head_alone_fills_its_window_and_its_middle_stays_near(run: Run) -> None:
    """Twice as wide as high, in 560 x 360 pixels: the width decides."""
    pitch, whole, far, small = run("""const size = { width: 600, height: 400 }
        const grid = freeGrid({ wide: 1, high: 0.5 }, size, { x: 20, y: 20 })
        const whole = wholeView(grid)
        const away = panBy(whole, grid, -1e6, 0)
        return [grid.pitch, tileSpot(whole, grid, 0, 0), (away.x + 300) / (grid.pitch / 2) - 1,
          [1e-3, 1e3].map((factor) => zoomAt(whole, grid, factor, 300, 200).zoom)]""")
    assert pitch == pytest.approx(560)
    assert whole == pytest.approx({"left": 20, "top": -80, "side": 560})
    assert far == pytest.approx(1.8)
    assert small == [0.5, 80]


@pytest.mark.parametrize(("side", "what"), [(0, "sentence"), (8, "image")])
def test_a_cloud_says_what_a_point_shows(run: Run, side: int, what: str) -> None:
    cloud = TWO_TEXTS | {"spriteSide": side, "searching": False}
    said = run("return readCloud(cloud, [], -1, 0)", cloud=cloud)
    assert said.endswith(f"Point at one for its {what}.")


def test_a_line_is_red_where_a_chosen_sources_strongest_key_is_a_chosen_target(run: Run) -> None:
    """Query 0 attends most to key 1, query 1 to key 0; hidden points have no lines."""
    table = [[0, 0, 0.1, 0], [1, 1, 0.2, 0], [1, 0, 0.6, 1], [0, 1, 0.9, 1]]
    chosen = {"queries": 2, "lineCounts": [4], "sources": [0], "targets": [0, 1]}
    body = """const sent = { ...chosen, shown, lines: Float32Array.from(table.flat()) }
        const nameOf = (line) => Object.keys(LOOKS).find((name) => LOOKS[name] === line.look)
        return readLines(sent)[0].map((line) => [line.from, line.to, nameOf(line)])"""
    every = [[0, 2, "chosen"], [1, 3, "other"], [1, 2, "strongest"], [0, 3, "red"]]
    assert run(body, table=table, chosen=chosen, shown=[0, 1, 2, 3]) == every
    assert run(body, table=table, chosen=chosen, shown=[0, 1, 3]) == [every[1], every[3]]


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
    marks = [0, 0, 0, 0, 4, 1]  # the key of the second "the" is picked, that of "bank" has faded
    rank = run("return labelledFirst(['the', 'the', 'bank'], shuffled(6), marks)", marks=marks)
    assert rank[:2] == [4, 2]
    assert sorted(rank) == [0, 1, 2, 3, 4]
    places = np.random.default_rng(4).uniform(0, [600, 400], size=(3000, 2))
    shown = run(
        """const labels = x.map((left, i) => ({ x: left, y: y[i], radius: 3, text: "" }))
        const pen = { measureText: () => ({ width: 48 }) } // and one pixel on either side
        const placed = placeLabels(makeRoom(600, 400), labels, 60, pen, {})
        return placed.map(({ left, top }) => [left, top])""",
        x=places[:, 0].tolist(),
        y=places[:, 1].tolist(),
    )
    boxes = np.array(shown)
    assert 20 <= len(boxes) <= 60
    distances = np.abs(boxes[:, None] - boxes)
    overlaps = (distances[..., 0] < 50) & (distances[..., 1] < 14)
    assert not np.triu(overlaps, 1).any()
    assert boxes.min() >= 0
    assert (boxes.max(axis=0) <= [550, 386]).all()


@pytest.mark.parametrize(
    ("text", "label", "position", "shown"),
    [
        ("it is what it is", "it", 4, "it is what [it] is"),
        ("one " * 30 + "bank " + "two " * 30, "bank", 31, "one one [bank] two two"),
        ("one " * 30 + "banking hours", "##ing", 32, "one bank[ing] hours"),
        ("short", "[CLS]", 0, "short"),
    ],
)
def test_a_sentence_is_cut_at_words_around_its_token(
    run: Run, text: str, label: str, position: int, shown: str
) -> None:
    excerpt = run(
        "return inContext(text, label, startNear(text, label, position))",
        text=text,
        label=label,
        position=position,
    )
    assert shown in excerpt
    assert len(excerpt) < 110


def test_what_a_search_found_is_taken_before_a_nearer_point(run: Run) -> None:
    """The queries of "a" and "b" at 50 and 54.4 pixels; found is "b"."""
    marks, points = run("""const xs = [50, 54.4]
        const tokens = { queries: 2, sentence: [0, 0], matches: [0, 1], searching: true }
        const view = { placed: () => ({ xOf: (i) => xs[i], yOf: () => 50 }), items: [0, 1] }
        const nearest = (clear) => (
          AllHeads.prototype.nearest.call({ ...view, clear }, null, 0, 52, 50, 12)
        )
        return [markPoints(tokens).of, [[], [1]].map(nearest)]""")
    assert marks == [1, 2, 1, 2]  # faded, found
    assert points == [0, 1]


@pytest.mark.parametrize("zoom", [1.0, 3.0, 9.0])
def test_a_place_in_a_tile_leads_back_to_that_tile(in_grid: Run, zoom: float) -> None:
    pairs = in_grid(
        """const view = zoomAt(wholeView(grid), grid, zoom, 700, 300)
        const { rows, columns } = tilesInView(view, grid)
        const pairs = []
        for (let row = rows.first; row < rows.end; row++)
          for (let column = columns.first; column < columns.end; column++) {
            const part = seenPart(tileSpot(view, grid, row, column), grid)
            const [x, y] = [(part.left + part.right) / 2, (part.top + part.bottom) / 2]
            pairs.push([{ row, column }, tileAt(view, grid, x, y)])
          }
        return pairs""",
        zoom=zoom,
    )
    assert all(tile == there for tile, there in pairs)
    assert len(pairs) == 72 if zoom == 1 else 0 < len(pairs) < 72


def test_a_place_between_the_rows_of_layers_that_attend_is_in_no_tile(in_grid: Run) -> None:
    """Rows from 0.5 to 1.5 and from 2 to 3, in a window of 3.5 tiles."""
    tiles, top, pitch = (
        in_grid("""const hybrid = gridFor({ tops: [0.5, 2], high: 3.5 }, 4, box, 240)
        const view = wholeView(hybrid)
        const { left } = tileSpot(view, hybrid, 0, 0)
        const at = (down) => tileAt(view, hybrid, left, box.top + down * hybrid.pitch)
        const tiles = [0.25, 0.6, 1.4, 1.7, 2.5, 3.2].map((down) => at(down)?.row ?? null)
        return [tiles, tileSpot(view, hybrid, 1, 0).top - box.top, hybrid.pitch]""")
    )
    assert tiles == [None, 0, 0, None, 1, None]
    assert pitch == pytest.approx(600 / 3.5)
    assert top == pytest.approx(2 * pitch, abs=5)  # and half the space between tiles


def test_zooming_keeps_the_place_under_the_pointer_and_the_view_within_the_grid(
    in_grid: Run,
) -> None:
    places, far, back = in_grid("""const first = zoomAt(wholeView(grid), grid, 2, 640, 330)
        const places = [first, zoomAt(first, grid, 1.7, 610, 300)].map(({ zoom, x, y }) => (
          [(x + 610 - box.left) / (grid.pitch * zoom), (y + 300 - box.top) / (grid.pitch * zoom)]
        ))
        const large = zoomAt(wholeView(grid), grid, 4, 600, 300)
        return [places, panBy(large, grid, -1e5, -1e5), zoomAt(large, grid, 1e-3, 100, 100)]""")
    assert places[1] == pytest.approx(places[0], abs=1e-9)
    assert (far["x"], far["y"]) == (4 * 1200 - 1200, 4 * 600 - 600)
    assert back == {"zoom": 1, "x": 0, "y": 0}


def test_a_finger_is_told_of_no_key_wheel_or_click(run: Run) -> None:
    hints = """
      globalThis.window = { matchMedia: () => ({ matches: isCoarse }) }
      return [hintFor(), hintAlone()]
    """
    mouse, touch = (run(hints, isCoarse=coarse) for coarse in (False, True))
    keys = re.compile("click|shift|ctrl|wheel|key|escape|hover|press", re.IGNORECASE)
    assert all(keys.search(each) for each in mouse)
    assert not any(keys.search(each) for each in touch)
