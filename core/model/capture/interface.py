"""The attention function that transformers calls by name for every model that asks for one.

It records its arguments and computes what the model's own module would: that module's
``eager_attention_forward``, or PyTorch's scaled-dot-product attention where the check at load
(:mod:`core.model.running.probe`) has shown that both give the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.model.capture.calls import Call, current_recorder, number_of_layer
from core.model.trace import default_scaling

if TYPE_CHECKING:
    import torch

    Attention = Callable[..., tuple[torch.Tensor, torch.Tensor]]

IMPLEMENTATION = "headscope"
_SINKS = ("s_aux", "sinks")  # what models call the learned sink of their heads


def register_attention() -> None:
    """Register ``attn_implementation=IMPLEMENTATION`` with transformers. Safe to repeat."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(IMPLEMENTATION, _attend)
    AttentionMaskInterface.register(IMPLEMENTATION, _mask)


def own_attention(module: torch.nn.Module) -> Attention:
    """The eager function defined next to an attention module's class, or to a base class of it.

    Raises
    ------
    LookupError
        When there is none.
    """
    for kind in type(module).__mro__:
        function = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if function is not None:
            return function  # type: ignore[no-any-return]
    raise LookupError(f"no eager attention beside {type(module).__name__}")


def _is_exact() -> bool:
    recorder = current_recorder()
    return recorder is None or recorder.exact


def _mask(*args: Any, **kwargs: Any) -> torch.Tensor | None:  # noqa: ANN401 - handed on
    """Additive for eager attention; for PyTorch's boolean, or None where a flag will do."""
    from transformers.masking_utils import eager_mask, sdpa_mask

    return eager_mask(*args, **kwargs) if _is_exact() else sdpa_mask(*args, **kwargs)


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **kwargs: Any,  # noqa: ANN401 - whatever a model passes is passed on
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Compute the call, changed by an intervention, and record it."""
    recorder = current_recorder()
    change = None if recorder is None else recorder.change
    if recorder is not None and change is not None:
        forbidden = change.forbidden(recorder.count)
        if forbidden is not None:
            attention_mask = _without(attention_mask, forbidden, query)
    weights: torch.Tensor | None = None
    if _is_exact():
        own = own_attention(module)
        output, weights = own(module, query, key, value, attention_mask, **kwargs)
    else:
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        output, _ = sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
    if recorder is None:
        return output, weights
    if change is not None:
        output = change.output(recorder.count, output)

    def call() -> Call:
        # As in sdpa_attention_forward, the flag decides on causality only if there is no mask.
        flag = kwargs.get("is_causal")
        flag = getattr(module, "is_causal", True) if flag is None else flag
        alone = attention_mask is None and query.shape[2] > 1
        scaling = kwargs.get("scaling")
        return Call(
            query,
            key,
            value,
            attention_mask,
            kwargs.get("position_bias"),
            causal=not recorder.exact and bool(flag) and alone,
            scaling=default_scaling(query.shape[-1]) if scaling is None else float(scaling),
            softcap=kwargs.get("softcap"),
            sink=_sink(kwargs, query.shape[1]),
            number=number_of_layer(),
        )

    recorder.note(call, output, weights)
    return output, weights


def _without(
    mask: torch.Tensor | None, forbidden: torch.Tensor, query: torch.Tensor
) -> torch.Tensor:
    """A model's additive mask, with the forbidden keys masked too."""
    lowest = query.new_tensor(float("-inf")).nan_to_num().item()
    if mask is None:
        mask = query.new_zeros(())
    return mask.masked_fill(forbidden, lowest)


def _sink(settings: dict[str, Any], heads: int) -> torch.Tensor | None:
    """The learned score per head, if any; the per-query sinks of some models do not count."""
    candidates = (settings[name] for name in _SINKS if settings.get(name) is not None)
    sink = next(candidates, None)
    return sink if sink is not None and sink.shape == (heads,) else None
