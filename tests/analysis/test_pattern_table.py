"""The pattern table: planted heads, which pattern names a head, and intervals over texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.induction import Induction, induction_scores
from core.analysis.head_patterns.measure import measure_text
from core.analysis.head_patterns.naming import NAMING, THRESHOLDS
from core.analysis.head_patterns.registry import MIN_QUERY_TOKENS
from core.analysis.head_patterns.table import SCORES, withhold_names
from core.analysis.statistics import RESAMPLES, SEED
from core.model.trace import Array, Token, Trace
from tests.analysis.traces import (
    causal,
    plain_tokens,
    random_weights,
    spelled,
    token,
    trace_with_attention,
)

SENTENCE = spelled("[CLS] red , Red car . [SEP]")
WORDS = spelled("the cat saw the dog near a cat and the dog saw the cat")


def one_head(matrix: np.ndarray, tokens: tuple[Token, ...] | None = None) -> Trace:
    return trace_with_attention(matrix[None, None].astype(np.float32), tokens)


def pattern_of(trace: Trace) -> str:
    """The pattern that the only head of a trace is named by."""
    return str(pattern_table(trace)["class"].item())


def test_columns_are_scores_beside_their_uniform_baseline_then_pattern_and_confidence() -> None:
    table = pattern_table(trace_with_attention(random_weights(6, 2, 3, 4)))
    pairs = [column for name in SCORES for column in (name, f"{name}_uniform")]
    assert list(table.columns) == ["layer", "head", *pairs, "class", "confidence"]
    assert table["layer"].tolist() == [1, 1, 1, 2, 2, 2]
    assert table["head"].tolist() == [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize("masked", [False, True])
def test_planted_heads_are_found_by_name_with_their_confidence(masked: bool) -> None:
    """Of a causal model but for the next token, which no head sees."""
    size, names = len(WORDS), np.array([each.display for each in WORDS])
    pairs = {
        "previous": np.eye(size, k=-1),
        "next": np.eye(size, k=1),
        "self": np.eye(size),
        "first": np.tile(np.eye(1, size), (size, 1)),
        "same_token": (names[:, None] == names) & ~np.eye(size, dtype=bool),
        "broad": np.zeros((size, size)),
    }
    if masked:
        del pairs["next"]
    weights = np.where(np.array(list(pairs.values())) > 0, 1, 0.02)
    weights /= weights.sum(axis=-1, keepdims=True)
    trace = trace_with_attention(weights[None], WORDS)
    table = pattern_table(causal(trace) if masked else trace)
    assert table["class"].tolist() == list(pairs)
    for row, name in zip(table.to_dict("records"), pairs, strict=True):
        score = row[NAMING[name].score]
        uniform = 0 if name == "broad" else row[f"{name}_uniform"]
        limit = max(THRESHOLDS[name], uniform)
        assert row["confidence"] == pytest.approx((score - limit) / (1 - limit), abs=1e-5)


def looking_back(share: float, own: float) -> Trace:
    """One head on eight tokens: so much to the token before, to itself, the rest equally."""
    size = 8
    weights = np.full((size, size), (1 - share - own) / (size - 2))
    weights[np.arange(size), np.arange(size) - 1] = share
    weights[np.arange(size), np.arange(size)] = own
    return one_head(weights)


def test_thresholds_are_those_of_the_definitions() -> None:
    assert (THRESHOLDS["previous"], THRESHOLDS["next"]) == (0.5, 0.5)
    assert (THRESHOLDS["sep"], THRESHOLDS["punctuation"], THRESHOLDS["broad"]) == (0.6, 0.6, 0.78)
    above = pattern_table(looking_back(0.51, 0.4))
    assert above["class"].item() == "previous"
    assert above["confidence"].item() == pytest.approx(0.01 / 0.5, abs=1e-5)
    below = pattern_table(looking_back(0.49, 0.4))
    assert below["class"].item() == "none"
    assert np.isnan(below["confidence"].item())
    withheld = withhold_names(above)  # of a text that is too short
    assert withheld["class"].item() == "too_short"
    assert withheld["previous"].item() == above["previous"].item()
    assert np.isnan(withheld["confidence"].item())


def test_a_score_below_the_uniform_baseline_is_no_pattern() -> None:
    """Of eight tokens six are marks: uniform attention gives them 0.75, above the threshold."""
    tokens = plain_tokens("a", *",.,.,.", "b")
    for share, follows in ((0.7, False), (0.8, True)):
        row = np.array([(1 - share) / 2, *[share / 6] * 6, (1 - share) / 2])
        assert (pattern_of(one_head(np.tile(row, (8, 1)), tokens)) == "punctuation") is follows


@pytest.mark.parametrize(("extra", "pattern"), [(0, "none"), (1, "previous")])
def test_every_pattern_requires_some_query_tokens(extra: int, pattern: str) -> None:
    assert all(each.min_query_tokens >= MIN_QUERY_TOKENS for each in NAMING.values())
    back = np.eye(MIN_QUERY_TOKENS + extra, k=-1)  # the first has none before it
    back[0, 0] = 1
    assert pattern_of(one_head(back)) == pattern


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
    row = np.full(size, (1 - sum(columns.values())) / (size - len(columns)))
    row[list(columns)] = list(columns.values())
    assert pattern_of(one_head(np.tile(row, (size, 1)), SENTENCE)) == pattern


def resampled(texts: int) -> np.ndarray:
    """How often each text is drawn, (resample, text)."""
    drawn = np.random.default_rng(SEED).multinomial(texts, [1 / texts] * texts, RESAMPLES)
    return np.asarray(drawn)


def test_a_corpus_has_means_over_all_its_tokens_and_bootstrap_intervals() -> None:
    """Texts of several lengths, one of them with repeated words."""
    corpus = [trace_with_attention(random_weights(size, 2, 2, size)) for size in (3, 5, 8, 4, 6)]
    story = trace_with_attention(random_weights(30, 2, 2, len(WORDS)), WORDS)
    corpus.append(story)
    table = pattern_table(iter(corpus))
    diagonals = [np.diagonal(each.attention(1, 0), -1) for each in corpus]
    uniform = [np.full(each.shape[2] - 1, 1 / each.shape[2]) for each in corpus]
    row = table.iloc[2]
    assert row["previous"] == pytest.approx(np.concatenate(diagonals).mean(), abs=1e-6)
    assert row["previous_uniform"] == pytest.approx(np.concatenate(uniform).mean(), abs=1e-6)
    same = pattern_table(story)["same_token"]
    assert table["same_token"].to_numpy() == pytest.approx(same.to_numpy(), abs=1e-6)
    sums, counts = np.transpose([(each.sum(), each.size) for each in diagonals])
    means = resampled(6) @ sums / (resampled(6) @ counts)
    bounds = (row["previous_low"], row["previous_high"])
    assert bounds == pytest.approx(tuple(np.percentile(means, [2.5, 97.5])), abs=1e-5)
    assert table["same_token_low"].notna().all()  # of the resamples that hold that text
    assert table.equals(pattern_table([measure_text(each) for each in corpus]))
    single = pattern_table(corpus[:1])
    assert single[["previous_low", "stability"]].isna().all(axis=None)
    assert "previous_low" not in pattern_table(corpus[0])
    with pytest.raises(ValueError, match="different models"):
        pattern_table([*corpus, trace_with_attention(random_weights(1, 3, 2, 4))])
    with pytest.raises(ValueError, match="no text"):
        pattern_table([])


def test_stability_is_how_often_the_resamples_give_the_same_pattern() -> None:
    before = np.full((4, 4), 0.02) + np.eye(4, k=-1) * 0.94
    before[0] = [0.06, 0.47, 0.47, 0.0]
    texts = [one_head(each) for each in (before, before, np.full((4, 4), 0.25))]
    table = pattern_table(texts)
    assert table["class"].item() == "previous"  # (2 x 0.96 + 0.25) / 3 = 0.72
    again = (resampled(3) @ np.array([0.96, 0.96, 0.25]) / 3 > 0.5).mean()
    assert 0.5 < again < 1
    assert table["stability"].item() == pytest.approx(again)
    # A head that resamples cannot change: its induction is measured elsewhere.
    given = Induction(np.array([[0.9]]), np.array([[0.02]]))
    assert pattern_table([texts[2]] * 2, given)["stability"].item() == 1


PERIOD = 5
SECOND = np.arange(PERIOD + 1, 2 * PERIOD + 1)  # positions of the second copy


def repeated(weights: Array) -> Trace:
    """[CLS] a b c d e a b c d e [SEP]."""
    words = [
        replace(token("abcde"[i % PERIOD], i + 1, i), id=10 + i % PERIOD) for i in range(2 * PERIOD)
    ]
    first, last = (
        token(name, 11 * i, -1, special=True) for i, name in enumerate(["[CLS]", "[SEP]"])
    )
    return trace_with_attention(weights, (first, *words, last))


def test_induction_is_the_mean_over_the_second_copy_of_every_sequence() -> None:
    both = [random_weights(seed, 2, 2, 12) for seed in (3, 4)]
    for each in both:
        each[1, 0, SECOND] = 0.2 / 11
        each[1, 0, SECOND, SECOND - PERIOD + 1] = 0.8
    induction = induction_scores(map(repeated, both))
    expected = np.mean([each[:, :, SECOND, SECOND - PERIOD + 1] for each in both], axis=(0, -1))
    np.testing.assert_allclose(induction.scores, expected, atol=1e-6)
    np.testing.assert_allclose(induction.uniform, 1 / 12)
    table = pattern_table(trace_with_attention(random_weights(1, 2, 2, 6)), induction=induction)
    assert (table["class"] == "induction").tolist() == [False, False, True, False]
    assert table["induction"].tolist() == induction.scores.ravel().tolist()
    assert table["induction_uniform"].tolist() == induction.uniform.ravel().tolist()
    uniform = induction_scores([causal(repeated(both[0]))]).uniform  # over what it may see
    np.testing.assert_allclose(uniform, np.mean(1 / (SECOND + 1)))


def test_what_is_not_repeated_is_refused() -> None:
    with pytest.raises(ValueError, match="repeated twice"):
        induction_scores([trace_with_attention(random_weights(1, 1, 1, 6))])
    with pytest.raises(ValueError, match="no repeated sequence"):
        induction_scores([])
