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

from core.model import load, trace_corpus, trace_text
from core.model.errors import UnsupportedModelError
from core.model.weights.output_projection import output_projections, transformed_norms
from tests.model.families import SENTENCES
from tests.model.sweep.tiny import build

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import FolderOf

TARGET = "Where is the long walk home?"
NAMES = ("t5", "bart")


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def eager_pass(folder: Path, source: list[int], target: list[int]) -> Any:
    """Transformers' own pass, of a network that this project did not load."""
    network = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        return network(
            input_ids=torch.tensor([source]),
            decoder_input_ids=torch.tensor([target]),
            output_attentions=True,
            output_hidden_states=True,
        )


def test_cross_attention_goes_from_the_target_to_the_source(name: str, folder_of: FolderOf) -> None:
    trace = trace_text(load(str(folder_of(name))), SENTENCES[1], target=TARGET)
    cross, decoder = trace.of_type("cross"), trace.of_type("decoder")
    assert trace.attention_types == ("encoder", "decoder", "cross")
    assert cross.tokens == decoder.tokens == decoder.key_tokens
    assert cross.key_tokens == trace.tokens
    assert len(cross.tokens) != len(trace.tokens)
    assert [trace.causal, decoder.causal, cross.causal] == [False, True, False]
    layers, heads, queries, _ = cross.shape
    keys = len(cross.key_tokens)
    assert cross.keys.shape[2] == cross.values.shape[2] == keys
    source, target = ([token.id for token in each.tokens] for each in (trace, decoder))
    own = eager_pass(folder_of(name), source, target)
    assert cross.attention().shape == (layers, heads, queries, keys)
    np.testing.assert_allclose(cross.attention(), torch.cat(own.cross_attentions), atol=1e-5)
    np.testing.assert_allclose(decoder.attention(), torch.cat(own.decoder_attentions), atol=1e-5)
    np.testing.assert_allclose(trace.attention(), torch.cat(own.encoder_attentions), atol=1e-5)
    states = torch.cat(own.decoder_hidden_states)
    assert decoder.hidden_states is not None
    np.testing.assert_allclose(decoder.hidden_states, states, atol=1e-4)
    assert cross.hidden_states is None


def test_the_decoder_reads_its_target_one_token_late_as_in_training(
    name: str, folder_of: FolderOf
) -> None:
    folder = folder_of(name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    config = transformers.AutoConfig.from_pretrained(folder)
    network: Any = AutoModelForSeq2SeqLM.from_config(config)
    labels = tokenizer(text_target=TARGET, return_tensors="pt")["input_ids"]
    shifted = network.prepare_decoder_input_ids_from_labels(labels)[0].tolist()
    tokens = trace_text(load(str(folder)), SENTENCES[0], target=TARGET).of_type("decoder").tokens
    assert [token.id for token in tokens] == shifted
    assert [token.position for token in tokens] == list(range(len(tokens)))
    assert [token.display for token in tokens if not token.special][:2] == ["Whe", "r"]
    assert tokens[0].special


def test_texts_of_a_corpus_go_through_the_encoder_alone(name: str, folder_of: FolderOf) -> None:
    model = load(str(folder_of(name)))
    for text, trace in zip(SENTENCES, trace_corpus(model, SENTENCES), strict=True):
        alone = trace_text(model, text, target=TARGET)
        assert trace.attention_types == ("encoder",)
        np.testing.assert_allclose(trace.queries, alone.queries, atol=1e-5)


def test_a_target_that_is_too_long_is_cut_and_counted(folder_of: FolderOf) -> None:
    model = load(str(folder_of("bart")))
    whole = trace_text(model, "Where?", target=TARGET).of_type("decoder")
    cut = trace_text(model, "Where?", max_tokens=5, target=TARGET).of_type("decoder")
    assert (len(cut.tokens), cut.dropped) == (5, len(whole.tokens) - 5)
    assert cut.tokens == whole.tokens[:5]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_each_kind_has_its_own_output_projection(name: str, kind: Any, folder_of: FolderOf) -> None:
    model = load(str(folder_of(name)))
    trace = trace_text(model, SENTENCES[0], target=TARGET).of_type(kind)
    ending = {"t5": {"cross": "EncDecAttention.o"}, "bart": {"cross": "encoder_attn.out_proj"}}
    plain = {"t5": "SelfAttention.o", "bart": "self_attn.out_proj"}
    weights, norms = output_projections(model, kind), transformed_norms(model, trace)
    assert weights is not None
    assert norms is not None
    part = "encoder" if kind == "encoder" else "decoder"
    for layer, projection in enumerate(weights):
        end = ending[name].get(kind, plain[name])
        (own,) = [
            module.weight.detach()
            for path, module in model.network.named_modules()
            if path.startswith(part)
            and path.endswith(end)
            and f".{layer}." in path.split("layer.")[0]
        ]
        np.testing.assert_array_equal(torch.cat(tuple(projection)).T, own)
        written = np.einsum("hjd,hdw->hjw", trace.values[layer], projection)
        expected = np.linalg.norm(written, axis=-1)
        np.testing.assert_allclose(norms[layer], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["led", "t5gemma2", "musicgen"])
def test_what_cannot_be_followed_in_one_of_its_parts_is_refused(kind: str, tmp_path: Path) -> None:
    build(kind, tmp_path)
    with pytest.raises(
        UnsupportedModelError, match=r"cannot be captured|more or fewer tokens|cannot be built"
    ):
        load(str(tmp_path))
