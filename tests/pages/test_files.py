"""Every file that a page offers: its name, what it says of itself, what is kept for it."""

from __future__ import annotations

import csv
import gc
import html
import io
import json
import re
import sys
from collections.abc import Callable
from typing import Any
from weakref import ref

import pytest
from streamlit.elements.widgets.button import ButtonMixin

from core import VERSION
from core.model import Trace
from core.screens.atlas.corpus.entry import atlas_entries
from core.screens.heads.measured import measured_text
from core.screens.query_key.choice import kept_clouds
from core.ui import cache
from tests.opening import open_app
from tests.pages.conftest import ATLASES

Rows = list[list[str]]
Files = dict[str, Callable[[], str]]
Offer = tuple[str, dict[str, str], set[str]]

TEXT = 'a "b", =c; it said <b>it</b>'
# Each page's link, and the names of its files.
FILES: list[Offer] = [
    ("heatmap", {"layer": "4", "head": "2"}, {"heatmap-minilm-L4H2.csv"}),
    ("vectors", {}, {"vectors-minilm-mean-head.csv"}),
    ("query_key", {"part": "heads", "layer": "1"}, {"queries-and-keys-minilm-L1.html"}),
    ("head_view", {"layer": "2"}, {"head-view-minilm-L2.html"}),
    ("model_view", {}, {"model-view-minilm.html"}),
    ("neuron_view", {"layer": "4", "head": "2"}, {"neuron-view-minilm-L4H2.html"}),
    ("patterns", {}, {"patterns-minilm.csv"}),
    ("anomalies", {}, {"anomalies-minilm.csv"}),
]


def facts_of(file: str) -> dict[str, Any]:
    """What a CSV file says in its first line, an HTML file in its head."""
    if file.startswith("\ufeff# "):
        return dict(json.loads(file.splitlines()[0][3:]))
    (content,) = re.findall(r'<meta name="headscope" content="([^"]*)">', file)
    assert f"Headscope {VERSION}" in file.replace(content, "")  # for people too
    return dict(json.loads(html.unescape(content)))


@pytest.mark.parametrize(
    ("offer", "links"),
    [*((each, "1") for each in FILES), (FILES[0], "0")],  # also where addresses hold nothing
)
def test_every_file_is_named_by_what_it_holds_and_says_it(
    files: Files, monkeypatch: pytest.MonkeyPatch, offer: Offer, links: str
) -> None:
    page, link, names = offer
    monkeypatch.setenv("HEADSCOPE_LINKS", links)
    app = open_app(page, text=TEXT, **link)
    assert not app.exception
    assert set(files) == names
    for make in files.values():
        facts = facts_of(make())
        assert facts["headscope"] == VERSION
        assert (facts["model"], facts["text"]) == ("bundled/minilm", TEXT)
        for name in {"layer", "head"} & set(link):
            assert facts[name] == link[name]
        assert not {"text", "model", "layer", "head"} & set(facts["options"])
        assert facts["options"] or page == "neuron_view"


def test_a_chart_s_camera_saves_an_svg_of_a_name() -> None:
    charts = open_app("anomalies", layer="4", head="2").get("plotly_chart")
    saved = [json.loads(chart.proto.config)["toImageButtonOptions"] for chart in charts]
    assert [each["filename"] for each in saved] == ["anomalies-map-minilm-all-heads"]
    assert {each["format"] for each in saved} == {"svg"}


TOKENS = {"heatmap", "vectors", "anomalies"}  # files that hold tokens
TYPED = "=cmd|' /C calc'!A0 +1+1 @SUM -x"
NUMBER = re.compile(r"-?[\d.]+(e-?\d+)?|nan")
CAUSAL = "bundled/gpt2-novels"  # its heads rest on the first token, so that tables name it


@pytest.fixture
def rows_of(files: Files) -> Callable[..., Rows]:
    """The rows of the CSV that a page offers; the first says what it holds."""

    def read(page: str, **link: str) -> Rows:
        assert not open_app(page, **link).exception
        ((name, make),) = ((name, make) for name, make in files.items() if name.endswith(".csv"))
        model = link.get("model", "bundled/minilm").split("/")[1]
        assert re.fullmatch(rf"{page}-{model}(-L\d.*|-mean-head|-.*-on-.*)?\.csv", name)
        rows = list(csv.reader(io.StringIO(make(), newline="")))
        assert rows[0][0].startswith("\ufeff# {")
        return rows

    return read


@pytest.mark.usefixtures("few_effects")
@pytest.mark.parametrize("page", [*sorted(TOKENS), "patterns", "effect", "projection"])
def test_no_cell_of_a_file_begins_as_a_formula(rows_of: Callable[..., Rows], page: str) -> None:
    cells = [cell for row in rows_of(page, text=TYPED, model=CAUSAL) for cell in row]
    words = [cell for cell in cells if not NUMBER.fullmatch(cell)]
    assert not [cell for cell in words if cell.lstrip().startswith(("=", "+", "-", "@"))]
    if page in TOKENS:
        assert "=" in {cell[1:2] for cell in words if cell.startswith("'")}


def test_the_projection_has_a_row_a_layer_with_every_head(rows_of: Callable[..., Rows]) -> None:
    header, *layers = rows_of("projection")[1:]
    assert [row[0] for row in layers] == ["1", "2", "3", "4", "5", "6"]
    for way in ("a_to_b_h", "b_to_a_h"):
        assert sum(name.startswith(way) for name in header) == 12
    fourth = dict(zip(header, map(float, layers[3]), strict=True))
    across = fourth["a_x"] * fourth["b_x"] + fourth["a_y"] * fourth["b_y"]
    assert fourth["along_in_plane"] == pytest.approx(across, abs=2e-6)  # both have length 1
    assert fourth["a_along_b_x"] == pytest.approx(across * fourth["b_x"], abs=2e-6)


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What makes the files of all download buttons, kept as a server keeps it for a session."""
    kept: list[object] = []
    draw = ButtonMixin._download_button

    def draw_and_keep(self: ButtonMixin, label: str, data: Any, *others: Any, **more: Any) -> bool:
        kept.append(data)
        return draw(self, label, data, *others, **more)

    monkeypatch.setattr(ButtonMixin, "_download_button", draw_and_keep)
    return kept


@pytest.mark.slow
# The head view's file and the anomaly report show heads that are not on the screen: they need it.
@pytest.mark.parametrize("page", ["heatmap", "vectors", "query_key", "model_view", "patterns"])
def test_a_page_keeps_no_trace_for_its_downloads(downloads: list[object], page: str) -> None:
    open_app(page, text="a raven flew over the old house")
    assert all(callable(make) for make in downloads)
    cache.traces.clear()
    for cached in (kept_clouds, measured_text):
        cached.clear()
    gc.collect()
    kept = [
        thing
        for thing in gc.get_objects()
        if type(thing) is Trace and "raven" in {token.display for token in thing.tokens}
    ]
    assert [sys.getrefcount(trace) for trace in kept] == []


@pytest.mark.slow
@pytest.mark.parametrize(("part", "files"), [("heads", 1), ("one", 2)])
def test_no_atlas_is_kept_for_its_downloads(downloads: list[object], part: str, files: int) -> None:
    """Else what the bound on all atlases lets go would stay as long as a visitor's buttons."""
    atlas_entries.clear()  # of other tests
    ATLASES.clear()
    app = open_app("atlas", model="bundled/gpt2-novels", budget="1000", part=part)
    (entry,) = atlas_entries().values()
    made = ref(entry.atlas)
    assert len(downloads) == files
    assert made() is not None
    atlas_entries.clear()
    ATLASES.clear()
    del entry, app
    gc.collect()
    assert made() is None
