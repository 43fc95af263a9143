"""Cells of a matrix drawn from counts, as the scripts work them out, and how to use a picture."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.scripts.conftest import Run, RunWith

# One head whose frame is from -2 to 2 both ways, in a tile of 200 pixels at (10, 20).
SPOT = {"left": 10, "top": 20, "side": 200}
DATA = {"frames": [0, 0, 2], "labels": [], "ownScale": True, "widest": 2, "places": []}
INSIDE = 200 * 0.9  # pixels of the frame: the tile has a margin of a twentieth


@pytest.fixture(scope="module")
def run(run_with: RunWith) -> Run:
    names = ("density", "counts", "words")
    return run_with(*(f"atlas_cloud/{name}" for name in names), "points/oklab")


def counts(seed: int = 0, cells: int = 32) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 9, size=(2, cells, cells))


def test_coarser_levels_count_the_same_tokens(run: Run) -> None:
    cells = counts()
    levels = run(
        "return levelsOf(cells, 32).map(({ columns, counts, top }) =>"
        " ({ columns, counts: Array.from(counts), top }))",
        cells=cells.ravel().tolist(),
    )
    assert [each["columns"] for each in levels] == [32, 16, 8]
    for level in levels:
        size = level["columns"]
        step = 32 // size
        expected = cells.reshape(2, size, step, size, step).sum(axis=(2, 4))
        assert level["counts"] == expected.ravel().tolist()
        assert level["top"] == expected.max()


@pytest.mark.parametrize(("pixels", "columns"), [(500, 32), (32, 32), (31, 16), (9, 8), (3, 8)])
def test_cells_are_not_smaller_than_a_pixel_unless_there_are_no_larger(
    run: Run, pixels: int, columns: int
) -> None:
    chosen = run(
        "return levelFor(levelsOf(cells, 32), pixels).columns",
        cells=counts().ravel().tolist(),
        pixels=pixels,
    )
    assert chosen == columns


def test_one_token_is_seen_and_more_are_stronger(run: Run) -> None:
    """On white paper, by OKLab lightness; the largest count has the kind's own colour."""
    colours = run(
        """const shades = mixedShades([255, 255, 255], [0, 90, 60], [205, 45, 145])
        const level = { columns: 4, counts: values, top: 1000 }
        const tints = tintsOf(new Map(), level, shades, 1000)
        return Array.from(tints, (tint) => [tint & 255, (tint >> 8) & 255, (tint >> 16) & 255])""",
        values=[0, 1, 10, 100, 1000, *[0] * 11, *[0] * 5, 1000, *[0] * 10],
    )
    lightness = [_lightness(colour) for colour in colours[:5]]
    assert colours[0] == [255, 255, 255]
    assert colours[4] == [0, 90, 60]
    assert colours[5] == [205, 45, 145]
    assert lightness[0] - lightness[1] > 0.08
    assert all(before - after > 0.05 for before, after in pairwise(lightness))


def _lightness(rgb: list[int]) -> float:
    """OKLab's, with the matrices of Ottosson 2020 in XYZ form, apart from the script's."""
    share = np.array(rgb) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    xyz = (
        np.array(
            [
                [0.4123908, 0.3575843, 0.1804808],
                [0.2126390, 0.7151687, 0.0721923],
                [0.0193308, 0.1191948, 0.9505322],
            ]
        )
        @ linear
    )
    cones = np.cbrt(
        np.array(
            [
                [0.8189330101, 0.3618667424, -0.1288597137],
                [0.0329845436, 0.9293118715, 0.0361456387],
                [0.0482003018, 0.2643662691, 0.6338517070],
            ]
        )
        @ xyz
    )
    return float(np.array([0.2104542553, 0.7936177850, -0.0040720468]) @ cones)


def test_colours_come_back_from_oklab(run: Run) -> None:
    colours = np.random.default_rng(1).integers(0, 256, size=(50, 3)).tolist()
    assert run("return colours.map((each) => fromOklab(toOklab(each)))", colours=colours) == colours


def test_the_pointer_reads_the_cell_below_it(run: Run) -> None:
    """Bounds from -2 to 2 across and from -1 to 1 up: the lower half of the frame's height."""
    cells = counts(3)

    def read(x: float, y: float) -> dict[str, Any] | None:
        return run(
            """const counted = countsOf({ cells: 32, counts: Float32Array.from(cells),
              areas: Float32Array.from([-2, 2, -1, 1]), fineCells: 0, numbers: [1], heads: 1 })
            return countsAt({ data: drawn, ratio: 1 }, counted, 0, spot, x, y)""",
            cells=cells.ravel().tolist(),
            drawn=DATA,
            spot=SPOT,
            x=x,
            y=y,
        )

    left, bottom = 10 + 10, 20 + 200 - 10
    height = INSIDE / 2
    lowest = bottom - INSIDE / 4  # of the bounds
    for column, row in ((0, 0), (31, 31), (5, 17)):
        x = left + (column + 0.5) / 32 * INSIDE
        y = lowest - (row + 0.5) / 32 * height
        seen = read(x, y)
        assert seen is not None
        assert (seen["queries"], seen["keys"]) == (cells[0, row, column], cells[1, row, column])
        assert seen["x"] == pytest.approx([-2 + column / 8, -2 + (column + 1) / 8])
        assert seen["y"] == pytest.approx([-1 + row / 16, -1 + (row + 1) / 16])
    assert read(left + 5, bottom - 2) is None


def test_finer_cells_are_read_first(run: Run) -> None:
    seen = run(
        """const cells = (count) => new Float32Array(2 * 8 * 8).fill(count)
        const counted = countsOf({
          cells: 8, counts: cells(7), areas: Float32Array.from([-2, 2, -2, 2]), numbers: [1],
          heads: 1, fineCells: 8, fineCounts: cells(1), fineArea: [0, 1, 0, 1],
        })
        const read = (x, y) => countsAt({ data: drawn, ratio: 1 }, counted, 0, spot, x, y).queries
        return [read(120, 110), read(40, 40)]""",
        drawn=DATA,
        spot=SPOT,
    )
    assert seen == [1, 7]


def test_what_is_looked_at_is_told_and_comes_back(run: Run) -> None:
    """A part of a head as shares of the tile, and the part that the window then shows."""
    part = [0.25, 0.75, -0.5, 0.0]
    back = run(
        """const shares = partOf(drawn, part)
        const [wide, high] = [shares.right - shares.left, shares.bottom - shares.top]
        const side = Math.min(400 / wide, 400 / high)
        const spot = { left: -shares.left * side, top: -shares.top * side, side }
        const grid = { box: { left: 0, top: 0, width: 400, height: 400 } }
        return lookedAt(drawn, grid, spot)""",
        drawn=DATA,
        part=part,
    )
    assert back == pytest.approx(part, abs=1e-3)


def test_most_of_a_head_is_no_part(run: Run) -> None:
    whole = run(
        "return lookedAt(drawn, { box: { left: 0, top: 0, width: 900, height: 900 } }, spot)",
        drawn=DATA,
        spot=SPOT,
    )
    assert whole is None


def test_a_finger_is_told_of_no_key_wheel_or_click(run: Run) -> None:
    hints = """
      globalThis.window = { matchMedia: () => ({ matches: isCoarse }) }
      const tiles = [[2, false], [3, false], [2, true]]
      return [...tiles.map(([dims, single]) => hintFor({ dims, single })),
        ...["lasso", 2, 3].map((mode) => hintAlone(mode))]
    """
    mouse, touch = (run(hints, isCoarse=coarse) for coarse in (False, True))
    keys = re.compile("click|shift|ctrl|wheel|key|escape|hover|press", re.IGNORECASE)
    assert all(keys.search(each) for each in mouse)
    assert not any(keys.search(each) for each in touch)
