"""The effect table, from effects that are made up."""

from __future__ import annotations

from collections.abc import Sequence
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, gmean

from core.analysis.effect import effect_table, leading_table, parts_table
from core.analysis.effect.corpus import effect_corpus_table
from core.analysis.effect.table import FALSE_DISCOVERY, discovery_rates, moved_table
from core.analysis.statistics import interval_of_mean
from core.model import LoadedModel, Trace, effects, load, trace_text, untrained_twin
from core.model.interventions import heads
from core.model.interventions.heads import SAMPLE_DRAWS, Effects
from core.model.interventions.reference import reference_samples, reference_texts
from tests.analysis.traces import Stack, numbers_of, plain_tokens, trace_with_attention
from tests.model.planted import PLANTED, PlantedModel

LAYERS = Stack((2, 5), 6)


def made(values: np.ndarray, draws: np.ndarray) -> Effects:
    return Effects(values=values, draws=draws, measure="kl", unit="nats", replace="mean")


VALUES = np.array([[0.5, -0.4, 0.1], [0.0, 0.2, np.nan]])
DRAWS = np.array([[[0.1, 0.3, -0.2], [0.1, 0.1, np.nan]], [[-0.4, 0.1, 0.1], [0.0, 0.3, np.nan]]])


def test_a_row_has_the_effect_of_a_head_beside_the_largest_of_its_directions() -> None:
    table = effect_table(LAYERS, made(VALUES, DRAWS))
    assert table["layer"].tolist() == [2, 2, 2, 5, 5, 5]
    assert table["head"].tolist() == [1, 2, 3, 1, 2, 3]
    assert table["control"].tolist()[:5] == [0.4, 0.3, 0.2, 0.1, 0.3]
    assert table["others"].tolist()[:5] == pytest.approx([0.25, 0.3, 0.45, 0.2, 0.0])
    assert np.isnan(table["effect"][5])
    assert table.attrs == {"measure": "kl", "unit": "nats", "replace": "mean"}


def test_rates_are_those_of_benjamini_and_hochberg_over_left_out_directions() -> None:
    """By hand: logs of (effect; directions) are (3; 0, 1), (0; 2, 0), (1; 1, 1) to base e."""
    values = np.exp([[3.0, 0.0, 1.0, np.nan]])
    draws = np.exp([[[0.0, 2.0, 1.0, np.nan]], [[1.0, 0.0, 1.0, np.nan]]])
    # Effects less means: 2.5, -1, 0. Left out: -1, 1; 2, -2; 0, 0. So p = 1/7, 6/7, 5/7.
    p = np.array([1 / 7, 6 / 7, 5 / 7])
    expected = [3 * p[0], max(p), min(3 / 2 * p[2], max(p))]
    assert discovery_rates(values, draws)[0, :3] == pytest.approx(expected)
    assert np.isnan(discovery_rates(values, draws)[0, 3])
    assert np.isnan(discovery_rates(values, draws[:1])).all()
    signs = discovery_rates(-values, draws)[0, :3]
    assert signs == pytest.approx(expected)


def test_heads_that_change_nothing_exceed_nothing() -> None:
    values, draws = np.zeros((2, 8)), np.zeros((8, 2, 8))
    values[0, :2], draws[:, 0, :2] = 1.0, 0.01
    values[1, 0] = 1e-9  # under float32's rounding of the largest, beside directions of nothing
    table = effect_table(LAYERS, made(values, draws))
    assert table["exceeds"].tolist() == [True, True, *[False] * 14]


def test_a_head_matters_by_holm_among_the_five_of_largest_effect() -> None:
    values = np.array([[5.0, -4.0, 3.0], [2.0, 1.0, 0.1]])
    draws = np.full((99, 2, 3), -0.1)
    draws[0, 0, 0] = 6.0  # one as large, so p = 0.02 > 0.05 / 4
    draws[:, 0, 1] = -3.9
    draws[:, 1, 1] = 2.0
    table = leading_table(LAYERS, made(values, draws))
    assert (10 * table["layer"] + table["head"]).tolist() == [21, 22, 23, 51, 52]
    assert table["p"].tolist() == pytest.approx([0.02, 0.01, 0.01, 0.01, 1.0])
    assert table["matters"].tolist() == [True, True, True, True, False]
    assert [table[name][1] for name in ("effect", "low", "high")] == [-4.0, 3.9, 3.9]
    assert table.attrs["draws"] == 99
    draws[0, 0, 1:], draws[0, 1, 0] = 6.0, 6.0
    assert not leading_table(LAYERS, made(values, draws))["matters"].any()


def test_an_effect_under_a_hundredth_of_the_largest_is_not_claimed() -> None:
    values, draws = np.array([[1.0, 0.011, 0.009]]), np.full((99, 1, 3), 1e-6)
    draws[:, 0, 0] = 2.0
    table = leading_table(LAYERS, made(values, draws))
    assert table["p"].tolist() == pytest.approx([1.0, 0.01, 0.01])
    assert table["matters"].tolist() == [False, True, False]


def test_of_many_heads_the_largest_must_be_out_of_reach_for_all_of_them() -> None:
    """Of 1 - cosine or KL with 8 degrees of freedom: the largest of 72 is no surprise, yet of 1."""
    generator = np.random.default_rng(0)
    draws = np.full((99, 6, 12), 1e-9)
    draws[:, 0, 0] = generator.chisquare(8, 99)
    values = np.full((6, 12), np.nan)  # as the heads are that were not among the largest
    values[0, 0] = chi2.isf(0.002, 8)  # above all 99, and 72 times that chance is 0.14
    assert values[0, 0] > draws.max()
    table = leading_table(Stack.of(6), made(values, draws))
    assert table.loc[0, "p"] == 0.01
    assert table.loc[0, "tail"] == pytest.approx(0.14, abs=0.1)
    assert not table.loc[0, "matters"]
    values[0, 0] = chi2.isf(0.0001, 8)
    assert leading_table(Stack.of(6), made(values, draws)).loc[0, "matters"]


def test_what_a_head_writes_is_a_share_of_its_layer_and_what_is_repaired_the_rest() -> None:
    written = np.array([[1.0, 2.0, 0.1], [3.0, 1.0, np.nan]])
    table = effect_table(LAYERS, made(VALUES, DRAWS), written, direct=VALUES + 0.25)
    assert table["share"].tolist()[:5] == pytest.approx(
        [1 / 1.0333, 2 / 1.0333, 0.0968, 1.5, 0.5], rel=1e-3
    )
    assert table["inactive"].tolist() == [False, False, True, False, False, False]
    assert table["repaired"].tolist()[:5] == pytest.approx([0.25] * 5)


def test_heads_that_are_no_better_than_random_directions_exceed_chance_in_one_map_of_ten() -> None:
    """At most: each is found with a chance of a tenth where nothing is to be found."""
    generator = np.random.default_rng(0)
    maps = 200
    drawn = np.exp(generator.standard_normal((maps, 9, 6, 12)) + 3 * generator.random((6, 12)))
    some = sum(bool((discovery_rates(each[0], each[1:]) <= 0.1).any()) for each in drawn)
    assert some <= 0.1 * maps + 3 * np.sqrt(0.09 * maps)
    moved = drawn[0].copy()
    moved[0, 2, :4] *= 100
    assert np.argwhere(discovery_rates(moved[0], moved[1:]) <= 0.1)[:, 0].tolist() == [2] * 4


def test_all_parts_are_rows_and_add_up() -> None:
    heads = np.array([[1.0, 0.5, 0.0], [0.5, 0.0, np.nan]])
    table = parts_table(LAYERS, heads, np.array([0.5, 1.0]), (1.0, -0.5), 4.0)
    assert table["writer"].tolist() == ["head"] * 6 + ["layer"] * 2 + ["embeddings", "biases"]
    assert table["layer"].tolist()[:8] == [2, 2, 2, 5, 5, 5, 2, 5]
    assert table["head"].isna().sum() == 4
    assert table["part"].sum() == 4
    assert table["share"].tolist()[0] == 0.25


NOUNS = "cat dog bird fox king queen boy girl river garden house tree"
KING = "the king met a dog , and then the king"
VERBS = "saw met heard followed found liked"


# Five texts; five heads and one that its layer does not have.
OF_TEXTS = np.array(
    [
        [[1.0, -0.5, 0.2], [0.004, 0.3, np.nan]],
        [[0.8, -0.7, 0.1], [0.004, 0.3, np.nan]],
        [[1.2, 0.6, 0.3], [0.004, -0.3, np.nan]],
        [[0.9, 0.4, 0.2], [0.004, 0.1, np.nan]],
        [[1.1, -0.8, 0.1], [0.004, 0.2, np.nan]],
    ]
)
TEXTS = [made(each, OF_TEXTS[:0]) for each in OF_TEXTS]


def test_typical_sizes_and_intervals_are_those_of_the_texts() -> None:
    table = effect_corpus_table(LAYERS, TEXTS)
    assert table["layer"].tolist() == [2, 2, 2, 5, 5, 5]
    assert table["head"].tolist() == [1, 2, 3, 1, 2, 3]
    sizes = np.abs(OF_TEXTS).reshape(5, 6)
    np.testing.assert_allclose(table["effect"], gmean(sizes))
    np.testing.assert_allclose(table[["low", "high"]].T, np.exp(interval_of_mean(np.log(sizes))))
    assert table[["low", "high"]].to_numpy()[3] == pytest.approx(0.004)
    facts = {"measure": "kl", "unit": "nats", "replace": "mean", "texts": 5}
    assert table.attrs == facts | {"compared": 0, "draws": 0}
    assert "exceeds" not in table
    assert effect_corpus_table(LAYERS, TEXTS[:1])["low"].isna().all()  # few texts have no interval
    with pytest.raises(ValueError, match="no text"):
        effect_corpus_table(LAYERS, [])


def test_a_head_is_compared_with_its_directions_over_the_texts() -> None:
    drawn = np.random.default_rng(0)
    compared = [
        made(each, 0.1 * np.exp(drawn.normal(0, 0.1, (10, 2, 3)) + 0 * each))
        for each in OF_TEXTS[:3]
    ]
    table = effect_corpus_table(LAYERS, TEXTS, compared)
    directions = gmean([each.draws for each in compared], axis=(0, 1))
    np.testing.assert_allclose(table["times"], (gmean(np.abs(OF_TEXTS[:3])) / directions).ravel())
    assert table["exceeds"].tolist() == [True, True, True, False, True, False]
    assert table["rate"].isna().tolist() == [False] * 5 + [True]
    assert (table.attrs["compared"], table.attrs["draws"]) == (3, 10)


def _table(model: LoadedModel, texts: Sequence[str], measure: str) -> pd.DataFrame:
    samples, given = reference_samples(model, texts), {"draws": SAMPLE_DRAWS, "reference": texts}
    with mock.patch.object(heads, "reference_samples", return_value=samples):  # once
        found = [effects(model, text, measure=measure, **given) for text in texts]  # type: ignore[arg-type]
    return effect_corpus_table(trace_text(model, texts[0]), found, found)


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


def first_of_two_heads(second_row: list[float]) -> Trace:
    """A hybrid's heads look at the own token, but for this row of the first."""
    weights = np.tile(np.eye(3, dtype=np.float32), (1, 2, 1, 1))
    weights[0, 0, 1] = second_row
    return numbers_of(trace_with_attention(weights, plain_tokens("it", "it", "so")), Stack((2,)))


def test_a_head_moved_as_much_of_its_attention_as_went_elsewhere() -> None:
    rows = [0.25, 0.5, 0.25], [0.75, 0.125, 0.125]
    table = moved_table(*map(first_of_two_heads, rows))
    assert list(table["layer"]) == [2, 2]
    assert list(table["head"]) == [1, 2]
    assert table["moved"].tolist() == pytest.approx([1 / 6, 0])  # half of one row, of three
    assert table["largest"][0] == pytest.approx(0.5)
    assert (table["query"][0], table["key"][0]) == ("it₂", "it")
    assert table["largest"][1] == 0
