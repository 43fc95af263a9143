"""Contexts of a head: what counts as its strength, and draws from every tenth of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.atlas import Atlas, build_atlas
from core.atlas.one_head import (
    MAX_TOKENS,
    contexts_of,
    draw_deciles,
    draw_sentences,
    join_contexts,
)
from tests.atlas.corpora import corpus_of, read_words, trace_of


@pytest.mark.parametrize("causal", [False, True])
def test_strength_is_the_largest_attention_to_another_token_that_counts(causal: bool) -> None:
    trace = trace_of(read_words("a b c d"), 3, causal=causal)  # [CLS] a b c d
    contexts = contexts_of(trace, 7)
    # Neither [CLS] is a query nor is it a key; the first word of a causal model has no other.
    assert contexts.position.tolist() == ([2, 3, 4] if causal else [1, 2, 3, 4])
    assert set(contexts.sentence) == {7}
    for layer in range(2):
        for head in range(4):
            weights = trace.attention(layer, head)
            for place, query in enumerate(contexts.position):
                others = {
                    key: weights[query, key]
                    for key in range(1, 5)
                    if key != query and (key < query or not causal)
                }
                best = max(others, key=lambda key: others[key])
                assert contexts.strength[layer, head, place] == pytest.approx(
                    others[best], abs=1e-6
                )
                assert contexts.key[layer, head, place] == best


def test_the_first_token_of_a_causal_model_counts_for_nothing_even_if_it_is_a_word() -> None:
    words = read_words("a b c")
    tokens = (replace(words[0], special=False), *words[1:])
    assert contexts_of(trace_of(tokens, 1, causal=True), 0).key.min() == 1
    assert contexts_of(trace_of(tokens, 1), 0).key.min() == 0


def test_a_text_of_one_word_has_no_context() -> None:
    contexts = contexts_of(trace_of(read_words("a"), 1), 0)
    assert contexts.position.size == 0
    joined = join_contexts([contexts, contexts_of(trace_of(read_words("a b"), 1), 1)])
    assert joined.sentence.tolist() == [1, 1]
    assert joined.strength.shape == (2, 4, 2)


def test_every_tenth_is_drawn_from_and_only_from_what_is_in_it() -> None:
    strength = np.random.default_rng(2).permutation(1000) / 1000
    deciles = draw_deciles(strength, 5)
    assert [each.number for each in deciles] == list(range(10, 0, -1))
    for each in deciles:
        low, high = (each.number - 1) / 10, each.number / 10 - 0.001
        assert [each.low, each.high] == pytest.approx([low, high])
        assert each.size == 100
        drawn = strength[each.drawn]
        assert len(set(drawn)) == 5
        assert low <= drawn.min() <= drawn.max() <= high + 1e-9
        assert (np.diff(drawn) < 0).all()


def test_draws_are_repeated_by_their_seed_and_reach_every_context() -> None:
    strength = np.arange(50) / 50
    once, again = draw_deciles(strength, 2), draw_deciles(strength, 2)
    assert [each.drawn.tolist() for each in once] == [each.drawn.tolist() for each in again]
    reached = {
        int(i) for seed in range(60) for each in draw_deciles(strength, 2, seed) for i in each.drawn
    }
    assert reached == set(range(50))


def test_few_contexts_leave_tenths_empty_and_equal_ones_are_drawn_too() -> None:
    assert [each.size for each in draw_deciles(np.array([0.3, 0.1, 0.2]), 4)] == [1, 1, 1]
    assert draw_deciles(np.zeros(0), 2) == []
    flat = draw_deciles(np.zeros(20), 2)
    assert sorted(int(i) for each in flat for i in each.drawn) == list(range(20))


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    lengths = [5 + number % 7 for number in range(400)]
    return build_atlas(corpus_of(lengths, layers=1), [f"s{i}" for i in range(400)])


def test_sentences_are_drawn_whole_at_random_within_the_tokens_that_may_be_run(
    atlas: Atlas,
) -> None:
    drawn = draw_sentences(atlas)
    assert drawn == sorted(set(drawn))
    assert draw_sentences(atlas) == drawn != draw_sentences(atlas, seed=1)
    assert len(drawn) == 120  # the most that are run
    assert max(drawn) > 350  # and not the first ones
    lengths = np.bincount(atlas.tokens.sentence)
    assert lengths[drawn].sum() <= MAX_TOKENS
