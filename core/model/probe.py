"""The check that lets every page say "this is the model's attention"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.model.capture import IMPLEMENTATION, layer_rules, recording, stack_call_arrays
from core.model.checks.vocabulary import check_ids
from core.model.errors import UnsupportedModelError
from core.model.trace import Array, Trace

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

PROBE_TEXT = "The quick brown fox jumps over the lazy dog, and nobody minds."
PROBE_TOLERANCE = 1e-5


def probe(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> tuple[Trace, float]:
    """Run a short sentence both ways and compare every attention weight of every layer.

    Returns the trace of the sentence, without its tokens, and the largest difference.

    Raises
    ------
    UnsupportedModelError
        When nothing is recorded, or the recomputed attention differs from the model's own eager
        attention by more than `PROBE_TOLERANCE`.
    """
    import torch

    inputs = {
        key: value.to(network.device)
        for key, value in tokenizer(PROBE_TEXT, return_tensors="pt").items()
        if key in {"input_ids", "attention_mask"}
    }
    check_ids(network, inputs["input_ids"][0].tolist())
    with torch.inference_mode(), recording() as calls:
        network(**inputs)
    if not calls:
        raise UnsupportedModelError(
            f"The attention of {{name}} ({network.config.model_type}) cannot be captured:"
            " the model does not use transformers' attention interface.",
        )
    keep = np.arange(calls[0].query.shape[2])
    try:
        arrays = stack_call_arrays(calls, 0, keep)
    except ValueError as error:
        raise UnsupportedModelError(f"{{name}} cannot be shown: its {error}.") from error
    trace = Trace("", (), *arrays, layer_rules(calls, 0, keep), causal=False)
    difference = _largest_difference(trace, _eager_attentions(network, inputs))
    if not difference <= PROBE_TOLERANCE:  # also for "not a number"
        raise UnsupportedModelError(
            f"The attention of {{name}} ({network.config.model_type}) recomputed from its queries"
            f" and keys differs from the model's own by {difference:.1g}"
            f" (at most {PROBE_TOLERANCE:.0e} is accepted).",
        )
    return trace, difference


def _eager_attentions(network: PreTrainedModel, inputs: dict[str, torch.Tensor]) -> list[Array]:
    """The model's own attention: one float32 (head, token, token) array per layer."""
    import torch

    try:
        network.set_attn_implementation("eager")
        with torch.inference_mode():
            output = network(**inputs, output_attentions=True)
        return [weights[0].float().cpu().numpy() for weights in output.attentions]
    except (ValueError, TypeError, AttributeError) as error:
        raise UnsupportedModelError(
            f"{{name}} does not return its own attention to compare with ({type(error).__name__}).",
        ) from error
    finally:
        network.set_attn_implementation(IMPLEMENTATION)


def _largest_difference(trace: Trace, eager: list[Array]) -> float:
    layers, heads, tokens, _ = trace.shape
    if len(eager) != layers or any(each.shape != (heads, tokens, tokens) for each in eager):
        raise UnsupportedModelError(
            f"{{name}} records {layers} layers of {heads} heads but returns the attention of"
            f" {len(eager)} layers of another shape.",
        )
    differences = [np.abs(trace.attention(layer) - own).max() for layer, own in enumerate(eager)]
    return float(np.max(differences))  # unlike max(), it does not ignore "not a number"
