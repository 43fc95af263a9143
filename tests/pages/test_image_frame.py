"""What stands around a page that shows an image: the switch, the row, uploads, links, offers."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from core.model.box import BOX
from core.ui import cache
from core.ui.site import images
from core.ui.words.pages import PAGES, find
from tests.opening import open_app
from tests.pages.conftest import alerts, said, sent, sidebar
from tests.pages.vision import bring, model_folder, open_image, png

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

DEFAULT, NOVELS = "bundled/minilm", "bundled/gpt2-novels"
FOR_TEXTS = [page.name for page in PAGES if page.reads == ("text",)]
FOR_IMAGES = [page.name for page in PAGES if page.reads == ("image",)]


def switch(app: AppTest, to: str) -> AppTest:
    """Press Text or Image in the sidebar."""
    (group,) = [each for each in app.sidebar.button_group if each.key == "input"]
    return group.set_value(to).run()


def pick_model(app: AppTest, name: str) -> AppTest:
    """Pick one in the sidebar's box, whose options are labels with a size and the like."""
    box = app.sidebar.selectbox(key="model")
    (option,) = [each for each in box.options if name in each]
    box.set_value(option).run()
    return app


def has_switch(app: AppTest) -> bool:
    groups = [each for each in app.sidebar.button_group if each.key == "input"]
    return any(len(group.proto.options) > 1 for group in groups)


def facts(app: AppTest) -> str:
    """What the row of the image says of it."""
    return next(line for line in said(app).split("\n") if " patches of " in line)


# ---- the switch --------------------------------------------------------------------------------


def test_the_switch_keeps_the_model_that_each_of_the_two_had() -> None:
    app = open_image("heatmap", "siglip")
    app = switch(app, "text")
    assert (app.session_state["model"], alerts(app)) == (DEFAULT, "")
    pick_model(app, NOVELS)
    app = switch(app, "image")
    assert (app.session_state["model"], alerts(app)) == (model_folder("siglip"), "")
    app = switch(app, "text")
    assert (app.session_state["model"], alerts(app)) == (NOVELS, "")


def test_the_sentence_comes_back_with_the_switch() -> None:
    app = open_app("heatmap", text="A cat sat here.")
    app = switch(switch(app, "image"), "text")
    assert app.session_state["text"] == "A cat sat here."


@pytest.mark.parametrize("page", FOR_TEXTS)
def test_a_page_for_texts_says_why_it_shows_no_image_and_leads_on(page: str) -> None:
    app = open_image(page)
    assert find(page).why_not in alerts(app)
    links = [link.proto.page for link in app.get("page_link")]
    assert find(page).instead in links
    assert not app.get("plotly_chart")
    app.button(key="show_other_input").click().run()
    assert app.session_state["input"] == "text"
    assert find(page).why_not not in alerts(app)


@pytest.mark.parametrize("page", FOR_IMAGES)
def test_a_page_for_images_opens_with_an_image_and_leaves_for_its_neighbour(page: str) -> None:
    app = open_app(page)
    assert app.session_state["input"] == "image"
    app = switch(app, "text")
    assert app.session_state["input"] == "text"
    assert app.title[0].value == find(find(page).instead).title


# ---- links -------------------------------------------------------------------------------------


def test_a_link_brings_back_the_image_the_model_and_the_size() -> None:
    app = open_image("heatmap", "dinov2_with_registers", image="coffee", side="48")
    assert not alerts(app)
    assert "48 × 48 px, 12 × 12 patches" in facts(app)
    written = {key: app.query_params[key] for key in ("input", "image", "side")}
    assert written == {"input": "image", "image": "coffee", "side": "48"}


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        ({"input": "nonsense"}, "This link asks for input"),
        ({"image": "../../etc/passwd"}, "This link asks for image"),
        ({"image": "own"}, "This link asks for image"),
        ({"image": "own:" + "0" * 64}, "This link asks for image"),
        ({"image": "<img src=x>"}, "This link asks for image"),
        ({"side": "9999999"}, "This link asks for side"),
        ({"side": "-1"}, "This link asks for side"),
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
    assert "side" not in app.session_state or app.session_state["side"] == "32"
    assert sent(app, "table")


def test_a_size_is_in_no_link_while_it_is_the_model_s_own() -> None:
    assert "side" not in open_image("heatmap").query_params


# ---- images of one's own -----------------------------------------------------------------------


def test_an_image_that_is_brought_is_shown_and_is_in_no_link() -> None:
    app = bring(open_image("heatmap"), png(side=40))
    assert facts(app).startswith("40 × 40 → 32 × 32 px")
    assert "image" not in app.query_params
    assert "is in no link" in said(app)
    assert app.selectbox(key="image").value == "own"
    (shown,) = [each for each in app.selectbox(key="image").options if "Your" in each]
    assert shown == "Your image"


def test_an_image_stays_on_other_pages_and_after_one_of_the_box() -> None:
    app = bring(open_image("heatmap"), png(side=44))
    app.selectbox(key="image").set_value("coffee").run()
    assert app.query_params["image"] == "coffee"
    app.selectbox(key="image").set_value("own").run()
    assert facts(app).startswith("44 × 44")
    app.switch_page("pages/neuron_view.py").run()
    assert facts(app).startswith("44 × 44")
    assert not alerts(app)


def broken() -> list[tuple[str, bytes]]:
    whole = png()
    bomb = io.BytesIO()
    Image.new("1", (9000, 9000)).save(bomb, "PNG")
    return [
        ("truncated.png", whole[: len(whole) // 2]),
        ("text.png", b"The cat sat on the mat."),
        ("empty.png", b""),
        ("bomb.png", bomb.getvalue()),
    ]


@pytest.mark.parametrize(("name", "data"), broken(), ids=[name for name, _ in broken()])
def test_a_file_that_is_no_image_gives_one_message_and_the_picture_stays(
    name: str, data: bytes
) -> None:
    app = bring(open_image("heatmap", image="coffee"), data, name)
    boxes = [*app.error, *app.warning, *app.info]
    assert len(boxes) == 1
    assert app.query_params["image"] == "coffee"
    assert facts(app).startswith("256 × 256")
    assert sent(app, "table")


def test_two_visitors_keep_their_own_images_apart() -> None:
    one = bring(open_image("head_view"), png((200, 30, 30)))
    two = bring(open_image("head_view"), png((30, 30, 200)))
    stamps = [sent(each, "head_view")["stamp"] for each in (one, two)]
    assert stamps[0] != stamps[1]
    assert sent(one.run(), "head_view")["stamp"] == stamps[0]
    assert one.session_state["_own_image"][0] != two.session_state["_own_image"][0]


def test_an_image_that_the_server_let_go_is_brought_back_by_its_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = bring(open_image("heatmap"), png(side=52))
    monkeypatch.setattr(images, "_kept", type(images._kept)())
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


def test_a_site_of_text_models_alone_has_no_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_MODELS", "bundled/minilm")
    app = open_app("heatmap")
    assert not has_switch(app)
    assert "MiniLM" in sidebar(app)
    asked = open_app("heatmap", input="image")
    assert asked.session_state["input"] == "text"
    assert "This link asks for input" in alerts(asked)


@pytest.mark.parametrize("page", FOR_IMAGES)
def test_on_a_site_of_text_models_alone_a_page_for_images_says_so(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_MODELS", "bundled/minilm")
    app = open_app(page)
    assert "this site offers no model that reads them" in alerts(app)
    assert [link.proto.page for link in app.get("page_link")] == [find(page).instead]
    assert not app.get("plotly_chart")


@pytest.mark.parametrize("page", FOR_IMAGES)
def test_a_page_for_images_on_which_a_text_is_chosen_offers_an_image(page: str) -> None:
    app = open_app(page)
    app.session_state["input"] = "text"  # as back and forward in the browser may set it
    app.run()
    assert "This page shows images. For sentences there is another page" in alerts(app)
    app.button(key="show_other_input").click().run()
    assert app.session_state["input"] == "image"
    assert not alerts(app)


def test_a_site_of_image_models_alone_shows_images(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = model_folder()
    monkeypatch.setenv("HEADSCOPE_MODELS", "bundled/vit-scenes")
    app = open_app("heatmap")
    assert not has_switch(app)
    assert app.session_state["input"] == "image"
    assert facts(app)
    refused = open_app("heatmap", model=folder)
    assert "This site offers" in alerts(refused)


def test_a_name_of_the_model_is_never_that_of_the_other_kind(connect: Any) -> None:
    connect("192.0.2.7")
    app = open_app("heatmap", input="image", model="bundled/minilm")
    assert "This site offers" in alerts(app)
    assert app.session_state["model"] == "bundled/vit-scenes"
