"""Effects over texts: by hand, on planted heads, and on random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gmean

from core.analysis.effect.corpus import corpus_table
from core.analysis.effect.table import FALSE_DISCOVERY
from core.analysis.statistics import interval_of_mean
from core.model import effects, load, trace_text, untrained_twin
from core.model.interventions.reference import reference_texts
from core.model.interventions.samples import DRAWS
from tests.analysis.effect.test_effect_table import Made
from tests.model.planted import PLANTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.model import LoadedModel
    from tests.model.planted import PlantedModel

NOUNS = "cat dog bird fox king queen boy girl river garden house tree"
KING = "the king met a dog , and then the king"
VERBS = "saw met heard followed found liked"


class Two:
    layer_labels = (2, 5)
    depth = 6


# Five texts; five heads and one that its layer does not have.
VALUES = np.array(
    [
        [1.0, -0.5, 0.2, 0.004, 0.3],
        [0.8, -0.7, 0.1, 0.004, 0.3],
        [1.2, 0.6, 0.3, 0.004, -0.3],
        [0.9, 0.4, 0.2, 0.004, 0.1],
        [1.1, -0.8, 0.1, 0.004, 0.2],
    ]
)


def _made(values: np.ndarray, draws: np.ndarray = VALUES[:0]) -> Made:
    grids = [np.array([each[:3], [*each[3:], np.nan]]) for each in (values, *draws)]
    return Made(grids[0], np.array(grids[1:]).reshape(len(draws), 2, 3))


TEXTS = [_made(each) for each in VALUES]


def test_typical_sizes_and_intervals_are_those_of_the_texts() -> None:
    table = corpus_table(Two(), TEXTS)
    assert table["layer"].tolist() == [2, 2, 2, 5, 5, 5]
    assert table["head"].tolist() == [1, 2, 3, 1, 2, 3]
    assert table["effect"].tolist()[:5] == pytest.approx(gmean(np.abs(VALUES)).tolist())
    intervals = np.exp(interval_of_mean(np.log(np.abs(VALUES))))
    np.testing.assert_allclose(table[["low", "high"]].to_numpy()[:5].T, intervals)
    assert table[["low", "high"]].to_numpy()[3] == pytest.approx(0.004)
    assert table[["effect", "low"]].isna().all(axis=1).tolist() == [False] * 5 + [True]
    facts = {"measure": "kl", "unit": "nats", "replace": "mean", "texts": 5}
    assert table.attrs == facts | {"compared": 0, "draws": 0}
    assert "exceeds" not in table


def test_a_head_is_compared_with_its_directions_over_the_texts() -> None:
    drawn = np.random.default_rng(0)
    compared = [_made(each, 0.1 * np.exp(drawn.normal(0, 0.1, (10, 5)))) for each in VALUES[:3]]
    table = corpus_table(Two(), TEXTS, compared)
    directions = gmean([each.draws for each in compared], axis=(0, 1)).ravel()[:5]
    times = gmean(np.abs(VALUES[:3])) / directions
    assert table["times"].tolist()[:5] == pytest.approx(times.tolist())
    assert table["exceeds"].tolist() == [True, True, True, False, True, False]
    assert table["rate"].isna().tolist() == [False] * 5 + [True]
    assert (table.attrs["compared"], table.attrs["draws"]) == (3, 10)


def test_few_texts_have_no_interval_and_none_no_table() -> None:
    assert corpus_table(Two(), TEXTS[:1])["low"].isna().all()
    with pytest.raises(ValueError, match="no text"):
        corpus_table(Two(), [])


def _table(model: LoadedModel, texts: Sequence[str], measure: str) -> pd.DataFrame:
    found = [
        effects(model, text, "mean", measure, reference=texts, draws=DRAWS)  # type: ignore[arg-type]
        for text in texts
    ]
    return corpus_table(trace_text(model, texts[0]), found, found)


def _other_words(text: str, step: int) -> str:
    """The same sentence with other nouns and verbs of the planted models' vocabulary."""
    kinds = [each.split() for each in (NOUNS, VERBS)]
    swapped = {
        word: words[(place + step) % len(words)]
        for words in kinds
        for place, word in enumerate(words)
    }
    return " ".join(swapped.get(word, word) for word in text.split())


@pytest.mark.parametrize("planted", PLANTED.values(), ids=lambda each: each.name)
def test_planted_heads_pass_and_idle_ones_do_not(planted: PlantedModel) -> None:
    texts = [_other_words(each.text, step) for step in range(6) for each in planted.examples]
    table = _table(load(planted.folder), texts, "logit_difference")
    needed = [head.needed and head.role != "twin" for head in planted.heads]  # of two, one can go
    if planted.name.endswith("saturated"):  # where directions of L1 H3 differ a hundredfold
        needed[5] = False
    assert table["exceeds"].tolist() == needed


@pytest.mark.parametrize("seeds", [1, pytest.param(5, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    "name",
    [pytest.param("bundled/gpt2-novels", marks=pytest.mark.nightly), "planted"],
)
def test_of_untrained_twins_hardly_any_has_a_head_beyond_chance(name: str, seeds: int) -> None:
    planted = name == "planted"
    texts, model = reference_texts()[::4], load(PLANTED["induction"].folder if planted else name)
    if planted:
        texts = tuple(_other_words(KING, step) for step in range(12))
        seeds *= 4
    twins = [untrained_twin(model, seed) for seed in range(seeds)]
    exceeds = np.array([_table(twin, texts, "kl")["exceeds"] for twin in twins])
    # At a false discovery rate of 10 % at most one twin in ten has any; by luck three standard
    # errors more.
    limit = FALSE_DISCOVERY + 3 * np.sqrt(FALSE_DISCOVERY * (1 - FALSE_DISCOVERY) / seeds)
    assert exceeds.any(axis=1).mean() <= limit
    assert exceeds.mean() <= 0.05
