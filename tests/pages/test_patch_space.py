"""How heads sort patches: what is drawn, what heads follow, and the numbers behind both."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from core.analysis.atlas.colours import HUES
from core.model import ModelError, load, trace_image
from core.model.box import BOX, open_box
from core.screens.patch_space import following, overview
from core.screens.patch_space.colouring import tints_of
from core.ui import corpus_walk
from core.ui.words.python_code import python_code
from tests.analysis.images.pictures import image_trace, picture
from tests.model.image.families import FAMILIES, build
from tests.opening import open_app
from tests.pages.conftest import alerts, press_example, said, sent

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from streamlit.testing.v1 import AppTest

    from core.model import Trace

IMAGE, SIDE, COUNT = "three-shapes", 6, 36  # patches a side, and in all


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("vit")
    build(FAMILIES["vit"], folder)
    return str(folder)


@pytest.fixture(scope="module")
def trace(model: str) -> Trace:
    return trace_image(load(model, folders=True, reads="image"), open_box(IMAGE))


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[pd.DataFrame]:
    """The CSV files that the page offers."""
    offered: list[pd.DataFrame] = []
    offer = st.download_button

    def keep(label: str, data: Any, **options: Any) -> bool:
        if label == "Download CSV":
            offered.append(pd.read_csv(io.StringIO(data()), skiprows=1))
        return offer(label, data, **options)

    monkeypatch.setattr(st, "download_button", keep)
    return offered


def opened(model: str, **link: str) -> AppTest:
    return open_app("patch_space", input="image", model=model, image=IMAGE, **link)


def distances(points: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.norm(points[:, None] - points, axis=-1), dtype=np.float64)


@pytest.mark.parametrize("dims", [2, 3])
def test_points_are_the_principal_components_of_the_heads_vectors(
    model: str, trace: Trace, dims: int
) -> None:
    app = opened(model, layer="2", head="3", stage="raw", dims=f"{dims}-D")
    data = sent(app, "clouds")
    assert data["dims"] == dims
    vectors = np.vstack([trace.queries[1, 2], trace.keys[1, 2]]).astype(np.float64)
    u, s, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    points = data["points"].reshape(-1, dims)
    np.testing.assert_allclose(distances(points), distances(u[:, :dims] * s[:dims]), atol=1e-4)


def test_the_picture_gets_the_patches_and_who_attends_to_whom(model: str, trace: Trace) -> None:
    data = sent(opened(model, layer="2", head="3"), "clouds")
    patches = trace.patches
    assert patches is not None
    settings = {"rows": SIDE, "columns": SIDE, "size": 4, "first": 1, "dots": False}
    assert data["image"] == settings
    np.testing.assert_array_equal(data["pixels"], patches.pixels.ravel())
    attention = trace.attention(1, 2)
    found = data["partners"].reshape(-1, 2)
    for token in (0, 5, COUNT):
        assert found[token, 0] == np.argmax(attention[token])
        assert found[COUNT + 1 + token, 0] == np.argmax(attention[:, token])
        assert found[COUNT + 1 + token, 1] == pytest.approx(attention[:, token].max())
    lines = data["lines"].reshape(-1, 3)  # each query's strongest
    assert {int(query): int(key) for query, key, _ in lines} == dict(
        enumerate(attention.argmax(axis=1).tolist())
    )


def test_cls_is_drawn_on_request_alone(model: str) -> None:
    app = opened(model)
    assert sent(app, "clouds")["shown"] == [*range(1, 37), *range(38, 74)]
    assert "CLS counts in every projection" in said(app)
    app = opened(model, others="1")
    assert sent(app, "clouds")["shown"] == list(range(74))


def test_a_model_without_cls_has_none_to_show(tmp_path: Path) -> None:
    build(FAMILIES["siglip"], tmp_path)
    app = opened(str(tmp_path), part="follow")
    assert "CLS (" not in said(app)
    app = opened(str(tmp_path), others="1")
    data = sent(app, "clouds")
    assert data["image"]["first"] == 0
    assert data["shown"] == list(range(2 * COUNT))
    assert "CLS counts" not in said(app)


def test_registers_and_cls_stay_together(tmp_path: Path) -> None:
    build(FAMILIES["dinov2_with_registers"], tmp_path)
    app = opened(str(tmp_path), stage="all three", colour="row")
    data = sent(app, "clouds")
    assert data["image"]["first"] == 5
    assert len(data["titles"]) == 3
    assert "CLS and registers count" in said(app)
    tones = data["tones"].reshape(3, -1)
    assert np.isnan(tones[:, :5]).all()  # no patch, no row
    np.testing.assert_allclose(tones[0, 5:41], np.repeat(np.linspace(0, 1, 6), 6), atol=1e-6)


def test_patches_are_coloured_by_their_own_looks() -> None:
    colours = np.array([[[1, 0, 0], [0, 0.8, 0], [0, 0, 1]], [[0.5] * 3, [0] * 3, [1] * 3]])
    trace = image_trace(picture(colours), *np.zeros((2, 1, 1, 7, 4)))
    hue = tints_of(trace, "hue")
    assert [hue.legend[int(tone)] for tone in hue.tones[1:]] == [
        *("red", "green", "blue"),
        *("grey", "grey", "grey"),
    ]
    assert hue.legend[:-1] == tuple(HUES)
    assert np.isnan(hue.tones[0])
    brightness = tints_of(trace, "brightness").tones
    assert brightness[5] == pytest.approx(0, abs=1e-6)
    assert brightness[6] == pytest.approx(1, abs=1e-3)
    np.testing.assert_allclose(tints_of(trace, "column").tones[1:], [0, 0.5, 1] * 2)
    np.testing.assert_allclose(tints_of(trace, "row").tones[1:], [0] * 3 + [1] * 3)
    place = tints_of(trace, "place")
    assert [place.legend[int(tone)] for tone in place.tones[1:4]] == [
        *("top left", "top", "top right"),
    ]


def within_rows(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The pairs of different patches, less the mean of their row."""
    different = ~np.eye(len(values), dtype=bool)
    rows = values[different].reshape(len(values), -1)
    return np.asarray((rows - rows.mean(axis=1, keepdims=True)).ravel())


def test_the_table_says_what_heads_follow(
    model: str, trace: Trace, files: list[pd.DataFrame]
) -> None:
    app = opened(model, part="follow", layer="2", head="3")
    (table,) = files
    assert len(table) == 12
    assert set(table["class"]) <= {"hue", "brightness", "position", "itself", "CLS", "none"}
    row = table[(table["layer"] == 2) & (table["head"] == 3)].iloc[0]
    place = np.arange(COUNT)
    away = np.hypot(*(axis[:, None] - axis for axis in (place // SIDE, place % SIDE)))
    scores = trace.scores(1, 2)[1:, 1:].astype(np.float64)
    expected = np.corrcoef(within_rows(scores), within_rows(-away))[0, 1]
    assert row["distance"] == pytest.approx(expected, abs=1e-4)
    weights = trace.attention(1, 2)[1:]
    assert row["itself"] == pytest.approx(np.diagonal(weights[:, 1:]).mean(), abs=1e-5)
    assert row["cls"] == pytest.approx(weights[:, 0].mean(), abs=1e-5)
    text = said(app)
    assert "in 199 other ways" in text
    assert "adjusted for all heads" in text
    assert "**L2 H3**" in text


def test_examples_name_heads_once_they_are_measured(model: str, files: list[pd.DataFrame]) -> None:
    app = opened(model)
    titles = [button.label for button in app.button]
    assert not [title for title in titles if title.startswith("Most by")]
    press_example(app, "patch_space", "What do heads follow?")
    table = files[-1]
    best = table.iloc[int(table["brightness_beyond"].to_numpy().argmax())]
    press_example(app, "patch_space", f"Most by brightness: L{best['layer']} H{best['head']}")
    assert app.session_state["part"] == "points"
    assert app.session_state["colour"] == "brightness"
    assert app.session_state["layer"] == str(best["layer"])
    assert sent(app, "clouds")["heads"] == [f"L{best['layer']} H{best['head']}"]
    assert f"**L{best['layer']} H{best['head']}** " in said(app)


@pytest.fixture
def small_box(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A box of two images."""
    two = {name: BOX[name] for name in ("three-shapes", "crowd")}
    for module in (corpus_walk, following):
        monkeypatch.setattr(module, "BOX", two)
    return two


@pytest.mark.usefixtures("small_box")
def test_the_box_is_measured_once_and_averaged(
    model: str, trace: Trace, files: list[pd.DataFrame]
) -> None:
    app = opened(model, part="follow", on="box")
    other = trace_image(load(model, folders=True, reads="image"), open_box("crowd"))
    shares = [np.diagonal(each.attention(1, 2)[1:, 1:]).mean() for each in (trace, other)]
    row = files[0][(files[0]["layer"] == 2) & (files[0]["head"] == 3)].iloc[0]
    assert row["itself"] == pytest.approx(np.mean(shares), abs=1e-5)
    assert "averaged over 2 images" in said(app)
    assert alerts(app) == ""


@pytest.mark.usefixtures("small_box")
def test_what_was_measured_of_the_box_is_not_measured_again(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that ends within the second image goes on with it."""
    traced: list[str] = []

    def open_next(name: str) -> Any:
        traced.append(name)
        if len(traced) == 2:
            raise ModelError("{name} had no memory left.", "Try again.", model)
        return open_box(name)

    monkeypatch.setattr(corpus_walk, "open_box", open_next)
    monkeypatch.setattr(corpus_walk, "_places", lambda *_: [])  # as nobody had measured it
    app = opened(model, part="follow", on="box")
    assert "had no memory left" in alerts(app)
    app.selectbox(key="on").set_value("image").run()
    assert "You left the box after 1 of 2 images" in said(app)
    app.selectbox(key="on").set_value("box").run()
    assert "averaged over 2 images" in said(app)
    assert traced == ["three-shapes", "crowd", "crowd"]


def test_a_row_of_the_table_and_a_square_open_a_head(model: str) -> None:
    app = opened(model, part="follow")
    app.session_state["layer"], app.session_state["head"] = "1", "1"
    app.run()
    next(button for button in app.button if button.label == "Show its points").click().run()
    assert app.session_state["part"] == "points"
    assert sent(app, "clouds")["heads"] == ["L1 H1"]


def test_a_map_of_one_feature_keeps_the_sign_of_its_correlations(
    model: str, monkeypatch: pytest.MonkeyPatch, files: list[pd.DataFrame]
) -> None:
    drawn: list[NDArray[np.float64]] = []
    monkeypatch.setattr(
        overview, "show_head_map", lambda _trace, values, *_args, **_more: drawn.append(values)
    )
    opened(model, part="follow", map="row")
    np.testing.assert_allclose(drawn[0].ravel(), files[0]["row_beyond"], atol=1e-6)


def test_faithfulness_is_measured_on_the_image(model: str) -> None:
    app = opened(model, part="faithful", layer="2", head="3")
    assert f"over all {(COUNT + 1) ** 2:,} permitted pairs of this image" in said(app)
    (table,) = app.table
    assert list(table.value.index[:3]) == ["PCA, raw", "PCA, translated", "PCA, normalized"]
    assert "Yes. The attention of L2 H3" in said(app)


def test_odd_links_are_reported(model: str) -> None:
    app = opened(model, stage="best", colour="taste", map="x", point="q999", projection="biplot")
    text = alerts(app)
    assert "taste" in text
    assert "best" in text
    assert "biplot" in text
    assert "q999" in text


@pytest.mark.parametrize("part", ["points", "follow"])
def test_the_shared_code_gives_the_numbers_of_the_page(
    model: str, files: list[pd.DataFrame], part: str
) -> None:
    link = {"stage": "normalized", "dims": "3-D"} if part == "points" else {}
    app = opened(model, part=part, layer="2", head="3", **link)
    state = app.session_state
    values = {key: state[key] for key in state["_controls"] if key in state}
    names: dict[str, Any] = {}
    exec(python_code("patch_space", values), names)  # noqa: S102 - it is what is tested
    if part == "points":
        picture_ = names["clouds"][-1].picture
        points = np.vstack([picture_.queries, picture_.keys])
        np.testing.assert_allclose(points, files[0][["x", "y", "z"]], atol=1e-5)
        return
    for column in ("hue_beyond", "row_p_adjusted", "cls"):
        np.testing.assert_allclose(names["table"][column], files[0][column], atol=1e-5)
    assert list(names["table"]["class"]) == list(files[0]["class"])


@pytest.mark.usefixtures("small_box")
def test_the_shared_code_of_the_box_names_all_of_it(model: str) -> None:
    code = python_code(
        "patch_space",
        {"input": "image", "model": model, "image": IMAGE, "part": "follow", "on": "box"}
        | {"layer": "1", "head": "1"},
    )
    assert "follow_images(traces)" in code
    compile(code, "shared", "exec")
