"""What stands around a page that shows an image: ways to it and back, the row, uploads, links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from core.model.sample_images import BOX
from core.ui import cache
from core.ui.serve import images
from core.ui.words.pages import PAGES
from tests.opening import open_app
from tests.pages.conftest import alerts, model_facts, pick, said, sent
from tests.pages.vision import bring, model_folder, open_image, png

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

DEFAULT, NOVELS = "bundled/minilm", "bundled/gpt2-novels"
FOR_TEXTS = [page.name for page in PAGES if page.modalities == ("text",)]


def menu(app: AppTest, page: str) -> AppTest:
    """Open a page by the menu."""
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    return app


def same_view(app: AppTest, page: str) -> AppTest:
    """Press "Same view of this image", and one of the pages behind it."""
    (button,) = app.menu_button
    assert button.label == "Same view of this image"
    button.click(page).run()
    assert not app.exception, app.exception
    return app


def place(app: AppTest) -> dict[str, Any]:
    """What is shown, and where: the page, the model, the layer and the head."""
    keys = ("input", "model", "layer", "head")
    return {"page": app.title[0].value} | {key: app.session_state[key] for key in keys}


def pick_model(app: AppTest, name: str) -> AppTest:
    """Pick one in the model's menu, whose options are labels with a size and the like."""
    box = app.selectbox(key="model")
    (option,) = [each for each in box.options if name in each]
    box.set_value(option).run()
    return app


def facts(app: AppTest) -> str:
    """What the row of the image says of it."""
    return next(line for line in said(app).split("\n") if " patches of " in line)


# ---- text or image -----------------------------------------------------------------------------


def test_same_view_shows_the_image_with_its_layer_and_head_where_sentences_are_shown() -> None:
    app = open_image("images", image="coffee", layer="2", head="3")
    before = place(app)
    same_view(app, "heatmap")
    assert place(app) == before | {"page": "Heatmap table"}
    assert app.query_params["input"] == "image"
    assert app.query_params["image"] == "coffee"
    assert sent(app, "table")
    same_view(app, "neuron_view")
    assert place(app) == before | {"page": "Neuron view"}
    menu(app, "heatmap")
    assert app.session_state["input"] == "text"


def test_text_and_image_keep_the_model_the_layer_and_the_head_that_each_had() -> None:
    app = open_image("heatmap", "siglip", layer="2", head="3")
    image = place(app)
    app.button(key="show_text_instead").click().run()
    assert (app.session_state["model"], alerts(app)) == (DEFAULT, "")
    pick_model(app, NOVELS)
    pick(app, layer="3")
    pick(app, head="4")
    text = place(app)
    menu(app, "images")
    assert (place(app), alerts(app)) == (image | {"page": "Patches"}, "")
    menu(app, "heatmap")
    assert (place(app), alerts(app)) == (text, "")


@pytest.mark.parametrize("page", FOR_TEXTS)
def test_a_link_that_asks_a_page_for_texts_for_an_image_is_answered_with_a_text(page: str) -> None:
    app = open_app(page, input="image")
    assert "This page shows: `text`" in alerts(app)
    assert app.session_state["input"] == "text"
    assert "MiniLM" in model_facts(app)


# ---- links -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        ({"input": "nonsense"}, "This link asks for input"),
        ({"image": "../../etc/passwd"}, "This link asks for image"),
        ({"image": "own"}, "The image of this link is gone"),
        ({"image": "own:" + "0" * 64}, "This link asks for image"),
        ({"image": "<img src=x>"}, "This link asks for image"),
        ({"side": "48"}, "another size of the image, which this page no longer has"),
    ],
    ids=str,
)
def test_a_link_to_what_is_not_there_is_answered_and_something_is_shown(
    odd: dict[str, str], told: str
) -> None:
    link = {"input": "image", "model": model_folder()} | odd
    if odd.get("input"):
        link["model"] = "bundled/minilm"
    app = open_app("heatmap", **link)
    assert told in alerts(app)
    assert app.session_state["image" if odd.get("image") else "input"] in {*BOX, "image", "text"}
    assert sent(app, "table")


# ---- images of one's own -----------------------------------------------------------------------


def test_an_image_that_is_brought_is_shown_and_said_to_be_lost_by_a_reload() -> None:
    app = bring(open_image("heatmap"), png(side=40))
    assert facts(app).startswith("40 × 40 → 32 × 32 px")
    captions = [each.value for each in app.caption if "reloading the page loses it" in each.value]
    assert len(captions) == 2  # where files are brought, and beside the image
    assert app.selectbox(key="image").value == "own"
    (shown,) = [each for each in app.selectbox(key="image").options if "Your" in each]
    assert shown == "Your image"


def test_a_reload_loses_the_image_keeps_the_place_and_says_what_is_shown() -> None:
    app = bring(open_image("images", layer="2", head="3", patch="r3c4"), png(side=40))
    link = {key: str(app.query_params[key]) for key in app.query_params}
    again = open_app("images", **link)  # a session of its own, as after a reload
    assert place(again) == place(app)
    assert again.session_state["patch"] == app.session_state["patch"] == "r3c4"
    assert "The image of this link is gone" in alerts(again)
    assert "**Three shapes** is shown instead" in alerts(again)
    assert again.session_state["image"] == "three-shapes"
    assert not alerts(bring(again, png(side=40)))
    assert again.session_state["patch"] == "r3c4"


def test_two_visitors_keep_their_own_images_apart() -> None:
    one = bring(open_image("head_view"), png((200, 30, 30)))
    two = bring(open_image("head_view"), png((30, 30, 200)))
    stamps = [sent(each, "head_view")["stamp"] for each in (one, two)]
    assert stamps[0] != stamps[1]
    assert sent(one.run(), "head_view")["stamp"] == stamps[0]
    assert one.session_state["_own_image"][0] != two.session_state["_own_image"][0]


def test_an_image_that_the_server_let_go_is_brought_back_by_its_session() -> None:
    app = bring(open_image("heatmap"), png(side=52))
    images.kept.clear()
    cache.image_pass.clear()
    app.run()
    assert not alerts(app)
    assert facts(app).startswith("52 × 52")


def test_the_server_keeps_no_more_images_than_its_bound_and_never_the_first_of_them() -> None:
    names = [images.bring(Image.new("RGB", (8 + i, 8)))[0] for i in range(30)]
    with pytest.raises(KeyError):
        images.pixels(names[0])
    assert images.pixels(names[-1]).size == (37, 8)


# ---- what a site offers ------------------------------------------------------------------------


def test_a_site_of_text_models_alone_shows_a_link_to_an_image_as_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HEADSCOPE_MODELS", "bundled/minilm")
    asked = open_app("heatmap", input="image")
    assert asked.session_state["input"] == "text"
    assert "This link asks for input" in alerts(asked)


def test_a_site_of_image_models_alone_shows_images(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = model_folder()
    monkeypatch.setenv("HEADSCOPE_MODELS", "bundled/vit-scenes")
    app = open_app("heatmap")
    assert app.session_state["input"] == "image"
    assert facts(app)
    assert "show_text_instead" not in [each.key for each in app.button]
    refused = open_app("heatmap", model=folder)
    assert "This site offers" in alerts(refused)
