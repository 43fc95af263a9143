"""What is chosen in a picture reaches the page, also where Back has undone it in between."""

from __future__ import annotations

from urllib.parse import quote

from tests.browser.conftest import TEXT, Open, undo_by_back


def test_a_click_that_back_has_undone_is_heard_again(goto: Open) -> None:
    page = goto(f"/home?text={quote(TEXT)}&layer=3&head=2")
    undo_by_back(page, page.locator(".word >> nth=10"), "cell=11%2C")
