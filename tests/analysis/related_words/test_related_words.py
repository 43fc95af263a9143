"""Related words, and heads that attend to them, on embeddings and attention made by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from core.analysis.related_words import heads
from core.analysis.related_words.heads import (
    ARRANGEMENTS,
    arrange,
    pair_shares,
    related_heads,
)
from core.analysis.related_words.words import (
    RelatedWords,
    Vocabulary,
    closest_pairs,
    measure_vocabulary,
    related_words,
)
from tests.analysis.traces import plain_tokens, random_weights, spelled, token, trace_with_attention

NO_MEAN = Vocabulary(np.zeros(2), 0.5, 100)


def named(tokens: tuple, pairs: np.ndarray) -> set[tuple[str, str]]:  # type: ignore[type-arg]
    return {(tokens[i].text, tokens[j].text) for i, j in np.argwhere(pairs)}


def angle(*degrees: float) -> np.ndarray:  # type: ignore[type-arg]
    turned = np.deg2rad(degrees)
    return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)


def words_of(*pairs: tuple[int, int], size: int) -> RelatedWords:
    """All words counted; these are related, both ways."""
    related = np.zeros((size, size), dtype=bool)
    for one, other in pairs:
        related[one, other] = related[other, one] = True
    return RelatedWords(related, np.ones(2 * len(pairs)), np.ones(size, dtype=bool), 0, 0.5)


def test_words_closer_than_the_threshold_are_related_both_ways() -> None:
    tokens = plain_tokens("leaves", "book", "foliage")
    result = related_words(tokens, angle(0, 80, 59), NO_MEAN)  # 59 degrees have a cosine of 0.52
    assert named(tokens, result.pairs) == {
        ("leaves", "foliage"),
        ("foliage", "leaves"),
        ("book", "foliage"),
        ("foliage", "book"),
    }
    apart = related_words(tokens, angle(0, 122, 61), NO_MEAN)  # 61 degrees have 0.48
    assert named(tokens, apart.pairs) == set()


def test_what_all_words_of_a_vocabulary_share_is_taken_off_first() -> None:
    tokens = plain_tokens("leaves", "book")
    shifted = angle(0, 90) + 10  # nearly the same direction, until the mean goes
    assert not related_words(tokens, shifted, Vocabulary(np.full(2, 10.0), 0.5, 9)).pairs.any()
    assert related_words(tokens, shifted, NO_MEAN).pairs.any()


def test_the_same_word_pieces_function_words_and_marks_are_not_related() -> None:
    tokens = spelled("[CLS] Leaves leaves cap ##y the , s foliage")
    result = related_words(tokens, angle(*[0] * 9), NO_MEAN)
    assert named(tokens, result.pairs) == {
        *itertools.permutations(("Leaves", "foliage")),
        *itertools.permutations(("leaves", "foliage")),
    }
    assert result.split == 1
    ((*places, cosine),) = closest_pairs(tokens, result, across=False)
    assert places == [1, 8]
    assert cosine == pytest.approx(1.0)


def test_the_threshold_is_what_one_random_pair_in_a_thousand_exceeds() -> None:
    sample = np.random.default_rng(5).normal(3, 1, size=(300, 8)).astype(np.float32)
    result = measure_vocabulary(sample)
    centred = sample - sample.mean(axis=0)
    above = [
        float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) > result.threshold
        for a, b in itertools.combinations(centred, 2)
    ]
    assert np.mean(above) == pytest.approx(1 / 1000, abs=1e-4)


def test_the_score_is_the_share_on_related_words_of_those_that_have_one() -> None:
    weights = random_weights(3, 2, 3, 5)
    result = related_heads(trace_with_attention(weights), words_of((0, 3), (3, 4), size=5))
    by_hand = weights[..., 0, 3] + weights[..., 3, [0, 4]].sum(axis=-1) + weights[..., 4, 3]
    np.testing.assert_allclose(result.scores, by_hand / 3, atol=1e-6)


def test_the_arrangements_have_the_mean_of_all_that_there_are() -> None:
    weights = random_weights(4, 1, 2, 4)
    words = words_of((0, 1), (1, 2), size=4)
    result = related_heads(trace_with_attention(weights), words)
    every = [
        np.sum([weights[0, :, order[i], order[j]] for i, j in np.argwhere(words.pairs)], axis=0) / 3
        for order in itertools.permutations(range(4))
    ]
    np.testing.assert_allclose(result.mean[0], np.mean(every, axis=0), atol=0.02)
    assert result.arrangements == 999


def test_a_head_that_follows_relatedness_passes_and_one_that_follows_positions_does_not() -> None:
    size = 12
    related = [(i, i + 6) for i in range(6)]
    follows = np.full((size, size), 0.02)
    for one, other in related:
        follows[one, other] = follows[other, one] = 0.5
    places = np.full((size, size), 0.02)
    places[:, :6] = 0.14  # the first half draws everyone
    weights = np.stack([follows, places])[None]
    weights = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
    result = related_heads(trace_with_attention(weights), words_of(*related, size=size))
    assert result.decidable
    assert result.holds.tolist() == [[True, False]]
    assert result.ranked()[0] == (0, 0)


def test_heads_that_look_anywhere_pass_once_in_a_hundred() -> None:
    passed = []
    for seed in range(5):
        trace = trace_with_attention(random_weights(seed, 6, 12, 14))
        words = words_of((0, 7), (2, 9), (4, 11), (5, 12), size=14)
        passed.append(related_heads(trace, words).holds.mean())
    assert 0.002 < np.mean(passed) < 0.02


def test_too_few_words_cannot_be_told_from_chance() -> None:
    weights = np.full((1, 1, 3, 3), 0.001, dtype=np.float32)
    weights[0, 0, 0, 1] = weights[0, 0, 1, 0] = 0.998
    result = related_heads(trace_with_attention(weights), words_of((0, 1), size=3))
    # One pair of three words: every third arrangement is the real one.
    assert result.unmoved / result.arrangements == pytest.approx(1 / 3, abs=0.05)
    assert not result.decidable
    assert not result.holds.any()


def test_words_change_places_within_their_sentence_only() -> None:
    segments = np.array([0, 0, 0, 1, 1, 1])
    counted = np.array([True, True, False, True, False, True])
    places = arrange(counted, segments, 200)
    assert places[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert {tuple(row) for row in places.tolist()} == {
        (*first, 2, second[0], 4, second[1])
        for first in ((0, 1), (1, 0))
        for second in ((3, 5), (5, 3))
    }


def test_only_the_other_sentence_counts_on_request() -> None:
    tokens = tuple(token(f"t{i}", i, i, segment=int(i > 2)) for i in range(6))
    weights = random_weights(8, 1, 2, 6)
    words = words_of((0, 1), (2, 5), size=6)
    result = related_heads(trace_with_attention(weights, tokens), words, "other")
    expected = (weights[..., 2, 5] + weights[..., 5, 2]) / 2
    np.testing.assert_allclose(result.scores, expected, atol=1e-6)
    assert result.pairs == 2


def test_a_head_whose_mask_forbids_all_pairs_has_no_score() -> None:
    allowed = np.stack([np.ones((3, 3), bool), np.eye(3, dtype=bool)])
    places = np.arange(3)[None]
    weights = np.full((2, 3, 3), 1 / 3, dtype=np.float32)
    result = pair_shares(weights, allowed, places, np.array([0]), np.array([2]))
    assert result[0, 0] == pytest.approx(1 / 3)
    assert np.isnan(result[0, 1])


def test_work_is_bounded_and_more_pairs_get_fewer_arrangements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # In each, one in a hundred is a whole number, the real one included.
    assert all((count + 1) % 100 == 0 for count in ARRANGEMENTS)
    trace, words = trace_with_attention(random_weights(1, 1, 2, 6)), words_of((0, 3), size=6)
    for budget, count in ((4 * 999, 999), (4 * 999 - 1, 199), (4 * 99, 99), (4 * 99 - 1, 0)):
        monkeypatch.setattr(heads, "MAX_SUMS", budget)  # two pairs in two heads are 4 sums
        result = related_heads(trace, words)
        assert (result.arrangements, result.pairs) == (count, 2)
    assert not result.decidable
