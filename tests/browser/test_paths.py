"""Where a token comes from in the browser: hover asks nobody, a click changes the link."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, box_of, follow

VIEW = ".st-key-effect_paths"
BOOK = quote(TEXT)
# What pointing changes before the script that made it goes on: no server can have had a part in it.
AT_ONCE = """(node) => {
  node.dispatchEvent(new PointerEvent("pointerover", { bubbles: true, clientX: 9, clientY: 9 }))
  const root = node.getRootNode()
  const dim = [...root.querySelectorAll(".source.dim .label")].map((each) => each.innerText)
  return { dim, tip: root.querySelector(".tip").innerText }
}"""


@pytest.mark.parametrize(("width", "height", "below"), [(1280, 720, 190), (390, 844, 260)])
def test_pointing_lights_the_paths_and_a_click_follows_another_token(
    goto: Open, width: int, height: int, below: int
) -> None:
    page = goto(f"/effect?part=paths&text={BOOK}", width=width, height=height)
    sources, targets = page.locator(f"{VIEW} .source"), page.locator(f"{VIEW} .target")
    expect(targets.nth(10)).to_have_attribute("aria-pressed", "true")
    assert box_of(page.locator(VIEW))["y"] < below
    pointed = sources.nth(4).evaluate(AT_ONCE)
    assert pointed["tip"] == "27\xa0% of “it” comes from “book”"
    assert len(pointed["dim"]) == 12
    assert "book" not in pointed["dim"]
    page.mouse.move(5, 5)
    canvas = box_of(page.locator(f"{VIEW} canvas.sheet"))
    step = (canvas["width"] - 28) / 6
    page.mouse.move(canvas["x"] + 14 + 4 * step, canvas["y"] + 4.5 * 28)
    expect(page.locator(f"{VIEW} .tip")).to_contain_text("“book” after layer 4:")
    expect(page.locator(f"{VIEW} .tip")).to_contain_text("of “it” passes here")
    targets.nth(9).click()
    follow(page, "token=10")
    expect(targets.nth(9)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("comes from").first).to_be_visible()
    if width > height:
        sources.nth(9).focus()
        page.keyboard.press("ArrowDown")
        expect(page.locator(f"{VIEW} .tip")).to_contain_text("of “enjoyed” comes from “it”")
        page.keyboard.press("Enter")
        follow(page, "token=11")
