"""A large atlas on the page: counts of all tokens, points of a part, and what a search finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.atlas.density import look_at
from core.atlas.sources import folder
from tests.atlas.folders import write_folder
from tests.opening import open_app
from tests.pages.atlases import LINES, small
from tests.pages.conftest import alerts, press_example, said, sent

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.slow

OPEN = {"corpus": "prepared", "prepared": "large"}


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with an atlas of four sentences in two parts, and a sample of two of them."""
    monkeypatch.setenv("HEADSCOPE_ATLASES", str(tmp_path))
    return write_folder(small(), tmp_path / "large.atlas", [(0, 1), (2, 3)], (1, 2))


def grid(sent: dict[str, Any]) -> np.ndarray:
    """The counts that the browser gets, (head, 2, cell, cell)."""
    return np.asarray(sent["counts"]).reshape(-1, 2, sent["cells"], sent["cells"])


def whole_part(layer: int, head: int) -> list[float]:
    """Around all queries of a head, by the points themselves."""
    points = small().points["raw"][layer, head, : len(small().tokens), :2]
    (x0, y0), (x1, y1) = points.min(axis=0) - 0.01, points.max(axis=0) + 0.01
    return [float(each) for each in (x0, x1, y0, y1)]


def test_all_tokens_are_counted_in_every_head() -> None:
    app = open_app("atlas", **OPEN)
    assert not alerts(app)
    drawn = sent(app, "atlas_cloud")
    tokens = len(small().tokens)
    assert (grid(drawn).sum(axis=(2, 3)) == tokens).all()
    assert len(grid(drawn)) == 72
    assert (drawn["labels"], drawn["single"]) == ([], False)
    assert f"of all {tokens} tokens" in said(app)
    assert "counts, not points" in said(app)


def test_a_sample_is_drawn_as_points_where_one_asks_for_it() -> None:
    app = open_app("atlas", **OPEN, drawn="sample")
    drawn = sent(app, "atlas_cloud")
    sampled = np.isin(small().tokens.sentence, [1, 2]).sum()
    assert (drawn["cells"], len(drawn["labels"])) == (0, sampled)
    app.selectbox(key="drawn").set_value("counts").run()
    assert sent(app, "atlas_cloud")["cells"] == 64


def test_what_a_search_finds_in_all_is_told_and_in_the_sample_is_drawn() -> None:
    """“her” is in sentences 1 and 2 of the corpus; only the second is in the sample."""
    app = open_app("atlas", **OPEN, find="her")
    in_all = [display == "her" for display in small().tokens.displays]
    assert f"`her`: **{sum(in_all)}** matches in 2 of 4 sentences" in said(app)
    drawn = sent(app, "atlas_cloud")
    assert drawn["labels"] == ["her"]
    assert drawn["matches"].tolist() == [1]
    table = next(each.value for each in app.dataframe if "text" in each.value)
    assert table["sentence"].tolist() == [1, 2]
    assert table["text"].tolist() == LINES[:2]


def test_nothing_found_is_said_of_all_tokens() -> None:
    app = open_app("atlas", **OPEN, find="zebra")
    assert f"not among the {len(small().tokens)} tokens" in alerts(app)


def test_one_head_begins_with_the_counts_of_its_number() -> None:
    app = open_app("atlas", **OPEN, part="one", layer="4", head="2")
    drawn = sent(app, "atlas_cloud")
    assert (drawn["single"], drawn["numbers"], drawn["firstHead"]) == (True, [4], 2)
    assert (drawn["part"], drawn["fineCells"], drawn["labels"]) == ([], 0, [])
    assert "**Drawn: counts**" in said(app)


def test_a_part_with_few_tokens_has_points_and_a_table() -> None:
    part = whole_part(3, 1)
    link = ",".join(map(str, part))
    app = open_app("atlas", **OPEN, part="one", layer="4", head="2", part_of_head=link)
    drawn = sent(app, "atlas_cloud")
    atlas = small()
    assert drawn["part"] == pytest.approx(part)
    assert drawn["labels"] == list(atlas.tokens.displays)  # every token's query is in the part
    frame = drawn["frames"]
    places = drawn["places"].reshape(-1, 2) / 65535 * 2 * frame[2] + frame[:2] - frame[2]
    expected = atlas.points["raw"][3, 1, :, :2]
    np.testing.assert_allclose(places, expected, atol=3 * frame[2] / 65535 + 1e-6)
    assert "**Drawn: points**" in said(app)
    table = next(each.value for each in app.dataframe if "query x" in each.value)
    assert table["sentence"].tolist() == (atlas.tokens.sentence + 1).tolist()
    assert table["text"].tolist() == [LINES[i] for i in atlas.tokens.sentence]


def test_a_part_with_many_tokens_has_finer_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "look_at", lambda planes, part: look_at(planes, part, max_tokens=3))
    link = ",".join(map(str, whole_part(3, 1)))
    app = open_app("atlas", **OPEN, part="one", layer="4", head="2", part_of_head=link)
    drawn = sent(app, "atlas_cloud")
    assert drawn["labels"] == []
    cells = drawn["fineCells"]
    fine = np.asarray(drawn["fineCounts"]).reshape(2, cells, cells)
    assert fine[0].sum() == len(small().tokens)
    assert "finer cells" in said(app)


@pytest.mark.parametrize("part", ["1,2,3", "a,b,c,d", "2,1,0,1", "nan,1,0,1", "<b>,1,0,1"])
def test_a_part_that_is_none_is_told(part: str) -> None:
    app = open_app("atlas", **OPEN, part="one", part_of_head=part)
    assert "is not a part of a head" in alerts(app)
    assert sent(app, "atlas_cloud")["part"] == []


def test_an_example_with_colours_draws_the_sample() -> None:
    app = open_app("atlas", **OPEN)
    press_example(app, "atlas", "Positions make stripes")
    assert sent(app, "atlas_cloud")["cells"] == 0
    press_example(app, "atlas", "All tokens at once")
    assert sent(app, "atlas_cloud")["cells"] == 64
