"""Atlases that a site has prepared, offered by name and nothing else of its disk; of images."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from core.atlas import build_atlas
from core.atlas.saved import ATLAS
from core.components.points import Clouds
from core.model import load, trace_images
from core.model.sample_images import SAMPLE_IMAGES, open_sample_image
from core.screens.atlas.corpus.source import prepared_atlases
from core.vocabulary import percent
from tests.atlas.files import save_atlas, write_folder
from tests.model.image.families import image
from tests.opening import open_app
from tests.pages.atlases import CAUSAL, LINES, small
from tests.pages.conftest import alerts, said, sent
from tests.pages.vision import model_folder, open_image, png

pytestmark = pytest.mark.slow
TOKENS = 65  # of an image: CLS and 8 × 8 patches


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with a small atlas and a large one."""
    folder = tmp_path / "atlases"
    folder.mkdir()
    monkeypatch.setenv("HEADSCOPE_ATLASES", str(folder))
    save_atlas(small(), folder / "small one.atlas")
    write_folder(small(), folder / "large.atlas", [(0, 1), (2, 3)], (1, 2))
    return folder


def test_without_a_folder_none_is_offered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for given in ("", str(tmp_path / "missing"), str(tmp_path)):
        monkeypatch.setenv("HEADSCOPE_ATLASES", given)
        assert prepared_atlases() == {}
    app = open_app("atlas", corpus="prepared", budget="1000", model=CAUSAL)
    assert "`prepared`" in alerts(app)
    assert app.query_params["corpus"] == "sample"


def test_only_atlases_in_the_folder_itself_are_offered(site: Path, tmp_path: Path) -> None:
    outside = save_atlas(small(), tmp_path / "outside.atlas")
    (site / "link.atlas").symlink_to(outside, target_is_directory=True)
    (site / ".hidden.atlas").mkdir()
    for name in ("notes.txt", "file.atlas", "old.atlas.zip"):
        (site / name).write_bytes(b"")
    (site / "within").mkdir()
    save_atlas(small(), site / "within" / "deep.atlas")
    os.mkfifo(site / "pipe.atlas")
    assert list(prepared_atlases()) == ["large", "small one"]
    for name in ("../outside", "within/deep", "link", ""):
        app = open_app("atlas", corpus="prepared", prepared=name)
        assert app.selectbox(key="prepared").value == "large"


def test_a_large_one_opens_with_its_sample_and_has_no_slow_projections(site: Path) -> None:
    link = {"corpus": "prepared", "prepared": "large", "token": "7"}
    for part in ("heads", "one"):
        app = open_app("atlas", **link, part=part)
        assert not alerts(app)
        assert "of 2 texts (a random sample of 4)" in said(app)
    app = open_app("atlas", **link, projection="UMAP")
    assert app.selectbox(key="projection").options == ["PCA"]
    assert "This link asks for projection `UMAP`. A prepared atlas offers: `PCA`." in alerts(app)
    assert "label" in app.selectbox(key="colour").options


def test_one_that_is_replaced_is_opened_again_and_a_damaged_one_is_told(site: Path) -> None:
    parameters = {"corpus": "prepared", "prepared": "small one", "find": "she"}
    assert "**2** matches" in said(open_app("atlas", **parameters))
    (site / "small one.atlas" / ATLAS).write_bytes(b"damaged")
    app = open_app("atlas", **parameters)
    assert "`small one`: The file" in app.error[0].value
    (site / "large.atlas" / "tokens.parquet").unlink()
    (site / "large.atlas" / ATLAS).touch()
    app = open_app("atlas", corpus="prepared", prepared="large")
    assert "`large`: The folder lacks “tokens" in app.error[0].value
    assert str(site) not in alerts(app) + said(app)
    assert LINES[0] not in said(app)


@pytest.mark.usefixtures("site")
def test_what_a_search_finds_in_all_is_told_and_in_the_sample_is_drawn() -> None:
    """“her” is in sentences 1 and 2 of the corpus; only the second is in the sample."""
    app = open_app("atlas", corpus="prepared", prepared="large", find="her")
    in_all = [display == "her" for display in small().tokens.displays]
    assert f"`her`: **{sum(in_all)}** matches in 2 of 4 sentences" in said(app)
    drawn = sent(app, "points")
    assert len(drawn["labels"]) == np.isin(small().tokens.sentence, [1, 2]).sum()
    found = [label for label, hit in zip(drawn["labels"], drawn["matches"], strict=True) if hit]
    assert found == ["her"]
    table = next(each.value for each in app.dataframe if "text" in each.value)
    assert table["sentence"].tolist() == [1, 2]
    assert table["text"].tolist() == LINES[:2]


# ---- of images -----------------------------------------------------------------------------------


def test_the_box_is_an_atlas_that_is_searched_by_names(clouds: list[Clouds]) -> None:
    app = open_image("atlas", part="heads", colour="row", find="cat")
    titles = [entry.title for entry in SAMPLE_IMAGES.values()]
    assert f"{TOKENS * len(titles):,} tokens of {len(titles)} images" in said(app)
    assert set(clouds[-1].texts) <= set(titles)
    assert app.query_params["corpus"] == "box"
    assert f"**{TOKENS - 1}** matches in 1 of" in said(app)
    assert clouds[-1].matches.sum() == TOKENS - 1  # all its patches are drawn large


def test_a_patch_is_drawn_as_itself_and_opens_its_image(clouds: list[Clouds]) -> None:
    app = open_image("atlas", part="one", layer="2", head="3", token=str(TOKENS + 4))
    cloud = clouds[-1]
    (trace,) = trace_images(load(model_folder()), [open_sample_image(list(SAMPLE_IMAGES)[1])])
    assert trace.patches is not None
    assert cloud.patches is not None
    np.testing.assert_array_equal(cloud.patches.cells[TOKENS + 3], trace.patches.cells[2])
    assert cloud.patched[TOKENS : TOKENS + 2].tolist() == [False, True]  # CLS first
    assert list(SAMPLE_IMAGES.values())[1].title in said(app)
    share = trace.attention(1, 2)[3, 1:].sum()
    assert f"{percent(float(share))} of its attention goes to".replace("\xa0", " ") in said(app)
    assert cloud.panels[0].lines.size


def test_an_atlas_opens_among_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traces = list(trace_images(load(model_folder()), [image(seed=1), image(seed=2)]))
    save_atlas(build_atlas(traces, ["<b>one</b>", "$two$"]), tmp_path / "images.atlas")
    monkeypatch.setenv("HEADSCOPE_ATLASES", str(tmp_path))
    app = open_image("atlas", corpus="prepared", part="one", token="3")
    assert "`<b>one</b>`" in said(app)
    texts = open_app("atlas", corpus="prepared")
    assert "an atlas of images" in alerts(texts)
    texts.button(key="show_atlas").click().run()
    assert texts.session_state["input"] == "image"


def test_ones_own_images_are_an_atlas_and_others_named(clouds: list[Clouds]) -> None:
    app = open_image("atlas", corpus="own")
    assert "Choose some images" in alerts(app)
    brought = {"photo 1": png(), "broken": b"\x89PNG\r\n\x1a\n", "photo 2": png((30, 30, 200))}
    given = [(f"{name}.png", data, "image/png") for name, data in brought.items()]
    app.file_uploader(key="atlas_images").set_value(given).run()
    assert "broken.png" in alerts(app)
    assert f"{2 * TOKENS} tokens** of 2 images" in said(app)
    app.button(key="atlas_build").click().run()
    assert not app.exception
    assert set(clouds[-1].texts) == {"photo 1", "photo 2"}
