"""Checkpoints in bfloat16 and float16 may stay so: the check knows how coarse they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel

from core.model import load, trace_text
from core.model.capture import interface
from core.model.capture.calls import Call
from core.model.errors import UnsupportedModelError
from tests.model.families import FAMILIES, SENTENCES, build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Half the gap between 1 and the next number: what one rounding costs.
UNIT = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
TYPES = list(UNIT)
MAX_SCORE = 30  # of these networks


def _half(name: str, dtype: torch.dtype, folder: Path) -> Path:
    return build(replace(FAMILIES[name], dtype=dtype), folder)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(
    "name", ["bert", "modernbert", "gpt2", "llama", "gemma2", "gpt_oss", "bloom", "deberta-v2"]
)
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
    weights = load_file(folder / "model.safetensors")
    sharp = {name: 20 * each if "q_proj" in name else each for name, each in weights.items()}
    save_file(sharp, folder / "model.safetensors", metadata={"format": "pt"})
    model = load(str(folder), half=True)
    trace = trace_text(model, SENTENCES[1])
    scores = trace.scores(0)
    assert np.abs(scores[np.isfinite(scores)]).max() > 100


def _longer_window(call: Call) -> Call:
    """Each query sees one more token of the past."""
    assert call.mask is not None
    permitted = call.mask == 0
    permitted[..., :-1] |= permitted[..., 1:].clone()
    return replace(call, mask=torch.where(permitted, 0.0, torch.finfo(torch.float32).min))


WRONG: dict[str, Callable[[Call], Call]] = {
    "scaling": lambda call: replace(call, scaling=call.scaling * 1.1),
    "mask": _longer_window,
    "values": lambda call: replace(call, value=call.value.roll(1, dims=1)),
    "keys": lambda call: replace(call, key=call.key.roll(1, dims=2)),
}


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_rule_is_refused_in_half_precision_too(
    what: str, dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(_half("mistral", dtype, tmp_path))

    def spoilt(*tensors: torch.Tensor, **settings: object) -> Call:
        return WRONG[what](Call(*tensors, **settings))  # type: ignore[arg-type]

    monkeypatch.setattr(interface, "Call", spoilt)
    with pytest.raises(UnsupportedModelError, match="differs from the model's own"):
        load(folder, half=True)
