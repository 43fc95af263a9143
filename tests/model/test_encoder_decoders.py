"""Encoder-decoders: three kinds of attention in one pass, what their decoders read, and answer.

That each kind agrees with transformers' own attention, type by type, is in test_types_used_most.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, PreTrainedModel

from core.model import LoadedModel, load, trace_corpus, trace_text
from core.model.encoder_decoder import MAX_ANSWER, greedy_ids
from core.model.errors import UnsupportedModelError, WrongInputError
from core.model.text.languages import codes, own_languages
from core.model.weights.output_projection import output_projections, transformed_norms
from tests.conftest import FolderOf, ModelOf
from tests.model.families import SENTENCES
from tests.model.language.checkpoints import ANSWERING, build_with_head
from tests.model.translators import TRANSLATORS, build_translator

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


def shifted(network: PreTrainedModel, tokenizer: Any, text: str, target: str) -> list[int]:
    """What transformers' own decoder gets of the target in training."""
    labels = tokenizer(text_target=target, return_tensors="pt")["input_ids"]
    seen: list[Any] = []
    network.get_decoder().register_forward_pre_hook(
        lambda _, __, options: seen.append(options["input_ids"]), with_kwargs=True
    )
    with torch.no_grad():
        network(input_ids=tokenizer(text, return_tensors="pt")["input_ids"], labels=labels)
    ids: list[int] = seen[0][0].tolist()
    return ids


def answer(network: PreTrainedModel, tokenizer: Any, text: str, **options: int) -> list[int]:
    """Transformers' own greedy answer, without the end."""
    given = tokenizer(text, return_tensors="pt")["input_ids"]
    ids: list[int] = network.generate(  # type: ignore[operator]
        given, max_length=MAX_ANSWER, do_sample=False, num_beams=1, **options
    )[0].tolist()
    return ids[:-1] if ids[-1] == tokenizer.eos_token_id else ids


def rewrite(path: Path, **settings: Any) -> None:
    """Add settings to a file of JSON."""
    content = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(content | settings))


def read_ids(model: LoadedModel, text: str, target: str | None, languages: Any = None) -> list[int]:
    """What the decoder reads."""
    trace = trace_text(model, text, target=target, languages=languages)
    return [token.id for token in trace.of_type("decoder").tokens]


@both
def test_cross_attention_goes_from_the_target_to_the_source(
    name: str, folder_of: FolderOf, model_of: ModelOf
) -> None:
    """The decoder reads its target one token late, as in training."""
    trace = trace_text(model_of(name), SENTENCES[1], target=TARGET)
    cross, decoder = trace.of_type("cross"), trace.of_type("decoder")
    assert [each.attention_type for each in trace.others] == ["decoder", "cross"]
    arrays: list[pickle.PickleBuffer] = []
    pickle.dumps(trace, protocol=5, buffer_callback=arrays.append)
    assert trace.nbytes == sum(array.raw().nbytes for array in arrays)
    assert cross.tokens == decoder.tokens == decoder.key_tokens
    assert cross.key_tokens == trace.tokens
    assert len(cross.tokens) != len(trace.tokens)
    assert [trace.causal, decoder.causal, cross.causal] == [False, True, False]
    assert cross.attention().shape == (*cross.shape[:3], len(cross.key_tokens))
    network: Any = AutoModelForSeq2SeqLM.from_pretrained(folder_of(name)).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder_of(name))
    tokens = decoder.tokens
    assert [token.id for token in tokens] == shifted(network, tokenizer, SENTENCES[1], TARGET)
    assert [token.position for token in tokens] == list(range(len(tokens)))
    assert [token.display for token in tokens if not token.special][:2] == ["Whe", "r"]
    assert tokens[0].special
    source, target = (
        torch.tensor([[token.id for token in each.tokens]]) for each in (trace, decoder)
    )
    with torch.no_grad():
        own = network(input_ids=source, decoder_input_ids=target, output_hidden_states=True)
    assert decoder.hidden_states is not None
    states = torch.cat(own.decoder_hidden_states)
    np.testing.assert_allclose(decoder.hidden_states, states, atol=1e-4)
    assert cross.hidden_states is None
    (alone,) = trace_corpus(model_of(name), [SENTENCES[1]])  # through the encoder alone
    assert (alone.attention_type, alone.others) == ("encoder", ())
    np.testing.assert_allclose(alone.queries, trace.queries, atol=1e-5)
    cut = trace_text(model_of(name), "Where?", max_tokens=5, target=TARGET).of_type("decoder")
    assert (cut.tokens, cut.dropped) == (tokens[:5], len(tokens) - 5)


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


@pytest.mark.slow
@pytest.mark.parametrize("name", ANSWERING)
def test_an_answer_takes_the_likeliest_token_each_time(name: str, tmp_path: Path) -> None:
    settings = {"decoder_start_token_id": START, "tie_word_embeddings": False}
    network = build_with_head(name, ANSWERING[name], tmp_path, stir=0.5, **settings)
    model, tokenizer = load(str(tmp_path)), AutoTokenizer.from_pretrained(tmp_path)
    assert model.task == "answer"
    answers = []
    for text in SENTENCES[:2]:
        trace = trace_text(model, text).of_type("cross")
        answers.append([token.id for token in trace.tokens])
        assert answers[-1] == answer(network, tokenizer, text)
        assert trace.origin == "answer"
    assert len({*answers[0], *answers[1]}) > 5, "answers that say next to nothing prove nothing"
    assert answers[0] != answers[1]


def test_an_answer_obeys_the_tokens_that_its_settings_force_and_suppress(tmp_path: Path) -> None:
    build_with_head("bart", ANSWERING["bart"], tmp_path)

    def answered() -> list[int]:
        model = load(str(tmp_path))
        assert model.language_model is not None
        return greedy_ids(model.language_model, model.tokenizer(SENTENCES[0])["input_ids"], 6)

    plain = answered()
    rewrite(
        tmp_path / "config.json",
        suppress_tokens=sorted(set(plain[1:])),
        forced_bos_token_id=17,
        forced_eos_token_id=18,
    )
    ids = answered()
    assert (ids[0], ids[1], ids[-1]) == (START, 17, 18)
    assert not set(ids[2:-1]) & set(plain[1:])


# ---- translators --------------------------------------------------------------------------------

TEXT, SHORT_TARGET = "the cat sat", "the mat"


@pytest.mark.parametrize("kind", TRANSLATORS)
def test_a_translators_texts_are_in_the_languages_of_its_tokenizer_or_in_those_chosen(
    kind: str, tmp_path: Path
) -> None:
    network, (source, target, third) = build_translator(kind, tmp_path)
    model, tokenizer = load(str(tmp_path)), AutoTokenizer.from_pretrained(tmp_path)
    assert own_languages(model) == (source, target)
    ids = read_ids(model, TEXT, SHORT_TARGET)
    assert ids == shifted(network, tokenizer, TEXT, SHORT_TARGET)
    assert target in model.tokenizer.convert_ids_to_tokens(ids)
    assert {source, target, third} <= set(codes(model))
    own = AutoTokenizer.from_pretrained(tmp_path, src_lang=target, tgt_lang=third)
    ids = read_ids(model, TEXT, SHORT_TARGET, (target, third))
    assert ids == shifted(network, own, TEXT, SHORT_TARGET)
    trace = trace_text(model, TEXT, languages=(target, third))
    assert [token.id for token in trace.tokens] == own(TEXT)["input_ids"]
    plain = trace_text(model, TEXT)
    assert plain.tokens != trace.tokens, "the choice is for one text"
    assert source in model.tokenizer.convert_ids_to_tokens([token.id for token in plain.tokens])
    with pytest.raises(WrongInputError, match="has no language “xx_YY”"):
        trace_text(model, TEXT, languages=(source, "xx_YY"))


@pytest.mark.parametrize(
    ("kind", "file"),
    [*((kind, "generation_config.json") for kind in TRANSLATORS), ("nllb", "config.json")],
)
def test_an_answer_begins_with_the_language_that_the_settings_force(
    kind: str, file: str, tmp_path: Path
) -> None:
    network, (_, _, third) = build_translator(kind, tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    forced = tokenizer.convert_tokens_to_ids(third)
    rewrite(tmp_path / file, forced_bos_token_id=forced)
    model = load(str(tmp_path))
    assert own_languages(model) is not None
    assert own_languages(model)[1] == third  # type: ignore[index]
    expected = answer(network, tokenizer, TEXT, forced_bos_token_id=forced)
    assert expected[1] == forced
    assert read_ids(model, TEXT, None) == expected


def test_the_tokenizer_of_m2m100_is_none_of_the_fast_ones(tmp_path: Path) -> None:
    build_translator("nllb", tmp_path)
    rewrite(tmp_path / "tokenizer_config.json", tokenizer_class="M2M100Tokenizer")
    with pytest.raises(UnsupportedModelError, match="no fast tokenizer"):
        load(str(tmp_path))
