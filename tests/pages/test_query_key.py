"""The query-key page in process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from streamlit.testing.v1 import AppTest

CAPYBARA = "The brown capybara is sleeping now."
PARTS = ["picture", "trust", "search", "heads"]


def said(app: AppTest) -> str:
    return "\n".join(str(text.value) for text in (*app.markdown, *app.caption))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "text", ["x", "it it it", "two words", "<b>x</b> $x$ :red[x]", "😀 مرحبا", "book " * 200]
)
def test_every_part_takes_every_text(
    open_app: Callable[..., AppTest], part: str, text: str
) -> None:
    app = open_app("query_key", part=part, text=text)
    assert not app.exception
    assert "nan" not in said(app).replace("finance", "")


@pytest.mark.parametrize("criterion", ["pearson", "spearman", "weighted", "balanced"])
@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
@pytest.mark.parametrize("part", PARTS)
def test_every_criterion_and_distance_has_a_page_without_nan(
    open_app: Callable[..., AppTest], part: str, distance: str, criterion: str
) -> None:
    app = open_app("query_key", part=part, criterion=criterion, distance=distance)
    assert not app.exception
    assert "nan" not in said(app)


def test_the_capybaras_lines_are_red_from_brown_to_capybara(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("query_key", text=CAPYBARA)
    assert app.multiselect(key="from").value == [3]
    assert app.multiselect(key="to").value == [4, 5, 6]


def test_another_text_gets_red_lines_of_its_own(open_app: Callable[..., AppTest]) -> None:
    app = open_app("query_key", text=CAPYBARA)
    app.text_area(key="text").set_value("Oh, this book? I've enjoyed it.").run()
    assert not app.exception
    assert app.multiselect(key="from").value == [11]
    assert app.multiselect(key="to").value == [5]
    assert alerts(app) == ""


def test_a_link_keeps_its_own_red_lines(open_app: Callable[..., AppTest]) -> None:
    app = open_app("query_key", **{"text": CAPYBARA, "from": "2", "to": "7,99"})
    assert app.multiselect(key="from").value == [2]
    assert app.multiselect(key="to").value == [7]
    assert "some of it is not in this text" in alerts(app)


def test_the_buttons_step_from_head_to_head_and_layer_to_layer(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("query_key", layer="1", head="12")
    app.button(key="head_after").click().run()
    assert (app.query_params["layer"], app.query_params["head"]) == ("2", "1")
    app.button(key="head_before").click().run()
    app.button(key="head_before").click().run()
    assert (app.query_params["layer"], app.query_params["head"]) == ("1", "11")


def test_the_page_says_when_normalization_made_the_picture_worse(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("query_key", layer="4", head="2")
    assert "normalization made it worse" in said(app)
    app = open_app("query_key", layer="4", head="2", part="trust")
    assert "Normalization made the PCA picture **worse**" in said(app)


def test_attention_is_proved_to_stay(open_app: Callable[..., AppTest]) -> None:
    app = open_app("query_key", part="trust")
    assert "differs from the model's by at most" in said(app)
    assert "rounding" in said(app)


def test_the_faithfulness_table_marks_the_best_and_names_chance(
    open_app: Callable[..., AppTest],
) -> None:
    table: pd.DataFrame = open_app("query_key", part="trust", layer="4", head="2").table[0].value
    assert list(table.index[:3]) == ["PCA, raw", "PCA, translated", "PCA, normalized"]
    assert table.index[-1] == "random points"
    assert list(table.iloc[-1]) == ["0", "8%", "23%"]  # of 13 keys
    for column in table.columns:
        assert sum("★" in cell for cell in table[column]) == 1


def test_slow_projections_are_measured_on_request(open_app: Callable[..., AppTest]) -> None:
    app = open_app("query_key", part="trust", slow="1")
    assert not app.exception
    assert {"UMAP, normalized", "t-SNE, normalized"} <= set(app.table[0].value.index)


def test_the_notebooks_search_shows_what_it_shows(open_app: Callable[..., AppTest]) -> None:
    app = open_app("query_key", part="search", text=CAPYBARA, layer="1")
    text = said(app)
    assert "Best: a = −0.5, c = −2" in text
    assert "flat along c" in text
    assert "on the edge of its range" in text


def test_a_wide_range_of_a_finds_an_optimum_inside(open_app: Callable[..., AppTest]) -> None:
    app = open_app("query_key", part="search", text=CAPYBARA, layer="1", a_range="50", steps="41")
    text = said(app)
    assert "inside its range" in text
    assert "At c = 0 nothing is defined" in text


def test_grid_and_formula_agree_for_squared_distance(open_app: Callable[..., AppTest]) -> None:
    assert "they agree" in said(open_app("query_key", part="search"))


def test_a_weighted_correlation_of_few_pairs_is_refused_in_words(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("query_key", part="search", criterion="weighted")
    assert "too few for a correlation" in said(app)
    app = open_app("query_key", part="heads", criterion="weighted")
    assert "No head has enough pairs that carry weight" in said(app)


def test_cosine_distance_is_said_not_to_depend_on_c(open_app: Callable[..., AppTest]) -> None:
    app = open_app("query_key", part="search", distance="cosine")
    assert "does not depend on c" in alerts(app)


def test_published_means_come_with_their_warning(open_app: Callable[..., AppTest]) -> None:
    text = said(open_app("query_key", part="heads"))
    assert "−0.938 (BERT) and −0.792 (GPT-2)" in text
    assert "another corpus" in text


@pytest.mark.parametrize("projection", ["PCA", "biplot", "UMAP", "t-SNE"])
@pytest.mark.parametrize("dims", ["2-D", "3-D"])
@pytest.mark.parametrize("span", ["one head", "all heads"])
def test_every_projection_is_drawn(
    open_app: Callable[..., AppTest], projection: str, dims: str, span: str
) -> None:
    app = open_app("query_key", projection=projection, dims=dims, span=span, text="two words")
    assert not app.exception
    assert alerts(app) == ""


@pytest.mark.parametrize("colour", ["type", "position", "position mod 5", "norm"])
@pytest.mark.parametrize("dims", ["2-D", "3-D"])
def test_every_colouring_is_drawn(open_app: Callable[..., AppTest], colour: str, dims: str) -> None:
    app = open_app("query_key", colour=colour, dims=dims, join="all above", above="0.05")
    assert not app.exception


def test_hidden_special_tokens_are_counted(open_app: Callable[..., AppTest]) -> None:
    assert "lines lead to hidden tokens" in said(open_app("query_key", hide="1", head="2"))


@pytest.mark.parametrize(
    ("key", "value"),
    [("part", "<b>"), ("above", "nan"), ("above", "7"), ("point", "q99"), ("stage", "cooked")],
)
def test_what_a_link_cannot_ask_for_is_told(
    open_app: Callable[..., AppTest], key: str, value: str
) -> None:
    app = open_app("query_key", **{"join": "all above", "span": "all heads", key: value})
    assert not app.exception
    assert f"This link asks for {key}" in alerts(app)


@pytest.mark.parametrize("key", ["a_range", "c_range", "steps"])
@pytest.mark.parametrize("value", ["inf", "-1", "x", "1e9"])
def test_impossible_ranges_of_the_search_are_told(
    open_app: Callable[..., AppTest], key: str, value: str
) -> None:
    app = open_app("query_key", **{"part": "search", key: value})
    assert not app.exception
    assert f"This link asks for {key}" in alerts(app)
