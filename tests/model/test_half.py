"""Checkpoints in half precision may stay so, and run on a graphics card: what that rounds off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel

from core.model import load, trace_corpus, trace_text
from core.model.capture import interface, watching
from core.model.capture.calls import Call
from core.model.errors import NoWeightsError, OutOfMemoryError, UnsupportedModelError
from core.model.language import next_words
from core.model.opening.weights import count_weights, number_type
from tests.model.families import FAMILIES, HEADS, LAYERS, SENTENCES, build, nightly
from tests.model.language.checkpoints import build_with_head
from tests.model.test_proof import _rewritten, _spoil, _with_longer_window

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import FolderOf, OracleOf

# Half the gap between 1 and the next number: what one rounding costs.
UNIT = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
TYPES = list(UNIT)
MAX_SCORE = 30  # of these networks
NAMES = ["bert", "modernbert", "gpt2", "llama", "gemma2", "gpt_oss", "bloom", "deberta-v2"]


def _half(name: str, dtype: torch.dtype, folder: Path) -> Path:
    return build(replace(FAMILIES[name], dtype=dtype), folder)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", nightly(NAMES, but={"bert", "gemma2", "gpt_oss", "bloom"}))
def test_a_network_in_half_precision_opens_and_its_attention_is_its_own(
    name: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    """Against transformers' eager attention in the same type; what is recorded is float32."""
    folder = _half(name, dtype, tmp_path)
    model = load(str(folder), half=True)
    assert model.number_type == str(dtype).removeprefix("torch.")
    weights = list(model.network.parameters())  # a few may need float32 beside float16
    own_type = sum(weight.numel() for weight in weights if weight.dtype == dtype)
    assert own_type > 0.9 * sum(weight.numel() for weight in weights)
    assert 0 < model.probe_error < 2 * UNIT[dtype] * (1 + MAX_SCORE)
    network = AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=dtype).eval()
    trace = trace_text(model, SENTENCES[1])
    assert {each.dtype for each in (trace.queries, trace.keys, trace.values)} == {np.dtype("f4")}
    ids = torch.tensor([[token.id for token in trace.tokens]])
    with torch.no_grad():
        own = torch.cat(network(input_ids=ids, output_attentions=True).attentions).float().numpy()
    tolerance = 2 * UNIT[dtype] * (1 + MAX_SCORE)
    np.testing.assert_allclose(trace.attention(), own, rtol=0, atol=tolerance)
    assert np.abs(trace.attention() - own).mean() < UNIT[dtype]


@pytest.mark.parametrize("name", ["bert", "llama", "bloom"])
def test_padded_batches_are_the_same_texts_in_half_precision(name: str, tmp_path: Path) -> None:
    model = load(str(_half(name, torch.bfloat16, tmp_path)), half=True)
    assert model.batches
    for text, trace in zip(SENTENCES, trace_corpus(model, SENTENCES), strict=True):
        alone = trace_text(model, text).attention()
        assert alone.shape[:2] == (LAYERS, HEADS)
        assert np.abs(trace.attention() - alone).mean() < UNIT[torch.bfloat16]


@pytest.mark.parametrize(("half", "dtype"), [(False, torch.bfloat16), (True, torch.float32)])
def test_only_a_half_checkpoint_and_only_when_asked_stays_so(
    half: bool, dtype: torch.dtype, tmp_path: Path
) -> None:
    model = load(str(_half("llama", dtype, tmp_path)), half=half)
    assert model.number_type == "float32"
    assert {weight.dtype for weight in model.network.parameters()} == {torch.float32}


def test_scores_of_order_hundred_pass_in_half_precision(tmp_path: Path) -> None:
    """They are rounded to whole numbers in bfloat16, so next to nothing is known of such rows."""
    folder = _half("mistral", torch.bfloat16, tmp_path)
    _rewritten(folder, "q_proj", lambda weight: 20 * weight)
    scores = trace_text(load(str(folder), half=True), SENTENCES[1]).scores(0)
    assert np.abs(scores[np.isfinite(scores)]).max() > 100


def _without_bias(call: Call) -> Call:
    """BLOOM without its ALiBi."""
    assert call.mask is not None
    return replace(call, mask=torch.where(call.mask.isfinite(), 0.0, call.mask))


WRONG: dict[str, Callable[[Call], Call]] = {
    "scaling": lambda call: replace(call, scaling=call.scaling * 1.1),
    "mask": _with_longer_window,
    "values": lambda call: replace(call, value=call.value.roll(1, dims=1)),
    "keys": lambda call: replace(call, key=call.key.roll(1, dims=2)),
    "bias": _without_bias,
}


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_rule_is_refused_in_half_precision_too(
    what: str, dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, module = ("bloom", watching) if what == "bias" else ("mistral", interface)
    folder = str(_half(name, dtype, tmp_path))
    _spoil(monkeypatch, WRONG[what], module)
    with pytest.raises(UnsupportedModelError, match="differs from the model's own"):
        load(folder, half=True)


def test_rounding_is_no_bias_in_a_watched_network(tmp_path: Path) -> None:
    """Megatron's BERT adds nothing to its scores, whatever bfloat16 rounds off."""
    megatron = replace(FAMILIES["bert"], kind="megatron-bert", dtype=torch.bfloat16)
    model = load(str(build(megatron, tmp_path)), half=True)
    assert (model.way, model.number_type) == ("watched", "bfloat16")
    trace = trace_text(model, SENTENCES[1])
    assert not any(layer.biased for layer in trace.layers)
    assert len({id(layer.mask) for layer in trace.layers}) == 1


def test_the_type_is_that_of_most_numbers(tmp_path: Path) -> None:
    many, few = torch.zeros(50), torch.zeros(3)
    cases = [
        ({"a": many.bfloat16(), "b": few}, "bfloat16"),
        ({"a": many.half(), "b": few.bfloat16(), "c": few}, "float16"),
        ({"a": many, "b": few.half()}, "float32"),
        ({"a": many.double()}, "float32"),
        ({"a": few.half(), "b": many.to(torch.float8_e4m3fn)}, "float32"),
    ]
    for place, (tensors, expected) in enumerate(cases):
        path = tmp_path / f"{place}.safetensors"
        save_file(tensors, path)
        assert number_type(count_weights([path])) == expected
    both = [tmp_path / "0.safetensors", tmp_path / "1.safetensors"]
    with pytest.raises(NoWeightsError, match="the same weights"):
        count_weights(both)


def test_half_precision_needs_half_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _half("llama", torch.bfloat16, tmp_path)
    count = sum(each.numel() for each in load_file(folder / "model.safetensors").values())
    monkeypatch.setattr("core.model.memory.available_bytes", lambda: 4 * count)
    with pytest.raises(OutOfMemoryError):
        load(str(folder))
    assert load(str(folder), half=True).number_type == "bfloat16"


def test_guesses_in_half_precision_are_those_of_float32_but_for_rounding(tmp_path: Path) -> None:
    network = build_with_head("llama", "LlamaForCausalLM", tmp_path, stir=0.3)
    network.to(torch.bfloat16).save_pretrained(tmp_path)
    coarse, fine = (
        {guess.id: guess.probability for guess in next_words(model, SENTENCES[1], count=400)}
        for model in (load(str(tmp_path), half=True), load(str(tmp_path)))
    )
    assert sum(coarse.values()) == pytest.approx(1, abs=1e-5)
    assert max(coarse, key=coarse.__getitem__) == max(fine, key=fine.__getitem__)
    assert max(abs(coarse[each] - fine[each]) for each in fine) < 0.1


CARD_TOLERANCE = 1e-4  # the card sums in another order

needs_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")


@needs_card
@pytest.mark.parametrize(
    "name", ["bert", "roberta", "modernbert", "gpt2", "llama", "mistral", "gemma2"]
)
def test_attention_on_the_card_agrees_with_the_cpu(
    name: str, folder_of: FolderOf, oracle_of: OracleOf
) -> None:
    """Alone, and in padded batches."""
    model = load(str(folder_of(name)))
    assert next(model.network.parameters()).is_cuda
    traces = [trace_text(model, SENTENCES[1]), *trace_corpus(model, list(SENTENCES))]
    for sentence, trace in zip((SENTENCES[1], *SENTENCES), traces, strict=True):
        expected = oracle_of(name).attention(sentence)
        np.testing.assert_allclose(trace.attention(), expected, rtol=0, atol=CARD_TOLERANCE)


@needs_card
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "mistral", "gemma2", "bloom"])
def test_half_precision_on_the_card_agrees_as_far_as_its_type_goes(
    name: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    """With transformers' own eager attention, on the card and in that type."""
    folder = _half(name, dtype, tmp_path)
    model = load(str(folder), half=True)
    weights = list(model.network.parameters())
    assert all(weight.is_cuda and weight.dtype == dtype for weight in weights)
    network = AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=dtype).cuda()
    ids = torch.tensor([model.tokenizer(SENTENCES[1])["input_ids"]], device="cuda")
    with torch.inference_mode():
        own = torch.cat(network.eval()(input_ids=ids, output_attentions=True).attentions)
    trace = trace_text(model, SENTENCES[1])
    tolerance = 50 * torch.finfo(dtype).eps  # of scores up to 50
    np.testing.assert_allclose(trace.attention(), own.float().cpu().numpy(), rtol=0, atol=tolerance)
