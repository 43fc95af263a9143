"""One head of an atlas: contexts from every tenth of its strength, and its points as a file."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core.atlas import build_atlas
from core.atlas.one_head import (
    ABOUT,
    EMBEDDING_ATLAS,
    MAX_TOKENS,
    contexts_of,
    draw_deciles,
    draw_sentences,
    embedding_atlas_file,
    join_contexts,
)
from tests.atlas.files import corpus_of, read_words, trace_of


@pytest.mark.parametrize("causal", [False, True])
def test_strength_is_the_largest_attention_to_another_token_that_counts(causal: bool) -> None:
    trace = trace_of(read_words("a b c d"), 3, causal=causal)  # [CLS] a b c d
    contexts = contexts_of(trace, 7)
    # Neither [CLS] is a query nor is it a key; the first word of a causal model has no other.
    assert contexts.position.tolist() == ([2, 3, 4] if causal else [1, 2, 3, 4])
    assert set(contexts.sentence) == {7}
    for layer, head in np.ndindex(2, 4):
        weights = trace.attention(layer, head)
        for place, query in enumerate(contexts.position):
            others = {
                key: weights[query, key]
                for key in range(1, 5)
                if key != query and (key < query or not causal)
            }
            best = max(others, key=lambda key: others[key])
            strength = contexts.strength[layer, head, place]
            assert strength == pytest.approx(others[best], abs=1e-6)
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
        assert [each.low, each.high, each.size] == pytest.approx([low, high, 100])
        drawn = strength[each.drawn]
        assert len(set(drawn)) == 5
        assert low <= drawn.min() <= drawn.max() <= high + 1e-9
        assert (np.diff(drawn) < 0).all()
    again = [each.drawn.tolist() for each in draw_deciles(strength, 5)]
    assert again == [each.drawn.tolist() for each in deciles]
    few = [draw_deciles(strength[:50], 2, seed) for seed in range(60)]
    assert {int(i) for some in few for each in some for i in each.drawn} == set(range(50))


def test_few_contexts_leave_tenths_empty_and_equal_ones_are_drawn_too() -> None:
    assert [each.size for each in draw_deciles(np.array([0.3, 0.1, 0.2]), 4)] == [1, 1, 1]
    assert draw_deciles(np.zeros(0), 2) == []
    flat = draw_deciles(np.zeros(20), 2)
    assert sorted(int(i) for each in flat for i in each.drawn) == list(range(20))


def test_sentences_are_drawn_whole_at_random_within_the_tokens_that_may_be_run() -> None:
    traces = corpus_of([5 + number % 7 for number in range(400)], layers=1)
    atlas = build_atlas(traces, [f"s{i}" for i in range(400)])
    drawn = draw_sentences(atlas)
    assert drawn == sorted(set(drawn))
    assert draw_sentences(atlas) == drawn
    assert len(drawn) == 120  # the most that are run
    assert max(drawn) > 350  # and not the first ones
    assert np.bincount(atlas.tokens.sentence)[drawn].sum() <= MAX_TOKENS


def test_embedding_atlas_finds_the_columns_that_its_options_name() -> None:
    """Its command line reads Parquet with `pandas.read_parquet` and takes three columns by name."""
    texts = ("the cat sat", "=1+1 \ud83d")
    traces = [trace_of(read_words(text), seed) for seed, text in enumerate(texts)]
    points = np.random.default_rng(1).normal(size=(14, 2)).astype(np.float32)
    for labels in (("a", "b"), ()):
        atlas = build_atlas(traces, texts, labels)
        data = embedding_atlas_file(atlas, np.arange(7), points, {"model": "by hand"})
        frame = pd.read_parquet(io.BytesIO(data))
        assert ("label" in frame) == bool(labels)
        if labels:
            assert frame["label"].tolist() == (["a"] * 4 + ["b"] * 3) * 2
    assert EMBEDDING_ATLAS.split() == ["--x", "x", "--y", "y", "--text", "text"]
    np.testing.assert_array_equal(frame[["x", "y"]].to_numpy(), points)
    first = ["[CLS] the cat sat", "[the] cat sat", "the [cat] sat", "the cat [sat]"]
    assert frame["text"].tolist()[:6] == [*first, "[CLS] =1+1 \ufffd", "[=1+1] \ufffd"]
    assert frame["token"].tolist()[2:7] == ["cat", "sat", "[CLS]", "=1+1", "\ufffd"]
    assert frame["position"].tolist()[:7] == [1, 2, 3, 4, 1, 2, 3]
    assert frame["sentence_number"].tolist()[:7] == [1] * 4 + [2] * 3
    assert frame["sentence"].tolist()[6] == "=1+1 \ufffd"
    assert frame["category"].tolist() == ["query"] * 7 + ["key"] * 7
    assert not {"__row_index__", "FILE_NAME"} & set(frame)  # the names that it adds itself
    assert not frame.isna().any(axis=None)
    about = json.loads((pq.read_schema(io.BytesIO(data)).metadata or {})[ABOUT])
    assert about == {"model": "by hand"}
