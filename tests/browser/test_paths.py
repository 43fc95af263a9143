"""Where a token comes from in the browser: hover asks nobody, a click changes the link."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, box_of, follow
from tests.looks.visit import wait_until_drawn

VIEW = ".st-key-effect_paths"
# What pointing changes before the script that made it goes on: no server can have had a part in it.
AT_ONCE = """(node) => {
  node.dispatchEvent(new PointerEvent("pointerover", { bubbles: true, clientX: 9, clientY: 9 }))
  const root = node.getRootNode()
  const dim = [...root.querySelectorAll(".source.dim .label")].map((each) => each.innerText)
  return { dim, tip: root.querySelector(".tip").innerText }
}"""


def test_pointing_lights_the_paths_and_a_click_follows_another_token(goto: Open) -> None:
    page = goto(f"/effect?part=paths&text={quote(TEXT)}", width=390, height=844)
    sources, targets = page.locator(f"{VIEW} .source"), page.locator(f"{VIEW} .target")
    tip, sheet = page.locator(f"{VIEW} .tip"), page.locator(f"{VIEW} canvas.sheet")
    for width, height, below in ((390, 844, 260), (1280, 720, 190)):
        page.set_viewport_size({"width": width, "height": height})
        wait_until_drawn(page)
        expect(targets.nth(10)).to_have_attribute("aria-pressed", "true")
        assert box_of(page.locator(VIEW))["y"] < below
        pointed = sources.nth(4).evaluate(AT_ONCE)
        assert pointed["tip"] == "27\xa0% of “it” comes from “book”"
        assert len(pointed["dim"]) == 12
        assert "book" not in pointed["dim"]
        page.mouse.move(5, 5)
        canvas = box_of(sheet)
        step = (canvas["width"] - 28) / 6
        page.mouse.move(canvas["x"] + 14 + 4 * step, canvas["y"] + 4.5 * 28)
        expect(tip).to_contain_text("“book” after layer 4:")
        expect(tip).to_contain_text("of “it” passes here")
    targets.nth(9).click()
    follow(page, "token=10")
    expect(targets.nth(9)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("comes from").first).to_be_visible()
    sources.nth(9).focus()
    page.keyboard.press("ArrowDown")
    expect(tip).to_contain_text("of “enjoyed” comes from “it”")
    page.keyboard.press("Enter")
    follow(page, "token=11")
