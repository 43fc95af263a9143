"""The check at load: right rules pass however deep or sharp a model is, wrong ones are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from core.model import load, trace_text
from core.model.capture import interface, watching
from core.model.capture.calls import Call
from core.model.errors import UnsupportedModelError
from tests.model.families import FAMILIES, SENTENCES, build, changed, rewrite
from tests.model.oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import FolderOf, ModelOf

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


def test_key_biases_of_order_ten_only_cost_rounding(tmp_path: Path) -> None:
    folder = build(FAMILIES["qwen2"], tmp_path)
    rewrite(folder, changed("k_proj.bias", lambda bias: 10 * torch.randn_like(bias)))
    trace = trace_text(load(str(folder)), SENTENCES[1])
    expected = Oracle(folder).attention(SENTENCES[1])
    np.testing.assert_allclose(trace.attention(), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_scores_of_order_hundred_pass_and_a_window_one_token_too_long_does_not(
    dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In bfloat16 they are rounded to whole numbers, so next to nothing is known of such rows."""
    folder = build(replace(FAMILIES["mistral"], dtype=dtype), tmp_path)
    rewrite(folder, changed("q_proj", lambda weight: 20 * weight))
    trace = trace_text(load(str(folder), half=True), SENTENCES[1])
    scores = np.stack([trace.scores(layer) for layer in range(3)])
    assert np.abs(scores[np.isfinite(scores)]).max() > 100
    if dtype == torch.float32:
        expected = Oracle(folder).attention(SENTENCES[1])
        np.testing.assert_allclose(trace.attention(), expected, rtol=0, atol=1e-3)
        _assert_refused(folder, _with_longer_window, monkeypatch)


WRONG: dict[str, Change] = {
    "scaling": lambda call: replace(call, scaling=call.scaling * 1.001),
    "half scaling": lambda call: replace(call, scaling=call.scaling * 1.1),
    "mask": _with_longer_window,
    "sink": lambda call: replace(call, sink=call.sink + 0.1),  # type: ignore[operator]
    "values": lambda call: replace(call, value=call.value.roll(1, dims=1)),
    "keys": lambda call: replace(call, key=call.key.roll(1, dims=2)),
    "bias": _without_bias,
}


@pytest.mark.parametrize("what", ["scaling", "mask", "sink", "values"])
def test_a_rule_that_is_not_the_models_own_is_refused(
    what: str, folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    _assert_refused(folder_of("gpt_oss"), WRONG[what], monkeypatch)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("what", ["half scaling", "mask", "values", "keys", "bias"])
def test_a_wrong_rule_is_refused_in_half_precision_too(
    what: str, dtype: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, module = ("bloom", watching) if what == "bias" else ("mistral", interface)
    folder = build(replace(FAMILIES[name], dtype=dtype), tmp_path)
    _assert_refused(folder, WRONG[what], monkeypatch, module)


def test_a_text_that_a_network_attends_to_in_fewer_layers_than_others_is_refused(
    model_of: ModelOf,
) -> None:
    model = model_of("bert")
    with pytest.raises(UnsupportedModelError, match="another kind of attention"):
        trace_text(replace(model, order=(*model.order, "self")), SENTENCES[1])


@pytest.mark.parametrize(("name", "masks"), [("bloom", 1), ("deberta-v2", 3)])
def test_watched_layers_share_what_is_added_to_their_scores_if_it_is_the_same(
    name: str, masks: int, model_of: ModelOf
) -> None:
    """ALiBi is one for all layers; what DeBERTa adds depends on each layer's queries and keys."""
    trace = trace_text(model_of(name), SENTENCES[1])
    assert len({id(layer.mask) for layer in trace.layers}) == masks
