"""CLS attention: what the picture gets, what the page says, links, and distances."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from core.components.cls_maps import checked
from core.model import load, trace_image
from core.model.box import BOX, open_box
from core.screens.class_attention import maps as maps_screen
from core.ui import controls
from core.vocabulary import percent
from tests.model.image.families import FAMILIES, PATCH, SIDE, build
from tests.opening import open_app
from tests.pages.conftest import alerts, said, sent

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

    from core.model.trace import Trace

PAGE, IMAGE = "class_attention", "three-shapes"
ROWS = SIDE // PATCH
LAYERS, HEADS = 3, 4
REGION = "r2c3-r4c5"


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Name of a family -> the folder of a tiny random one."""
    made: dict[str, str] = {}

    def folder(name: str) -> str:
        if name not in made:
            path = tmp_path_factory.mktemp("vision")
            build(FAMILIES[name], path)
            made[name] = str(path)
        return made[name]

    return folder


@pytest.fixture(scope="module")
def vit(folder_of: Callable[[str], str]) -> str:
    return folder_of("vit")


@pytest.fixture(scope="module")
def trace(vit: str) -> Trace:
    return trace_image(load(vit, modality="image"), open_box(IMAGE))


@pytest.fixture
def csv(monkeypatch: pytest.MonkeyPatch) -> list[pd.DataFrame]:
    """The CSV files that the page offers, as they are read."""
    files: list[pd.DataFrame] = []
    offer = st.download_button

    def keep(label: str, data: Any, *, file_name: str, **options: Any) -> bool:
        if file_name.endswith(".csv"):
            files.append(pd.read_csv(io.StringIO(data()), skiprows=1))
        return offer(label, data, file_name=file_name, **options)

    monkeypatch.setattr(st, "download_button", keep)
    return files


def visit(model: str, **link: str) -> AppTest:
    return open_app(PAGE, model=model, image=IMAGE, **link)


def given(trace: Trace) -> np.ndarray:
    """What CLS gives to patches, float64 (layer, head, patch)."""
    return trace.attention()[:, :, 0, 1:].astype(np.float64)


def test_the_title_says_how_few_patches_a_map_is_on(vit: str, trace: Trace) -> None:
    app = visit(vit, layer="2", head="3", mass="60")
    row = np.sort(given(trace)[1, 2])[::-1]
    count = int(np.searchsorted(np.cumsum(row), 0.6 * row.sum()) + 1)
    answer = f"**L2 H3: {count} of {ROWS * ROWS} patches get 60 % of CLS’s attention**"
    assert f"{answer}; spread evenly it would take {-(-6 * ROWS * ROWS // 10)}." in said(app)
    assert "**The mean of layer 2: " in said(visit(vit, layer="2", head="mean"))


def test_rollouts_are_sent_and_explained_when_they_are_asked_for(vit: str) -> None:
    app = visit(vit)
    assert not len(sent(app, "cls_maps")["rollouts"])
    assert "Rollout follows" not in said(app)
    app.toggle(key="rollouts").set_value(True).run()
    assert len(sent(app, "cls_maps")["rollouts"]) == 2 * ROWS * ROWS
    assert "Rollout follows attention through all layers" in said(app)
    assert app.query_params["rollouts"] == "1"


def test_the_picture_gets_the_row_of_cls_of_every_head(vit: str, trace: Trace) -> None:
    app = visit(vit)
    assert alerts(app) == ""
    data = sent(app, "cls_maps")
    shown = data["maps"].reshape(LAYERS, HEADS + 2, ROWS * ROWS)
    rows = given(trace)
    np.testing.assert_allclose(shown[:, :HEADS], rows, atol=1e-6)
    np.testing.assert_allclose(shown[:, HEADS], rows.mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(shown[:, HEADS + 1], rows.max(axis=1), atol=1e-6)
    assert data["pixels"].size == SIDE * SIDE * 3
    assert (data["layer"], data["column"], data["region"]) == (LAYERS - 1, HEADS, None)
    assert data["share"] == 0.6


def test_it_says_what_cls_keeps_to_itself(vit: str, trace: Trace) -> None:
    app = visit(vit, layer="2", head="3")
    kept = trace.attention(1, 2)[0, 0]
    gives = f"CLS gives {1 - kept:.3f} of its attention to patches, {kept:.3f} to itself"
    assert f"L2 H3: {gives}" in said(app)
    app = visit(vit, layer="2", head="max")
    assert "The maximum over the heads of layer 2 does not add up to 1." in said(app)


def test_registers_and_models_without_cls_are_said(folder_of: Callable[[str], str]) -> None:
    app = visit(folder_of("dinov2_with_registers"), layer="1", head="1")
    assert "to other tokens that are not patches" in said(app)
    app = visit(folder_of("siglip"), layer="1", head="1")
    assert "This model has no CLS token: each map is the mean attention from patches" in said(app)
    assert sent(app, "cls_maps")["source"] == "mean of patches"


def test_a_link_restores_head_region_and_share(vit: str) -> None:
    app = visit(vit, layer="1", head="2", region="r4c5-r2c3", mass="35", only_patches="1")
    data = sent(app, "cls_maps")
    assert (data["layer"], data["column"], data["region"]) == (0, 1, [1, 2, 3, 4])
    assert (data["share"], data["onlyPatches"]) == (0.35, True)
    assert app.query_params["region"] == "r4c5-r2c3"
    assert "divided by the map's sum" in said(app)


@pytest.mark.parametrize("region", ["r1c1-r9c1", "all", "r0c0-r1c1", "<b>"])
def test_a_region_that_is_none_is_removed_and_said(vit: str, region: str) -> None:
    app = visit(vit, region=region)
    assert "is not a region of 6 × 6 patches" in alerts(app)
    assert sent(app, "cls_maps")["region"] is None
    assert "region" not in app.query_params


def test_what_the_picture_reports_becomes_the_pages_state(
    vit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: dict[str, Any] = {}

    def keep(*_given: object, **calls: Any) -> None:
        reports.update(calls)

    monkeypatch.setattr(maps_screen, "show_cls_maps", keep)
    app = visit(vit)
    picked: dict[str, Any] = {}
    monkeypatch.setattr(controls, "pick", lambda **values: picked.update(values))
    report = reports["on_change"]
    report({"layer": 1, "column": 3})
    assert picked == {"layer": "2", "head": "4"}
    report({"region": REGION})
    report({"share": 45})
    assert picked == {"layer": "2", "head": "4", "region": REGION, "mass": 45}
    report({"layer": 0, "column": HEADS + 1})
    report({"region": ""})
    assert (picked["layer"], picked["head"], picked["region"]) == ("1", "max", "")
    assert not app.exception


@pytest.mark.parametrize(
    "report",
    [
        {"layer": LAYERS, "column": HEADS + 2},
        {"layer": -1, "column": 1.5},
        {"share": 9},
        {"share": True, "region": 3},
    ],
)
def test_a_report_that_no_picture_makes_changes_nothing(report: dict[str, object]) -> None:
    assert checked(report, (LAYERS, HEADS + 2)) == {}


def test_the_table_gives_the_numbers_of_the_trace(
    vit: str, trace: Trace, csv: list[pd.DataFrame]
) -> None:
    visit(vit, region=REGION, mass="50")
    (table,) = csv
    inside = np.zeros((ROWS, ROWS), dtype=bool)
    inside[1:4, 2:5] = True
    rows = given(trace)
    expected = rows[..., inside.ravel()].sum(-1) / rows.sum(-1)
    heads = table[table["head"].str.isdecimal()]
    np.testing.assert_allclose(heads["region_share"], expected.ravel(), atol=1e-6)
    assert (table["region_area"] == inside.mean()).all()


def test_every_example_sets_what_the_page_then_shows(vit: str) -> None:
    titles = ["The sharpest head", "The last layer", "What is in the middle?"]
    for index, title in enumerate(titles):
        app = visit(vit, region=REGION)
        button = app.button(key=f"{PAGE}_preset_{index}")
        assert button.label == title
        button.click().run()
        assert alerts(app) == ""
        assert sent(app, "cls_maps")["region"] == ([1, 1, 4, 4] if index == 2 else None)
    app = visit(vit)
    app.button(key=f"{PAGE}_preset_3").click().run()
    assert app.session_state["part"] == "distance"


def test_heads_that_need_as_few_patches_are_said_to() -> None:
    model = "bundled/vit-scenes"
    maps = given(trace_image(load(model), open_box(IMAGE)))
    shares = np.sort(maps / maps.sum(axis=-1, keepdims=True), axis=-1)[..., ::-1]
    needed = (shares.cumsum(axis=-1) < 0.6).sum(axis=-1) + 1
    assert (needed == needed.min()).sum() == 2  # L2 H5 and L3 H4
    sentence = visit(model).button(key=f"{PAGE}_preset_0").help
    mass = f"{percent(0.6)} of its mass on {needed.min()} of 144 patches"
    assert f"{mass}, as few as another head" in sentence
    assert "none needs fewer" in sentence


def by_hand(weights: np.ndarray) -> float:
    """Mean attention distance of one head (patch, patch), by loops."""
    total = 0.0
    for i, row in enumerate(weights.astype(np.float64)):
        for j, weight in enumerate(row):
            apart = np.hypot(i // ROWS - j // ROWS, i % ROWS - j % ROWS) * PATCH
            total += weight / row.sum() * apart / len(weights)
    return total


def test_distances_are_those_of_the_trace(vit: str, trace: Trace, csv: list[pd.DataFrame]) -> None:
    app = visit(vit, part="distance")
    assert alerts(app) == ""
    (table,) = csv
    weights = trace.attention()[:, :, 1:, 1:]
    expected = [by_hand(weights[layer, head]) for layer in range(3) for head in range(HEADS)]
    np.testing.assert_allclose(table["pixels"], expected, rtol=1e-4)
    (chart,) = app.get("plotly_chart")
    names = [line["name"] for line in json.loads(chart.proto.spec)["data"]]
    assert names[:2] == ["a head", "mean of the layer"]
    near = int(np.argmin(expected))
    assert f"L{near // HEADS + 1} H{near % HEADS + 1} looks nearest" in said(app)
    assert "CLS and registers are left out" in said(app)


@pytest.mark.slow
def test_distances_over_the_box_are_the_mean_of_its_images(
    vit: str, csv: list[pd.DataFrame]
) -> None:
    app = visit(vit, part="distance", over="box")
    assert alerts(app) == ""
    (table,) = csv
    assert (table["images"] == len(BOX)).all()
    model = load(vit, modality="image")
    traces = [trace_image(model, open_box(name)) for name in BOX]
    expected = np.mean([by_hand(each.attention(2, 1)[1:, 1:]) for each in traces])
    np.testing.assert_allclose(table["pixels"].iloc[2 * HEADS + 1], expected, rtol=1e-4)
    assert "distance_cancel" not in {button.key for button in app.button}
