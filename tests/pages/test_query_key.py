"""The query-key page in process."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.analysis.normalization import same_token_pairs
from core.model import load, trace_text
from core.model.trace import Layer
from core.screens.query_key import faithfulness, picture
from core.screens.query_key.choice import Choice, clouds_of
from core.screens.query_key.report import make_report
from core.screens.query_key.wording import caption_of
from core.ui.cache import TraceKey
from core.vocabulary import percent
from tests.opening import open_app
from tests.pages.conftest import BOOK, alerts, said

if TYPE_CHECKING:
    import pandas as pd

    from core.components.clouds import Clouds
    from core.model.trace import Trace

Floats = NDArray[np.float64]
CAPYBARA = "The brown capybara is sleeping now."


@pytest.mark.parametrize("criterion", ["pearson", "spearman", "weighted", "balanced"])
@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_the_page_names_its_criterion_and_distance(distance: str, criterion: str) -> None:
    app = open_app("query_key", part="heads", criterion=criterion, distance=distance)
    names = {
        "pearson": "Pearson, all pairs",
        "spearman": "Spearman, all pairs",
        "weighted": "weighted (AttentionViz)",
        "balanced": "balanced norms",
    }
    assert f"c by: {names[criterion]}." in said(app)
    assert f"{distance.replace('eu', 'Eu')} distance with the row-centred scores" in said(app)
    assert "nan" not in said(app)
    published = "−0.938 (BERT) and −0.792 (GPT-2)"  # measured with cosine distance
    assert (published in said(app)) == (distance == "cosine")
    too_few = "The text is too short to choose c by this criterion" in said(app)
    assert too_few == (criterion == "weighted")


def test_the_page_opens_with_how_often_near_means_attended() -> None:
    trace = trace_text(load("bundled/minilm"), BOOK)
    queries, keys = (each[1, 4].astype(np.float64) for each in (trace.queries, trace.keys))
    distances = np.linalg.norm(queries[:, None] - keys, axis=-1)
    share = (distances.argmin(axis=1) == trace.attention(1, 4).argmax(axis=1)).mean()
    page = said(open_app("query_key", text=BOOK, layer="2", head="5", stage="raw"))
    count = len(trace.tokens)
    near, uniform = (percent(float(each)).replace("\xa0", " ") for each in (share, 1 / count))
    assert f"**L2 H5: near means attended for {near} of the queries** (raw" in page
    assert f"by the uniform baseline for {uniform}. {count} tokens: a hint." in page


def test_red_lines_lead_from_brown_to_capybara_and_another_text_gets_its_own() -> None:
    app = open_app("query_key", text=CAPYBARA)
    chosen = (app.multiselect(key="from"), app.multiselect(key="to"))
    assert [each.value for each in chosen] == [[3], [4, 5, 6]]
    app.text_area(key="text").set_value(BOOK).run()
    assert (app.multiselect(key="from").value, app.multiselect(key="to").value) == ([11], [5])
    assert alerts(app) == ""


def test_a_link_keeps_its_own_red_lines() -> None:
    app = open_app("query_key", **{"text": CAPYBARA, "from": "2", "to": "7,99"})
    assert (app.multiselect(key="from").value, app.multiselect(key="to").value) == ([2], [7])
    assert "some of it is not in this text" in alerts(app)


def test_the_faithfulness_table_marks_the_best_and_attention_is_proved_to_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With stand-ins for UMAP and t-SNE, which need seconds."""

    def quick(choice: Choice, stages: Any, projection: Any = "PCA", **others: Any) -> Any:
        return clouds_of(choice, stages, "biplot" if projection == "biplot" else "PCA", **others)

    monkeypatch.setattr(faithfulness, "clouds_of", quick)
    app = open_app("query_key", part="trust", layer="4", head="2", slow="1")
    table: pd.DataFrame = app.table[0].value
    assert list(table.index[:3]) == ["PCA, raw", "PCA, translated", "PCA, normalized"]
    assert {"UMAP, normalized", "t-SNE, normalized"} <= set(table.index)
    assert table.index[-1] == "uniform baseline"
    assert list(table.iloc[-1]) == ["0", "", percent(1 / 13), percent(3 / 13)]
    for column in table.columns.drop("95\N{NO-BREAK SPACE}% interval"):
        (best,) = (row for row in table.index if "★" in table[column][row])
        assert not best.startswith("full space")
    assert "differs from the model's by at most" in said(app)
    assert "In the PCA picture **normalization made it worse**: correlation −0.89 to −0.85" in said(
        app
    )
    assert "nearest key 85 % to 62 % of the queries" in said(app)


def test_the_notebooks_search_shows_what_it_shows() -> None:
    app = open_app("query_key", part="search", text=CAPYBARA, layer="1")
    text = said(app)
    assert "Best: a = −0.5, c = −2" in text
    assert "flat along c" in text
    assert "on the edge of its range" in text
    assert "they agree" in text  # the search and the formula for squared distance
    assert "near $-1$" in text
    trace = minilm_trace(CAPYBARA)
    for a in (-1e4, 1e4):
        products, apart = same_token_pairs(trace.queries[0], trace.keys[0], a, 1.0)
        assert np.corrcoef(products, apart)[0, 1] < -0.8


def test_a_wide_range_of_a_finds_an_optimum_inside() -> None:
    app = open_app("query_key", part="search", text=CAPYBARA, layer="1", a_range="50", steps="41")
    text = said(app)
    assert "inside its range" in text
    assert "At c = 0 nothing is defined" in text


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("criterion", "weighted", "too few for a correlation: c stays 1"),
        ("distance", "cosine", "c changes nothing"),
    ],
)
def test_where_c_is_not_chosen_that_is_said(key: str, value: str, words: str) -> None:
    assert words in alerts(open_app("query_key", part="search", **{key: value}))


@pytest.mark.parametrize(
    ("link", "phrase"),
    [
        ({"projection": "biplot", "dims": "3-D"}, "A biplot shows inner products"),
        ({"projection": "t-SNE", "span": "all heads"}, "t-SNE: distances between far groups"),
        ({"distance": "cosine", "dims": "3-D"}, "PCA at unit length, as cosine was chosen"),
        ({"colour": "norm", "dims": "3-D", "sizes": "1"}, "Drag to turn"),
        ({"hide": "1", "head": "2", "join": "all above"}, "lines lead to hidden tokens"),
    ],
)
def test_the_caption_says_what_is_drawn(link: dict[str, str], phrase: str) -> None:
    app = open_app("query_key", **link)
    assert phrase in said(app)
    assert alerts(app) == ""


@lru_cache(maxsize=2)
def minilm_trace(text: str) -> Trace:
    return trace_text(load("bundled/minilm"), text)


def test_softmax_does_not_see_row_means_and_neither_does_the_verdict() -> None:
    """With products that move along with the keys, the page said "made it worse" of this head."""
    text = said(open_app("query_key", text=BOOK, layer="1", head="8"))
    assert "correlate −0.19 raw" in text
    assert "−0.63 normalized with c = 1.56" in text
    assert "for 7.7 %, 7.7 % and 23 % of the queries: **normalization made it better**" in text


def test_the_table_of_heads_counts_those_that_normalization_helped() -> None:
    text = said(open_app("query_key", text=BOOK, part="heads"))
    assert "helped **10 of 72** heads by correlation, **7** by" in text


def test_raw_scores_are_a_choice_that_is_said() -> None:
    """With the model's own scores at every stage: before anything, what the page said before."""
    app = open_app("query_key", text=BOOK, layer="1", head="8", target="raw")
    assert app.query_params["target"] == "raw"
    assert "distance and raw scores correlate −0.20 raw" in said(app)
    table = open_app("query_key", text=BOOK, part="trust", target="raw").table[0].value
    assert table.columns[0] == "correlation with the raw scores"


@pytest.mark.parametrize(
    ("target", "scores"), [("centred", "row-centred scores"), ("raw", "raw scores")]
)
def test_the_report_says_what_distances_were_compared_with(target: Any, scores: str) -> None:
    key = TraceKey("bundled/minilm", BOOK)
    report = make_report(
        minilm_trace(BOOK), Choice(key, 0, 7, 1, "euclidean", "pearson", target), {}
    )
    assert f"the {scores} of all permitted pairs" in report
    assert "where the strongest key of a chosen source is a chosen target" in report


def test_a_soft_cap_is_not_said_to_leave_attention_the_same() -> None:
    choice = Choice(TraceKey("m", "t"), 0, 0, 1, "euclidean", "pearson")
    plain = caption_of("PCA", choice, rule=Layer(1.0, None))
    capped = caption_of("PCA", choice, rule=Layer(1.0, None, 50.0))
    assert "Attention is the same at every stage" in plain
    assert "Attention is the same" not in capped
    assert "soft-capped at 50" in capped
    sink = Layer(1.0, None, sink=np.zeros(8, dtype=np.float32))
    assert "its heads have a sink, translated keys would change" in caption_of(
        "PCA", choice, rule=sink
    )


# Sizes and labels ------------------------------------------------------------------------------


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Clouds]:
    """What the page drew, the last picture last."""
    result: list[Clouds] = []
    monkeypatch.setattr(picture, "show_clouds", lambda clouds, **_: result.append(clouds))
    return result


def test_in_all_heads_one_is_red_and_every_title_has_the_mean_distance(drawn: list[Clouds]) -> None:
    """The distance in the plane from each query to its strongest key, by plain NumPy."""
    app = open_app("query_key", text=CAPYBARA, layer="1", span="all heads", stage="raw")
    where = "the strongest key of a chosen source is a chosen target: here in"
    assert f"{where} L1 H4 (`brown` → `##bara` 0.264). Other chosen pairs are dashed." in said(app)
    trace, heads = minilm_trace(CAPYBARA), drawn[-1].panels
    for head, panel in enumerate(heads):
        queries, keys = np.split(panel.points, 2)
        apart = np.linalg.norm(queries - keys[trace.attention(0, head).argmax(axis=1)], axis=1)
        assert panel.title == f"L1 H{head + 1} · raw: mean distance {apart.mean():.2f}"
        assert list(panel.axes) == ["PC 1", "PC 2"]
    app = open_app("query_key", text=CAPYBARA, layer="1", head="1", stage="all four")
    assert f"{where} none." in said(app)
    assert all(": mean distance " in panel.title for panel in drawn[-1].panels)
    assert [list(panel.axes) for panel in drawn[-1].panels] == [
        ["PC 1", "PC 2"],
        *[["PC 1, turned", "PC 2, turned"]] * 3,
    ]


def test_points_have_the_size_of_their_norm_at_each_stage(drawn: list[Clouds]) -> None:
    app = open_app("query_key", text=CAPYBARA, layer="1", head="1", stage="all four")
    assert all(panel.norms is None for panel in drawn[-1].panels)
    app.toggle(key="sizes").set_value(True).run()
    assert app.query_params["sizes"] == "1"
    trace = minilm_trace(CAPYBARA)
    raw, translated, normalized = (np.asarray(panel.norms) for panel in drawn[-1].panels[:3])
    both = np.vstack([trace.queries[0, 0], trace.keys[0, 0]])
    np.testing.assert_allclose(raw, np.linalg.norm(both, axis=1), rtol=1e-5)
    tokens = len(trace.tokens)
    np.testing.assert_allclose(translated[:tokens], raw[:tokens], rtol=1e-5)
    c = normalized[0] / raw[0]  # queries are multiplied by c, translated keys divided
    np.testing.assert_allclose(normalized[:tokens], c * raw[:tokens], rtol=1e-5)
    np.testing.assert_allclose(normalized[tokens:], translated[tokens:] / c, rtol=1e-5)


@pytest.mark.parametrize(
    ("colour", "span"),
    [("position", "one head"), ("position mod 5", "side by side"), ("norm", "all heads")],
)
def test_queries_and_keys_have_colours_of_their_own(
    drawn: list[Clouds], colour: str, span: str
) -> None:
    open_app("query_key", text=BOOK, colour=colour, span=span)
    for queries, keys in drawn[-1].shades.values():
        assert len(queries) == len(keys) > 0
        assert not set(queries) & set(keys)
    tones = drawn[-1].panels[0].tones
    expected = {"position": np.arange(13) / 12, "position mod 5": np.arange(13) % 5}.get(colour)
    if expected is not None:
        np.testing.assert_allclose(tones, np.tile(expected, 2))
    assert max(panel.tones.max() for panel in drawn[-1].panels) == (4 if "5" in colour else 1)
    drawn[-1].packed()


def test_labels_are_switched_off_by_a_link_and_the_usual_is_in_none(drawn: list[Clouds]) -> None:
    app = open_app("query_key", labels="0")
    assert not drawn[-1].labelled
    app.toggle(key="labels").set_value(True).run()
    assert drawn[-1].labelled
    assert not {"labels", "sizes"} & set(app.query_params)
    odd = open_app("query_key", labels="<b>")
    assert "This link asks for labels `<b>`; a switch is 0 or 1" in alerts(odd)


@pytest.mark.parametrize("colour", ["position", "type"])
def test_in_space_all_stages_are_clouds_of_one_canvas(drawn: list[Clouds], colour: str) -> None:
    """The first three components of all vectors, with colours and sizes as in the plane."""
    link = {"layer": "4", "head": "2", "stage": "all four", "colour": colour, "sizes": "1"}
    open_app("query_key", text=BOOK, **link)
    open_app("query_key", text=BOOK, dims="3-D", **link)
    plane, space = drawn
    assert [panel.title.split(":")[0] for panel in space.panels] == [
        f"L4 H2 · {stage}" for stage in ("raw", "translated", "normalized", "a and c of the search")
    ]
    assert [panel.axes[0][:4] for panel in space.panels] == ["PC 1"] * 4
    trace = minilm_trace(BOOK)
    vectors = np.vstack([trace.queries[3, 1], trace.keys[3, 1]]).astype(np.float64)
    u, s, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(
        apart(space.panels[0].points), apart(u[:, :3] * s[:3]), rtol=1e-4, atol=1e-4
    )
    for flat, deep in zip(plane.panels, space.panels, strict=True):
        np.testing.assert_array_equal(flat.tones, deep.tones)
        np.testing.assert_array_equal(np.asarray(flat.norms), np.asarray(deep.norms))
    assert (plane.shades, plane.legend) == (space.shades, space.legend)
    assert plane.sources == space.sources != ()
    assert plane.targets == space.targets != ()


def apart(points: Floats) -> Floats:
    return np.asarray(np.linalg.norm(points[:, None] - points, axis=-1))
