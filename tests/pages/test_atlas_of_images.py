"""The atlas page with images: built, coloured, searched, opened, saved and opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.atlas import build_atlas
from core.model import load, trace_images
from core.model.sample_images import BOX, open_box
from tests.atlas.files import save_atlas
from tests.model.image.families import FAMILIES, build, image
from tests.opening import open_app
from tests.pages.conftest import said
from tests.pages.vision import png

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    from core.components.points import AtlasCloud


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("vit")
    build(FAMILIES["vit"], folder)
    return str(folder)


def opened(model: str, **link: str) -> AppTest:
    return open_app("atlas", input="image", model=model, **link)


def test_the_box_is_an_atlas_of_all_its_images(model: str, matrices: list[AtlasCloud]) -> None:
    app = opened(model, part="heads", colour="row")
    titles = [entry.title for entry in BOX.values()]
    assert f"{37 * len(titles):,} tokens of {len(titles)} images" in said(app)
    assert set(matrices[-1].texts) <= set(titles)
    assert app.query_params["corpus"] == "box"


def test_a_search_for_an_image_draws_its_patches_large(
    model: str, matrices: list[AtlasCloud]
) -> None:
    app = opened(model, part="heads", find="cat")
    assert "**36** matches in 1 of" in said(app)
    assert matrices[-1].matches.sum() == 36


def test_a_patch_is_drawn_as_itself_and_opens_its_image(
    model: str, clouds: list[AtlasCloud]
) -> None:
    app = opened(model, part="one", layer="2", head="3", token="41")
    cloud = clouds[-1]
    (trace,) = trace_images(load(model), [open_box(list(BOX)[1])])  # token 41 is the second's
    assert trace.patches is not None
    assert cloud.sprites is not None
    assert cloud.patched is not None
    np.testing.assert_array_equal(cloud.sprites[40], trace.patches.cells[2])
    assert cloud.patched[[37, 38, 40]].tolist() == [False, True, True]
    assert list(BOX.values())[1].title in said(app)
    share = trace.attention(1, 2)[3, 1:].sum()
    assert f"{100 * share:.0f} % of its attention goes to patches" in said(app)
    assert cloud.lines is not None


def test_a_prepared_atlas_of_images_opens_among_images_alone(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = list(trace_images(load(model), [image(seed=1), image(seed=2)]))
    save_atlas(build_atlas(traces, ["<b>one</b>", "$two$"]), tmp_path / "images.atlas")
    monkeypatch.setenv("HEADSCOPE_ATLASES", str(tmp_path))
    app = opened(model, corpus="prepared", part="one", token="3")
    assert not app.exception
    assert "`<b>one</b>`" in said(app)
    texts = open_app("atlas", corpus="prepared")
    assert "an atlas of images" in "".join(each.value for each in texts.info)
    texts.button(key="show_atlas").click().run()
    assert texts.session_state["input"] == "image"


def test_ones_own_images_are_an_atlas_and_what_is_no_image_is_named(
    model: str, matrices: list[AtlasCloud]
) -> None:
    app = opened(model, corpus="own")
    assert "Choose some images" in "".join(each.value for each in app.info)
    brought = {"photo 1": png(), "broken": b"\x89PNG\r\n\x1a\n", "photo 2": png((30, 30, 200))}
    given = [(f"{name}.png", data, "image/png") for name, data in brought.items()]
    app.file_uploader(key="atlas_images").set_value(given).run()
    assert not app.exception
    assert "broken.png" in "".join(each.value for each in app.warning)
    assert "74 tokens** of 2 images" in said(app)
    app.button(key="atlas_build").click().run()
    assert not app.exception
    assert set(matrices[-1].texts) == {"photo 1", "photo 2"}
