"""Scripts made one, run by a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from core.components.scripts import inlined
from tests.components.test_scripts import write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


def test_two_scripts_may_use_the_same_names(page: Page, tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        view='import { a, b as other } from "./one.js"\nimport { b } from "./two.js"\n'
        "const ZOOM = 4\nwindow.seen = [a, other(), b(), ZOOM]\n",
        one="const ZOOM = 2\nexport const a = 1\nexport function b() { return ZOOM }\n",
        two="const ZOOM = 3\nexport function b() { return ZOOM }\n",
    )
    page.add_script_tag(content=inlined(entry), type="module")
    page.wait_for_function("window.seen")  # a module runs some time after its tag was added
    assert page.evaluate("window.seen") == [1, 2, 3, 4]


def test_an_error_says_which_script_it_comes_from(page: Page, tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        view='import { missing } from "./base.js"\n',
        base="export const missing = null.value\n",
    )
    with page.expect_event("pageerror") as error:
        page.add_script_tag(content=inlined(entry), type="module")
    assert "base" in str(error.value.stack)
