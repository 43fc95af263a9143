"""Clouds as files from disk: which colours are painted, how large points are, which lines."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import expect

from core.components.atlas_cloud import AtlasCloud, cloud_page
from core.components.clouds import Clouds, Panel, clouds_page
from core.figures.shades import shades

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import BrowserContext, Locator, Page

PLACES = np.array([[0, 0], [6, 0], [0, 4], [1, 4], [6, 4], [3, 2]], dtype=np.float32)
TONES = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 1.0])  # a category of every query, then of every key
LINES = np.array([[0, 0, 0.9], [0, 1, 0.1], [1, 0, 0.6]])  # of the sentence "a b"


def cloud() -> AtlasCloud:
    return AtlasCloud(
        points=PLACES,
        tones=TONES,
        colouring="category",
        legend=("one", "two"),
        labels=("a", "b", "c"),
        positions=(0, 1, 0),
        sentence=(0, 0, 1),
        texts=("a b", "c"),
        matches=np.zeros(3, dtype=np.bool_),
        searching=False,
        picked=None,
        title="L4 H2",
        shades=shades("category", 2),
    )


def panels() -> Clouds:
    return Clouds(
        panels=[Panel("L4 H2", (), PLACES.astype(np.float64), TONES)],
        labels=("a", "b", "c"),
        lines=[np.zeros((0, 3))],
        heads=["L4 H2"],
        colouring="category",
        legend=("one", "two"),
        shown=(0, 1, 2),
        shades=shades("category", 2),
    )


@pytest.fixture
def show(
    open_context: Callable[..., BrowserContext], tmp_path: Path
) -> Iterator[Callable[..., Page]]:
    troubles: list[str] = []

    def visit(file: str, scheme: str = "light") -> Page:
        path = tmp_path / "picture.html"
        path.write_text(file, "utf-8")
        page = open_context(scheme=scheme).new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(path.as_uri())
        page.locator(".root[data-painted], figure[data-lines]").first.wait_for()
        return page

    yield visit
    assert troubles == []


def show_cloud(show: Callable[..., Page], shown: AtlasCloud, scheme: str = "light") -> Page:
    return show(cloud_page(shown, "Cloud", ""), scheme)


def painted(page: Page) -> dict[str, int]:
    """How many pixels have each colour, as "#rrggbb"."""
    counts: dict[str, int] = page.locator("canvas").first.evaluate(
        """(canvas) => {
          const { width, height } = canvas
          const { data } = canvas.getContext("2d").getImageData(0, 0, width, height)
          const counts = {}
          for (let at = 0; at < data.length; at += 4) {
            const name = [...data.slice(at, at + 3)].map((c) => c.toString(16).padStart(2, "0"))
            counts[`#${name.join("")}`] = (counts[`#${name.join("")}`] ?? 0) + 1
          }
          return counts
        }"""
    )
    return counts


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["one head of the corpus", "one sentence"])
def test_queries_and_keys_have_two_colours_a_category_on_either_paper(
    show: Callable[..., Page], scheme: str, view: str
) -> None:
    one = view == "one head of the corpus"
    page = show(cloud_page(cloud(), "", "") if one else clouds_page(panels(), "", "", ""), scheme)
    counts = painted(page)
    wanted = [each for kind in shades("category", 2)[scheme] for each in kind]
    assert len(set(wanted)) == 4
    assert all(counts.get(each, 0) > 20 for each in wanted)
    legend = page.locator(".legend")
    expect(legend).to_contain_text("queries: darker")
    expect(legend).to_contain_text("keys: lighter")


def test_a_longer_vector_is_a_larger_point_in_both_clouds(show: Callable[..., Page]) -> None:
    """Norms of 1 for the queries and keys of category "one", 5 for those of "two"."""
    norms = np.where(TONES > 0, 5.0, 1.0)
    of_corpus = replace(cloud(), norms=norms.astype(np.float32))
    of_sentence = replace(panels(), panels=[replace(panels().panels[0], norms=norms)])
    queries, keys = shades("category", 2)["light"]
    for plain, sized in (
        (cloud_page(cloud(), "", ""), cloud_page(of_corpus, "", "")),
        (clouds_page(panels(), "", "", ""), clouds_page(of_sentence, "", "", "")),
    ):
        before, page = painted(show(plain)), show(sized)
        after = painted(page)
        for kind in (queries, keys):
            assert after[kind[0]] < 0.7 * before[kind[0]]
            assert after[kind[1]] > 2 * before[kind[1]]
        expect(page.locator(".legend")).to_contain_text(re.compile(r"norm1\.00.*5\.00"))


def test_labels_can_be_switched_off(show: Callable[..., Page]) -> None:
    expect(view_of(show_cloud(show, cloud()))).not_to_have_attribute("data-labels", "0")
    without = show_cloud(show, replace(cloud(), labelled=False))
    expect(view_of(without)).to_have_attribute("data-labels", "0")
    named = painted(show(clouds_page(panels(), "", "", "")))
    bare = painted(show(clouds_page(replace(panels(), labelled=False), "", "", "")))
    query = "#12805c"  # in which queries are named, whatever their points' colours stand for
    assert query in named
    assert query not in bare


def view_of(page: Page) -> Locator:
    return page.locator(".root[data-painted]")


def test_the_picked_sentence_has_lines_and_a_point_of_it_its_own(
    show: Callable[..., Page],
) -> None:
    page = show_cloud(show, replace(cloud(), picked=0, lines=LINES))
    view = view_of(page)
    expect(view).to_have_attribute("data-lines", "3")
    expect(page.locator(".reading")).to_contain_text("“a” → a 0.900, b 0.100")
    expect(page.locator(".legend")).to_contain_text("the two most attended keys of each query")
    x, y = map(float, (view.get_attribute("data-at") or "").split(","))
    box = page.locator("canvas.words").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x, box["y"] + y)  # the query of "a"
    expect(view).to_have_attribute("data-lines", "2")
    expect(page.locator(".tip")).to_contain_text("attends to a 0.900, b 0.100")
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    expect(view).to_have_attribute("data-lines", "3")
    page.locator("canvas.words").focus()
    page.keyboard.press("Escape")  # nothing picked
    expect(view).to_have_attribute("data-lines", "0")
