"""CLS attention in the browser: a region is dragged, heads are clicked, the outline follows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from core.analysis.images import cls_map, region_share, rollout_map, top_mass
from core.model import load, trace_image
from core.model.box import open_box
from core.model.weights.output_projection import transformed_norms
from tests.browser.conftest import Open, box_of, count_messages, follow, settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Trace

MODEL, IMAGE = "bundled/vit-scenes", "three-shapes"
VIEW = f"/class_attention?model={MODEL}&image={IMAGE}"
FROM, TO, NAME = (2, 1), (6, 4), "r3c2-r7c5"  # row and column of patches, from 0


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_image(load(MODEL, modality="image"), open_box(IMAGE))


@pytest.fixture(scope="module")
def maps(trace: Trace) -> np.ndarray:
    """(layer, head, row, column)."""
    return cls_map(trace).values


def inside(trace: Trace) -> NDArray[np.bool_]:
    assert trace.patches is not None
    region = np.zeros((trace.patches.rows, trace.patches.columns), dtype=np.bool_)
    region[FROM[0] : TO[0] + 1, FROM[1] : TO[1] + 1] = True
    return region


def patch(page: Page, row: int, column: int, grid: int = 12) -> tuple[float, float]:
    """The middle of a patch of the large map."""
    box = box_of(page.locator("canvas.over"))
    return (
        box["x"] + box["width"] * (column + 0.5) / grid,
        box["y"] + box["height"] * (row + 0.5) / grid,
    )


def drag(page: Page) -> None:
    """Mark the region from its lower right corner, and keep the button down."""
    page.mouse.move(*patch(page, *TO))
    page.mouse.down()
    page.mouse.move(*patch(page, 5, 2), steps=3)
    page.mouse.move(*patch(page, *FROM), steps=3)


def cell(page: Page, layer: int, column: int) -> Locator:
    """A small map, from 1."""
    return page.locator(f'.cell[data-row="{layer - 1}"][data-column="{column - 1}"]')


def test_a_region_is_measured_on_every_map_while_it_is_dragged(
    goto: Open, trace: Trace, maps: np.ndarray
) -> None:
    page = goto(f"{VIEW}&layer=4&head=3&rollouts=1")
    sent = count_messages(page)
    drag(page)
    expect(page.locator(".reading")).to_contain_text(f"Region {NAME}: 20 of 144 patches, 0.139")
    region = inside(trace)
    rollouts = [
        rollout_map(trace),
        rollout_map(trace, transformed_norms(load(MODEL, modality="image"), trace), weighted=True),
    ]
    shares = [float(region_share(each.values, region)) for each in rollouts]
    chosen = float(region_share(maps[3, 2], region))
    expect(page.locator(".onregion")).to_have_text([f"{each:.3f}" for each in (chosen, *shares)])
    of_heads = region_share(maps, region)
    for layer, head in ((0, 0), (3, 2), (5, 5)):
        share = f"{of_heads[layer, head]:.3f} of it on the region"
        expect(cell(page, layer + 1, head + 1)).to_have_attribute("aria-label", re.compile(share))
    best = np.unravel_index(int(of_heads.argmax()), of_heads.shape)
    name = f"L{best[0] + 1} H{best[1] + 1}"
    most = f"{name} has the largest share of its mass there: {of_heads.max():.3f}"
    expect(page.locator(".reading")).to_contain_text(most)
    assert sent() == 0
    page.mouse.up()
    follow(page, f"region={NAME}")
    page.get_by_role("button", name=f"Show {name}").click()
    follow(page, f"layer={best[0] + 1}&head={best[1] + 1}&")
    page.get_by_role("button", name="Remove the region").click()
    expect(page.locator(".onregion")).to_have_count(0)
    page.wait_for_function("() => !location.search.includes('region')")


def test_one_image_is_large_and_rollouts_are_shown_on_request(open_page: Open, app: str) -> None:
    page = open_page("light", 1280, 720)
    page.goto(f"{app}{VIEW}&layer=4&head=3")
    settle(page)
    large, small = box_of(page.locator("canvas.over")), box_of(cell(page, 1, 1))
    assert large["width"] > 400
    assert small["x"] > large["x"] + large["width"]
    assert large["y"] + large["height"] < 720
    expect(page.locator("figcaption")).to_have_text(["L4 H3"])  # one badge
    page.get_by_role("button", name="More").click()
    page.get_by_text("Rollout over all layers").click()
    follow(page, "rollouts=1")
    expect(page.locator("figcaption")).to_have_text(["L4 H3", "Rollout", "Rollout by norms"])


def test_a_link_restores_the_region_and_a_patch_tells_its_numbers(
    goto: Open, maps: np.ndarray
) -> None:
    page = goto(f"{VIEW}&layer=4&head=3&region={NAME}")
    expect(page.locator(".reading")).to_contain_text(NAME)
    row, column = np.unravel_index(int(maps[3, 2].argmax()), maps.shape[2:])
    page.mouse.move(*patch(page, int(row), int(column)))
    tip = page.locator(".tip")
    expect(tip).to_contain_text(f"r{row + 1}c{column + 1}")
    expect(tip).to_contain_text(f"L4 H3: {maps[3, 2].max():.4f}")
    expect(tip).to_contain_text(f"{maps[3, 2].max() / maps[3, 2].mean():.1f} × the mean patch")


def test_keys_mark_a_region_and_choose_a_head(goto: Open) -> None:
    page = goto(f"{VIEW}&layer=4&head=3")
    page.locator("canvas.over").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):  # to r1c1, r2c1, r3c1, r3c2
        page.keyboard.press(key)
    expect(page.locator(".spoken")).to_contain_text("r3c2. L4 H3: ")
    for key in ("ArrowDown",) * 4 + ("ArrowRight",) * 3:
        page.keyboard.press(f"Shift+{key}")
    expect(page.locator(".reading")).to_contain_text(NAME)
    follow(page, f"region={NAME}")
    page.keyboard.press("Escape")
    expect(page.locator(".reading")).not_to_contain_text(NAME)
    cell(page, 4, 3).focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(cell(page, 3, 4)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".large figcaption")).to_have_text("L3 H4")
    follow(page, "layer=3&head=4&")


def test_the_outline_follows_the_slider_and_a_click_shows_a_map_large(
    goto: Open, maps: np.ndarray
) -> None:
    page = goto(f"{VIEW}&layer=6&head=mean")
    expect(page.locator(".large figcaption")).to_have_text("L6 mean of heads")
    cell(page, 2, 5).click()
    expect(page.locator(".large figcaption")).to_have_text("L2 H5")
    follow(page, "layer=2&head=5&")
    about = page.locator(".large .about")
    expect(about).to_have_text(f"60 % on {int(top_mass(maps[1, 4], 0.6).sum())} of 144 patches")
    page.get_by_role("slider").fill("90")
    expect(about).to_have_text(f"90 % on {int(top_mass(maps[1, 4], 0.9).sum())} of 144 patches")
    follow(page, "mass=90")
    expect(about).to_have_text(f"90 % on {int(top_mass(maps[1, 4], 0.9).sum())} of 144 patches")


def test_the_saved_file_measures_regions_without_the_server(
    goto: Open, open_saved: Open, trace: Trace, maps: np.ndarray
) -> None:
    saved = open_saved(goto(f"{VIEW}&layer=4&head=3"))
    drag(saved)
    saved.mouse.up()
    share = float(region_share(maps[3, 2], inside(trace)))
    expect(saved.locator(".onregion").first).to_have_text(f"{share:.3f}")
    cell(saved, 1, 2).click()
    expect(saved.locator(".large figcaption")).to_have_text("L1 H2")


def test_on_a_phone_a_finger_drags(goto: Open) -> None:
    page = goto(f"{VIEW}&layer=4&head=3", width=390, height=844)
    expect(page.get_by_text("get 60 % of CLS’s attention")).to_be_visible()  # the answer stays
    over = page.locator("canvas.over")
    over.scroll_into_view_if_needed()
    assert box_of(over)["width"] <= 390 - 2 * 10
    assert over.evaluate("(node) => getComputedStyle(node).touchAction") == "none"
    drag(page)
    page.mouse.up()
    expect(page.locator(".reading")).to_contain_text(NAME)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_dot_of_a_distance_opens_the_map_of_its_head(goto: Open) -> None:
    page = goto(f"{VIEW}&part=distance")
    points = page.locator(".st-key-class_attention_distance .scatterlayer .trace").first
    expect(points.locator("path.point")).to_have_count(36)
    dot = box_of(points.locator("path.point").nth(7))  # L2 H2
    x, y = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
    page.mouse.move(x, y, steps=3)
    expect(page.locator(".st-key-class_attention_distance .hoverlayer")).to_contain_text("L2 H2")
    page.mouse.click(x, y)
    follow(page, "part=maps&layer=2&head=2&")
    settle(page)
    expect(page.locator(".large figcaption")).to_have_text("L2 H2")
