"""The query-key page in process."""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.normalization import grid_search
from core.analysis.strongest_link import find_link
from core.model import load, trace_text
from core.screens.query_key import picture
from core.screens.query_key import search as search_module
from core.screens.query_key.choice import Choice
from core.screens.query_key.heads import make_report
from core.ui.cache import TraceKey
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, said

if TYPE_CHECKING:
    from core.components.points import Clouds
    from core.model.trace import Trace

CAPYBARA = "The brown capybara is sleeping now."


@lru_cache(maxsize=2)
def minilm_trace(text: str) -> Trace:
    return trace_text(load("bundled/minilm"), text)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Clouds]:
    """What the page drew, the last picture last."""
    result: list[Clouds] = []
    monkeypatch.setattr(picture, "show_clouds", lambda clouds, **_: result.append(clouds))
    return result


def test_red_lines_join_the_pair_of_home_and_another_text_gets_its_own() -> None:
    app, link = open_app("query_key", text=CAPYBARA), find_link(minilm_trace(CAPYBARA))
    assert link is not None
    ends = app.session_state["from"], app.session_state["to"]
    assert ends == ([link.query + 1], [link.key + 1])
    app.text_area(key="text").set_value(BOOK).run()
    assert (app.multiselect(key="from").value, app.multiselect(key="to").value) == ([11], [5])
    assert alerts(app) == ""


def test_a_link_keeps_its_own_red_lines() -> None:
    app = open_app("query_key", **{"text": CAPYBARA, "from": "2", "to": "7,99"})
    assert (app.multiselect(key="from").value, app.multiselect(key="to").value) == ([2], [7])
    assert "some of it is not in this text" in alerts(app)


def test_where_the_search_finds_nothing_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    still = np.ones((2, 3, 4))
    nothing = grid_search(still, still, [0.0], [1.0])
    monkeypatch.setattr(search_module, "search_of", lambda _: nothing)
    assert "There is no correlation" in alerts(open_app("query_key", text=BOOK, part="search"))


def test_axes_that_were_turned_and_red_lines_are_named(drawn: list[Clouds]) -> None:
    link = {"text": CAPYBARA, "layer": "1", "from": "3", "to": "4,5,6"}  # brown, cap ##y ##bara
    where = "the strongest key of a chosen source is a chosen target: here"
    app = open_app("query_key", head="4", **link)
    assert f"{where} `brown` → `##bara` 0.264. Other chosen pairs are dashed." in said(app)
    assert [list(panel.axes) for panel in drawn[-1].panels] == [
        ["PC 1", "PC 2"],
        *[["PC 1, turned", "PC 2, turned"]] * 2,
    ]
    assert f"{where} none." in said(open_app("query_key", head="1", **link))


def test_queries_and_keys_have_colours_of_their_own(drawn: list[Clouds]) -> None:
    open_app("query_key", text=BOOK, colour="position")
    for queries, keys in drawn[-1].shades.values():
        assert len(queries) == len(keys) > 0
        assert not set(queries) & set(keys)
    np.testing.assert_allclose(drawn[-1].panels[0].tones, np.tile(np.arange(13) / 12, 2))
    drawn[-1].packed()


def test_in_space_each_stage_has_a_chart() -> None:
    app = open_app("query_key", text=BOOK, layer="4", head="2", projection="PCA 3-D")
    assert (len(app.get("plotly_chart")), alerts(app)) == (3, "")


def test_the_report_has_default_and_searched_beside_each_other_with_red_and_regression() -> None:
    key = TraceKey("bundled/minilm", CAPYBARA)
    choice = Choice(key, 0, 0, 1, sources=(2,), targets=(3, 4, 5))
    report = make_report(minilm_trace(CAPYBARA), choice, {})
    (packed,) = re.findall(r'atob\("([^"]*)"\)', report)
    pictures = base64.b64decode(packed).decode("utf-8", errors="replace")
    first = pictures.index("L1 H1 raw: mean distance 1.55")
    assert pictures.index("L1 H1 a and c of the search: mean distance 5.55") > first
    assert re.search(r'"sources": ?\[2\], ?"targets": ?\[3, ?4, ?5\]', pictures)
    assert "Layer 1: a = −0.5, c = −2, |r| = 0.68453" in report
    assert "(on the edge of its range)" in report
    assert "cap, ##y, ##bara" in report
    assert "the row-centred scores of all permitted pairs" in report
    assert "where the strongest key of a chosen source is a chosen target" in report
