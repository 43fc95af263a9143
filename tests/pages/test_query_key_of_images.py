"""Queries and keys of an image: what is drawn, what heads follow, and the numbers behind both."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from core.analysis.images.colour import HUES
from core.analysis.images.points import tints_of
from core.model import load, trace_image
from core.model.box import open_box
from tests.analysis.images.pictures import image_trace, picture
from tests.model.image.families import FAMILIES, build
from tests.opening import open_app
from tests.pages.conftest import alerts, press_example, said, sent

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    from core.model import Trace

IMAGE, SIDE, COUNT = "three-shapes", 6, 36  # patches a side, and in all


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("vit")
    build(FAMILIES["vit"], folder)
    return str(folder)


@pytest.fixture(scope="module")
def trace(model: str) -> Trace:
    return trace_image(load(model, folders=True, modality="image"), open_box(IMAGE))


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[pd.DataFrame]:
    """The CSV files that the page offers."""
    offered: list[pd.DataFrame] = []
    offer = st.download_button

    def keep(label: str, data: Any, **options: Any) -> bool:
        if label == "Download CSV":
            offered.append(pd.read_csv(io.StringIO(data()), skiprows=1))
        return offer(label, data, **options)

    monkeypatch.setattr(st, "download_button", keep)
    return offered


def opened(model: str, **link: str) -> AppTest:
    return open_app("query_key", input="image", model=model, image=IMAGE, **link)


def test_cls_is_drawn_on_request_alone(model: str) -> None:
    app = opened(model)
    assert sent(app, "clouds")["shown"] == [*range(1, 37), *range(38, 74)]
    assert "CLS counts but is not drawn" in said(app)
    app = opened(model, hide="0")
    assert sent(app, "clouds")["shown"] == list(range(74))


def test_a_model_without_cls_has_none_to_show(tmp_path: Path) -> None:
    build(FAMILIES["siglip"], tmp_path)
    app = opened(str(tmp_path), part="follow")
    assert "CLS (" not in said(app)
    app = opened(str(tmp_path), stage="raw")
    data = sent(app, "clouds")
    assert data["grid"]["first"] == 0
    assert data["shown"] == list(range(2 * COUNT))
    assert "CLS counts" not in said(app)


def test_registers_and_cls_stay_together(tmp_path: Path) -> None:
    build(FAMILIES["dinov2_with_registers"], tmp_path)
    app = opened(str(tmp_path), stage="all three", colour="brightness")
    data = sent(app, "clouds")
    assert data["grid"]["first"] == 5
    assert len(data["titles"]) == 3
    assert "CLS and registers count" in said(app)
    tones = data["tones"].reshape(3, -1)
    assert np.isnan(tones[:, :5]).all()  # no patch, no look
    assert np.isfinite(tones[:, 5:41]).all()


def test_patches_are_coloured_by_their_own_looks() -> None:
    colours = np.array([[[1, 0, 0], [0, 0.8, 0], [0, 0, 1]], [[0.5] * 3, [0] * 3, [1] * 3]])
    trace = image_trace(picture(colours), *np.zeros((2, 1, 1, 7, 4)))
    hue = tints_of(trace, "hue")
    assert [hue.legend[int(tone)] for tone in hue.tones[1:7]] == [
        *("red", "green", "blue"),
        *("grey", "grey", "grey"),
    ]
    assert hue.legend[:-1] == tuple(HUES)
    assert np.isnan(hue.tones[[0, 7]]).all()
    np.testing.assert_array_equal(hue.tones[:7], hue.tones[7:])  # a query and its own key
    brightness = tints_of(trace, "brightness").tones
    assert brightness[5] == pytest.approx(0, abs=1e-6)
    assert brightness[6] == pytest.approx(1, abs=1e-3)
    place = tints_of(trace, "place")
    assert [place.legend[int(tone)] for tone in place.tones[1:4]] == [
        *("top left", "top", "top right"),
    ]


def test_the_table_says_what_heads_follow(model: str, files: list[pd.DataFrame]) -> None:
    app = opened(model, part="follow", layer="2", head="3")
    (table,) = files
    assert len(table) == 12
    text = said(app)
    assert "199 moves of the image" in text
    assert "**L2 H3** follows" in text
    (counts,) = (each.value for each in app.table if "trained" in each.value)
    assert counts.index.tolist() == ["hue", "brightness", "edges", "place"]
    for side, prefix in (("trained", ""), ("untrained twin", "twin_")):
        follow = table[f"{prefix}brightness"].ge(0.3) & table[f"{prefix}brightness_p"].le(0.05)
        assert counts[side]["brightness"] == follow.sum()


def test_examples_name_heads_once_they_are_measured(model: str, files: list[pd.DataFrame]) -> None:
    app = opened(model)
    titles = [button.label for button in app.button]
    assert not [title for title in titles if title.startswith("Follows ")]
    press_example(app, "query_key", "What do heads follow?")
    table = files[-1]
    best = table.iloc[int(table["brightness"].to_numpy().argmax())]
    press_example(app, "query_key", f"Follows brightness most: L{best['layer']} H{best['head']}")
    assert app.session_state["part"] == "picture"
    assert app.session_state["colour"] == "brightness"
    assert app.session_state["layer"] == str(best["layer"])
    assert sent(app, "clouds")["heads"] == [f"L{best['layer']} H{best['head']}"]
    assert f"**L{best['layer']} H{best['head']}** " in said(app)


OLD_LINKS: list[tuple[dict[str, str], dict[str, object]]] = [
    ({}, {"part": "picture", "stage": "all three", "colour": "type", "hide": True}),
    (
        {"part": "points", "colour": "hue", "stage": "raw"},
        {"part": "picture", "colour": "hue", "stage": "raw"},
    ),
    ({"part": "faithful", "sound": "loud"}, {"part": "picture"}),
]


@pytest.mark.parametrize(("link", "state"), OLD_LINKS, ids=str)
def test_a_link_to_the_space_of_patches_opens_the_same_here(
    model: str, link: dict[str, str], state: dict[str, object]
) -> None:
    """It said that it shows an image only by its address."""
    app = open_app("patch_space", model=model, image=IMAGE, **link)
    assert [title.value for title in app.title] == ["Queries and keys"]
    expected = {"input": "image", "image": IMAGE} | state
    assert {key: app.session_state[key] for key in expected} == expected
    assert alerts(app) == ""
    if state.get("part") == "picture":
        data = sent(app, "clouds")
        assert (data["sources"], data["targets"]) == ([], [])  # nothing was chosen there
        assert data["grid"] is not None
    again = open_app("query_key", **{key: str(app.query_params[key]) for key in app.query_params})
    assert {key: again.session_state[key] for key in expected} == expected


def test_the_space_of_patches_is_no_page_of_the_menu(model: str) -> None:
    """From a text too it leads to the image, and back to where the text was."""
    app = open_app("heatmap", text="it rains")
    app.switch_page("pages/patch_space.py").run()
    assert not app.exception
    assert app.session_state["input"] == "image"
    app.button(key="show_text_instead").click().run()
    assert app.session_state["input"] == "text"
    assert app.session_state["text"] == "it rains"


@pytest.mark.parametrize("colour", ["position", "place"])
def test_the_file_has_what_colours_show(
    model: str, trace: Trace, files: list[pd.DataFrame], colour: str
) -> None:
    data = sent(opened(model, layer="2", head="3", colour=colour, stage="all three"), "clouds")
    (table,) = files
    assert len(table) == 3 * 2 * len(trace.tokens)
    np.testing.assert_allclose(table["colour"], data["tones"], atol=1e-6)
