"""Patches in the browser: hover, click, keys, links, small pictures, a phone, the saved file."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Page, expect

from tests.analysis.pictures import image_trace, picture
from tests.browser.conftest import Open, box_of, follow, reload, undo_by_back
from tests.browser.views import await_report, patches_file, told

LAYER, HEAD = 1, 2  # from 0
SIDE = 6  # patches of the trace by hand: 3 layers x 4 heads
SPECIALS = ("[CLS]", "[REG1]", "[REG2]")
DRAW = np.random.default_rng(7)
QUERIES, KEYS = DRAW.normal(size=(2, 3, 4, SIDE * SIDE + 3, 6))
TRACE = image_trace(picture(DRAW.random((SIDE, SIDE, 3))), QUERIES, KEYS, specials=SPECIALS)
WEIGHTS = TRACE.attention(LAYER, HEAD)


def open_trace(open_file: Open, **view: object) -> Page:
    """Layer 2, head 3."""
    return open_file(patches_file(TRACE, **view))


def shown(page: Page) -> str:
    """The token whose attention is on the image."""
    return page.locator(".frame[data-shown]").get_attribute("data-shown") or ""


def place_of(page: Page, patch: str, side: int = SIDE) -> tuple[float, float]:
    """The middle of a patch such as r3c5 on the page."""
    page.locator(".frame").scroll_into_view_if_needed()
    box = box_of(page.locator(".frame"))
    row, column = map(int, patch[1:].split("c"))
    cell = box["width"] / side
    return box["x"] + (column - 0.5) * cell, box["y"] + (row - 0.5) * cell


def point(page: Page, patch: str) -> None:
    page.mouse.move(*place_of(page, patch))
    expect(page.locator(".frame")).to_have_attribute("data-shown", patch)


def position(name: str) -> int:
    return next(each.position for each in TRACE.tokens if each.text.strip("[]") == name)


def named(weights: np.ndarray, token: int) -> list[str]:
    """The three strongest tokens with their weights, as a person reads them."""
    best = np.argsort(-weights, kind="stable")[:3]
    names = ["itself" if i == token else TRACE.tokens[i].text.strip("[]") for i in best]
    return [f"{name} {weights[i]:.3f}" for name, i in zip(names, best, strict=True)]


def test_what_is_chosen_is_in_the_link_the_file_works_alone_and_a_dot_opens_a_head(
    goto: Open, open_saved: Open
) -> None:
    side = 12
    page = goto("/images?image=three-shapes&layer=2&head=3")
    hint, sentence = page.locator(".hint"), page.locator(".sentence")
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
    reload(page)
    expect(hint).to_contain_text("r2c4 is pinned")
    expect(sentence).to_contain_text("in L3 H1")
    saved = open_saved(page)
    expect(saved.locator(".hint")).to_contain_text("r2c4 is pinned")
    saved.locator(".tiles.every .tile").first.click()
    expect(saved.locator(".sentence")).to_contain_text("in L1 H1")
    page.mouse.click(*place_of(page, "r2c4", side))
    expect(hint).not_to_contain_text("is pinned")
    page.wait_for_url(lambda url: "patch=" not in url)
    page.locator(".switch").click()
    follow(page, r"^(?!.*only_patches=1)")

    page.get_by_role("radio", name="Distance").click()
    follow(page, "part=distance")
    points = page.locator(".st-key-distance .scatterlayer .trace").first.locator("path.point")
    expect(points).to_have_count(36)
    dot = box_of(points.nth(LAYER * SIDE + HEAD))
    x, y = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
    page.mouse.move(x, y, steps=3)
    expect(page.locator(".st-key-distance .hoverlayer")).to_contain_text("L2 H3")
    page.mouse.click(x, y)
    follow(page, "part=patches&layer=2&head=3&patch=cls")
    expect(sentence).to_contain_text("in L2 H3")
    expect(page.locator(".frame")).to_have_attribute("data-shown", "CLS")


def test_a_patch_shows_its_row_at_once_and_its_column_on_request(open_file: Open) -> None:
    page = open_trace(open_file)
    sentence = page.locator(".sentence")
    for patch in ("r3c5", "r6c1"):
        token = position(patch)
        point(page, patch)
        words = " · ".join(named(WEIGHTS[token], token))
        expect(sentence).to_contain_text(f"{patch} attends to {words} in L2 H3")
        expect(page.locator(".scale .top")).to_have_text(f"{WEIGHTS[token, 3:].max():.3f}")
        reg = page.locator(".chip", has_text="REG2").locator(".number")
        expect(reg).to_have_text(f"{WEIGHTS[token, position('REG2')]:.3f}")
    assert told(page) == []
    page.locator(".segment", has_text="What attends to it").click()
    point(page, "r3c5")
    column = WEIGHTS[:, position("r3c5")]
    strongest, weight = named(column, position("r3c5"))[0].split()
    expect(sentence).to_contain_text(f"r3c5 gets {weight} from {strongest}")
    expect(sentence).to_contain_text(f"It gets {column.sum():.2f} in all")


def test_keys_move_hold_and_let_go(open_file: Open) -> None:
    page = open_trace(open_file)
    frame, hint = page.locator(".frame"), page.locator(".hint")
    assert shown(page) == "r1c4"
    frame.press("ArrowRight")
    expect(frame).to_have_attribute("data-shown", "r1c5")
    frame.press("Enter")
    await_report(page, patch="r1c5")
    expect(hint).to_contain_text("r1c5 is pinned")
    frame.press("ArrowDown")
    expect(page.locator(".tip")).to_contain_text("r1c5 → r2c5")
    page.mouse.move(*place_of(page, "r5c6"))
    pair = WEIGHTS[position("r1c5"), position("r5c6")]
    expect(page.locator(".tip")).to_have_text(f"r1c5 → r5c6{pair:.5f}")
    assert shown(page) == "r1c5"
    frame.press("Escape")
    expect(hint).not_to_contain_text("is pinned")
    await_report(page, patch="none")
    for _ in range(SIDE):
        frame.press("ArrowLeft")
        frame.press("ArrowUp")
    assert shown(page) == "r1c1"


def test_small_pictures_open_their_heads_and_say_their_numbers(open_file: Open) -> None:
    page = open_trace(open_file, patch="r4c2")
    rows = TRACE.attention()[:, :, position("r4c2"), 3:]
    captions, top = page.locator(".tiles.layer .caption"), page.locator(".scale .top")
    tops = [f"H{head + 1} {rows[LAYER, head].max():.3f}" for head in range(4)]
    mean, most = rows[LAYER].mean(axis=0).max(), rows[LAYER].max()
    expect(captions).to_have_text([*tops, f"mean {mean:.3f}", f"max. {most:.3f}"])
    every = page.locator(".tiles.every .tile")
    expect(every).to_have_count(12)
    best = TRACE.tokens[int(rows[2, 0].argmax()) + 3].text
    expect(every.nth(2 * 4)).to_have_attribute("title", f"L3 H1: {rows[2, 0].max():.3f} at {best}")
    every.nth(2 * 4).click()
    await_report(page, layer="3", head="1")
    expect(top).to_have_text(f"{rows[2, 0].max():.3f}")
    expect(every.nth(2 * 4)).to_have_attribute("aria-pressed", "true")
    page.locator(".tiles.layer .tile").nth(5).click()
    await_report(page, head="max")
    expect(top).to_have_text(f"{rows[2].max():.3f}")
    page.locator(".switch").click()
    await_report(page, only_patches=True)
    alone = rows[2] / rows[2].sum(axis=-1, keepdims=True)
    expect(top).to_have_text(f"{alone.max():.3f}")


def test_heat_is_pink_for_keys_and_green_for_queries(open_file: Open) -> None:
    one = position("r1c1")
    red, green, _ = colour_of(open_trace(open_file, patch="r1c1"), int(WEIGHTS[one, 3:].argmax()))
    assert red > green
    page = open_trace(open_file, patch="r1c1", direction="to")
    red, green, _ = colour_of(page, int(WEIGHTS[3:, one].argmax()))
    assert green > red


def colour_of(page: Page, patch: int) -> list[int]:
    """Red, green and blue in the middle of a patch (from 0)."""
    assert shown(page)
    colour: list[int] = page.locator("canvas.sheet").evaluate(
        """(sheet, places) => {
          const [y, x] = places.map((place) => ((place + 0.5) * sheet.width) / 6)
          return [...sheet.getContext("2d").getImageData(x, y, 1, 1).data].slice(0, 3)
        }""",
        [*divmod(patch, SIDE)],
    )
    return colour


def test_a_tap_holds_a_patch_and_nothing_is_wider_than_a_phone(open_file: Open) -> None:
    page = open_file(patches_file(TRACE), width=390, height=844)
    page.mouse.click(*place_of(page, "r6c6"))
    await_report(page, patch="r6c6")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert box_of(page.locator(".frame"))["width"] <= 390
    assert box_of(page.locator(".heads"))["y"] > box_of(page.locator(".frame"))["y"]
