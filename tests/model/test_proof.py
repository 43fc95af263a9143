"""The check at load: right rules pass however deep or sharp a model is, wrong ones are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoModel

from core.model import load, trace_corpus, trace_text
from core.model.capture import interface, watching
from core.model.capture.calls import Call
from core.model.errors import NoWeightsError, OutOfMemoryError, UnsupportedModelError
from core.model.language import next_words
from core.model.opening.weights import count_weights, number_type
from tests.model.families import (
    FAMILIES,
    HEADS,
    LAYERS,
    SENTENCES,
    build,
    changed,
    nightly,
    rewrite,
)
from tests.model.language.checkpoints import build_with_head
from tests.model.oracle import Oracle

Change = Callable[[Call], Call]


def _assert_refused(
    folder: Path, change: Change, monkeypatch: pytest.MonkeyPatch, module: Any = interface
) -> None:
    """When each call is recorded changed, in the way of that module."""

    def spoilt(*tensors: torch.Tensor, **settings: object) -> Call:
        return change(Call(*tensors, **settings))  # type: ignore[arg-type]

    monkeypatch.setattr(module, "Call", spoilt)
    with pytest.raises(UnsupportedModelError, match="differs from the model's own"):
        load(str(folder), half=True)


def _with_longer_window(call: Call) -> Call:
    """Each query sees one more token of the past."""
    assert call.mask is not None
    permitted = call.mask == 0
    permitted[..., :-1] |= permitted[..., 1:].clone()
    lowest = torch.finfo(torch.float32).min
    return replace(call, mask=torch.where(permitted, 0.0, lowest))


def _without_bias(call: Call) -> Call:
    """BLOOM without its ALiBi."""
    assert call.mask is not None
    return replace(call, mask=torch.where(call.mask.isfinite(), 0.0, call.mask))


def test_a_deep_model_opens(tmp_path: Path) -> None:
    """Its layers agree one by one, although two whole passes drift apart."""
    model = load(str(build(FAMILIES["llama"], tmp_path, num_hidden_layers=64)))
    assert model.layers == 64
    assert model.probe_error < 1e-5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("name", "part", "factor"), [("qwen2", "k_proj.bias", 100), ("mistral", "q_proj", 20)]
)
def test_scores_of_order_hundred_pass_and_a_window_one_token_too_long_does_not(
    name: str,
    part: str,
    factor: int,
    dtype: torch.dtype,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rounded to whole numbers in bfloat16, so next to nothing is known of such rows."""
    folder = build(replace(FAMILIES[name], dtype=dtype), tmp_path)
    rewrite(folder, changed(part, lambda weight: factor * weight))
    trace = trace_text(load(str(folder), half=True), SENTENCES[1])
    scores = np.stack([trace.scores(layer) for layer in range(LAYERS)])
    assert np.abs(scores[np.isfinite(scores)]).max() > 50
    if dtype == torch.float32:
        expected = Oracle(folder).attention(SENTENCES[1])
        np.testing.assert_allclose(trace.attention(), expected, rtol=0, atol=1e-3)
    if (name, dtype) == ("mistral", torch.float32):
        _assert_refused(folder, _with_longer_window, monkeypatch)


# Wrong by the first amount in a model in float32, by the second in half precision.
WRONG: dict[str, Callable[[Call], Call]] = {
    "scaling": lambda call: replace(call, scaling=call.scaling * (1 + _amount(call, 0.001, 0.1))),
    "mask": _with_longer_window,
    "sink": lambda call: replace(call, sink=call.sink + _amount(call, 0.1, 1)),  # type: ignore[operator]
    "values": lambda call: replace(call, value=call.value.roll(1, dims=1)),
    "keys": lambda call: replace(call, key=call.key.roll(1, dims=2)),
    "bias": _without_bias,
}


def _amount(call: Call, single: float, half: float) -> float:
    return single if call.query.dtype == torch.float32 else half


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("what", WRONG)
def test_a_rule_that_is_not_the_models_own_is_refused(
    what: str, dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = {"bias": "bloom", "sink": "gpt_oss"}.get(what, "mistral")
    folder = build(replace(FAMILIES[name], dtype=dtype), tmp_path)
    _assert_refused(folder, WRONG[what], monkeypatch, watching if what == "bias" else interface)


@pytest.mark.parametrize(
    ("kind", "masks", "dtype"),
    [
        ("bloom", 1, torch.float32),
        ("deberta-v2", 3, torch.float32),
        ("megatron-bert", 1, torch.bfloat16),  # adds nothing, whatever is rounded off
    ],
)
def test_watched_layers_share_what_is_added_to_their_scores_if_it_is_the_same(
    kind: str, masks: int, dtype: torch.dtype, tmp_path: Path
) -> None:
    """ALiBi is one for all layers; what DeBERTa adds depends on each layer's queries and keys."""
    family = FAMILIES.get(kind, replace(FAMILIES["bert"], kind=kind))
    model = load(str(build(replace(family, dtype=dtype), tmp_path)), half=True)
    assert (model.way, model.number_type) == ("watched", str(dtype).removeprefix("torch."))
    trace = trace_text(model, SENTENCES[1])
    assert len({id(layer.mask) for layer in trace.layers}) == masks
    assert any(layer.biased for layer in trace.layers) == (kind != "megatron-bert")


# ---- checkpoints in half precision may stay so, also on a graphics card ------------------------

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
