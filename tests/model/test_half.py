"""Checkpoints in half precision may stay so, and run on a graphics card: what that rounds off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoModel

from core.model import load, trace_corpus, trace_text
from core.model.errors import NoWeightsError, OutOfMemoryError
from core.model.language import next_words
from core.model.opening.weights import count_weights, number_type
from tests.model.families import FAMILIES, HEADS, LAYERS, SENTENCES, build, nightly
from tests.model.language.checkpoints import build_with_head

if TYPE_CHECKING:
    from pathlib import Path


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
    """Against transformers' eager attention in the same type and place; recorded as float32."""
    folder = _half(name, dtype, tmp_path)
    model = load(str(folder), half=True)
    assert model.number_type == str(dtype).removeprefix("torch.")
    weights = list(model.network.parameters())  # a few may need float32 beside float16
    assert weights[0].is_cuda == torch.cuda.is_available()
    own_type = sum(weight.numel() for weight in weights if weight.dtype == dtype)
    assert own_type > 0.9 * sum(weight.numel() for weight in weights)
    assert 0 < model.probe_error < 2 * UNIT[dtype] * (1 + MAX_SCORE)
    network = AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=dtype).eval()
    network.to(weights[0].device)  # type: ignore[arg-type]
    trace = trace_text(model, SENTENCES[1])
    assert {each.dtype for each in (trace.queries, trace.keys, trace.values)} == {np.dtype("f4")}
    ids = torch.tensor([[token.id for token in trace.tokens]], device=weights[0].device)
    with torch.no_grad():
        attentions = network(input_ids=ids, output_attentions=True).attentions
    own = torch.cat(attentions).float().cpu().numpy()
    tolerance = 2 * UNIT[dtype] * (1 + MAX_SCORE)
    np.testing.assert_allclose(trace.attention(), own, rtol=0, atol=tolerance)
    assert np.abs(trace.attention() - own).mean() < UNIT[dtype]
    assert model.batches
    for text, padded in zip(SENTENCES, trace_corpus(model, SENTENCES), strict=True):
        alone = trace_text(model, text).attention()
        assert alone.shape[:2] == (LAYERS, HEADS)
        assert np.abs(padded.attention() - alone).mean() < UNIT[dtype]


@pytest.mark.parametrize(("half", "dtype"), [(False, torch.bfloat16), (True, torch.float32)])
def test_only_a_half_checkpoint_and_only_when_asked_stays_so_and_needs_half_the_memory(
    half: bool, dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(_half("llama", dtype, tmp_path))
    model = load(folder, half=half)
    assert model.number_type == "float32"
    weights = list(model.network.parameters())
    assert {weight.dtype for weight in weights} == {torch.float32}
    count = sum(weight.numel() for weight in weights)
    monkeypatch.setattr("core.model.memory.available_bytes", lambda: 4 * count)
    with pytest.raises(OutOfMemoryError):
        load(folder, half=half)
    if dtype == torch.bfloat16:
        assert load(folder, half=True).number_type == "bfloat16"


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
