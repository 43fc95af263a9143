"""Scores of a few queries or keys, without computing any head's whole (token, token) matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.analysis.arrays import Indices
from core.model.trace import Array, Patches, Trace

CLS = "[CLS]"


def patches_of(trace: Trace) -> Patches:
    """The patches of an image's trace; `ValueError` for a text."""
    if trace.patches is None:  # what asks for them can say nothing of words
        raise ValueError("a text has no patches")
    return trace.patches


def cls_position(trace: Trace) -> int | None:
    """The position of the CLS token; None for models without one, such as siglip."""
    return next((each.position for each in trace.tokens if each.text == CLS), None)


def register_positions(trace: Trace) -> list[int]:
    """The positions of the registers."""
    return [each.position for each in trace.tokens if each.text.startswith("[REG")]


def scores_between(trace: Trace, layer: int, queries: Indices, keys: Indices) -> Array:
    """A layer's scores of these queries with these keys, float32 (head, query, key)."""
    rule = trace.layers[layer]
    chosen = trace.kv_keys[layer][:, keys].repeat(trace.group, axis=0)
    products = trace.queries[layer][:, queries] @ chosen.swapaxes(-1, -2)
    if rule.mask is not None:
        rule = replace(rule, mask=rule.mask[..., queries[:, None], keys])
    return rule.logits(products)


def attention_from(trace: Trace, layer: int, query: int) -> Array:
    """Attention of one query token to all keys in every head of a layer, float32 (head, key)."""
    everything = np.arange(len(trace.key_tokens))
    scores = scores_between(trace, layer, np.array([query]), everything)
    return trace.layers[layer].weights(scores)[:, 0]
