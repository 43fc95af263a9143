"""Clusters and what is chosen in the cloud of one head, in process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.screens.atlas.head import chosen, single
from core.screens.atlas.head.chosen import CHOSEN, Choice
from tests.opening import open_app
from tests.pages.atlases import LINES, of_lines, opened, small
from tests.pages.conftest import said

if TYPE_CHECKING:
    from core.components.atlas_cloud import AtlasCloud

pytestmark = pytest.mark.slow

SAMPLE = {"corpus": "sample", "budget": "1000", "part": "one", "layer": "1", "head": "3"}


def test_clusters_are_found_when_asked_for_and_listed_with_what_has_no_name(
    clouds: list[AtlasCloud],
) -> None:
    app = open_app("atlas", **SAMPLE)
    assert not clouds[-1].clusters
    app.toggle(key="regions").set_value(True).run()
    assert app.query_params["regions"] == "1"
    cloud = clouds[-1]
    assert cloud.members is not None
    names = [name for name, _, _ in cloud.clusters]
    assert "[CLS]" in names  # all the first tokens lie in one place
    first = names.index("[CLS]")
    inside = np.flatnonzero(cloud.members == first) % len(cloud.labels)
    assert {cloud.labels[int(i)] for i in inside} == {"[CLS]"}
    table = next(each.value for each in app.dataframe if "cluster" in each.value)
    assert [name or "—" for name in names] == table["cluster"].tolist()
    sizes = np.bincount(cloud.members[cloud.members >= 0])
    assert (table["queries"] + table["keys"]).tolist() == sizes.tolist()
    unnamed = names.count("")
    named = f"**{unnamed}** without a name" if unnamed else "all with a name"
    assert f"**{len(names)}** clusters (HDBSCAN), {named}" in said(app)
    assert "999 shuffles" in said(app)


def test_a_few_sentences_have_clusters_without_a_name_or_none_at_all(
    clouds: list[AtlasCloud],
) -> None:
    app = opened(small(), part="one", regions="1")  # no word of it has five tokens but the special
    assert [name for name, _, _ in clouds[-1].clusters] == ["", ""]
    assert "**2** clusters (HDBSCAN), **2** without a name" in said(app)
    app = of_lines(LINES[:1], part="one", regions="1")
    assert not clouds[-1].clusters
    assert "No clusters: nowhere do these 24 points lie densely together." in said(app)


def test_lines_that_repeat_are_told_and_name_nothing(clouds: list[AtlasCloud]) -> None:
    app = of_lines(LINES * 6, part="one", regions="1")
    repeats = 5 * len(LINES)
    assert f"{repeats} texts repeat earlier ones, and are kept" in said(app)
    assert clouds[-1].clusters
    assert {name for name, _, _ in clouds[-1].clusters} <= {"", "[CLS]", "[SEP]"}
    repeated = 5 * len(small().tokens)
    assert f"{repeated:,} tokens in repeated sentences do not count" in said(app)


@pytest.mark.usefixtures("clouds")
def test_everything_that_is_chosen_is_in_the_file_with_its_sentence() -> None:
    app = opened(small(), part="one")
    tokens = np.arange(len(small().tokens))
    app.session_state["atlas_cloud"] = {}
    app.session_state[CHOSEN] = Choice(tokens, np.arange(2 * tokens.size), None, (0, 0, "raw"))
    app.run()
    assert f"**Chosen:** {tokens.size} queries and {tokens.size} keys" in said(app)
    table = next(each.value for each in app.dataframe if "sentence" in each.value)
    assert table["sentence"].tolist()[0] == LINES[0]
    (button,) = [each for each in app.get("download_button") if each.proto.label == "Download CSV"]
    assert button.proto.label == "Download CSV"


@pytest.mark.usefixtures("clouds")
def test_the_file_of_a_lasso_has_the_points_inside_it_that_are_not_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twenty tokens are drawn; the lasso runs around the right half of the head's plane."""
    monkeypatch.setattr(single, "MAX_DRAWN", 20)
    monkeypatch.setattr(chosen, "_ROWS", 3)
    app = opened(small(), part="one", layer="4", head="2")
    plane = small().points["raw"][3, 1, :, :2]
    size = len(small().tokens)
    drawn = np.sort(np.random.default_rng(0).permutation(size)[:20])
    both = np.concatenate([drawn, drawn + size])
    points = np.flatnonzero(plane[both, 0] > 0)
    far = 2 * float(np.abs(plane).max())
    outline = np.array([[0, -far], [far, -far], [far, far], [0, far]])
    app.session_state["atlas_cloud"] = {}
    app.session_state[CHOSEN] = Choice(drawn, points, outline, (3, 1, "raw"))
    app.run()
    everything = int((plane[:, 0] > 0).sum())
    assert everything > points.size > 3
    told = f"The first 3 of {points.size} points. The file has {everything}: 20 of {size} tokens"
    assert told in said(app)
    app.session_state[CHOSEN] = Choice(drawn, points, None, (3, 1, "raw"))
    assert f"The first 3 of {points.size} points. The file has all." in said(app.run())
