"""Queries and keys of an image: what is drawn, what heads follow, and the numbers behind both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.images.colour import HUES
from core.analysis.images.points import tints_of
from tests.analysis.pictures import image_trace, picture
from tests.opening import open_app
from tests.pages.conftest import alerts, press_example, said, sent, table_of
from tests.pages.vision import model_folder, open_image

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

    Files = dict[str, Callable[[], str]]

IMAGE = "three-shapes"  # that pages begin with


def opened(kind: str = "vit", **link: str) -> AppTest:
    return open_image("query_key", kind, **link)


def test_cls_is_drawn_on_request_alone() -> None:
    app = opened()
    assert sent(app, "points")["shown"] == [*range(1, 65), *range(66, 130)]
    assert sent(opened(hide="0"), "points")["shown"] == list(range(130))


def test_a_model_without_cls_has_none_to_show() -> None:
    assert "CLS (" not in said(opened("siglip", part="follow"))
    app = opened("siglip", stage="raw")
    data = sent(app, "points")
    assert data["grid"]["first"] == 0
    assert data["shown"] == list(range(128))


def test_registers_and_cls_stay_together() -> None:
    app = opened("dinov2_with_registers", stage="all three", colour="brightness")
    data = sent(app, "points")
    assert data["grid"]["first"] == 5
    assert len(data["titles"]) == 3
    tones = data["tones"].reshape(3, -1)
    assert (tones[:, :5] == 0).all()  # no patch, no look
    assert (tones[:, 5:69] > 0).all()


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


def test_the_table_says_what_heads_follow(files: Files) -> None:
    app = opened(part="follow", layer="2", head="3")
    table = table_of(files)
    assert len(table) == 12
    text = said(app)
    assert "199 moves of the image" in text
    assert "**L2 H3** follows" in text
    (counts,) = (each.value for each in app.table if "trained" in each.value)
    assert counts.index.tolist() == ["hue", "brightness", "edges", "place"]
    for side, prefix in (("trained", ""), ("untrained twin", "twin_")):
        follow = table[f"{prefix}brightness"].ge(0.3) & table[f"{prefix}brightness_p"].le(0.05)
        assert counts[side]["brightness"] == follow.sum()


def test_examples_name_heads_once_they_are_measured(files: Files) -> None:
    app = opened()
    titles = [button.label for button in app.button]
    assert not [title for title in titles if title.startswith("Follows ")]
    press_example(app, "query_key", "What do heads follow?")
    table = table_of(files)
    best = table.iloc[int(table["brightness"].to_numpy().argmax())]
    press_example(app, "query_key", f"Follows brightness most: L{best['layer']} H{best['head']}")
    assert app.session_state["part"] == "picture"
    assert app.session_state["colour"] == "brightness"
    assert app.session_state["layer"] == str(best["layer"])
    assert sent(app, "points")["heads"] == [f"L{best['layer']} H{best['head']}"]
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
    link: dict[str, str], state: dict[str, object]
) -> None:
    """It said that it shows an image only by its address."""
    app = open_app("patch_space", model=model_folder(), image=IMAGE, **link)
    assert [title.value for title in app.title] == ["Queries and keys"]
    expected = {"input": "image", "image": IMAGE} | state
    assert {key: app.session_state[key] for key in expected} == expected
    assert alerts(app) == ""
    if state.get("part") == "picture":
        data = sent(app, "points")
        assert (data["sources"], data["targets"]) == ([], [])  # nothing was chosen there
        assert data["grid"] is not None
    again = open_app("query_key", **{key: str(app.query_params[key]) for key in app.query_params})
    assert {key: again.session_state[key] for key in expected} == expected


def test_the_space_of_patches_is_no_page_of_the_menu() -> None:
    """From a text too it leads to the image, and back to where the text was."""
    app = open_app("heatmap", text="it rains")
    app.switch_page("pages/patch_space.py").run()
    assert not app.exception
    assert app.session_state["input"] == "image"
    app.button(key="show_text_instead").click().run()
    assert app.session_state["input"] == "text"
    assert app.session_state["text"] == "it rains"


@pytest.mark.parametrize("colour", ["position", "place"])
def test_the_file_has_what_colours_show(files: Files, colour: str) -> None:
    data = sent(opened(layer="2", head="3", colour=colour, stage="all three"), "points")
    table = table_of(files)
    assert len(table) == 3 * 2 * 65
    tones = np.where(data["tones"], data["tones"] - 1.0, np.nan)
    steps = len(data["shades"]["light"][0]) - 1 if data["colouring"] == "sequential" else 1
    near = 0.51 / steps if steps > 1 else 0
    np.testing.assert_allclose(table["colour"], tones / steps, rtol=0, atol=near)
