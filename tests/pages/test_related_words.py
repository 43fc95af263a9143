"""What the model view says about words of similar spelling and about related words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.model.families import FAMILIES, build
from tests.opening import open_app
from tests.pages.conftest import PAIR, alerts, said

if TYPE_CHECKING:
    from pathlib import Path


TEXT = "When the leaves fall, the doctor takes a book and walks to the river with his dog."
OTHER = "The cat and the nurse read a novel under the colorful foliage beside a stream."
TWO = {"text": TEXT, "pair": OTHER}


def test_a_link_to_words_finds_those_of_similar_spelling() -> None:
    app = open_app("model_view", text="The cat sat. The cats sat on mats.", pattern="words")
    assert alerts(app) == ""
    assert app.query_params["pattern"] == "words"
    assert "**Words of similar spelling: " in said(app)


def test_related_words_have_their_cosines_and_heads_what_chance_would_give() -> None:
    text = said(open_app("model_view", **TWO, pattern="related_other"))
    for pair in ("`leaves`–`foliage` 0.46", "`book`–`novel` 0.46", "`doctor`–`nurse` 0.35"):
        assert pair in text
    assert "with cosines above 0.29" in text
    heads = re.findall(r"L\d+ H\d+ ([\d.]+) \(([\d.]+), ([\d.]+)\)", text)
    assert len(heads) == 6
    assert all(float(share) > float(upper) > float(mean) for share, mean, upper in heads)
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
def test_what_cannot_be_measured_has_its_reason(state: dict[str, str], sentence: str) -> None:
    app = open_app("model_view", **state)
    assert sentence in said(app)


@pytest.mark.parametrize(
    ("family", "pattern"), [("albert", "related"), ("gemma2", "related_other")]
)
def test_every_family_is_measured_or_says_why_not(
    tmp_path: Path, family: str, pattern: str
) -> None:
    folder = str(build(FAMILIES[family], tmp_path))
    app = open_app("model_view", model=folder, **TWO, pattern=pattern)
    assert re.search(r"\*\*Related words.*(cannot be measured here: no two|head|say)", said(app))


def test_a_hostile_pattern_is_reported() -> None:
    app = open_app("model_view", pattern="related; drop")
    assert "What can be highlighted is" in alerts(app)
