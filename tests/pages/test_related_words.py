"""What the model view says of words that are spelt alike and of words that are related."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.related_words.words import measure_vocabulary, related_words
from core.model import load, trace_text
from core.model.weights.embeddings import sample_embeddings, token_embeddings
from tests.model.families import FAMILIES, build
from tests.pages.conftest import alerts, said
from tests.pages.test_model_view import PAIR

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

TEXT = "When the leaves fall, the doctor takes a book and walks to the river with his dog."
OTHER = "The cat and the nurse read a novel under the colorful foliage beside a stream."
TWO = {"text": TEXT, "pair": OTHER}


def test_an_old_link_to_words_finds_those_of_like_spelling_under_their_own_name(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("model_view", text="The cat sat. The cats sat on mats.", pattern="words")
    assert alerts(app) == ""
    assert app.query_params["pattern"] == "words"
    assert "**Words of like spelling: " in said(app)
    assert "same or related" not in said(app)


def test_related_words_are_named_with_the_cosines_of_the_models_embeddings(
    open_app: Callable[..., AppTest],
) -> None:
    text = said(open_app("model_view", **TWO, pattern="related_other"))
    model = load("bundled/minilm")
    table = model.network.get_input_embeddings().weight.numpy()  # type: ignore[operator, union-attr]
    sample = sample_embeddings(model)
    assert sample is not None
    mean = sample.mean(axis=0)
    for one, other in (("leaves", "foliage"), ("book", "novel"), ("doctor", "nurse")):
        ids = model.tokenizer.convert_tokens_to_ids([one, other])
        a, b = table[ids] - mean
        cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        assert f"`{one}`–`{other}` {cosine:.2f}" in text
    assert "with cosines above 0.29" in text


def test_the_heads_named_have_the_mass_that_the_page_says_and_the_arrangements_less(
    open_app: Callable[..., AppTest],
) -> None:
    text = said(open_app("model_view", **TWO, pattern="related_other"))
    model = load("bundled/minilm")
    trace = trace_text(model, TEXT, OTHER)
    sample, vectors = sample_embeddings(model), token_embeddings(model, trace)
    assert sample is not None
    assert vectors is not None
    words = related_words(trace.tokens, vectors, measure_vocabulary(sample))
    segments = [token.segment for token in trace.tokens]
    pairs = [(i, j) for i, j in np.argwhere(words.pairs) if segments[i] != segments[j]]
    asking = len({i for i, _ in pairs})
    found = re.findall(r"L(\d+) H(\d+) ([\d.]+) \(([\d.]+), ([\d.]+)\)", text)
    assert len(found) == 6
    draw = np.random.default_rng(77)
    for layer, head, mass, mean, upper in found:
        weights = trace.attention(int(layer) - 1, int(head) - 1)
        assert float(mass) == pytest.approx(sum(weights[i, j] for i, j in pairs) / asking, abs=6e-4)
        others = []
        for _ in range(2000):
            place = np.arange(len(segments))
            for segment in (0, 1):
                own = np.flatnonzero(words.counted & (np.array(segments) == segment))
                place[own] = draw.permutation(own)
            others.append(sum(weights[place[i], place[j]] for i, j in pairs) / asking)
        assert float(mean) == pytest.approx(np.mean(others), abs=0.003)
        assert float(upper) == pytest.approx(np.quantile(others, 0.99), rel=0.3)
        assert float(mass) > float(upper)
    assert "more attention than 99 % of 999 random arrangements of the words would" in text
    assert "(0.7 heads would by chance; in brackets, the mean and the 99th percentile" in text


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({"pattern": "related_other"}, "there is no second sentence"),
        (
            {"pattern": "related"},
            "no two words have input embeddings with a cosine above 0.29",
        ),
        ({"pattern": "related", **PAIR}, "too few words to say.**"),
        ({"pattern": "related", **PAIR}, "`leaves`–`foliage` 0.46"),
        (
            {"pattern": "related", "text": "capybaras!"},
            "one word that the model reads in pieces is left out",
        ),
        ({"pattern": "related", "text": "man woman " * 200}, "too many to test"),
    ],
)
def test_what_cannot_be_told_is_said(
    open_app: Callable[..., AppTest], state: dict[str, str], sentence: str
) -> None:
    app = open_app("model_view", **state)
    assert not app.exception
    assert sentence in said(app)


@pytest.mark.parametrize("family", ["albert", "gpt2", "gemma2", "distilbert"])
@pytest.mark.parametrize("pattern", ["related", "related_other"])
def test_every_family_is_measured_or_says_why_not(
    open_app: Callable[..., AppTest], tmp_path: Path, family: str, pattern: str
) -> None:
    folder = str(build(FAMILIES[family], tmp_path))
    app = open_app("model_view", model=folder, **TWO, pattern=pattern)
    assert not app.exception
    assert re.search(r"\*\*Related words.*(cannot be measured here: no two|head|say)", said(app))


def test_a_hostile_pattern_is_told(open_app: Callable[..., AppTest]) -> None:
    app = open_app("model_view", pattern="related; drop")
    assert not app.exception
    assert "What can be highlighted is" in alerts(app)
