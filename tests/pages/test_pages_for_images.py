"""What pages for texts and images show of an image; test_kinds_of_models opens them all."""

from __future__ import annotations

import pytest

from core.model.catalog import find
from tests.pages.conftest import alerts, said, sent
from tests.pages.vision import open_image


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


# ---- high-norm patches -----------------------------------------------------------------------


def test_a_link_to_odd_patches_of_a_text_is_answered_with_what_there_is() -> None:
    app = open_image("anomalies", anomaly="odd", input="text", model="bundled/minilm")
    assert "This link asks for anomaly" in alerts(app)


# ---- the model ---------------------------------------------------------------------------------
