"""How much of a text is run, which texts of a corpus, and which of them together."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, pairwise
from threading import Barrier
from types import SimpleNamespace
from typing import Any, TypeAlias
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.model import (
    LoadedModel,
    Trace,
    choose_texts,
    estimate_texts,
    load,
    trace_by_length,
    trace_corpus,
    trace_repeated,
    trace_text,
)
from core.model.capture.calls import Change
from core.model.errors import TooShortError
from core.model.running import budget, tracing
from core.model.text.inputs import CHARACTERS_PER_TOKEN, TextInput, token_lengths
from tests.conftest import FolderOf, ModelOf, OracleOf
from tests.model.bundled import loaded
from tests.model.families import HEADS, LAYERS, PAIR, SENTENCES

WORDS = "The cat sat on the mat and it was glad. "


def most_characters(model: LoadedModel) -> int:
    return model.max_tokens * CHARACTERS_PER_TOKEN


def test_no_tokenizer_sees_more_than_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    model, text = loaded("bundled/minilm"), WORDS * 5_000
    seen: list[int] = []  # characters of each text
    call = type(model.tokenizer).__call__

    def counted(self: object, *texts: Any, **settings: Any) -> Any:
        seen.extend(len(text) for text in texts if text is not None)
        return call(self, *texts, **settings)

    monkeypatch.setattr(type(model.tokenizer), "__call__", counted)
    trace_text(model, text)
    trace_text(model, text, text)
    list(trace_corpus(model, [text]))
    list(trace_by_length(model, [text, "short"]))
    token_lengths(model, [text], None)
    assert len(seen) > 8
    assert max(seen) == most_characters(model) < len(text)
    seen.clear()
    trace_text(model, text, max_tokens=10)
    assert max(seen) == 10 * CHARACTERS_PER_TOKEN


def test_the_tokens_are_those_of_the_whole_text(model_of: ModelOf) -> None:
    model = model_of("gpt2")
    text = WORDS * (2 * most_characters(model) // len(WORDS))
    shorter = text[: most_characters(model)]
    long, usual = trace_text(model, text), trace_text(model, shorter)
    assert long.tokens == usual.tokens
    assert len(long.tokens) == model.max_tokens
    assert long.dropped == usual.dropped > 0
    assert (long.cut_characters, usual.cut_characters) == (len(text) - len(shorter), 0)
    model = loaded("bundled/minilm")  # WordPiece takes a thousand letters for one unknown token
    trace = trace_text(model, "a" * 10**6 + " tail")
    assert (len(trace.tokens), trace.dropped) == (3, 0)
    assert trace.cut_characters == 10**6 + 5 - most_characters(model)


@pytest.mark.parametrize("name", ["bert", "gpt2", "roberta"])
@pytest.mark.parametrize("piece", ["😀", "👩\u200d👩\u200d👧", "e\u0301", "\ud83d\ude00", "🇩🇪"])
def test_a_cut_within_a_character_that_people_see_is_harmless(
    name: str, piece: str, model_of: ModelOf
) -> None:
    model = model_of(name)
    for start in range(len(piece) + 1):
        text = "a" * start + piece * most_characters(model)
        trace = trace_text(model, text)
        assert trace.cut_characters == len(text) - most_characters(model)
        assert all(token.span[1] <= most_characters(model) for token in trace.tokens)


def by_characters(
    texts: Sequence[str], most: int, limit: int | None = None
) -> tuple[budget.Chosen, list[str]]:
    """A choice of texts that are as long as they have characters, and those that were tokenized."""
    seen: list[str] = []

    def lengths(model: object, texts: Sequence[str], limit: int | None) -> list[int]:
        seen.extend(texts)
        return [min(len(text), limit or len(text)) for text in texts]

    # nothing but its tokenizer is asked for, and how much of a text it may see
    model: LoadedModel = SimpleNamespace(max_tokens=10_000)  # type: ignore[assignment]
    with mock.patch.object(budget, "token_lengths", lengths):
        return choose_texts(model, texts, most, limit), seen


def test_texts_that_the_model_would_cut_count_as_they_are_cut(
    model_of: ModelOf, oracle_of: OracleOf
) -> None:
    model = model_of("gpt2")
    texts = [SENTENCES[0], " ".join(SENTENCES)]
    whole = [len(oracle_of("gpt2").tokenizer.encode(text).ids) for text in texts]
    assert whole[1] > model.max_tokens > whole[0] > 7
    for limit in (None, 7, 1000):
        expected = tuple(min(length, model.max_tokens, limit or 10_000) for length in whole)
        assert choose_texts(model, texts, 10_000, limit).lengths == expected


@settings(deadline=None)
@given(
    texts=st.lists(st.text("ab", min_size=1, max_size=12), min_size=1, max_size=40),
    most=st.integers(0, 120),
    limit=st.none() | st.integers(1, 8),
)
def test_a_choice_keeps_to_its_budget_and_is_as_large_as_its_order_allows(
    texts: list[str], most: int, limit: int | None
) -> None:
    chosen, _ = by_characters(texts, most, limit)
    assert chosen.corpus_size == len(texts)
    assert list(chosen.places) == sorted(set(chosen.places) & set(range(len(texts))))
    lengths = [min(len(text), limit or 99) for text in texts]
    assert chosen.lengths == tuple(lengths[place] for place in chosen.places)
    assert chosen.tokens == sum(chosen.lengths)
    assert len(chosen.places) >= 1
    assert chosen.tokens <= most or len(chosen.places) == 1
    if sum(lengths) <= most:
        assert len(chosen.places) == len(texts)
    assert by_characters(texts, most, limit)[0] == chosen
    larger, _ = by_characters(texts, most + 5, limit)  # the same order: nothing is given up for it
    assert set(chosen.places) <= set(larger.places)


def test_texts_without_a_token_count_too_so_that_their_number_is_bounded() -> None:
    chosen, tokenized = by_characters([""] * 5_000, 100)
    assert (len(chosen.places), chosen.tokens) == (100, 0)
    assert len(tokenized) == 101


def test_an_estimate_needs_no_tokenizer_and_keeps_to_the_budget(
    model_of: ModelOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of("llama")
    monkeypatch.setattr(budget, "token_lengths", None)
    whole = estimate_texts(model, SENTENCES, 10_000)
    assert (whole.texts, whole.characters) == (len(SENTENCES), sum(map(len, SENTENCES)))
    assert whole.whole
    some = estimate_texts(model, SENTENCES, whole.tokens - 1)
    assert (some.tokens, some.whole) == (whole.tokens - 1, False)
    long = estimate_texts(model, ["word and " * 10**6], 10_000)
    assert long.tokens == model.max_tokens  # as it will be cut


TOLERANCE = 5e-6
TEXTS = [*SENTENCES, SENTENCES[2], *SENTENCES[::-1]]


def assert_same(found: Trace, alone: Trace) -> None:
    """The same tokens, and the same numbers within rounding."""
    assert found.tokens == alone.tokens
    assert found.dropped == alone.dropped
    for part in ("queries", "keys", "values", "hidden_states"):
        ours, own = getattr(found, part), getattr(alone, part)
        assert ours.shape == own.shape
        assert np.abs(ours - own).max() < TOLERANCE * max(1.0, np.abs(own).max())
    assert np.abs(found.attention() - alone.attention()).max() < TOLERANCE


@pytest.mark.parametrize("name", ["bert", "gpt2 padded left", "bloom", "t5", "gpt_oss"])
def test_queries_and_keys_alone_are_those_of_whole_traces(name: str, model_of: ModelOf) -> None:
    whole, alone = (
        dict(trace_by_length(model_of(name), TEXTS, batch_tokens=120, whole=way))
        for way in (True, False)
    )
    assert sorted(alone) == list(range(len(TEXTS)))
    for place, trace in alone.items():
        expected = whole[place]
        assert trace.tokens == expected.tokens
        np.testing.assert_array_equal(trace.queries, expected.queries)
        np.testing.assert_array_equal(trace.kv_keys, expected.kv_keys)
        np.testing.assert_array_equal(trace.attention(), expected.attention())
        assert trace.hidden_states is None
        assert trace.kv_values.shape[2] == 0
        assert not trace.queries.flags.writeable


@pytest.mark.parametrize("limit", [1, 30, 64, 10_000])
def test_batches_stay_within_their_tokens_and_texts_of_like_length_go_together(
    limit: int, model_of: ModelOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, batches = tracing._run, list[list[int]]()  # lengths of the texts of each batch, as it runs

    def watched(model: LoadedModel, batch: list[TextInput], *change: Change | None) -> object:
        batches.append([len(item.ids) for item in batch])
        return run(model, batch, *change)

    monkeypatch.setattr(tracing, "_run", watched)
    corpus = trace_by_length(model_of("bert"), TEXTS, batch_tokens=limit)
    assert batches == []  # nothing runs ahead of what is asked for
    next(corpus)
    assert len(batches) == 1
    assert len(list(corpus)) == len(TEXTS) - 1
    assert all(len(each) == 1 or len(each) * max(each) <= limit for each in batches)
    flat = [length for batch in batches for length in batch]
    assert flat == sorted(flat)
    for one, following in pairwise(batches):
        assert (len(one) + 1) * following[0] > limit  # no batch ends early


@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2", "llama", "xlm-roberta"])
def test_the_attention_of_a_repeated_sequence_is_the_models_own(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    traces = list(trace_repeated(model_of(name), length=12, sequences=2))
    for trace in traces:
        ids = torch.tensor([[token.id for token in trace.tokens]])
        own = oracle_of(name).attention_of({"input_ids": ids})
        assert own.shape[:2] == (LAYERS, HEADS)
        assert np.abs(trace.attention() - own).max() < 1e-5
        ordinary = [token.id for token in trace.tokens if not token.special]
        assert ordinary[:12] == ordinary[12:]
        assert len(set(ordinary)) == 12
    assert traces[0].tokens != traces[1].tokens
    with pytest.raises(TooShortError, match="a sequence of 1 tokens cannot be repeated"):
        trace_repeated(model_of(name), length=1)
    (most,) = trace_repeated(model_of(name), length=500, sequences=1)
    assert len(most.tokens) in (63, 64)  # twice as many as fit


# ---- several people run one model at once, and nobody sees another's text ----------------------

THREADS = 8
ROUNDS = 12
LONG = "The cat said that it was not money, " * 12  # is cut; its neighbours must not be

Work: TypeAlias = Callable[[], list[Trace]]


def assert_threads_do_not_disturb(works: list[Work]) -> None:
    """Every result in eight threads, each at work many times, is the one the work gives alone."""
    alone = [work() for work in works]
    begin = Barrier(THREADS)

    def run(thread: int) -> None:
        begin.wait()
        for _ in range(ROUNDS):
            traces = works[thread % len(works)]()
            for actual, expected in zip(traces, alone[thread % len(works)], strict=True):
                assert_same(actual, expected)

    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 1000)  # so that races show
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(run, range(THREADS)))
    finally:
        sys.setswitchinterval(usual)


@pytest.mark.parametrize("name", ["bert", "albert", "gpt2 padded left"])
def test_short_long_paired_and_padded_texts_do_not_disturb_each_other(
    name: str, model_of: ModelOf
) -> None:
    """A fast tokenizer keeps its padding and truncation in itself, and threads share it."""
    model = model_of(name)
    assert_threads_do_not_disturb(
        [
            lambda: [trace_text(model, SENTENCES[2])],
            lambda: [trace_text(model, LONG)],
            lambda: [trace_text(model, *PAIR)],
            lambda: list(trace_corpus(model, list(SENTENCES), batch_size=3)),
        ]
    )


def test_networks_that_are_watched_and_others_do_not_disturb_each_other(model_of: ModelOf) -> None:
    """What one thread multiplies is none of another thread's attention."""
    assert_threads_do_not_disturb(
        [
            lambda name=name: [trace_text(model_of(name), SENTENCES[1])]  # type: ignore[misc]
            for name in ("bloom", "deberta-v2", "bert", "gpt_oss")
        ]
    )


def test_a_model_may_be_loaded_while_another_is_traced(
    model_of: ModelOf, folder_of: FolderOf
) -> None:
    bert, loads = model_of("bert"), count()

    def load_twice() -> list[Trace]:  # in each thread: the others have ended long before a third
        model = load(str(folder_of("gpt2"))) if next(loads) < 5 else model_of("gpt2")
        return [trace_text(model, SENTENCES[1])]

    traced = [lambda text=text: [trace_text(bert, text)] for text in SENTENCES[1:4]]
    assert_threads_do_not_disturb([*traced, load_twice])
