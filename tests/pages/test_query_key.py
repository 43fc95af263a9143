"""Queries and keys of a text and of an image: what is drawn, searched, said and offered."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.analysis.images.colour import HUES
from core.analysis.images.points import tints_of
from core.analysis.normalization import grid_search
from core.analysis.strongest_link import find_link
from core.components.points import Clouds
from core.model import load, trace_text
from core.model.trace import Trace
from core.screens.query_key import picture as picture_module
from core.screens.query_key import search as search_module
from core.screens.query_key.choice import Choice
from core.screens.query_key.heads import make_report
from core.ui.cache import TraceKey
from tests.analysis.pictures import image_trace, picture
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, press_example, said, sent, table_of
from tests.pages.vision import open_image

Files = dict[str, Callable[[], str]]

CAPYBARA = "The brown capybara is sleeping now."


@lru_cache(maxsize=2)
def minilm_trace(text: str) -> Trace:
    return trace_text(load("bundled/minilm"), text)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Clouds]:
    """What the page drew, the last picture last."""
    result: list[Clouds] = []
    monkeypatch.setattr(picture_module, "show_points", lambda clouds, **_: result.append(clouds))
    return result


def test_red_lines_join_the_pair_of_home_or_of_the_link_until_another_text_has_its_own() -> None:
    app, link = open_app("query_key", text=CAPYBARA), find_link(minilm_trace(CAPYBARA))
    assert link is not None
    ends = app.session_state["from"], app.session_state["to"]
    assert ends == ([link.query + 1], [link.key + 1])
    app = open_app("query_key", **{"text": CAPYBARA, "from": "2", "to": "7,99"})
    assert (app.multiselect(key="from").value, app.multiselect(key="to").value) == ([2], [7])
    assert "some of it is not in this text" in alerts(app)
    app.text_area(key="text").set_value(BOOK).run()
    assert (app.multiselect(key="from").value, app.multiselect(key="to").value) == ([11], [5])
    assert alerts(app) == ""


def test_where_the_search_finds_nothing_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    still = np.ones((2, 3, 4))
    nothing = grid_search(still, still, [0.0], [1.0])
    monkeypatch.setattr(search_module, "search_of", lambda _: nothing)
    assert "There is no correlation" in alerts(open_app("query_key", text=BOOK, part="search"))


def test_queries_and_keys_have_own_colours_and_turned_axes(drawn: list[Clouds]) -> None:
    open_app("query_key", text=BOOK, colour="position")
    for queries, keys in drawn[-1].shades.values():
        assert len(queries) == len(keys) > 0
        assert not set(queries) & set(keys)
    np.testing.assert_allclose(drawn[-1].panels[0].tones, np.tile(np.arange(13) / 12, 2))
    axes = [panel.notes[-1] for panel in drawn[-1].panels]
    assert axes == ["→ PC 1 · ↑ PC 2", *["→ PC 1, turned · ↑ PC 2, turned"] * 2]
    app = open_app("query_key", text=BOOK, projection="PCA 3-D")
    assert (len(app.get("plotly_chart")), alerts(app)) == (3, "")  # one for each stage


def test_the_report_has_default_and_searched_beside_each_other_with_red_and_regression() -> None:
    key = TraceKey("bundled/minilm", CAPYBARA)
    choice = Choice(key, 0, 0, 1, sources=(2,), targets=(3, 4, 5))
    report = make_report(minilm_trace(CAPYBARA), choice, {})
    (packed,) = re.findall(r'atob\("([^"]*)"\)', report)
    pictures = base64.b64decode(packed).decode("utf-8", errors="replace")
    assert re.search("L1 H1 raw: mean .*L1 H1 a and c of the search: mean", pictures, re.DOTALL)
    assert re.search(r'"sources": ?\[2\], ?"targets": ?\[3, ?4, ?5\]', pictures)
    for words in ("a = −0.5, c = −2, |r| = 0.68453", "(on the edge of its range)", "##y, ##bara"):
        assert words in report


# ---- of an image ---------------------------------------------------------------------------------


def opened(kind: str = "vit", **link: str) -> AppTest:
    return open_image("query_key", kind, **link)


def test_cls_and_registers_are_drawn_on_request_alone() -> None:
    assert sent(opened(), "points")["shown"] == [*range(1, 65), *range(66, 130)]
    assert sent(opened(hide="0"), "points")["shown"] == list(range(130))
    data = sent(opened("siglip", stage="raw"), "points")  # which has none
    assert (data["grid"]["first"], data["shown"]) == (0, list(range(128)))
    assert "CLS (" not in said(opened("siglip", part="follow"))
    link = {"stage": "all three", "colour": "brightness"}
    data = sent(opened("dinov2_with_registers", **link), "points")
    assert (data["grid"]["first"], len(data["titles"])) == (5, 3)
    tones = data["tones"].reshape(3, -1)
    assert (tones[:, :5] == 0).all()  # no patch, no look
    assert (tones[:, 5:69] > 0).all()


def test_patches_are_coloured_by_their_own_looks() -> None:
    colours = np.array([[[1, 0, 0], [0, 0.8, 0], [0, 0, 1]], [[0.5] * 3, [0] * 3, [1] * 3]])
    trace = image_trace(picture(colours), *np.zeros((2, 1, 1, 7, 4)))
    hue, place = tints_of(trace, "hue"), tints_of(trace, "place")
    names = ["red", "green", "blue", "grey", "grey", "grey"]
    assert [hue.legend[int(tone)] for tone in hue.tones[1:7]] == names
    assert hue.legend[:-1] == tuple(HUES)
    assert np.isnan(hue.tones[[0, 7]]).all()
    np.testing.assert_array_equal(hue.tones[:7], hue.tones[7:])  # a query and its own key
    np.testing.assert_allclose(tints_of(trace, "brightness").tones[5:7], [0, 1], atol=1e-3)
    names = ["top left", "top", "top right"]
    assert [place.legend[int(tone)] for tone in place.tones[1:4]] == names


def test_the_table_and_examples_say_what_heads_follow(files: Files) -> None:
    app = opened()
    assert not [button for button in app.button if button.label.startswith("Follows ")]
    press_example(app, "query_key", "What do heads follow?")
    table = table_of(files)
    assert len(table) == 12
    assert "199 moves of the image" in said(app)
    (counts,) = (each.value for each in app.table if "trained" in each.value)
    assert counts.index.tolist() == ["hue", "brightness", "edges", "place"]
    for side, prefix in (("trained", ""), ("untrained twin", "twin_")):
        follow = table[f"{prefix}brightness"].ge(0.3) & table[f"{prefix}brightness_p"].le(0.05)
        assert counts[side]["brightness"] == follow.sum()
    best = table.iloc[int(table["brightness"].to_numpy().argmax())]
    name = f"L{best['layer']} H{best['head']}"
    press_example(app, "query_key", f"Follows brightness most: {name}")
    state = {"part": "picture", "colour": "brightness", "layer": str(best["layer"])}
    assert {key: app.session_state[key] for key in state} == state
    assert sent(app, "points")["titles"][0].startswith(f"{name} ")
    assert f"**{name}** " in said(app)


@pytest.mark.parametrize("colour", ["position", "place"])
def test_the_file_has_what_colours_show(files: Files, colour: str) -> None:
    data = sent(opened(layer="2", head="3", colour=colour, stage="all three"), "points")
    table = table_of(files)
    assert len(table) == 3 * 2 * 65
    tones = np.where(data["tones"], data["tones"] - 1.0, np.nan)
    steps = len(data["shades"]["light"][0]) - 1 if data["colouring"] == "sequential" else 1
    near = 0.51 / steps if steps > 1 else 0
    np.testing.assert_allclose(table["colour"], tones / steps, rtol=0, atol=near)
