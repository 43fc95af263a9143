"""Sums over parts: the same however the parts are cut, ordered and joined."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from core.atlas.blocks import MAX_PAIRS
from core.atlas.engine import sums
from core.atlas.engine.sums import (
    SAMPLE_TOKENS,
    Candidates,
    Sums,
    add_moments,
    first_candidates,
    merge,
    moments_of,
    sampled_numbers,
)
from core.atlas.priority import first_within, priorities
from tests.atlas.corpora import corpus_of, trace_part

# The first numbers of SplitMix64 seeded with 0, as its authors' C code prints them.
SPLITMIX = (
    *(0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F),
    *(0xF88BB8A8724C81EC, 0x1B39896A51A8749B),
)


def test_priorities_are_the_published_numbers() -> None:
    assert priorities(np.arange(5)).tolist() == list(SPLITMIX)


def test_sentences_come_by_priority_until_the_budget_is_spent_and_one_at_least() -> None:
    sizes = np.array([10, 20, 30, 40, 50])  # in the order of SPLITMIX: 2, 4, 1, 0, 3
    numbers = np.arange(5)
    for budget, expected in ((0, [2]), (30, [2]), (79, [2]), (80, [2, 4]), (100, [2, 4, 1])):
        assert first_within(numbers, sizes, budget).tolist() == expected
    assert first_within(numbers, sizes, 1000).tolist() == [2, 4, 1, 0, 3]


@pytest.mark.parametrize("longest", [6, 60, 600])
def test_a_sample_of_samples_is_the_sample_of_all(longest: int) -> None:
    """So parts may be joined in any order: what is in all's sample is in that of its part."""
    draw = np.random.default_rng(longest)
    numbers = draw.permutation(50_000)[:8_000]
    lengths = draw.integers(1, longest, numbers.size)
    whole = first_candidates(numbers, lengths)
    cuts = np.split(np.arange(numbers.size), [10, 4_000, 4_001, 7_000])
    parts = [first_candidates(numbers[cut], lengths[cut]) for cut in cuts]
    for order in (range(5), (4, 2, 0, 1, 3)):
        joined = functools.reduce(joined_candidates, [parts[i] for i in order])
        assert set(joined.numbers.tolist()) == set(whole.numbers.tolist())
    ranked = sorted(zip(numbers.tolist(), lengths.tolist(), strict=True), key=by_priority)
    pairs, expected = 0, list[int]()
    for number, length in ranked:
        pairs += length**2
        if expected and pairs > MAX_PAIRS:
            break
        expected.append(number)
    assert sampled_numbers(whole).tolist() == sorted(expected)
    assert whole.lengths.sum() >= min(SAMPLE_TOKENS - longest, lengths.sum())


def by_priority(sentence: tuple[int, int]) -> int:
    return int(priorities(np.array(sentence[:1]))[0])


def joined_candidates(one: Candidates, other: Candidates) -> Candidates:
    numbers = np.concatenate([one.numbers, other.numbers])
    return first_candidates(numbers, np.concatenate([one.lengths, other.lengths]))


def test_moments_of_parts_are_those_of_all_however_far_from_the_origin_they_are() -> None:
    """A difference of sums of squares would lose all digits here."""
    draw = np.random.default_rng(0)
    vectors = (draw.normal(size=(2, 3, 400, 4)) + 1e4).astype(np.float32)
    parts = [moments_of(vectors[:, :, a:b]) for a, b in ((0, 1), (1, 150), (150, 400))]
    for joined in (
        add_moments(add_moments(parts[0], parts[1]), parts[2]),
        add_moments(parts[2], add_moments(parts[1], parts[0])),
    ):
        assert joined.count == 400
        for head in np.ndindex(2, 3):
            own = vectors[head].astype(np.float64)
            np.testing.assert_allclose(joined.mean[head], own.mean(axis=0), rtol=1e-14)
            expected = np.cov(own.T, bias=True)
            found = joined.scatter[head] / joined.count
            np.testing.assert_allclose(found, expected, atol=1e-12 * expected.max())


def test_counts_of_parts_add_up() -> None:
    parts = [trace_part(index, [(index, one)]) for index, one in enumerate(corpus_of((7, 3)))]
    one, other = (part.sums for part in parts if part is not None)
    joined = merge([replace(one, dropped=2), replace(other, dropped=3, cut_characters=4)])
    counts = joined.tokens, joined.sentences, joined.dropped, joined.cut_characters
    assert counts == (10, 2, 5, 4)


def test_sums_of_nothing_or_of_two_models_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one sentence"):
        merge([])
    one, other = (trace_part(0, [(0, corpus_of([4], dim=dim)[0])]) for dim in (5, 6))
    assert one is not None
    assert other is not None
    with pytest.raises(ValueError, match="cannot be merged"):
        merge([one.sums, other.sums])


def test_a_fault_of_a_merge_is_not_told_as_a_lack_of_sentences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fault(*_: object) -> Sums:
        raise TypeError("a fault")

    monkeypatch.setattr(sums, "_merge_two", fault)
    with pytest.raises(TypeError, match="a fault"):
        merge(cast("list[Sums]", [1, 2]))


def test_numbers_of_sentences_stay_and_come_in_order() -> None:
    traces = corpus_of((3, 2, 4))
    part = trace_part(
        7,
        [(40, traces[2]), (9, traces[0])],
        {9: "w0x0 w0x1 cut", 40: "w2x0 w2x1 w2x2"},
        {9: "a", 40: "b"},
    )
    assert part is not None
    texts = part.texts
    assert texts.tokens.sentence.tolist() == [9] * 3 + [40] * 4
    assert texts.sentences == ("w0x0 w0x1", "w2x0 w2x1 w2x2")
    assert texts.labels == ("a", "b")
    assert texts.numbers.tolist() == [9, 40]
    tokens = [token.text for trace in (traces[0], traces[2]) for token in trace.tokens]
    assert texts.tokens.texts == tuple(tokens)
    queries = np.vstack([trace.queries[1, 2] for trace in (traces[0], traces[2])])
    np.testing.assert_array_equal(part.vectors.queries[1, 2], queries)
