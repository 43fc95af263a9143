"""The atlas of images in the browser: patches as themselves once there is room, and their image."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, follow
from tests.browser.test_atlas import cloud, find_point

BOX = "/atlas?input=image&corpus=box"


def press_zoom(page: Page, times: int) -> None:
    for _ in range(times):
        page.get_by_role("button", name="Larger").click()


def test_points_become_their_patches_and_one_opens_its_image(goto: Open) -> None:
    page = goto(f"{BOX}&part=one&layer=3&head=2")
    own = cloud(page)
    expect(own).to_have_attribute("data-pictures", "0")
    dots = own.locator("canvas").first.screenshot()
    press_zoom(page, 6)
    expect(own).to_have_attribute("data-pictures", "1")
    assert own.locator("canvas").first.screenshot() != dots
    page.get_by_role("button", name="Whole cloud").click()
    x, y = find_point(page, own.locator("canvas.over"))
    page.mouse.click(x, y)
    follow(page, r"token=[1-9]")
    expect(page.locator("[data-testid=stImage] img")).to_be_visible()
    expect(page.get_by_text("of its attention goes to patches")).to_be_visible()
