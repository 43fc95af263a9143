"""Clouds as files from disk: what is painted, which lines, what pointers, wheels and keys do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from playwright.sync_api import expect

from core.components.points import AtlasCloud, Clouds, Panel, points_page
from core.figures.shades import shades
from core.model.trace import Patches
from tests.browser.conftest import box_of, pixels
from tests.components.test_points import atlas_matrix
from tests.components.test_points import cloud as one_head
from tests.looks.visit import wait_until_drawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import Open

HOSTILE = "</script><img src=x onerror=alert(1)>"
PLACES = np.array([[0, 0], [6, 0], [0, 4], [1, 4], [6, 4], [3, 2]], dtype=np.float32)
TONES = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 1.0])  # a category of every query, then of every key
LINES = np.array([[0, 1, 0.1, 0], [1, 0, 0.6, 0], [0, 0, 0.9, 0]])  # of the sentence "a b"
CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0], [5.0, 5.0]])
CATEGORIES: dict[str, Any] = {
    "colouring": "category",
    "legend": ("<b>one", "two"),
    "shades": shades("category", 2),
}
GREEN, PINK, INK = "#00543b", "#c5298c", "#0e121c"


def cloud(**changes: Any) -> Clouds:
    plain: dict[str, Any] = {
        "points": PLACES,
        "tones": TONES,
        "labels": ("a", "b", "c"),
        "texts": ("a b", "c"),
    }
    return one_head(**plain | CATEGORIES | changes)


PANELS = Clouds(
    panels=[Panel("L4 H2", (), PLACES.astype(np.float64), TONES)],
    labels=("a", "b", "c"),
    **CATEGORIES,
)


def matrix(**changes: Any) -> AtlasCloud:
    """2 x 3 heads with the same five places: queries there, keys beside them in reverse order.

    The last head has no points.
    """
    points = np.stack([np.vstack([CENTRES, CENTRES[::-1] + 0.5])] * 6)
    points[5] = np.nan
    plain: dict[str, Any] = {
        "points": points.astype(np.float32),
        "labels": ["zero", "one", "two", HOSTILE, "middle"],
        "texts": [f"zero one two {HOSTILE} middle"],
        "spans": 13 + len(HOSTILE) + np.tile([1, 7], (5, 1)),  # of the last word
    }
    return atlas_matrix(**plain | changes)


@pytest.fixture
def show(open_file: Open) -> Callable[..., Page]:
    """Open a cloud, panels or a matrix as a file."""

    def visit(shown: AtlasCloud | Clouds, scheme: str = "light") -> Page:
        page = open_file(points_page(shown, "Title", "A note"), scheme=scheme)
        page.locator(".root[data-painted]").wait_for()
        return page

    return visit


def root(page: Page) -> Locator:
    return page.locator(".root[data-painted]")


def counts_of(page: Page) -> dict[str, int]:
    """How many pixels of the points have each colour, as "#rrggbb"."""
    colours = pixels(page.locator("canvas"))[..., :3] @ np.array([65536, 256, 1])
    values, counts = np.unique(colours, return_counts=True)
    return {f"#{value:06x}": int(n) for value, n in zip(values, counts, strict=True)}


def centre_of(page: Page, row: int, column: int) -> tuple[float, float]:
    """Of a tile, on the page, while the whole matrix is shown."""
    box, side = box_of(page.locator("canvas")), float(root(page).get_attribute("data-tile") or 0)
    free = box["width"] - 35 - 3 * side
    return box["x"] + 34 + free / 2 + (column + 0.5) * side, box["y"] + 20 + (row + 0.5) * side


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "shown", [cloud(), PANELS, matrix(**CATEGORIES, tones=np.resize([0, 1, 0, 1, 0], 10))]
)
def test_queries_and_keys_have_two_colours_a_category(show: Open, scheme: str, shown: Any) -> None:
    page = show(shown, scheme)
    counts = counts_of(page)
    colours = [each for kind in shades("category", 2)[scheme] for each in kind]
    assert len(set(colours)) == 4
    assert all(counts.get(each, 0) > 20 for each in colours)
    legend = page.locator(".legend")
    for words in ("queries: darker", "keys: lighter", *CATEGORIES["legend"]):
        expect(legend).to_contain_text(words)
    assert legend.locator("b").count() == 0
    marks = legend.locator(".disc, .diamond").evaluate_all("all => all.map((i) => i.className)")
    assert marks == ["disc", "diamond"] * 3  # of queries, of keys, then both of each category


def test_a_scale_has_a_ramp_with_both_ends_and_points_have_labels(show: Open) -> None:
    ends = {"colouring": "sequential", "legend": ("low", "high"), "tones": np.zeros(6)}
    page = show(cloud(**ends, shades=shades("sequential", 0)))
    expect(page.locator(".legend")).to_contain_text(re.compile("low.*high"))
    expect(page.locator(".legend .ramp")).to_have_count(1)
    expect(page.locator("figure")).to_have_attribute("data-labels", re.compile(r"\d"))
    assert GREEN in counts_of(show(PANELS))  # in which queries are named, whatever their colours


def test_points_of_an_image_become_their_patches_once_there_is_room(show: Open) -> None:
    tokens, green = 1800, (1, 200, 30)
    image = np.full((80, 90, 3), green, dtype=np.uint8)
    page = show(one_head(tokens, patches=Patches(image, 40, 45, 2, first=0, given=(80, 90))))
    expect(page.locator("figure")).to_have_attribute("data-patches", "0")
    assert "#01c81e" not in counts_of(page)
    for _ in range(6):
        page.get_by_role("button", name="Larger").click()
    expect(page.locator("figure")).to_have_attribute("data-patches", "1")
    assert counts_of(page)["#01c81e"] > 100


def test_the_picked_sentence_has_lines_and_a_point_of_it_its_own(show: Open) -> None:
    page = show(cloud(pinned=0, lines=LINES))
    view = page.locator("figure")
    expect(view).to_have_attribute("data-lines", "3")
    expect(page.locator(".reading")).to_contain_text("attends to a 0.900, b 0.100, [a] b")
    x, y = map(float, (view.get_attribute("data-at") or "").split(","))
    box = box_of(page.locator("canvas"))
    page.mouse.move(box["x"] + x, box["y"] + y)  # the query of "a"
    expect(view).to_have_attribute("data-lines", "2")
    expect(page.locator(".tip")).to_contain_text("attends to a 0.900, b 0.100")
    page.locator("canvas").press("Escape")  # nothing picked
    expect(view).to_have_attribute("data-lines", "0")


def test_the_point_under_the_pointer_is_named_and_texts_stay_texts(show: Open) -> None:
    page = show(matrix())
    note, (x, y) = page.locator(".tip"), centre_of(page, 1, 1)
    page.mouse.move(x - 6, y + 6)  # its query is there, another's key beside it
    for words in ("L2 H2", "query of “middle”", "position 5", "[middle]"):
        expect(note).to_contain_text(words)
    assert page.locator("img").count() == 0
    page.mouse.move(*centre_of(page, 1, 2))  # the head without points
    expect(note).to_be_hidden()


def test_a_search_fades_what_it_did_not_find(show: Open) -> None:
    """A faded point keeps 22 % of its colour on white; a found one has a dark ring."""
    faded = {
        "#" + "".join(f"{round(255 + 0.22 * (int(c[i : i + 2], 16) - 255)):02x}" for i in (1, 3, 5))
        for c in (GREEN, PINK)
    }
    rings = 0
    for found, colours, absent in (
        (None, {GREEN, PINK}, faded),
        ([], faded, {GREEN, PINK}),
        ([1], {GREEN, PINK} | faded, set()),
    ):
        page = show(matrix(**({} if found is None else {"matches": np.isin(np.arange(5), found)})))
        counts = counts_of(page)
        assert colours <= counts.keys()
        assert not absent & counts.keys()
        if found is not None:
            expect(root(page)).to_have_attribute("data-matches", str(2 * len(found)))
        rings, before = counts.get(INK, 0), rings
    assert rings > before + 50


def test_the_wheel_scrolls_the_page_until_one_has_pressed_here(show: Open) -> None:
    page = show(matrix())
    page.mouse.move(*centre_of(page, 0, 1))
    page.mouse.wheel(0, -300)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    expect(root(page)).to_have_attribute("data-zoom", "1.29")  # e to 0.0016 times 160, once
    page.locator("canvas").focus()
    page.mouse.wheel(0, -300)
    expect(root(page)).to_have_attribute("data-zoom", "1.67")


def test_a_drag_moves_the_matrix_and_keys_step_to_a_head_that_enter_enlarges(show: Open) -> None:
    page = show(matrix())
    page.get_by_role("button", name="Larger").click()
    expect(root(page)).to_have_attribute("data-zoom", "1.60")
    canvas, (x, y) = page.locator("canvas"), centre_of(page, 0, 1)
    before = pixels(canvas)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y - 40, steps=5)
    page.mouse.up()
    wait_until_drawn(page)
    expect(root(page)).to_have_attribute("data-zoom", "1.60")  # no head was opened
    assert not np.array_equal(pixels(canvas), before)
    canvas.press("0")
    expect(root(page)).to_have_attribute("data-zoom", "1.00")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        canvas.press(key)
    expect(page.locator(".reading")).to_contain_text("L2 H2")
    canvas.press("Enter")
    expect(root(page)).not_to_have_attribute("data-zoom", "1.00")
    canvas.press("0")
    expect(root(page)).to_have_attribute("data-zoom", "1.00")  # drawn, so that tiles are found
    page.mouse.click(*centre_of(page, 0, 0))
    expect(root(page)).not_to_have_attribute("data-zoom", "1.00")
