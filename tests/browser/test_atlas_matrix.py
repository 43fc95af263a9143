"""The atlas' matrix in Chromium: where tiles lie, what is painted, what pointers and keys do."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from playwright.sync_api import expect

from core.components.atlas_matrix import AtlasMatrix, matrix_page
from core.figures.shades import shades
from tests.browser.scripts import as_globals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Locator, Page

HOSTILE = "</script><img src=x onerror=alert(1)>"
BOX = {"left": 30, "top": 20, "width": 1200, "height": 600}
CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0], [5.0, 5.0]])


@pytest.fixture(scope="module")
def run(browser: Browser) -> Iterator[Callable[..., Any]]:
    """Evaluate an expression with the scripts that have no state."""
    page = browser.new_page()
    page.add_script_tag(content=as_globals("atlas_matrix/viewport", "atlas_matrix/labels"))

    def evaluate(expression: str, **values: object) -> Any:
        names = f"{{{', '.join(values)}}}"
        return page.evaluate(f"({names}) => {expression}", values)

    yield evaluate
    page.close()


@pytest.mark.parametrize("zoom", [1.0, 3.0, 9.0])
def test_a_place_in_a_tile_leads_back_to_that_tile(run: Callable[..., Any], zoom: float) -> None:
    found = run(
        """{
          const grid = gridFor(6, 12, box, 240)
          const view = zoomAt(wholeView(grid), grid, zoom, 700, 300)
          const { rows, columns } = tilesInView(view, grid)
          const all = []
          for (let row = rows.first; row < rows.end; row++)
            for (let column = columns.first; column < columns.end; column++) {
              const part = seenPart(tileSpot(view, grid, row, column), grid)
              const [x, y] = [(part.left + part.right) / 2, (part.top + part.bottom) / 2]
              const at = tileAt(view, grid, x, y)
              all.push([[row, column], [at?.row, at?.column]])
            }
          return all
        }""",
        box=BOX,
        zoom=zoom,
    )
    assert found
    assert all(wanted == got for wanted, got in found)
    assert len(found) == 72 if zoom == 1 else len(found) < 72


def test_what_is_under_the_pointer_stays_there_while_one_zooms(run: Callable[..., Any]) -> None:
    before, after = run(
        """{
          const grid = gridFor(6, 12, box, 240)
          const first = zoomAt(wholeView(grid), grid, 2, 640, 330)
          const second = zoomAt(first, grid, 1.7, 610, 300)
          return [first, second].map((view) => {
            const side = grid.pitch * view.zoom
            return [(view.x + 610 - box.left) / side, (view.y + 300 - box.top) / side]
          })
        }""",
        box=BOX,
    )
    assert after == pytest.approx(before, abs=1e-9)


def test_the_view_never_leaves_the_grid(run: Callable[..., Any]) -> None:
    far, back = run(
        """{
          const grid = gridFor(6, 12, box, 240)
          const large = zoomAt(wholeView(grid), grid, 4, 600, 300)
          return [panBy(large, grid, -1e5, -1e5), zoomAt(large, grid, 1e-3, 100, 100)]
        }""",
        box=BOX,
    )
    assert (far["x"], far["y"]) == (4 * 1200 - 1200, 4 * 600 - 600)
    assert back == {"zoom": 1, "x": 0, "y": 0}


@pytest.mark.parametrize(
    ("text", "label", "position", "cut"),
    [
        ("it is what it is", "it", 4, "it is what it is"),
        ("one " * 30 + "bank " + "two " * 30, "bank", 31, "… one one"),
        ("one " * 30 + "banking", "##ing", 32, "banking"),
        ("short", "[CLS]", 0, "short"),
    ],
)
def test_a_sentence_is_cut_around_the_token(
    run: Callable[..., Any], text: str, label: str, position: int, cut: str
) -> None:
    shown = run("cutAround(text, label, position)", text=text, label=label, position=position)
    assert cut in shown
    assert len(shown) < 100


def five_points(**changes: Any) -> AtlasMatrix:
    """2 x 3 heads with the same five places: queries there, keys beside them in reverse order."""
    points = np.stack([np.vstack([CENTRES, CENTRES[::-1] + 0.5])] * 6).astype(np.float32)
    points[5] = np.nan
    labels = ["zero", "one", "two", HOSTILE, "middle"]
    values: dict[str, Any] = {
        "matches": np.array([False, True, False, False, False]),
        "searching": False,
        **changes,
    }
    texts = [f"zero one two {HOSTILE} middle"]
    return AtlasMatrix(
        2, 3, points, np.zeros(10), "type", (), labels, range(5), [0] * 5, texts, **values
    )


@pytest.fixture
def show(
    open_context: Callable[..., BrowserContext], tmp_path: Path
) -> Iterator[Callable[..., Page]]:
    troubles: list[str] = []

    def visit(matrix: AtlasMatrix, **context: Any) -> Page:
        path = tmp_path / "matrix.html"
        path.write_text(matrix_page(matrix, "Heads", "A note"), "utf-8")
        page = open_context(**context).new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.goto(path.as_uri())
        page.locator(".root[data-painted]").wait_for()
        return page

    yield visit
    assert troubles == []


def centre_of(page: Page, row: int, column: int) -> tuple[float, float]:
    """Of a tile, on the page, while the whole matrix is shown."""
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    side = float(root(page).get_attribute("data-tile") or 0)
    free = box["width"] - 35 - 3 * side
    return box["x"] + 34 + free / 2 + (column + 0.5) * side, box["y"] + 20 + (row + 0.5) * side


def root(page: Page) -> Locator:
    return page.locator(".root[data-painted]")


def colours_of(page: Page) -> set[str]:
    """Every colour of the painted points, as "red,green,blue"."""
    return set(
        page.locator("canvas.points").evaluate(
            """(canvas) => {
              const { width, height } = canvas
              const { data } = canvas.getContext("2d").getImageData(0, 0, width, height)
              const colours = new Set()
              for (let at = 0; at < data.length; at += 4) colours.add(`${data.slice(at, at + 3)}`)
              return [...colours]
            }"""
        )
    )


def rgb_of(colour: str) -> str:
    """A hex colour as `colours_of` writes it."""
    return ",".join(str(int(colour[start : start + 2], 16)) for start in (1, 3, 5))


def test_the_point_under_the_pointer_is_named_and_texts_stay_texts(
    show: Callable[..., Page],
) -> None:
    page = show(five_points())
    x, y = centre_of(page, 1, 1)
    side = float(root(page).get_attribute("data-tile") or 0)
    corner = side / 2 * 0.86  # the cloud fills the tile but for its margins
    page.mouse.move(
        x + corner, y - corner
    )  # the query of (10, 10), and the key of the second token
    note = page.locator(".tip")
    expect(note).to_contain_text("L2 H2")
    expect(note).to_contain_text(re.compile("query of|key of"))
    page.mouse.move(x, y)
    expect(note).to_contain_text("position 5")
    expect(note).to_contain_text("middle")
    assert page.locator("img").count() == 0
    page.mouse.move(*centre_of(page, 1, 2))  # the head without points
    expect(note).to_be_hidden()


def test_a_search_fades_what_it_did_not_find(show: Callable[..., Page]) -> None:
    green, pink, paper, ink = "18,128,92", "194,39,127", "255,255,255", "28,33,48"
    assert colours_of(show(five_points())) == {green, pink, paper}
    nothing = show(five_points(searching=True, matches=np.zeros(5, dtype=bool)))
    expect(root(nothing)).to_have_attribute("data-matches", "0")
    faded = colours_of(nothing) - {paper}
    assert len(faded) == 2
    assert not faded & {green, pink, ink}
    found = show(five_points(searching=True))
    expect(root(found)).to_have_attribute("data-matches", "2")
    assert colours_of(found) == {green, pink, paper, ink} | faded


def test_the_wheel_scrolls_the_page_until_one_has_pressed_here(show: Callable[..., Page]) -> None:
    page = show(five_points())
    page.mouse.move(*centre_of(page, 0, 1))
    page.mouse.wheel(0, -300)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    once = pytest.approx(1.292, abs=0.01)  # e to 0.0016 times 160: one notch, not two
    expect(root(page)).not_to_have_attribute("data-zoom", "1.00")
    assert float(root(page).get_attribute("data-zoom") or 0) == once
    page.locator("canvas.over").focus()
    page.mouse.wheel(0, -300)
    expect(root(page)).to_have_attribute("data-zoom", "1.67")
    page.get_by_role("button", name="Whole matrix").click()
    expect(root(page)).to_have_attribute("data-zoom", "1.00")


def test_a_drag_moves_the_matrix_and_opens_nothing(show: Callable[..., Page]) -> None:
    page = show(five_points())
    page.get_by_role("button", name="Larger").click()
    expect(root(page)).to_have_attribute("data-zoom", "1.60")
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y - 40, steps=6)
    page.mouse.up()
    expect(root(page)).to_have_attribute("data-frames", re.compile(r"\d"))
    expect(root(page)).to_have_attribute("data-zoom", "1.60")


def test_keys_step_from_head_to_head_and_a_press_enlarges_one_in_a_file(
    show: Callable[..., Page],
) -> None:
    page = show(five_points())
    page.locator("canvas.over").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    reading = page.locator(".reading")
    expect(reading).to_contain_text("L2 H2")
    page.keyboard.press("Enter")
    expect(root(page)).not_to_have_attribute("data-zoom", "1.00")
    page.keyboard.press("0")
    expect(root(page)).to_have_attribute("data-zoom", "1.00")
    page.mouse.click(*centre_of(page, 0, 0))
    expect(root(page)).not_to_have_attribute("data-zoom", "1.00")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_queries_and_keys_of_a_category_have_two_colours_each_paper_its_own(
    show: Callable[..., Page], theme: str
) -> None:
    given = shades("category", 2)
    shown = replace(
        five_points(),
        colouring="category",
        legend=("one", "two"),
        tones=np.array([0, 1, 0, 1, 0] * 2),
        shades=given,
    )
    page = show(shown, scheme=theme)
    wanted = {rgb_of(each) for kind in given[theme] for each in kind}
    assert len(wanted) == 4
    assert wanted <= colours_of(page)
    assert len(colours_of(page)) == 5  # and the paper
    expect(page.locator(".legend")).to_contain_text("queries: darker")
    expect(page.locator(".legend")).to_contain_text("keys: lighter")


def in_space(**changes: Any) -> AtlasMatrix:
    """The five places of every head with a third axis, along which queries and keys differ."""
    flat = five_points(**changes)
    depth = np.where(np.arange(10) < 5, 6.0, -6.0).astype(np.float32)
    third = np.broadcast_to(depth[:, None], (6, 10, 1))
    return replace(flat, points=np.concatenate([flat.points, third], axis=2).astype(np.float32))


def pixels_of(page: Page) -> str:
    return str(page.locator("canvas.points").evaluate("(canvas) => canvas.toDataURL()"))


def test_a_drag_turns_all_heads_and_shift_a_drag_moves_them(show: Callable[..., Page]) -> None:
    page = show(in_space())
    expect(page.locator(".reading")).to_contain_text("Drag to turn all heads")
    before = pixels_of(page)
    x, y = centre_of(page, 0, 1)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 90, y + 20, steps=5)
    page.mouse.up()
    expect(root(page)).to_have_attribute("data-frames", re.compile(r"\d"))
    turned = pixels_of(page)
    assert turned != before
    expect(root(page)).to_have_attribute("data-zoom", "1.00")  # no head was opened
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(x, y, steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert pixels_of(page) == turned  # the whole matrix has nowhere to go
    page.get_by_role("button", name="Whole matrix").click()
    page.wait_for_function(
        "(before) => document.getElementById('view').shadowRoot"
        ".querySelector('canvas.points').toDataURL() === before",
        arg=before,
    )


def test_shift_and_arrow_keys_turn_and_a_matrix_in_the_plane_stays(
    show: Callable[..., Page],
) -> None:
    for matrix, turns in ((in_space(), True), (five_points(), False)):
        page = show(matrix)
        before = pixels_of(page)
        page.locator("canvas.over").focus()
        page.keyboard.press("Shift+ArrowRight")
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert (pixels_of(page) != before) == turns


def test_the_point_under_the_pointer_is_named_in_space_too(show: Callable[..., Page]) -> None:
    page = show(in_space())
    x, y = centre_of(page, 0, 0)
    side = float(root(page).get_attribute("data-tile") or 0)
    shares = np.linspace(-0.45, 0.45, 19)
    for across, down in product(shares, shares):
        page.mouse.move(x + side * across, y + side * down)
        if page.locator(".tip:visible").count():
            break
    expect(page.locator(".tip")).to_contain_text(re.compile("query of|key of"))
