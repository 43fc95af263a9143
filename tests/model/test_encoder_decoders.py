"""Encoder-decoders: three kinds of attention in one pass, what their decoders read, and answer.

That each kind agrees with transformers' own attention, type by type, is in test_types_used_most.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
import transformers
from transformers import AutoModelForSeq2SeqLM

from core.model import LoadedModel, load, trace_corpus, trace_text
from core.model.encoder_decoder import MAX_ANSWER, greedy_ids
from core.model.weights.output_projection import output_projections, transformed_norms
from tests.model.families import SENTENCES
from tests.model.language.checkpoints import ANSWERING, build_with_head

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedModel

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


START = 2


def opened(folder: Path, **settings: Any) -> LoadedModel:
    """The model in a folder, with `settings` added to its config.json."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    model = load(str(folder))
    assert model.task == "answer"
    return model


def answered(model: LoadedModel, text: str, count: int = 6) -> list[int]:
    assert model.language_model is not None
    return greedy_ids(model.language_model, model.tokenizer(text)["input_ids"], count)


def one_by_one(network: PreTrainedModel, ids: list[int], count: int, end: int) -> list[int]:
    """A whole pass for each token; `end` ends the answer."""
    written = [START]
    while len(written) < count and (len(written) == 1 or written[-1] != end):
        with torch.no_grad():
            logits = network(
                input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([written])
            ).logits
        written.append(int(logits[0, -1].argmax()))
    return written


@pytest.mark.slow
@pytest.mark.parametrize("name", ANSWERING)
def test_an_answer_takes_the_likeliest_token_each_time(name: str, tmp_path: Path) -> None:
    network = build_with_head(
        name,
        ANSWERING[name],
        tmp_path,
        stir=0.5,
        decoder_start_token_id=START,
        tie_word_embeddings=False,
    )
    model = opened(tmp_path, decoder_start_token_id=START)
    end = network.config.eos_token_id
    answers = []
    for text in SENTENCES[:2]:
        expected = one_by_one(network, model.tokenizer(text)["input_ids"], MAX_ANSWER, end)
        trace = trace_text(model, text).of_type("cross")
        ids = [token.id for token in trace.tokens]
        assert ids == (expected[:-1] if expected[-1] == end else expected)
        assert trace.origin == "answer"
        answers.append(ids)
    assert len({*answers[0], *answers[1]}) > 5, "answers that say next to nothing prove nothing"
    assert answers[0] != answers[1]


def test_an_answer_obeys_the_tokens_that_its_settings_force_and_suppress(tmp_path: Path) -> None:
    build_with_head("bart", ANSWERING["bart"], tmp_path)
    plain = answered(opened(tmp_path), SENTENCES[0])
    settings = {"forced_bos_token_id": 17, "forced_eos_token_id": 18}
    forced = opened(tmp_path, suppress_tokens=sorted(set(plain[1:])), **settings)
    ids = answered(forced, SENTENCES[0])
    assert (ids[0], ids[1], ids[-1]) == (START, 17, 18)
    assert not set(ids[2:-1]) & set(plain[1:])
