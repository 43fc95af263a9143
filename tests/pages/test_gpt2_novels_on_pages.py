"""The causal model that comes with the app is a model like any other on every page."""

from __future__ import annotations

import pytest

from core.ui.navigation import PAGES
from tests.opening import open_app
from tests.pages.conftest import alerts, sidebar

NAME = "bundled/gpt2-novels"


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_every_page_shows_it_with_a_pair(name: str) -> None:
    app = open_app(name, model=NAME, pair="Nobody came.")
    assert alerts(app) == ""
    facts = sidebar(app)
    assert "4 layers × 4 heads × 32 dims · 1.3 M parameters" in facts
    assert "For seeing attention, not writing." in facts


def test_a_text_longer_than_it_takes_is_cut_and_said() -> None:
    app = open_app("heatmap", model=NAME, text="and " * 200)
    assert "128 tokens are shown" in alerts(app)
