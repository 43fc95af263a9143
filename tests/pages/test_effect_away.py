"""Take away: what the page says is what the floor of models gives, and all of it is in the link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.effect.moved import moved_table
from core.model import load, trace_text
from core.model.interventions.ablation import Cell, ablate
from core.screens.heads import away
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, charts, numbers, said
from tests.pages.vision import open_image

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

NOVEL = "The young lady was very happy to see her"


def _open(**link: str) -> AppTest:
    return open_app("effect", **{"text": BOOK, "part": "away", "layer": "4", "head": "2"} | link)


def _drawn(app: AppTest, chart: int) -> np.ndarray:
    """The numbers of one of the three heatmaps."""
    return numbers(charts(app)[chart]["data"][0]["z"])


def test_without_a_head_the_head_that_moved_most_stands_before_and_after() -> None:
    app = _open(replace="zero")
    result = ablate(load("bundled/minilm"), BOOK, heads=[(3, 1)], replace="zero")
    table = moved_table(result.before, result.after)
    most = divmod(int(table["moved"].argmax()), 12)
    assert most[0] > 3
    shown = f"{result.change:.3g}".replace("-", "−")
    assert f"**Without L4 H2 the sentence vector changes by {shown} (1 − cosine)" in said(app)
    assert f"in random directions by {result.control:.3g} at most." in said(app)
    assert f"L{most[0] + 1} H{most[1] + 1} is the head that moved most" in said(app)
    before, after = (each.attention(*most) for each in (result.before, result.after))
    drawn = [_drawn(app, chart) for chart in range(3)]
    assert drawn[0] == pytest.approx(before, abs=1e-6)
    assert drawn[1] == pytest.approx(after, abs=1e-6)
    assert drawn[2] == pytest.approx(after - before, abs=1e-6)
    tops = [charts(app)[chart]["data"][0]["zmax"] for chart in range(2)]
    assert tops[0] == tops[1]


def test_a_whole_layer_is_taken_away_together() -> None:
    app = _open(take="layer", layer="2")
    result = ablate(load("bundled/minilm"), BOOK, heads=[(1, head) for head in range(12)])
    assert f"Without the heads of layer 2 the sentence vector changes by {result.change:.3g}" in (
        said(app)
    )


def test_the_pair_that_is_held_on_the_heatmap_is_taken_away() -> None:
    app = open_app("heatmap", text=BOOK, layer="4", head="2", cell="11,5")
    app.button(key="open_pair_effect").click().run()
    assert "**Without `it` → `book` in L4 H2 the sentence vector changes by" in said(app)
    weight = trace_text(load("bundled/minilm"), BOOK).attention(3, 1)[10, 4]
    assert f"The edge had a weight of {weight:.2g};" in said(app)
    app = _open(take="edge", cell="11,5", shown="L4H2", scope="all")
    assert "asks for an edge in all heads, which" in alerts(app)
    cut = ablate(load("bundled/minilm"), BOOK, cells=[Cell(10, 4, 3, 1)])
    assert f"changes by {cut.change:.3g}".replace("-", "−") in said(app)
    assert np.isnan(_drawn(app, 1)[10, 4])
    assert np.isfinite(_drawn(app, 1)).sum() == 13 * 13 - 1
    app.selectbox(key="cut_key").set_value("4").run()
    assert "**Without `it` → `this` in L4 H2" in said(app)
    assert app.session_state["cell"] == [11, 4]
    app.switch_page("pages/heatmap.py").run()
    assert app.query_params["cell"] == "11,4"


def test_an_edge_that_a_causal_model_forbids_was_never_there() -> None:
    app = _open(take="edge", cell="2,4", model="bundled/gpt2-novels", text=NOVEL)
    assert "The edge had a weight of 0;" in said(app)
    assert "changes by 0 (nats), no more than by chance" in said(app)


def test_a_query_that_would_keep_no_key_is_refused_in_a_sentence() -> None:
    app = _open(take="edge", cell="1,1", model="bundled/gpt2-novels", text=NOVEL)
    assert "A query would be left without any key to attend to." in alerts(app)


def test_an_image_loses_heads_and_edges() -> None:
    assert "**Without L" in said(open_image("effect", part="away"))
    assert "→ `r" in said(open_image("effect", part="away", take="edge"))


def test_a_model_that_cannot_be_intervened_on_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from core.model.errors import UnsupportedModelError

    def refuse(*_: object) -> None:
        raise UnsupportedModelError("{name} cannot be intervened on.", "Use another.", "tiny")

    monkeypatch.setattr(away, "_ablated", refuse)
    assert "`tiny` cannot be intervened on" in alerts(_open())
