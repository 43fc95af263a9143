"""Many texts at once, each as if it were alone: a corpus run by length, and repeated sequences."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from core.model import trace_by_length, trace_repeated
from core.model.running import tracing
from tests.model.families import HEADS, LAYERS, SENTENCES

if TYPE_CHECKING:
    from core.model import LoadedModel, Trace
    from core.model.capture import Change
    from core.model.text.inputs import Input
    from tests.conftest import ModelOf, OracleOf

TOLERANCE = 5e-6
FAMILIES = ["bert", "llama", "gpt2 padded left", "gpt2 without a pad token", "modernbert"]
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


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Lengths of the texts of each batch, as it runs."""
    seen: list[list[int]] = []
    run = tracing._run

    def watched(model: LoadedModel, batch: list[Input], *change: Change | None) -> object:
        seen.append([len(item.ids) for item in batch])
        return run(model, batch, *change)

    monkeypatch.setattr(tracing, "_run", watched)
    return seen


@pytest.mark.parametrize("name", [*FAMILIES, "bloom", "t5", "gpt_oss"])
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
    limit: int, model_of: ModelOf, batches: list[list[int]]
) -> None:
    found = list(trace_by_length(model_of("bert"), TEXTS, batch_tokens=limit))
    assert len(found) == len(TEXTS)
    assert all(len(each) == 1 or len(each) * max(each) <= limit for each in batches)
    flat = [length for batch in batches for length in batch]
    assert flat == sorted(flat)
    for one, following in pairwise(batches):
        assert (len(one) + 1) * following[0] > limit  # no batch ends early


def test_nothing_runs_ahead_of_what_is_asked_for(
    model_of: ModelOf, batches: list[list[int]]
) -> None:
    corpus = trace_by_length(model_of("bert"), TEXTS, batch_tokens=1)
    assert batches == []
    next(corpus)
    next(corpus)
    del corpus
    assert len(batches) == 2


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


def test_a_model_of_few_tokens_gets_shorter_sequences(model_of: ModelOf) -> None:
    (trace,) = trace_repeated(model_of("bert"), length=500, sequences=1)
    assert len(trace.tokens) == 64  # [CLS], twice 31, [SEP]
