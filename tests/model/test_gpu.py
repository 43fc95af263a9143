"""A graphics card changes the speed, not the attention."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch
from numpy.testing import assert_allclose
from transformers import AutoModel

from core.model import load, trace_corpus, trace_text
from tests.model.families import FAMILIES, SENTENCES, build

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "mistral", "gemma2", "bloom"])
def test_half_precision_on_the_card_agrees_as_far_as_its_type_goes(
    name: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    """With transformers' own eager attention, on the card and in that type."""
    folder = build(replace(FAMILIES[name], dtype=dtype), tmp_path)
    model = load(str(folder), half=True)
    weights = list(model.network.parameters())
    assert all(weight.is_cuda and weight.dtype == dtype for weight in weights)
    network = AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=dtype).cuda()
    ids = torch.tensor([model.tokenizer(SENTENCES[1])["input_ids"]], device="cuda")
    with torch.inference_mode():
        own = torch.cat(network.eval()(input_ids=ids, output_attentions=True).attentions)
    trace = trace_text(model, SENTENCES[1])
    tolerance = 50 * torch.finfo(dtype).eps  # of scores up to 50
    assert_allclose(trace.attention(), own.float().cpu().numpy(), rtol=0, atol=tolerance)
