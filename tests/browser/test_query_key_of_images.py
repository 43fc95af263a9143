"""Queries and keys of an image in the browser: patches as points, hover, links, space, the map."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.analysis.query_key.clouds import head_clouds
from core.analysis.query_key.scaling import scale_head
from core.model import load, trace_image
from core.model.sample_images import open_box
from tests.browser.conftest import Open, box_of, click_head, follow, place, reload
from tests.browser.test_query_key import painted
from tests.looks.visit import wait_until_drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from playwright.sync_api import Locator

    from core.model import Trace

MODEL, IMAGE = "bundled/vit-scenes", "three-shapes"
LINK = f"/query_key?input=image&model={MODEL}&image={IMAGE}&layer=1&head=4&stage=normalized"
LAYER, HEAD = 0, 3  # of the link, from 0
NONE = r"^(?!.*point=q\d)"  # an address without a point


def lonely_query(trace: Trace) -> tuple[int, NDArray[np.float64]]:
    """The patch whose query lies farthest from all other points, so that nothing hides it.

    And where it lies once queries and keys are normalized.
    """
    scaling = scale_head(trace, LAYER, HEAD)
    (cloud,) = head_clouds(trace, LAYER, HEAD, scaling, stages=["normalized"])
    points = np.vstack([cloud.picture.queries, cloud.picture.keys])
    tokens = len(trace.tokens)
    shown = np.array([i for i in range(2 * tokens) if i % tokens])  # without CLS
    away = np.linalg.norm(points[shown][:, None] - points[shown], axis=-1)
    np.fill_diagonal(away, np.inf)
    query = int(shown[away.min(axis=1)[: tokens - 1].argmax()])
    return query, points[query]


def canvas_of(page: Page) -> Locator:
    return page.locator("figure canvas").first


def test_points_are_patches_that_mouse_click_and_keys_mark_in_the_image(goto: Open) -> None:
    trace = trace_image(load(MODEL, modality="image"), open_box(IMAGE))
    page = goto(LINK)
    expect(page.locator("figure")).to_have_count(2)  # the head, and the image
    patches = trace.patches
    assert patches is not None
    for row, column in ((3, 3), (4, 8), (8, 5)):  # within the disc, the square, the triangle
        colour = [int(v) for v in patches.cells[row * patches.columns + column].mean((0, 1))]
        assert painted(page.locator("figure").first, colour) > 100
    canvas_of(page).press("ArrowRight")
    expect(page.locator(".reading")).to_contain_text("Query r1c1 →")
    canvas_of(page).press("ArrowRight")
    canvas_of(page).press("Enter")
    follow(page, "point=q3")
    canvas_of(page).press("Escape")
    follow(page, NONE)
    box = box_of(page.locator("figure.map canvas"))
    row, column = 7, 4
    side = box["width"] / 12
    x, y = box["x"] + (column + 0.5) * side, box["y"] + (row + 0.5) * side
    page.mouse.move(x, y, steps=3)
    expect(page.locator(".reading")).to_contain_text("Query r8c5 →")
    page.mouse.click(x, y)
    follow(page, f"point=q{1 + row * 12 + column + 1}")
    assert trace.tokens[1 + row * 12 + column].display == "r8c5"
    canvas_of(page).press("Escape")
    follow(page, NONE)

    query, point = lonely_query(trace)
    weights = trace.attention(LAYER, HEAD)[query]
    key = int(weights.argmax())
    token, partner = trace.tokens[query], trace.tokens[key]
    at = place(page.locator("figure").first, point)
    page.mouse.move(*at, steps=3)
    tip = page.locator(".tip")
    expect(tip).to_contain_text(f"query, row {token.row + 1}, column {token.column + 1}")
    expect(tip).to_contain_text(f"attends most to {partner.display}: {weights[key]:.3f}")
    pair = page.locator("figure.map")
    expect(pair).to_have_attribute("data-pair", f"{token.display} {partner.display}")
    page.mouse.click(*at)
    follow(page, f"point=q{query + 1}")
    reload(page)
    expect(pair).to_have_attribute("data-pair", re.compile(f"^{token.display} "))
    expect(page.locator(".reading")).to_contain_text(f"Query {token.display} →")
    canvas_of(page).press("Escape")
    follow(page, NONE)  # the page has heard of it, though nothing was pinned here
    expect(pair).to_have_attribute("data-pair", "")


@pytest.mark.nightly
def test_a_square_of_the_map_opens_its_points(goto: Open) -> None:
    page = goto(f"{LINK}&part=follow")
    click_head(page, "query_key_follow", 2, 5, (6, 6))
    follow(page, "part=picture.*layer=2.*head=5|layer=2.*head=5.*part=picture")
    expect(page.locator("figcaption").first).to_contain_text("L2 H5 normalized: mean distance")
    expect(page.get_by_text(re.compile("L2 H5 (follows|rests)")).first).to_be_visible()


def test_three_stages_fit_any_page_with_the_image(goto: Open) -> None:
    page = goto(f"{LINK.replace('normalized', 'all+three')}&colour=hue", width=390)
    figures = page.locator("figure").filter(visible=True)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        wait_until_drawn(page)
        expect(figures).to_have_count(4)
        for figure in figures.all():
            box = box_of(figure)
            assert 0 <= box["x"] <= box["x"] + box["width"] <= width
