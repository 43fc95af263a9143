"""Atlases that a site has prepared: offered by name, and nothing else of the server's disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.atlas.saved import ATLAS
from core.screens.atlas.corpus.source import prepared_atlases
from tests.atlas.files import save_atlas, write_folder
from tests.opening import open_app
from tests.pages.atlases import LINES, small
from tests.pages.conftest import alerts, said, sent

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


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
    app = open_app("atlas", corpus="prepared", budget="1000")
    assert "`prepared`" in alerts(app)
    assert app.query_params["corpus"] == "sample"


def test_only_folders_of_atlases_in_the_folder_itself_are_offered(
    site: Path, tmp_path: Path
) -> None:
    outside = save_atlas(small(), tmp_path / "outside.atlas")
    (site / "link.atlas").symlink_to(outside, target_is_directory=True)
    (site / ".hidden.atlas").mkdir()
    (site / "notes.txt").write_bytes(b"")
    (site / "file.atlas").write_bytes(b"")
    (site / "old.atlas.zip").write_bytes(b"")
    (site / "within").mkdir()
    save_atlas(small(), site / "within" / "deep.atlas")
    os.mkfifo(site / "pipe.atlas")
    assert list(prepared_atlases()) == ["large", "small one"]


@pytest.mark.parametrize("name", ["../outside", "within/deep", "small one.atlas", ""])
def test_a_link_cannot_name_anything_else(site: Path, name: str) -> None:
    (site / "within").mkdir()
    save_atlas(small(), site / "within" / "deep.atlas")
    app = open_app("atlas", corpus="prepared", prepared=name)
    assert not app.exception
    assert app.selectbox(key="prepared").value == "large"


def test_a_large_one_opens_with_its_sample_in_every_part(site: Path) -> None:
    app = open_app("atlas", corpus="prepared", prepared="large", token="7")
    for part in ("heads", "one"):
        app.selectbox(key="part").set_value(part).run()
        assert not alerts(app)
        assert "of 2 texts (a random sample of 4)" in said(app)


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
