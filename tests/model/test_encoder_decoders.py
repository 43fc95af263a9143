"""Encoder-decoders: three kinds of attention in one pass, and what their decoders read.

That each kind agrees with transformers' own attention, type by type, is in test_types_used_most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
import transformers
from transformers import AutoModelForSeq2SeqLM

from core.model import trace_corpus, trace_text
from core.model.weights.output_projection import output_projections, transformed_norms
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from tests.conftest import FolderOf, ModelOf

TARGET = "Where is the long walk home?"
PROJECTIONS = {
    ("t5", "encoder"): "encoder.block.{}.layer.0.SelfAttention.o",
    ("t5", "decoder"): "decoder.block.{}.layer.0.SelfAttention.o",
    ("t5", "cross"): "decoder.block.{}.layer.1.EncDecAttention.o",
    ("bart", "encoder"): "encoder.layers.{}.self_attn.out_proj",
    ("bart", "decoder"): "decoder.layers.{}.self_attn.out_proj",
    ("bart", "cross"): "decoder.layers.{}.encoder_attn.out_proj",
}
both = pytest.mark.parametrize("name", ["t5", "bart"])


@both
def test_cross_attention_goes_from_the_target_to_the_source(
    name: str, folder_of: FolderOf, model_of: ModelOf
) -> None:
    trace = trace_text(model_of(name), SENTENCES[1], target=TARGET)
    cross, decoder = trace.of_type("cross"), trace.of_type("decoder")
    assert trace.attention_types == ("encoder", "decoder", "cross")
    assert cross.tokens == decoder.tokens == decoder.key_tokens
    assert cross.key_tokens == trace.tokens
    assert len(cross.tokens) != len(trace.tokens)
    assert [trace.causal, decoder.causal, cross.causal] == [False, True, False]
    layers, heads, queries, _ = cross.shape
    keys = len(cross.key_tokens)
    assert cross.keys.shape[2] == cross.values.shape[2] == keys
    assert cross.attention().shape == (layers, heads, queries, keys)
    network = transformers.AutoModel.from_pretrained(folder_of(name)).eval()
    source, target = (
        torch.tensor([[token.id for token in each.tokens]]) for each in (trace, decoder)
    )
    with torch.no_grad():
        own = network(input_ids=source, decoder_input_ids=target, output_hidden_states=True)
    assert decoder.hidden_states is not None
    states = torch.cat(own.decoder_hidden_states)
    np.testing.assert_allclose(decoder.hidden_states, states, atol=1e-4)
    assert cross.hidden_states is None


@both
def test_the_decoder_reads_its_target_one_token_late_as_in_training(
    name: str, folder_of: FolderOf, model_of: ModelOf
) -> None:
    folder = folder_of(name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    config = transformers.AutoConfig.from_pretrained(folder)
    network: Any = AutoModelForSeq2SeqLM.from_config(config)
    labels = tokenizer(text_target=TARGET, return_tensors="pt")["input_ids"]
    shifted = network.prepare_decoder_input_ids_from_labels(labels)[0].tolist()
    tokens = trace_text(model_of(name), SENTENCES[0], target=TARGET).of_type("decoder").tokens
    assert [token.id for token in tokens] == shifted
    assert [token.position for token in tokens] == list(range(len(tokens)))
    assert [token.display for token in tokens if not token.special][:2] == ["Whe", "r"]
    assert tokens[0].special


@both
def test_texts_of_a_corpus_go_through_the_encoder_alone(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    for text, trace in zip(SENTENCES, trace_corpus(model, SENTENCES), strict=True):
        alone = trace_text(model, text, target=TARGET)
        assert trace.attention_types == ("encoder",)
        np.testing.assert_allclose(trace.queries, alone.queries, atol=1e-5)


def test_a_target_that_is_too_long_is_cut_and_counted(model_of: ModelOf) -> None:
    model = model_of("bart")
    whole = trace_text(model, "Where?", target=TARGET).of_type("decoder")
    cut = trace_text(model, "Where?", max_tokens=5, target=TARGET).of_type("decoder")
    assert (len(cut.tokens), cut.dropped) == (5, len(whole.tokens) - 5)
    assert cut.tokens == whole.tokens[:5]


@pytest.mark.parametrize(("name", "kind"), PROJECTIONS)
def test_each_kind_has_its_own_output_projection(name: str, kind: Any, model_of: ModelOf) -> None:
    model = model_of(name)
    trace = trace_text(model, SENTENCES[0], target=TARGET).of_type(kind)
    weights, norms = output_projections(model, kind), transformed_norms(model, trace)
    assert weights is not None
    assert norms is not None
    for layer, projection in enumerate(weights):
        own = model.network.get_submodule(PROJECTIONS[name, kind].format(layer)).weight.detach()
        np.testing.assert_array_equal(torch.cat(tuple(projection)).T, own)
        written = np.einsum("hjd,hdw->hjw", trace.values[layer], projection)
        expected = np.linalg.norm(written, axis=-1)
        np.testing.assert_allclose(norms[layer], expected, rtol=1e-4, atol=1e-5)
