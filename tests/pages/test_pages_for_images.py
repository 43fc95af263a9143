"""What pages for texts and images show of an image; test_kinds_of_models opens them all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_image
from core.model.box import open_box
from core.model.catalog import find
from tests.pages.conftest import alerts, model_facts, said, sent
from tests.pages.vision import KINDS, model_folder, open_image

if TYPE_CHECKING:
    from core.model import Trace

IMAGES = ("three-shapes", "coffee", "cat")


def trace_of(kind: str, image: str = "three-shapes") -> Trace:
    return trace_image(load(model_folder(kind), modality="image"), open_box(image))


def test_a_question_of_a_page_for_both_follows_what_is_shown() -> None:
    assert "Which dimensions make one patch attend to another?" in said(open_image("neuron_view"))


@pytest.mark.slow
def test_an_example_of_a_page_sets_its_controls_on_an_image() -> None:
    pages = ("heatmap", "query_key", "head_view", "model_view", "neuron_view", "patterns")
    for page in (*pages, "anomalies"):
        app = open_image(page)
        keys = [str(each.key) for each in app.button if str(each.key).startswith(f"{page}_preset")]
        assert len(keys) >= 3
        for key in keys:
            app.button(key=key).click().run()
            assert not alerts(app)


def test_two_images_are_two_for_the_head_view_which_keeps_layers_in_the_browser() -> None:
    stamps = {sent(open_image("head_view", image=name), "head_view")["stamp"] for name in IMAGES}
    assert len(stamps) == len(IMAGES)


def test_the_head_view_begins_with_the_head_that_the_catalogue_names() -> None:
    scenes = find("bundled/vit-scenes")
    assert scenes is not None
    assert scenes.begin is not None
    layer, head = scenes.begin
    app = open_image("head_view", model=scenes.name)
    view = sent(app, "head_view")["view"]
    assert (view["layer"], view["heads"]) == (str(layer), [head])
    app = open_image("head_view", model=scenes.name, layer="1")
    assert sent(app, "head_view")["view"]["heads"] == []  # a link without heads means all of them


@pytest.mark.parametrize("component", ["head_view", "model_view", "neuron_view"])
def test_patches_are_sent_as_one_picture_with_their_grid(component: str) -> None:
    patches = sent(open_image(component), component)["patches"]
    assert (patches["rows"], patches["columns"]) == (8, 8)
    assert re.match(r"data:image/jpeg;base64,[A-Za-z0-9+/=]{200,}$", patches["url"])


def test_the_neuron_view_begins_with_the_patch_in_the_middle() -> None:
    app = open_image("neuron_view")
    assert app.session_state["query"] == "38"  # CLS, then row 5 of 8, column 5: 1 + 4 * 8 + 4 + 1


def test_special_tokens_of_an_image_are_called_by_their_names() -> None:
    for kind, label in zip(KINDS, ("Hide CLS", "Hide CLS and registers", None), strict=True):
        labels = [toggle.label for toggle in open_image("heatmap", kind).toggle]
        hides = [each for each in labels if each.startswith("Hide")]
        assert hides == ([label] if label else [])


def test_values_of_an_image_that_are_merely_short_make_no_head_unusual() -> None:
    """Two heads attend to values of 0.67 of the median on average, to none that is nearly zero."""
    app = open_image("anomalies", model="bundled/vit-scenes")
    table = next(each.value for each in app.dataframe if "unusual_by" in each.value)
    assert "**None of 36 heads is unusual** on this image" in said(app)
    assert (table["unusual"] < 3.5).all()
    assert (table["flags"] == "").all()


def test_thresholds_of_an_image_are_those_of_texts_and_it_is_said() -> None:
    text = " ".join(said(open_image("patterns")).split())
    assert "Thresholds are those of texts: 0.5 for a neighbour" in text


# ---- high-norm patches -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_odd_patches_are_counted_as_their_lengths_have_it(kind: str) -> None:
    trace = trace_of(kind)
    assert trace.patches is not None
    assert trace.hidden_states is not None
    lengths = np.linalg.norm(trace.hidden_states[-1, trace.patches.tokens].astype(float), axis=1)
    apart = lengths - np.median(lengths)
    far = 0.6745 * apart / np.median(np.abs(apart)) > 3.5
    count = int((far & (lengths >= 2 * np.median(lengths))).sum())
    app = open_image("anomalies", kind, anomaly="odd")
    if count:
        assert re.search(rf"\*\*{count} of 64 patch(es are| is) odd\*\*", said(app))
    else:
        assert "**No patch of this image is odd.**" in said(app)
    assert "odd from 2 times the median length" in said(app)
    assert "where z is above 3.5 too" in " ".join(said(app).split())
    longest = int(lengths.argmax())
    assert f"`r{longest // 8 + 1}c{longest % 8 + 1}`" in said(app)


def test_the_share_that_registers_take_stands_beside_their_uniform_baseline() -> None:
    trace = trace_of("dinov2_with_registers")
    to_registers = trace.attention()[..., 1:5].sum(axis=-1).mean()
    told = said(open_image("anomalies", "dinov2_with_registers", anomaly="odd"))
    assert f"registers **{to_registers:.3f}** (uniform baseline {4 / 69:.3f}" in told


def test_a_link_to_odd_patches_of_a_text_is_answered_with_what_there_is() -> None:
    app = open_image("anomalies", anomaly="odd", input="text", model="bundled/minilm")
    assert "This link asks for anomaly" in alerts(app)


# ---- the model ---------------------------------------------------------------------------------


def test_the_check_of_a_model_of_images_speaks_of_pictures_and_patches() -> None:
    app = open_image("heatmap")
    (told,) = [each.help for each in app.caption if "Numbers checked" in each.value]
    assert "two pictures of 32 × 32 pixels (65 tokens)" in told
    assert "patches of an image, row by row" in told
    assert "text" not in told
    assert "{" not in told
    assert "3 layers × 4 heads" in model_facts(app)
