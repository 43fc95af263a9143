"""A graphics card changes the speed, not the attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from numpy.testing import assert_allclose

from core.model import load, trace_corpus, trace_text
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from tests.conftest import FolderOf, OracleOf

TOLERANCE = 1e-4  # the card sums in another order

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")

NAMES = ["bert", "roberta", "modernbert", "gpt2", "llama", "mistral", "gemma2"]


@pytest.mark.parametrize("name", NAMES)
def test_attention_on_the_card_agrees_with_the_cpu(
    name: str, folder_of: FolderOf, oracle_of: OracleOf
) -> None:
    """Alone, and in padded batches."""
    model = load(str(folder_of(name)))
    assert next(model.network.parameters()).is_cuda
    traces = [trace_text(model, SENTENCES[1]), *trace_corpus(model, list(SENTENCES))]
    for sentence, trace in zip((SENTENCES[1], *SENTENCES), traces, strict=True):
        expected = oracle_of(name).attention(sentence)
        assert_allclose(trace.attention(), expected, rtol=0, atol=TOLERANCE)
