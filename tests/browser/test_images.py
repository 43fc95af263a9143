"""Patches in the browser: hover, click, keys, links, small pictures, a phone, the saved file."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.analysis.images.patch_scores import patches_of
from core.model import load, trace_image
from core.model.box import open_box
from tests.browser.conftest import Open, box_of, count_messages, follow, reload
from tests.model.image.families import FAMILIES, build

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.model.trace import Trace

LAYER, HEAD = 1, 2  # from 0
SIDE = 6  # patches


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A random vision transformer of 3 layers x 4 heads on 6 x 6 patches, with registers."""
    path = tmp_path_factory.mktemp("vit")
    build(FAMILIES["dinov2_with_registers"], path)
    return str(path)


@pytest.fixture(scope="module")
def trace(folder: str) -> Trace:
    return trace_image(load(folder, modality="image"), open_box("three-shapes"))


@pytest.fixture
def images(goto: Open, folder: str) -> Callable[..., Page]:
    """The page with layer 2, head 3, and what else a link holds."""

    def visit(link: str = "", **look: object) -> Page:
        start = f"model={quote(folder)}&image=three-shapes&layer={LAYER + 1}&head={HEAD + 1}"
        return goto(f"/images?{start}{link}", **look)

    return visit


def shown(page: Page) -> str:
    """The token whose attention is on the image."""
    return page.locator(".frame[data-shown]").get_attribute("data-shown") or ""


def place_of(page: Page, patch: str) -> tuple[float, float]:
    """The middle of a patch such as r3c5 on the page."""
    page.locator(".frame").scroll_into_view_if_needed()
    box = box_of(page.locator(".frame"))
    row, column = map(int, patch[1:].split("c"))
    cell = box["width"] / SIDE
    return box["x"] + (column - 0.5) * cell, box["y"] + (row - 0.5) * cell


def point(page: Page, patch: str) -> None:
    page.mouse.move(*place_of(page, patch))
    expect(page.locator(".frame")).to_have_attribute("data-shown", patch)


def pick(page: Page, option: str) -> None:
    page.locator(".segment", has_text=option).click()


def position(trace: Trace, name: str) -> int:
    return next(each.position for each in trace.tokens if each.text.strip("[]") == name)


def named(trace: Trace, weights: np.ndarray, token: int) -> list[str]:
    """The three strongest tokens with their weights, as a person reads them."""
    best = np.argsort(-weights, kind="stable")[:3]
    names = ["itself" if i == token else trace.tokens[i].text.strip("[]") for i in best]
    return [f"{name} {weights[i]:.3f}" for name, i in zip(names, best, strict=True)]


def test_a_patch_shows_its_row_at_once_and_its_column_on_request(
    images: Callable[..., Page], trace: Trace
) -> None:
    page, weights = images(), trace.attention(LAYER, HEAD)
    messages = count_messages(page)
    sentence = page.locator(".sentence")
    for patch in ("r3c5", "r6c1"):
        token = position(trace, patch)
        point(page, patch)
        expect(sentence).to_contain_text(
            f"{patch} attends to {' · '.join(named(trace, weights[token], token))} in L2 H3"
        )
        top = weights[token, patches_of(trace).tokens].max()
        expect(page.locator(".scale .top")).to_have_text(f"{top:.3f}")
        reg = page.locator(".chip", has_text="REG2").locator(".number")
        expect(reg).to_have_text(f"{weights[token, position(trace, 'REG2')]:.3f}")
    assert messages() == 0  # the server has not been asked
    pick(page, "What attends to it")
    follow(page, "direction=to")
    token = position(trace, "r3c5")
    point(page, "r3c5")
    column = weights[:, token]
    best = np.argsort(-column, kind="stable")[0]
    name = "itself" if best == token else trace.tokens[best].text.strip("[]")
    expect(sentence).to_contain_text(f"r3c5 gets {column[best]:.3f} from {name}")
    expect(sentence).to_contain_text(f"It gets {column.sum():.2f} in all")


def test_a_click_holds_a_patch_and_its_link_brings_it_back(
    images: Callable[..., Page], trace: Trace
) -> None:
    page, weights = images(), trace.attention(LAYER, HEAD)
    page.mouse.click(*place_of(page, "r2c4"))
    follow(page, "patch=r2c4")
    expect(page.locator(".hint")).to_contain_text("r2c4 is pinned")
    page.mouse.move(*place_of(page, "r5c6"))
    pair = weights[position(trace, "r2c4"), position(trace, "r5c6")]
    expect(page.locator(".tip")).to_have_text(f"r2c4 → r5c6{pair:.5f}")
    assert shown(page) == "r2c4"
    reload(page)
    expect(page.locator(".hint")).to_contain_text("r2c4 is pinned")
    page.mouse.click(*place_of(page, "r2c4"))
    expect(page.locator(".hint")).not_to_contain_text("is pinned")
    page.wait_for_url(lambda url: "patch=" not in url)
    page.locator(".chip", has_text="CLS").click()
    follow(page, "patch=cls")
    cls = position(trace, "CLS")
    expect(page.locator(".sentence")).to_contain_text(
        f"CLS attends to {named(trace, weights[cls], cls)[0]}"
    )


def test_keys_move_hold_and_let_go(images: Callable[..., Page]) -> None:
    page = images()
    start = shown(page)
    row, column = map(int, start[1:].split("c"))
    page.locator(".frame").focus()
    step = 1 if column < SIDE else -1
    page.keyboard.press("ArrowRight" if step > 0 else "ArrowLeft")
    reached = f"r{row}c{column + step}"
    expect(page.locator(".frame")).to_have_attribute("data-shown", reached)
    page.keyboard.press("Enter")
    follow(page, f"patch={reached}")
    page.keyboard.press("ArrowUp" if row > 1 else "ArrowDown")
    expect(page.locator(".tip")).to_contain_text(f"{reached} → r{row - 1 if row > 1 else 2}c")
    page.keyboard.press("Escape")
    expect(page.locator(".hint")).not_to_contain_text("is pinned")
    for _ in range(SIDE):
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowUp")
    assert shown(page) == "r1c1"


def test_small_pictures_open_their_heads_and_say_their_numbers(
    images: Callable[..., Page], trace: Trace
) -> None:
    page = images("&patch=r4c2")
    token, patches = position(trace, "r4c2"), patches_of(trace).tokens
    rows = trace.attention()[:, :, token, patches]
    captions = page.locator(".tiles.layer .caption")
    tops = [f"H{head + 1} {rows[LAYER, head].max():.3f}" for head in range(4)]
    mean, most = rows[LAYER].mean(axis=0).max(), rows[LAYER].max()
    expect(captions).to_have_text([*tops, f"mean {mean:.3f}", f"max. {most:.3f}"])
    every = page.locator(".tiles.every .tile")
    expect(every).to_have_count(12)
    expect(every.nth(2 * 4)).to_have_attribute(
        "title", f"L3 H1: {rows[2, 0].max():.3f} at {best(trace, rows[2, 0])}"
    )
    every.nth(2 * 4).click()
    follow(page, "layer=3.*head=1|head=1.*layer=3")
    expect(page.locator(".scale .top")).to_have_text(f"{rows[2, 0].max():.3f}")
    expect(every.nth(2 * 4)).to_have_attribute("aria-pressed", "true")
    page.locator(".tiles.layer .tile").nth(5).click()
    follow(page, "head=max")
    expect(page.locator(".scale .top")).to_have_text(f"{rows[2].max():.3f}")
    page.locator(".switch").click()
    follow(page, "only_patches=1")
    alone = rows[2] / rows[2].sum(axis=-1, keepdims=True)
    expect(page.locator(".scale .top")).to_have_text(f"{alone.max():.3f}")


def best(trace: Trace, row: np.ndarray) -> str:
    place = int(row.argmax()) + patches_of(trace).first
    return trace.tokens[place].text


def test_heat_is_pink_for_keys_and_green_for_queries(
    images: Callable[..., Page], trace: Trace
) -> None:
    weights, first = trace.attention(LAYER, HEAD), position(trace, "r1c1")
    red, green, _ = colour_of(images("&patch=r1c1"), int(weights[first, first:].argmax()))
    assert red > green
    page = images("&patch=r1c1&direction=to")
    red, green, _ = colour_of(page, int(weights[first:, first].argmax()))
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


def test_on_a_phone_a_tap_holds_a_patch_and_nothing_is_wider_than_the_screen(
    images: Callable[..., Page],
) -> None:
    page = images(width=390, height=844)
    page.mouse.click(*place_of(page, "r6c6"))
    follow(page, "patch=r6c6")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert box_of(page.locator(".frame"))["width"] <= 390
    assert box_of(page.locator(".heads"))["y"] > box_of(page.locator(".frame"))["y"]


def test_a_dot_of_a_distance_opens_the_map_of_cls_in_its_head(images: Callable[..., Page]) -> None:
    page = images("&part=distance")
    points = page.locator(".st-key-distance .scatterlayer .trace").first
    expect(points.locator("path.point")).to_have_count(12)
    dot = box_of(points.locator("path.point").nth(6))  # L2 H3
    x, y = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
    page.mouse.move(x, y, steps=3)
    expect(page.locator(".st-key-distance .hoverlayer")).to_contain_text("L2 H3")
    page.mouse.click(x, y)
    follow(page, "part=patches&layer=2&head=3&patch=cls")
    expect(page.locator(".sentence")).to_contain_text("in L2 H3")
    expect(page.locator(".frame")).to_have_attribute("data-shown", "CLS")


def test_the_saved_file_works_alone(
    images: Callable[..., Page], open_saved: Open, trace: Trace
) -> None:
    saved = open_saved(images("&patch=none"))
    weights = trace.attention(LAYER, HEAD)
    point(saved, "r3c3")
    token = position(trace, "r3c3")
    expect(saved.locator(".sentence")).to_contain_text(named(trace, weights[token], token)[0])
    saved.locator(".tiles.every .tile").first.click()
    expect(saved.locator(".sentence")).to_contain_text("in L1 H1")
