"""A large atlas on the page: the points of its sample, and what a search finds in all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.atlas.folders import write_folder
from tests.opening import open_app
from tests.pages.atlases import LINES, small
from tests.pages.conftest import alerts, said, sent

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.slow

OPEN = {"corpus": "prepared", "prepared": "large"}


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with an atlas of four sentences in two parts, and a sample of two of them."""
    monkeypatch.setenv("HEADSCOPE_ATLASES", str(tmp_path))
    return write_folder(small(), tmp_path / "large.atlas", [(0, 1), (2, 3)], (1, 2))


def test_what_a_search_finds_in_all_is_told_and_in_the_sample_is_drawn() -> None:
    """“her” is in sentences 1 and 2 of the corpus; only the second is in the sample."""
    app = open_app("atlas", **OPEN, find="her")
    in_all = [display == "her" for display in small().tokens.displays]
    assert f"`her`: **{sum(in_all)}** matches in 2 of 4 sentences" in said(app)
    drawn = sent(app, "atlas_cloud")
    assert len(drawn["labels"]) == np.isin(small().tokens.sentence, [1, 2]).sum()
    found = [label for label, hit in zip(drawn["labels"], drawn["matches"], strict=True) if hit]
    assert found == ["her"]
    table = next(each.value for each in app.dataframe if "text" in each.value)
    assert table["sentence"].tolist() == [1, 2]
    assert table["text"].tolist() == LINES[:2]


def test_nothing_found_is_said_of_all_tokens() -> None:
    app = open_app("atlas", **OPEN, find="zebra")
    assert f"not among the {len(small().tokens)} tokens" in alerts(app)
