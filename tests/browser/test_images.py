"""Images in the browser: one's own, patches under the pointer, links, pictures of heads, a file."""

from __future__ import annotations

import re

import numpy as np
from playwright.sync_api import Page, expect

from tests.analysis.pictures import image_trace, picture
from tests.browser.conftest import (
    Open,
    box_of,
    click_chart,
    follow,
    middle_of,
    pixels,
    undo_by_back,
)
from tests.browser.views import await_report, patches_file, told
from tests.pages.vision import png

LAYER, HEAD = 1, 2  # from 0
SIDE = 6  # patches of the trace by hand: 3 layers x 4 heads
SPECIALS = ("[CLS]", "[REG1]", "[REG2]")
DRAW = np.random.default_rng(7)
QUERIES, KEYS = DRAW.normal(size=(2, 3, 4, SIDE * SIDE + 3, 6))
TRACE = image_trace(picture(DRAW.random((SIDE, SIDE, 3))), QUERIES, KEYS, specials=SPECIALS)
WEIGHTS = TRACE.attention(LAYER, HEAD)


def place_of(page: Page, patch: str, side: int = SIDE) -> tuple[float, float]:
    """The middle of a patch such as r3c5 on the page."""
    page.locator(".frame").scroll_into_view_if_needed()
    box = box_of(page.locator(".frame"))
    row, column = map(int, patch[1:].split("c"))
    cell = box["width"] / side
    return box["x"] + (column - 0.5) * cell, box["y"] + (row - 0.5) * cell


def position(name: str) -> int:
    return next(each.position for each in TRACE.tokens if each.text.strip("[]") == name)


def named(weights: np.ndarray, token: int) -> list[str]:
    """The three strongest tokens with their weights, as a person reads them."""
    best = np.argsort(-weights, kind="stable")[:3]
    names = ["itself" if i == token else TRACE.tokens[i].text.strip("[]") for i in best]
    return [f"{name} {weights[i]:.3f}" for name, i in zip(names, best, strict=True)]


def test_a_file_is_shown_at_once_and_one_that_is_none_leaves_it(goto: Open) -> None:
    page = goto("/heatmap?input=image&image=coffee")
    expect(page.get_by_text(re.compile("^256 × 256 → 96 × 96"))).to_be_visible()
    page.get_by_role("button", name="Your image").click()
    chooser = page.locator("input[type=file]")
    chooser.set_input_files({"name": "mine.png", "mimeType": "image/png", "buffer": png(side=60)})
    expect(page.get_by_text(re.compile("^60 × 60 → 96 × 96"))).to_be_visible()
    follow(page, "image=own")
    text = b"The cat sat on the mat."
    chooser.set_input_files({"name": "no.png", "mimeType": "image/png", "buffer": text})
    expect(page.get_by_test_id("stAlert")).to_have_count(1)
    expect(page.get_by_text(re.compile("^60 × 60 → 96 × 96"))).to_be_visible()
    page.get_by_role("button", name="Same view of this image").click()
    page.get_by_role("menuitem", name="Head view").click()
    follow(page, r"/head_view\?.*input=image")
    patches = page.locator(".token .patch")
    expect(patches).to_have_count(2 * 144)
    assert box_of(patches.first)["width"] == 18


def test_what_is_chosen_is_in_the_link_the_file_works_alone_and_a_dot_opens_a_head(
    goto: Open, open_saved: Open
) -> None:
    side = 12
    page = goto("/images?image=three-shapes&layer=2&head=3")
    sentence = page.locator(".sentence")
    undo_by_back(page, page.locator(".chip", has_text="CLS"), "patch=cls")
    expect(sentence).to_contain_text("CLS attends to ")
    page.mouse.click(*place_of(page, "r2c4", side))
    follow(page, "patch=r2c4")
    page.locator(".segment", has_text="What attends to it").click()
    follow(page, "direction=to")
    page.locator(".switch").click()
    follow(page, "only_patches=1")
    page.locator(".tiles.every .tile").nth(2 * SIDE).click()
    follow(page, "layer=3.*head=1|head=1.*layer=3")
    expect(sentence).to_contain_text("in L3 H1")
    saved = open_saved(page)
    expect(saved.locator(".hint")).to_contain_text("r2c4 is pinned")
    saved.locator(".tiles.every .tile").first.click()
    expect(saved.locator(".sentence")).to_contain_text("in L1 H1")
    page.mouse.click(*place_of(page, "r2c4", side))
    page.wait_for_url(lambda url: "patch=" not in url)
    page.locator(".switch").click()
    follow(page, r"^(?!.*only_patches=1)")

    page.get_by_role("radio", name="Distance").click()
    follow(page, "part=distance")
    points = page.locator(".st-key-distance .scatterlayer .trace").first.locator("path.point")
    click_chart(page, "distance", *middle_of(points.nth(LAYER * SIDE + HEAD)))
    follow(page, "part=patches&layer=2&head=3&patch=cls")
    expect(sentence).to_contain_text("in L2 H3")
    expect(page.locator(".frame")).to_have_attribute("data-shown", "CLS")


def test_a_patch_shows_its_row_at_once_and_its_column_on_request(open_file: Open) -> None:
    page = open_file(patches_file(TRACE))
    sentence, tip = page.locator(".sentence"), page.locator(".tip")
    token, other = position("r3c5"), position("r6c1")
    page.mouse.move(*place_of(page, "r3c5"))
    words = " · ".join(named(WEIGHTS[token], token))
    expect(sentence).to_contain_text(f"r3c5 attends to {words} in L2 H3")
    expect(page.locator(".scale .top")).to_have_text(f"{WEIGHTS[token, 3:].max():.3f}")
    reg = page.locator(".chip", has_text="REG2").locator(".number")
    expect(reg).to_have_text(f"{WEIGHTS[token, position('REG2')]:.3f}")
    assert told(page) == []
    page.mouse.click(*place_of(page, "r3c5"))
    page.mouse.move(*place_of(page, "r6c1"))
    expect(tip).to_have_text(f"r3c5 → r6c1{WEIGHTS[token, other]:.5f}")
    page.locator(".segment", has_text="What attends to it").click()
    column = WEIGHTS[:, token]
    strongest, weight = named(column, token)[0].split()
    expect(sentence).to_contain_text(f"r3c5 gets {weight} from {strongest}")
    expect(sentence).to_contain_text(f"It gets {column.sum():.2f} in all")


def test_small_pictures_open_their_heads_and_say_their_numbers(open_file: Open) -> None:
    page = open_file(patches_file(TRACE, patch="r4c2"))
    rows = TRACE.attention()[:, :, position("r4c2"), 3:]
    captions, top = page.locator(".tiles.layer .caption"), page.locator(".scale .top")
    tops = [f"H{head + 1} {rows[LAYER, head].max():.3f}" for head in range(4)]
    mean, most = rows[LAYER].mean(axis=0).max(), rows[LAYER].max()
    expect(captions).to_have_text([*tops, f"mean {mean:.3f}", f"max. {most:.3f}"])
    tile = page.locator(".tiles.every .tile").nth(2 * 4)
    best = TRACE.tokens[int(rows[2, 0].argmax()) + 3].text
    expect(tile).to_have_attribute("title", f"L3 H1: {rows[2, 0].max():.3f} at {best}")
    tile.click()
    await_report(page, layer="3", head="1")
    expect(top).to_have_text(f"{rows[2, 0].max():.3f}")
    expect(tile).to_have_attribute("aria-pressed", "true")
    page.locator(".tiles.layer .tile").nth(5).click()
    await_report(page, head="max")
    expect(top).to_have_text(f"{rows[2].max():.3f}")


def test_heat_is_pink_for_keys_and_green_for_queries(open_file: Open) -> None:
    one = position("r1c1")
    for direction, weights in (("from", WEIGHTS[one, 3:]), ("to", WEIGHTS[3:, one])):
        page = open_file(patches_file(TRACE, patch="r1c1", direction=direction))
        sheet = page.locator("canvas.sheet")
        expect(page.locator(".frame")).to_have_attribute("data-shown", "r1c1")
        heat = pixels(sheet)
        y, x = (np.array(divmod(int(weights.argmax()), SIDE)) + 0.5) * len(heat) / SIDE
        red, green, *_ = heat[int(y), int(x)].tolist()
        assert (red > green) == (direction == "from")


def test_odd_patches_fit_a_phone(goto: Open) -> None:
    page = goto("/anomalies?input=image&anomaly=odd", width=390, height=844)
    expect(page.get_by_text("High-norm patches framed")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
