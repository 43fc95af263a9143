"""What is chosen in a picture reaches the page, also where Back has undone it in between."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, follow

BOOK = f"text={quote(TEXT)}&layer=3"
HELD = ".cell.marked, .token[aria-pressed=true], .word[aria-pressed=true], .chip[aria-pressed=true]"


@pytest.mark.parametrize(
    ("address", "target", "chosen"),
    [
        (f"/head_view?{BOOK}&heads=2", ".queries .token >> nth=10", "from=11"),
        (f"/heatmap?{BOOK}&head=2", '[data-row="11"][data-column="11"]', "cell=11%2C11"),
        (f"/home?{BOOK}&head=2", ".word >> nth=10", "cell=11%2C"),
        ("/images?image=three-shapes", ".chip >> nth=0", "patch=cls"),
    ],
)
def test_a_click_that_back_has_undone_is_heard_again(
    goto: Open, address: str, target: str, chosen: str
) -> None:
    page = goto(address)
    page.evaluate("History.prototype.pushState.call(history, history.state, '', location.href)")
    page.locator(target).click()
    follow(page, chosen)
    page.go_back()
    expect(page.locator(HELD)).to_have_count(0)
    follow(page, f"^(?!.*{chosen})")
    page.locator(target).click()
    follow(page, chosen)
