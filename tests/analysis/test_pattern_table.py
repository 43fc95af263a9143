"""The pattern table: planted heads, which pattern names a head, and intervals over texts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.induction import Induction, induction_scores
from core.analysis.head_patterns.measure import measure_text
from core.analysis.head_patterns.naming import NAMING, THRESHOLDS
from core.analysis.head_patterns.registry import MIN_QUERY_TOKENS
from core.analysis.head_patterns.table import SCORES, withhold_names
from core.analysis.statistics import RESAMPLES, SEED
from core.model.trace import Array, Layer, Trace
from tests.analysis.traces import (
    causal,
    plain_tokens,
    random_weights,
    spelled,
    token,
    trace_with_attention,
)

if TYPE_CHECKING:
    from core.model.trace import Array

SENTENCE = spelled("[CLS] red , Red car . [SEP]")
STORY = "the cat saw the dog near a cat and the dog saw the cat"
WORDS = plain_tokens(*STORY.split())


def pattern_of(trace: Trace) -> str:
    """The pattern that the only head of a trace is named by."""
    return str(pattern_table(trace)["class"].item())


def test_columns_are_scores_beside_their_uniform_baseline_then_pattern_and_confidence() -> None:
    table = pattern_table(trace_with_attention(random_weights(6, 2, 3, 4)))
    pairs = [column for name in SCORES for column in (name, f"{name}_uniform")]
    assert list(table.columns) == ["layer", "head", *pairs, "class", "confidence"]
    assert table["layer"].tolist() == [1, 1, 1, 2, 2, 2]
    assert table["head"].tolist() == [1, 2, 3, 1, 2, 3]


def network(plant: str | None) -> Trace:
    """Two layers of three heads with random queries and keys; at layer 2, head 3 a plant.

    Every vector is a sum of three codes: of its position, of its word, and noise. The planted
    head's keys are the codes; its queries ask for the code of the position before, of the first
    position, of its own, or of its word (a little less where it stands itself).
    """
    size = len(WORDS)
    generator = np.random.default_rng(7)
    dim = 3 * size
    queries = generator.normal(0, 0.3, (2, 3, size, dim)).astype(np.float32)
    keys = generator.normal(0, 0.3, (2, 3, size, dim)).astype(np.float32)
    positions = np.eye(size, dim)
    names = sorted({each.display for each in WORDS})
    words = np.array([np.eye(1, dim, size + names.index(each.display))[0] for each in WORDS])
    asked = {
        "previous": np.roll(positions, 1, axis=0),
        "next": np.roll(positions, -1, axis=0),
        "first": np.broadcast_to(positions[0], positions.shape),
        "self": positions,
        "same_token": 2 * words - positions,
    }
    if plant is not None:
        keys[1, 2] = positions + words
        queries[1, 2] = 12 * asked[plant]
    rules = (Layer(1.0, None),) * 2
    return Trace("planted", WORDS, queries, keys, keys.copy(), rules, causal=False)


PLANTS = ["previous", "next", "first", "self", "same_token"]


@pytest.mark.parametrize(
    ("plant", "masked"),  # no causal head sees what comes next
    [*((name, False) for name in PLANTS), *((name, True) for name in PLANTS if name != "next")],
)
def test_a_planted_head_is_found_by_name_with_its_number(plant: str, masked: bool) -> None:
    trace = causal(network(plant)) if masked else network(plant)
    table = pattern_table(trace)
    named = table[table["class"] == plant]
    assert list(named.index) == [5]
    share = share_of(plant, trace.attention(1, 2), masked)
    assert share > 0.6
    assert named[plant].item() == pytest.approx(share, abs=1e-5)
    limit = max(THRESHOLDS[plant], named[f"{plant}_uniform"].item())
    assert named["confidence"].item() == pytest.approx((share - limit) / (1 - limit), abs=1e-5)
    assert plant not in set(pattern_table(network(None))["class"])


def share_of(plant: str, matrix: Array, masked: bool) -> float:
    """Attention of a head on WORDS to the pairs that a pattern is of, mean over their queries."""
    places, names = np.arange(len(WORDS)), np.array([each.display for each in WORDS])
    pairs = {
        "previous": places[:, None] - 1 == places,
        "next": places[:, None] + 1 == places,
        "first": places * np.ones_like(places)[:, None] == 0,
        "self": places[:, None] == places,
        "same_token": (names[:, None] == names) & (places[:, None] != places),
    }[plant] & (np.tri(len(WORDS), dtype=bool) | (not masked))
    return float((matrix * pairs).sum(axis=1)[pairs.any(axis=1)].mean())


def looking_back(share: float, own: float) -> Trace:
    """One head on eight tokens: so much to the token before, to itself, the rest equally."""
    size = 8
    weights = np.full((size, size), (1 - share - own) / (size - 2), dtype=np.float32)
    weights[np.arange(size), np.arange(size) - 1] = share
    weights[np.arange(size), np.arange(size)] = own
    return trace_with_attention(weights[None, None])


def test_thresholds_are_those_of_the_definitions() -> None:
    assert (THRESHOLDS["previous"], THRESHOLDS["next"]) == (0.5, 0.5)
    assert (THRESHOLDS["sep"], THRESHOLDS["punctuation"], THRESHOLDS["broad"]) == (0.6, 0.6, 0.78)
    above = pattern_table(looking_back(0.51, 0.4))
    assert above["class"].item() == "previous"
    assert above["confidence"].item() == pytest.approx(0.01 / 0.5, abs=1e-5)
    below = pattern_table(looking_back(0.49, 0.4))
    assert below["class"].item() == "none"
    assert np.isnan(below["confidence"].item())


def test_a_score_below_the_uniform_baseline_is_no_pattern() -> None:
    """Of eight tokens six are marks: uniform attention gives them 0.75, above the threshold."""
    tokens = plain_tokens("a", *",.,.,.", "b")
    for share, follows in ((0.7, False), (0.8, True)):
        row = np.array([(1 - share) / 2, *[share / 6] * 6, (1 - share) / 2], dtype=np.float32)
        trace = trace_with_attention(np.tile(row, (1, 1, 8, 1)), tokens)
        assert (pattern_of(trace) == "punctuation") is follows


def test_uniform_attention_is_broad() -> None:
    table = pattern_table(trace_with_attention(np.full((1, 1, 9, 9), 1 / 9, dtype=np.float32)))
    assert table["class"].item() == "broad"
    assert table["confidence"].item() == pytest.approx(1, abs=1e-5)


def copying(text: str) -> Trace:
    """A head that gives all attention to other copies of the token, where there are any."""
    names = np.array(text.split())
    copies = (names[:, None] == names) & ~np.eye(len(names), dtype=bool)
    copies |= np.eye(len(names), dtype=bool) & ~copies.any(axis=1, keepdims=True)
    weights = (copies / copies.sum(axis=1, keepdims=True)).astype(np.float32)
    return trace_with_attention(weights[None, None], plain_tokens(*names))


def test_one_repeated_word_is_not_enough_evidence_for_same_token() -> None:
    """Two query tokens have another copy to look at; six are required."""
    assert pattern_of(copying("it rained and then it was a very fine day")) != "same_token"
    assert pattern_of(copying("it rained and then it was fine and then rained")) == "same_token"


@pytest.mark.parametrize(("extra", "pattern"), [(0, "none"), (1, "previous")])
def test_every_pattern_requires_some_query_tokens(extra: int, pattern: str) -> None:
    assert all(each.min_query_tokens >= MIN_QUERY_TOKENS for each in NAMING.values())
    back = np.eye(MIN_QUERY_TOKENS + extra, k=-1, dtype=np.float32)  # the first has none before it
    back[0, 0] = 1
    assert pattern_of(trace_with_attention(back[None, None])) == pattern


def test_the_table_of_a_short_text_keeps_its_scores_and_loses_its_names() -> None:
    table = pattern_table(looking_back(0.9, 0.05))
    withheld = withhold_names(table)
    assert (table["class"].item(), withheld["class"].item()) == ("previous", "too_short")
    assert withheld["previous"].item() == table["previous"].item()
    assert np.isnan(withheld["confidence"].item())


@pytest.mark.parametrize(
    ("columns", "pattern"),
    [
        ({0: 0.88}, "first"),  # [CLS] is the first token
        ({6: 0.88}, "sep"),
        ({2: 0.44, 5: 0.44}, "punctuation"),
        # The sum of all delimiters is 0.95: Clark et al. test them one by one.
        ({0: 0.4, 5: 0.2, 6: 0.35}, "none"),
    ],
)
def test_the_most_specific_pattern_names_the_head(columns: dict[int, float], pattern: str) -> None:
    size = len(SENTENCE)
    row = np.full(size, (1 - sum(columns.values())) / (size - len(columns)), dtype=np.float32)
    row[list(columns)] = list(columns.values())
    weights = np.tile(row, (1, 1, size, 1))
    assert pattern_of(trace_with_attention(weights, SENTENCE)) == pattern


@pytest.fixture(scope="module")
def corpus() -> list[Trace]:
    """Texts of several lengths, one of them with repeated words."""
    traces = [
        trace_with_attention(random_weights(10 + size, 2, 2, size)) for size in (3, 5, 8, 4, 6)
    ]
    return [*traces, trace_with_attention(random_weights(30, 2, 2, len(WORDS)), WORDS)]


def test_a_corpus_has_means_over_all_its_tokens_and_bootstrap_intervals(
    corpus: list[Trace],
) -> None:
    table = pattern_table(iter(corpus))
    diagonals = [np.diagonal(each.attention(1, 0), -1) for each in corpus]
    uniform = [np.full(each.shape[2] - 1, 1 / each.shape[2]) for each in corpus]
    row = table.iloc[2]
    assert row["previous"] == pytest.approx(np.concatenate(diagonals).mean(), abs=1e-6)
    assert row["previous_uniform"] == pytest.approx(np.concatenate(uniform).mean(), abs=1e-6)
    only = pattern_table(corpus[-1])  # the text that has copies
    assert table["same_token"].to_numpy() == pytest.approx(only["same_token"].to_numpy(), abs=1e-6)
    generator = np.random.default_rng(SEED)
    means = []
    for draw in [generator.multinomial(6, np.full(6, 1 / 6)) for _ in range(RESAMPLES)]:
        picked = [each for each, times in zip(diagonals, draw, strict=True) for _ in range(times)]
        means.append(np.concatenate(picked).mean())
    bounds = (row["previous_low"], row["previous_high"])
    assert bounds == pytest.approx(tuple(np.percentile(means, [2.5, 97.5])), abs=1e-5)
    assert table["same_token_low"].notna().all()  # of the resamples that hold that text
    assert table.equals(pattern_table([measure_text(each) for each in corpus]))


def test_stability_is_how_often_the_resamples_give_the_same_pattern() -> None:
    size = 4
    before = np.full((1, 1, size, size), 0.02, dtype=np.float32)
    before[0, 0] += np.eye(size, k=-1, dtype=np.float32) * 0.94
    before[0, 0, 0] = [0.06, 0.47, 0.47, 0.0]
    elsewhere = np.full((1, 1, size, size), 0.25, dtype=np.float32)
    texts = [trace_with_attention(each) for each in (before, before, elsewhere)]
    table = pattern_table(texts)
    assert table["class"].item() == "previous"  # (2 x 0.96 + 0.25) / 3 = 0.72
    generator = np.random.default_rng(SEED)
    draws = np.array([generator.multinomial(3, np.full(3, 1 / 3)) for _ in range(RESAMPLES)])
    again = (draws @ np.array([0.96, 0.96, 0.25]) / 3 > 0.5).mean()
    assert 0.5 < again < 1
    assert table["stability"].item() == pytest.approx(again)
    # A head that resamples cannot change: its induction is measured elsewhere.
    given = Induction(np.array([[0.9]]), np.array([[0.02]]))
    assert pattern_table([texts[2]] * 2, given)["stability"].item() == 1


def test_a_single_text_says_nothing_about_others() -> None:
    trace = trace_with_attention(random_weights(9, 1, 2, 5))
    table = pattern_table([trace])
    assert table[["previous_low", "stability"]].isna().all(axis=None)
    assert "previous_low" not in pattern_table(trace)


def test_texts_of_different_models_and_no_text_are_refused(corpus: list[Trace]) -> None:
    with pytest.raises(ValueError, match="different models"):
        pattern_table([*corpus, trace_with_attention(random_weights(1, 3, 2, 4))])
    with pytest.raises(ValueError, match="no text"):
        pattern_table([])


PERIOD = 5
SECOND = range(PERIOD + 1, 2 * PERIOD + 1)  # positions of the second copy


def repeated(weights: Array) -> Trace:
    """[CLS] a b c d e a b c d e [SEP]."""
    words = [
        replace(token("abcde"[i % PERIOD], i + 1, i), id=10 + i % PERIOD) for i in range(2 * PERIOD)
    ]
    ends = (token(name, 11 * i, -1, special=True) for i, name in enumerate(["[CLS]", "[SEP]"]))
    first, last = ends
    return trace_with_attention(weights, (first, *words, last))


def test_an_induction_head_made_by_hand_has_its_score_and_its_name() -> None:
    size = 2 * PERIOD + 2
    weights = np.full((2, 2, size, size), 1 / size, dtype=np.float32)
    for position in SECOND:
        weights[1, 0, position] = 0.2 / (size - 1)
        weights[1, 0, position, position - PERIOD + 1] = 0.8
    induction = induction_scores([repeated(weights)])
    expected = [1 / size, 1 / size, 0.8, 1 / size]
    assert induction.scores.ravel() == pytest.approx(expected, abs=1e-5)
    assert induction.uniform == pytest.approx(np.full((2, 2), 1 / size))
    table = pattern_table(trace_with_attention(random_weights(1, 2, 2, 6)), induction=induction)
    assert (table["class"] == "induction").tolist() == [False, False, True, False]
    assert table["induction"].tolist() == induction.scores.ravel().tolist()
    assert table["induction_uniform"].tolist() == induction.uniform.ravel().tolist()


def test_the_score_is_the_mean_over_the_second_copy_of_every_sequence() -> None:
    one, other = (random_weights(seed, 1, 1, 12) for seed in (3, 4))
    expected = [each[0, 0, i, i - PERIOD + 1] for each in (one, other) for i in SECOND]
    induction = induction_scores([repeated(one), repeated(other)])
    assert induction.scores.item() == pytest.approx(np.mean(expected), abs=1e-6)


def test_the_uniform_baseline_of_a_causal_head_is_over_what_it_may_see() -> None:
    induction = induction_scores([causal(repeated(random_weights(5, 1, 1, 12)))])
    expected = np.mean([1 / (position + 1) for position in SECOND])
    assert induction.uniform.item() == pytest.approx(expected)


def test_what_is_not_repeated_is_refused() -> None:
    with pytest.raises(ValueError, match="repeated twice"):
        induction_scores([trace_with_attention(random_weights(1, 1, 1, 6))])
    with pytest.raises(ValueError, match="no repeated sequence"):
        induction_scores([])
