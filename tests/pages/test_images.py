"""The page of patches; ways from a text to an image and back, images of one's own, links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from core.analysis.images.distance import attention_distance
from core.analysis.images.patch_attention import cls_rollout
from core.analysis.images.patch_scores import patches_of
from core.model import load
from core.model.sample_images import SAMPLE_IMAGES
from core.model.weights.output_projection import transformed_norms
from core.screens.images import view as images_view
from core.ui import cache
from core.ui.serve import images as own_images
from core.ui.words.pages import PAGES
from core.vocabulary import percent
from tests.opening import open_app
from tests.pages.conftest import (
    alerts,
    model_facts,
    pick,
    said,
    sent,
    table_of,
)
from tests.pages.vision import bring, image_trace, model_folder, open_image, png

KIND = "dinov2_with_registers"  # 3 layers x 4 heads on 8 x 8 patches


def open_page(**link: str) -> AppTest:
    return open_image("images", KIND, **link)


def test_the_page_opens_with_where_a_patch_looks() -> None:
    trace = image_trace(KIND)
    patches = patches_of(trace).tokens
    weights = trace.attention()[:, :, patches]
    itself = np.diagonal(weights[..., patches], 0, 2, 3).mean(axis=-1)
    cls = weights[..., 0].mean(axis=-1)
    for head, where in (("3", "L2 H3"), ("mean", "layer 2")):
        heads = slice(None) if head == "mean" else 2
        shares = [percent(float(np.mean(each[1, heads]))) for each in (itself, cls)]
        answer = f"**In {where} a patch gives {shares[0]} to itself and {shares[1]} to CLS; "
        assert answer.replace("\xa0", " ") in said(open_page(layer="2", head=head))


def test_all_layers_of_a_small_image_are_sent_as_vectors() -> None:
    trace = image_trace(KIND)
    app = open_page(layer="2", head="3", patch="r2c3", direction="to")
    data = sent(app, "patches")
    assert alerts(app) == ""
    assert list(data["layers"]) == ["0", "1", "2"]
    view = {"layer": "2", "head": "3", "patch": "r2c3", "direction": "to", "only_patches": False}
    assert data["view"] == view
    for layer in range(3):
        assert np.array_equal(data[f"queries{layer}"], trace.queries[layer].ravel())
        assert np.array_equal(data[f"keys{layer}"], trace.keys[layer].ravel())
    assert trace.patches is not None
    assert np.array_equal(data["pixels"], trace.patches.pixels.ravel())
    assert data["sides"]["queries"]["labels"] == [each.display for each in trace.tokens]
    assert (data.get("rows"), data["asked"]) == (None, None)


def test_of_a_large_image_one_layer_is_sent_and_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = image_trace(KIND)
    monkeypatch.setattr(images_view, "ALL_LAYERS_BYTES", 1)
    app = open_page(layer="3", patch="r1c2")
    data = sent(app, "patches")
    token = next(each.position for each in trace.tokens if each.text == "r1c2")
    assert list(data["layers"]) == ["2"]
    assert data["asked"] == {"token": token, "direction": "from", "onlyPatches": False}
    rows = trace.attention()[:, :, token, patches_of(trace).tokens]
    np.testing.assert_allclose(data["tops"].reshape(3, 4), rows.max(-1), rtol=1e-5)
    steps = data["rows"].reshape(3, 4, -1) / 255 * data["tops"].reshape(3, 4, 1)
    np.testing.assert_allclose(steps, rows, atol=float(rows.max()) / 500)
    assert "Pictures of layers other than 3 show the pinned patch, in 255 steps" in said(app)
    data = sent(open_page(patch="reg2", direction="to", only_patches="1"), "patches")
    assert data["asked"] == {"token": data["start"], "direction": "to", "onlyPatches": True}


def test_the_classes_of_a_checkpoint_with_a_head_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sent(open_page(), "patches")["classes"] == []
    monkeypatch.setattr(
        "core.screens.images.cached.classes",
        lambda *_: (("tabby cat", 0.75), ("$x$ :red[y]", 0.125)),
    )
    data = sent(open_page(), "patches")
    assert data["classes"] == [["tabby cat", 0.75], ["$x$ :red[y]", 0.125]]


def test_a_rollout_is_a_choice_of_head() -> None:
    trace = image_trace(KIND)
    assert "rollout" not in sent(open_page(), "patches")
    app = open_page(head="rollout")
    np.testing.assert_allclose(sent(app, "patches")["rollout"], cls_rollout(trace), atol=1e-6)
    app = open_page(head="rollout-by-norms")
    norms = transformed_norms(load(model_folder(KIND), modality="image"), trace)
    expected = cls_rollout(trace, norms, weighted=True)
    np.testing.assert_allclose(sent(app, "patches")["rollout"], expected, atol=1e-6)
    assert "W_O of this model is not known" not in said(app)
    app = open_image("images", "siglip", head="rollout")  # which has no CLS
    assert "This link asks for head `rollout`" in alerts(app)


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("class_attention", "images?patch=cls", ""),
        ("class_attention?part=distance", "images?part=distance&patch=cls", ""),
        (
            "class_attention?part=maps&head=3&mass=35&region=r2c3-r4c5",
            "images?patch=cls&head=3",
            "an outline, or a region",
        ),
        ("class_attention?rollouts=1", "images?patch=cls", "rollouts beside the map"),
        ("patch_space", "query_key?stage=all three&colour=type&hide=1", ""),
        ("patch_space?part=points&colour=hue&stage=raw", "query_key?colour=hue&stage=raw", ""),
        ("patch_space?part=faithful&sound=loud", "query_key?stage=all three", ""),
    ],
)
def test_a_link_to_a_joined_page_opens_the_same_there(old: str, new: str, gone: str) -> None:
    """It said that it shows an image only by its address."""
    places = []
    for address, link in ((old, {}), (new, {"input": "image"})):
        page, _, state = address.partition("?")
        app = open_app(page, model=model_folder(), image="coffee", **link, **dict(parse_qsl(state)))
        keys = {*app.session_state["_controls"]} - {"from", "to"}
        places.append(
            [app.title[0].value] + [(key, app.session_state[key]) for key in sorted(keys)]
        )
        assert (gone in alerts(app)) if page in old and gone else not alerts(app)
        if old.startswith("patch_space") and page in old:
            assert app.session_state["from"] == app.session_state["to"] == []  # as it was there
    assert places[0] == places[1]


@pytest.mark.slow
@pytest.mark.parametrize("over", ["image", "box"])
def test_distances_are_of_one_image_or_all(files: dict[str, Callable[[], str]], over: str) -> None:
    app = open_page(part="distance", over=over)
    assert alerts(app) == ""
    table = table_of(files)
    if over == "box":
        assert (table["images"] == len(SAMPLE_IMAGES)).all()
        assert "distance_cancel" not in {button.key for button in app.button}
        return
    expected = attention_distance(image_trace(KIND)).pixels
    np.testing.assert_allclose(table["pixels"], expected.ravel(), rtol=1e-6)
    layer, head = np.unravel_index(expected.argmin(), expected.shape)
    assert f"L{layer + 1} H{head + 1} looks nearest" in said(app)


# ---- what stands around an image, on every page -------------------------------------------------

DEFAULT, NOVELS = "bundled/minilm", "bundled/gpt2-novels"
FOR_TEXTS = [page.name for page in PAGES if page.modalities == ("text",) and page.name != "lessons"]


def menu(app: AppTest, page: str) -> AppTest:
    """Open a page by the menu."""
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    return app


def place(app: AppTest) -> dict[str, Any]:
    """What is shown, and where: the page, the model, the layer and the head."""
    keys = ("input", "model", "layer", "head")
    return {"page": app.title[0].value} | {key: app.session_state[key] for key in keys}


def test_same_view_shows_the_image_with_its_layer_and_head_where_sentences_are_shown() -> None:
    app = open_image("images", image="coffee", layer="2", head="3")
    before = place(app)
    for page, title in (("heatmap", "Heatmap table"), ("neuron_view", "Neuron view")):
        (button,) = app.menu_button
        assert button.label == "Same view of this image"
        button.click(page).run()
        assert place(app) == before | {"page": title}
        assert app.query_params["input"] == "image"
    menu(app, "heatmap")
    assert app.session_state["input"] == "text"


def test_text_and_image_keep_the_model_the_layer_and_the_head_that_each_had() -> None:
    app = open_image("heatmap", "siglip", layer="2", head="3")
    image = place(app)
    app.button(key="show_text_instead").click().run()
    assert (app.session_state["model"], alerts(app)) == (DEFAULT, "")
    pick(app, model=NOVELS, layer="3", head="4")
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
def test_a_link_to_what_is_not_there_is_answered(odd: dict[str, str], told: str) -> None:
    link = {"input": "image", "model": model_folder()} | odd
    if odd.get("input"):
        link["model"] = DEFAULT
    app = open_app("heatmap", **link)
    assert told in alerts(app)
    assert app.session_state["image" if odd.get("image") else "input"] in {
        *SAMPLE_IMAGES,
        "image",
        "text",
    }
    assert sent(app, "table")


def test_an_image_that_is_brought_is_shown_until_a_reload_which_keeps_the_place() -> None:
    app = bring(open_image("images", layer="2", head="3", patch="r3c4"), png(side=40))
    assert "40 × 40 → 32 × 32 px" in said(app)
    captions = [each.value for each in app.caption if "reloading the page loses it" in each.value]
    assert len(captions) == 2  # where files are brought, and beside the image
    assert app.selectbox(key="image").value == "own"
    assert "Your image" in app.selectbox(key="image").options
    link = {key: str(app.query_params[key]) for key in app.query_params}
    again = open_app("images", **link)  # a session of its own, as after a reload
    assert place(again) == place(app)
    assert "The image of this link is gone" in alerts(again)
    assert "**Three shapes** is shown instead" in alerts(again)
    assert again.session_state["image"] == "three-shapes"
    assert not alerts(bring(again, png(side=40)))
    assert again.session_state["patch"] == app.session_state["patch"] == "r3c4"


def test_two_visitors_keep_their_own_images_apart() -> None:
    one = bring(open_image("head_view"), png((200, 30, 30)))
    two = bring(open_image("head_view"), png((30, 30, 200)))
    stamps = [sent(each, "head_view")["stamp"] for each in (one, two)]
    assert stamps[0] != stamps[1]
    assert sent(one.run(), "head_view")["stamp"] == stamps[0]
    assert one.session_state["_own_image"][0] != two.session_state["_own_image"][0]


def test_an_image_that_the_server_let_go_is_brought_back_by_its_session() -> None:
    app = bring(open_image("heatmap"), png(side=52))
    own_images.kept.clear()
    cache.traces.clear()
    app.run()
    assert not alerts(app)
    assert "52 × 52" in said(app)


def test_the_server_keeps_no_more_images_than_its_bound_and_never_the_first_of_them() -> None:
    names = [own_images.bring(Image.new("RGB", (8 + i, 8)))[0] for i in range(30)]
    with pytest.raises(KeyError):
        own_images.pixels(names[0])
    assert own_images.pixels(names[-1]).size == (37, 8)


def test_a_site_of_models_of_one_kind_shows_what_they_read(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = model_folder()
    monkeypatch.setenv("HEADSCOPE_MODELS", DEFAULT)
    asked = open_app("heatmap", input="image")
    assert asked.session_state["input"] == "text"
    assert "This link asks for input" in alerts(asked)
    monkeypatch.setenv("HEADSCOPE_MODELS", "bundled/vit-scenes")
    app = open_app("heatmap")
    assert app.session_state["input"] == "image"
    assert " patches of " in said(app)
    assert "show_text_instead" not in [each.key for each in app.button]
    assert "This site offers" in alerts(open_app("heatmap", model=folder))
