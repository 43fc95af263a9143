"""The causal model that comes with the app is a model like any other on every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from core.ui.navigation import PAGES
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

NAME = "bundled/gpt2-novels"


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_every_page_shows_it_with_a_pair(open_app: Callable[..., AppTest], name: str) -> None:
    app = open_app(name, model=NAME, pair="Nobody came.")
    assert not app.exception
    assert alerts(app) == ""
    facts = " ".join(caption.value for caption in app.sidebar.caption)
    assert "4 layers × 4 heads × 32 dims · 1.3 M parameters" in facts
    assert "For seeing attention, not writing." in facts


def test_a_text_longer_than_it_takes_is_cut_and_said(open_app: Callable[..., AppTest]) -> None:
    app = open_app("heatmap", model=NAME, text="and " * 200)
    assert not app.exception
    assert "128 tokens are shown" in alerts(app)
