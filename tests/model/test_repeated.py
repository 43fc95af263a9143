"""Random sequences that stand twice, for models of every kind of tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from core.model import trace_repeated
from tests.model.families import HEADS, LAYERS

if TYPE_CHECKING:
    from tests.conftest import ModelOf, OracleOf


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
