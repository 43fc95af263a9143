"""The vector grid and the projection page in process."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.pair_projection import PairProjection
from core.model import load, trace_text
from core.screens.projection.help import describe_pair
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest


def captions(app: AppTest) -> str:
    return "\n".join(caption.value for caption in app.main.caption)


def test_the_grid_begins_with_the_chapters_picture(open_app: Callable[..., AppTest]) -> None:
    app = open_app("vectors")
    assert "As in the workshop chapter: each arrow" in captions(app)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({"head": "median"}, "Not the chapter's choice: each arrow is a token's row"),
        ({"head": "5"}, "(head 5)"),
        ({"draw": "keys"}, "a token's keys of all heads together"),
        ({"draw": "values", "head": "3", "show": "one layer"}, "a token's values of head 3"),
        ({"draw": "hidden states"}, "hidden state a token brings into the layer"),
        ({"special": "1"}, "special tokens kept"),
        ({"show": "play"}, "to match the one before"),
    ],
)
def test_the_grid_says_what_is_drawn(
    open_app: Callable[..., AppTest], state: dict[str, str], sentence: str
) -> None:
    app = open_app("vectors", **state)
    assert not app.exception
    assert sentence in captions(app)


@pytest.mark.parametrize(
    ("link", "phrase"),
    [
        ({"draw": "attention", "show": "play"}, "row of the attention table"),
        ({"draw": "queries", "show": "one layer", "space": "1"}, "a token's queries"),
        ({"draw": "hidden states", "show": "play"}, "hidden state a token brings"),
    ],
)
@pytest.mark.parametrize("text", ["x", "it it it", "two words"])
def test_short_texts_have_arrows_in_every_view(
    open_app: Callable[..., AppTest], link: dict[str, str], phrase: str, text: str
) -> None:
    app = open_app("vectors", text=text, **link)
    assert not app.exception
    assert phrase in captions(app)


def test_a_link_may_name_the_heads_of_a_summary(open_app: Callable[..., AppTest]) -> None:
    app = open_app("vectors", of="2,5,12", head="median")
    assert "(median over heads 2, 5, 12)" in captions(app)
    assert app.query_params["of"] == "2,5,12"
    app.multiselect(key="of").set_value([3]).run()
    assert "(median over heads 3)" in captions(app)


def test_heads_that_the_model_lacks_are_told(open_app: Callable[..., AppTest]) -> None:
    app = open_app("vectors", of="2,13")
    assert "some of it is not among the 12 heads of bundled/minilm" in alerts(app)
    assert app.multiselect(key="of").value == [2]


def test_the_caption_counts_arrows_that_only_seem_to_agree(
    open_app: Callable[..., AppTest],
) -> None:
    """Recomputed from the attention with an SVD of its own."""
    text = "My friend told me about this class and I love it so far! She was right."
    trace = trace_text(load("bundled/minilm"), text)
    ordinary = [token.position for token in trace.tokens if not token.special]
    close = similar = 0
    for weights in trace.attention().mean(axis=1, dtype=np.float64):
        rows = weights[np.ix_(ordinary, ordinary)]
        rows = rows - rows.mean(axis=0)
        left, sizes, _ = np.linalg.svd(rows)
        plane = left[:, :2] * sizes[:2]
        for i, j in itertools.combinations(range(len(rows)), 2):
            in_plane, in_full = (
                each[i] @ each[j] / np.linalg.norm(each[i]) / np.linalg.norm(each[j])
                for each in (plane, rows)
            )
            if np.degrees(np.arccos(np.clip(in_plane, -1, 1))) <= 18:
                close += 1
                similar += in_full >= 0.5
    assert 0 < similar < close
    said = f"Of {close:,} pairs of arrows within 18° of each other in a plane **{similar:,}**"
    assert said in captions(open_app("vectors", text=text))


def test_picks_that_are_not_in_the_text_are_told(open_app: Callable[..., AppTest]) -> None:
    app = open_app("vectors", pick="5,99,<b>")
    assert "some of it is not in this text" in alerts(app)
    assert app.multiselect(key="pick").value == [5]


def test_picks_go_when_their_tokens_go(open_app: Callable[..., AppTest]) -> None:
    app = open_app("vectors", pick="5,11")
    app.text_area(key="text").set_value("one two").run()
    assert not app.exception
    assert app.multiselect(key="pick").value == []


def test_the_answer_comes_first_on_the_projection_page(open_app: Callable[..., AppTest]) -> None:
    app = open_app("projection")
    answer = next(text.value for text in app.markdown if "Strongest in layer 4" in text.value)
    assert "head 2 gives 0.93 of `it` to `book`" in answer
    assert "point the same way in layer 6 only" in answer


def test_another_text_gets_a_pair_of_its_own(open_app: Callable[..., AppTest]) -> None:
    app = open_app("projection")
    app.text_area(key="text").set_value("The brown capybara is sleeping now.").run()
    assert not app.exception
    assert app.selectbox(key="a").value != app.selectbox(key="b").value
    assert alerts(app) == ""


def test_one_token_is_no_pair(open_app: Callable[..., AppTest]) -> None:
    app = open_app("projection", text="x")
    assert not app.exception
    assert "type a sentence with two different words" in alerts(app)


def test_a_token_on_itself_is_measured(open_app: Callable[..., AppTest]) -> None:
    app = open_app("projection", a="book", b="book")
    assert not app.exception
    assert "point the same way in every layer" in " ".join(text.value for text in app.markdown)


def test_a_token_that_is_not_in_the_text_is_told(open_app: Callable[..., AppTest]) -> None:
    app = open_app("projection", a="<script>", b="book")
    assert "This link asks for a `<script>`" in alerts(app)
    assert app.selectbox(key="a").value == "it"


def test_more_sentences_than_fit_are_said(open_app: Callable[..., AppTest]) -> None:
    app = open_app("projection", lines="\n".join(["the [dog] and [it]"] * 10))
    assert "2 more lines are not shown" in alerts(app)


NAN = float("nan")


@pytest.mark.parametrize(
    ("in_plane", "where"),
    [
        ([0.1, 0.2, 0.9, 0.8, 1.0, 0.71], "from layer 3 on"),
        ([0.1, -0.9, 0.3, NAN, 0.7071, 0.5], "in layer 5 only"),
        ([0.1, 0.2, 0.3, 0.0, 0.5, 0.71], "in layer 6 only"),
        ([0.9, 0.8, 0.9, 0.8, 1.0, 0.71], "in every layer"),
        ([0.9, 0.8, 0.3, NAN, 0.9, 0.7], "in layers 1, 2 and 5"),
        ([NAN] * 6, "in no layer"),
    ],
)
@pytest.mark.parametrize(
    ("weight", "attention"),
    [(0.93, "Strongest in layer 4: head 2 gives 0.93"), (0.004, "No head gives as much as 0.01")],
)
def test_the_answer_names_the_strongest_head_and_the_layers(
    in_plane: list[float], where: str, weight: float, attention: str
) -> None:
    a_to_b = np.full((6, 3), 0.001)
    a_to_b[3, 1] = weight
    lengths = np.array(in_plane)
    pair = PairProjection(np.zeros((6, 3, 2)), lengths, lengths, a_to_b, a_to_b)
    answer = describe_pair(pair, "it", "book")
    assert answer == (
        f"{attention} of it to book; in the plane the two point the same way {where}."
    )
