"""The check at load: right rules pass however deep or sharp a model is, wrong ones are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from core.model import load, trace_text
from core.model.capture import interface
from core.model.capture.calls import Call
from core.model.errors import UnsupportedModelError
from core.model.trace import Layer
from tests.model.families import FAMILIES, SENTENCES, build, rewrite
from tests.model.oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import FolderOf, ModelOf

    Change = Callable[[Call], Call]


def _rewritten(folder: Path, part: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Path:
    """The folder, with every weight whose name contains `part` changed."""
    return rewrite(
        folder,
        lambda weights: {
            name: change(each).contiguous() if part in name else each
            for name, each in weights.items()
        },
    )


def _sharp(folder: Path) -> Path:
    """A Mistral with scores of order 100, and a window of four tokens."""
    return _rewritten(build(FAMILIES["mistral"], folder), "q_proj", lambda weight: 20 * weight)


def _spoil(monkeypatch: pytest.MonkeyPatch, change: Change, module: Any = interface) -> None:
    """Record each call changed, in the way of that module."""

    def spoilt(*tensors: torch.Tensor, **settings: object) -> Call:
        return change(Call(*tensors, **settings))  # type: ignore[arg-type]

    monkeypatch.setattr(module, "Call", spoilt)


def _with_longer_window(call: Call) -> Call:
    """Each query sees one more token of the past."""
    assert call.mask is not None
    permitted = call.mask == 0
    permitted[..., :-1] |= permitted[..., 1:].clone()
    lowest = torch.finfo(torch.float32).min
    return replace(call, mask=torch.where(permitted, 0.0, lowest))


def test_a_deep_model_opens(tmp_path: Path) -> None:
    """Its layers agree one by one, although two whole passes drift apart."""
    llama = FAMILIES["llama"]
    deep = replace(llama, settings=llama.settings | {"num_hidden_layers": 64})
    model = load(str(build(deep, tmp_path)))
    assert model.layers == 64
    assert model.probe_error < 1e-5


def test_key_biases_of_order_ten_only_cost_rounding(tmp_path: Path) -> None:
    folder = build(FAMILIES["qwen2"], tmp_path)
    _rewritten(folder, "k_proj.bias", lambda bias: 10 * torch.randn_like(bias))
    trace = trace_text(load(str(folder)), SENTENCES[1])
    expected = Oracle(folder).attention(SENTENCES[1])
    np.testing.assert_allclose(trace.attention(), expected, rtol=0, atol=1e-4)


def test_scores_of_order_hundred_pass(tmp_path: Path) -> None:
    folder = _sharp(tmp_path)
    trace = trace_text(load(str(folder)), SENTENCES[1])
    scores = np.stack([trace.scores(layer) for layer in range(3)])
    assert np.abs(scores[np.isfinite(scores)]).max() > 100
    expected = Oracle(folder).attention(SENTENCES[1])
    np.testing.assert_allclose(trace.attention(), expected, rtol=0, atol=1e-3)


def test_a_window_one_token_too_long_is_refused_even_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _spoil(monkeypatch, _with_longer_window)
    with pytest.raises(UnsupportedModelError, match="differs from the model's own"):
        load(str(_sharp(tmp_path)))


WRONG: dict[str, Change] = {
    "scaling": lambda call: replace(call, scaling=call.scaling * 1.001),
    "mask": _with_longer_window,
    "sink": lambda call: replace(call, sink=call.sink + 0.1),  # type: ignore[operator]
    "values": lambda call: replace(call, value=call.value.roll(1, dims=1)),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_rule_that_is_not_the_models_own_is_refused(
    what: str, folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    _spoil(monkeypatch, WRONG[what])
    with pytest.raises(UnsupportedModelError, match="differs from the model's own"):
        load(str(folder_of("gpt_oss")))


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


def test_a_sink_is_one_more_column_of_the_softmax() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(2, 3, 4)).astype(np.float32)
    sinks = np.array([5.0, -1.0], np.float32)
    column = np.broadcast_to(sinks[:, None, None], (2, 3, 1))
    exponents = np.exp(np.concatenate([scores, column], axis=-1))
    expected = (exponents / exponents.sum(axis=-1, keepdims=True))[..., :-1]
    rule = Layer(1.0, None, sink=sinks)
    np.testing.assert_allclose(rule.weights(scores.copy()), expected, rtol=1e-5)
    np.testing.assert_allclose(rule.weights(scores[1].copy(), 1), expected[1], rtol=1e-5)
