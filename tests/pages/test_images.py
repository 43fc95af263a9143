"""The page of patches: what it sends, what links hold, what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.images.distance import attention_distance
from core.analysis.images.patch_attention import cls_rollout
from core.analysis.images.patch_scores import patches_of
from core.model import load
from core.model.sample_images import BOX
from core.model.weights.output_projection import transformed_norms
from core.screens.images import view as images_view
from core.screens.images.view import take_report
from core.vocabulary import percent
from tests.opening import open_app
from tests.pages.conftest import alerts, hints, payload, press_example, said, sent, table_of
from tests.pages.vision import image_trace, model_folder, open_image

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

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
    assert data["view"] == {
        "layer": "2",
        "head": "3",
        "patch": "r2c3",
        "direction": "to",
        "only_patches": False,
    }
    for layer in range(3):
        assert np.array_equal(data[f"queries{layer}"], trace.queries[layer].ravel())
        assert np.array_equal(data[f"keys{layer}"], trace.keys[layer].ravel())
    assert trace.patches is not None
    assert np.array_equal(data["pixels"], trace.patches.pixels.ravel())
    assert data["sides"]["queries"]["labels"] == [each.display for each in trace.tokens]
    assert "rows" not in data
    assert data["asked"] is None


def test_of_a_large_image_one_layer_is_sent_and_a_row_of_every_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


@pytest.mark.parametrize("patch", ["r8c8", "reg4", "none"])
def test_a_link_holds_a_patch_by_its_place(patch: str) -> None:
    app = open_page(patch=patch)
    assert sent(app, "patches")["view"]["patch"] == patch
    assert app.query_params.get("patch", "none") == patch
    assert alerts(app) == ""


def test_what_a_link_asks_for_in_vain_is_said() -> None:
    link = {"patch": "r9c1", "direction": "up", "head": "5"}
    app = open_page(**link)
    for key, value in link.items():
        assert f"This link asks for {key}" in alerts(app)
        assert sent(app, "patches")["view"][key] != value


def test_a_report_of_the_picture_is_taken_as_far_as_it_is_a_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state: dict[str, object] = {}
    monkeypatch.setattr("streamlit.session_state", state)
    take_report({"patch": "r1c1", "layer": 3, "only_patches": "yes", "other": "x"})
    assert state["patch"] == "r1c1"
    assert not {"layer", "only_patches", "other"} & set(state)


def test_the_same_state_sends_the_same_bytes() -> None:
    """What people click in the picture is in the session already: nothing is sent again."""
    app = open_page(layer="2", head="1")
    before = payload(app, "patches")
    app.run()
    assert payload(app, "patches") == before
    app.session_state["head"] = "4"  # from elsewhere
    app.run()
    assert sent(app, "patches")["view"]["head"] == "4"


def test_the_classes_of_a_checkpoint_with_a_head_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sent(open_page(), "patches")["classes"] == []
    monkeypatch.setattr(
        "core.screens.images.cached.classes",
        lambda *_: (("tabby cat", 0.75), ("$x$ :red[y]", 0.125)),
    )
    data = sent(open_page(), "patches")
    assert data["classes"] == [["tabby cat", 0.75], ["$x$ :red[y]", 0.125]]


def test_examples_are_measured_on_the_image() -> None:
    trace, app = image_trace(KIND), open_page()
    first = patches_of(trace).first
    weights = trace.attention()[:, :, first:]
    itself = np.diagonal(weights[..., first:], axis1=2, axis2=3).mean(axis=-1)
    layer, head = np.unravel_index(itself.argmax(), itself.shape)
    assert f"In L{layer + 1} H{head + 1}, a patch gives {itself.max():.2f}" in hints(app)
    press_example(app, "images", "Attends to itself")
    view = sent(app, "patches")["view"]
    assert (view["layer"], view["head"]) == (str(layer + 1), str(head + 1))
    cls = weights[..., 0].mean(axis=-1)
    press_example(app, "images", "Attends to CLS")
    view = sent(app, "patches")["view"]
    layer, head = np.unravel_index(cls.argmax(), cls.shape)
    assert view["patch"] == "cls"
    assert (view["layer"], view["head"]) == (str(layer + 1), str(head + 1))


def test_the_caption_is_true_for_what_is_shown() -> None:
    assert "pinker" in said(open_page(head="2"))
    assert "greener" in said(open_page(head="max", direction="to", only_patches="1"))


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


def test_a_model_without_cls_offers_no_rollout() -> None:
    app = open_image("images", "siglip", head="rollout")
    assert "This link asks for head `rollout`" in alerts(app)


@pytest.mark.parametrize(
    ("link", "state"),
    [
        ({}, {"part": "patches", "patch": "cls"}),
        ({"part": "maps", "head": "3"}, {"part": "patches", "patch": "cls", "head": "3"}),
        ({"part": "distance", "over": "image"}, {"part": "distance", "over": "image"}),
    ],
    ids=str,
)
def test_a_link_to_cls_attention_opens_the_same_here(
    link: dict[str, str], state: dict[str, str]
) -> None:
    app = open_app("class_attention", model=model_folder(KIND), **link)
    assert [title.value for title in app.title] == ["Patches"]
    assert {key: app.session_state[key] for key in state} == state
    assert alerts(app) == ""


def test_what_cls_attention_no_longer_has_is_said() -> None:
    gone = {"mass": "35", "region": "r2c3-r4c5", "rollouts": "1"}
    app = open_app("class_attention", model=model_folder(KIND), **gone)
    for words in (
        "an outline, or a region",
        "rollouts beside the map",
        "which this page no longer",
    ):
        assert words in alerts(app)
    assert sent(app, "patches")["view"]["patch"] == "cls"


def test_distances_are_those_of_the_trace(files: dict[str, Callable[[], str]]) -> None:
    app = open_page(part="distance")
    assert alerts(app) == ""
    expected = attention_distance(image_trace(KIND)).pixels
    table = table_of(files)
    np.testing.assert_allclose(table["pixels"], expected.ravel(), rtol=1e-6)
    layer, head = np.unravel_index(expected.argmin(), expected.shape)
    assert f"L{layer + 1} H{head + 1} looks nearest" in said(app)
    assert "CLS and registers are left out" in said(app)


@pytest.mark.slow
def test_distances_over_the_box_are_of_all_its_images(files: dict[str, Callable[[], str]]) -> None:
    app = open_page(part="distance", over="box")
    assert alerts(app) == ""
    assert (table_of(files)["images"] == len(BOX)).all()
    assert "distance_cancel" not in {button.key for button in app.button}
