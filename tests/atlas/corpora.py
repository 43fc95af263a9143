"""Corpora of traces made by hand, from which atlases are built."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from core.atlas.engine.shard import ShardBuilder
from core.model.trace import Layer, Token, Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from core.atlas.engine.shard import Shard

    Texts = Sequence[str] | Mapping[int, str]

SCALING = 0.5


def read_words(text: str) -> tuple[Token, ...]:
    """One token a word of the text, after a token that is in no text."""
    first = Token("[CLS]", "[CLS]", 0, special=True, segment=0, position=0, word=-1)
    tokens, start = [first], 0
    for number, word in enumerate(text.split(" ")):
        own: dict[str, Any] = {
            "position": number + 1,
            "word": number,
            "span": (start, start + len(word)),
        }
        tokens.append(replace(first, text=word, display=word, id=1, special=False, **own))
        start += len(word) + 1
    return tuple(tokens)


def window_mask(size: int, *, causal: bool, window: int | None) -> NDArray[np.bool_]:
    """Which keys are permitted: none later if causal, none as far away as the window or farther."""
    i, j = np.indices((size, size))
    near = np.abs(i - j) < (window or size)
    return near & (j <= i) if causal else near


def trace_of(
    tokens: tuple[Token, ...],
    seed: int,
    *,
    layers: int = 2,
    heads: int = 4,
    kv_heads: int = 2,
    dim: int = 5,
    causal: bool = False,
    window: int | None = None,
) -> Trace:
    """Random queries and keys; the window is that of the last layer alone."""
    draw = np.random.default_rng(seed)
    size = len(tokens)
    # Keys away from the origin and of another size than queries, so that every stage differs.
    queries = draw.normal(size=(layers, heads, size, dim)).astype(np.float32)
    keys = (3 + 2 * draw.normal(size=(layers, kv_heads, size, dim))).astype(np.float32)
    rules = []
    for layer in range(layers):
        mask = window_mask(size, causal=causal, window=window if layer == layers - 1 else None)
        additive = None if mask.all() else np.where(mask, 0, -np.inf).astype(np.float32)
        rules.append(Layer(SCALING, additive))
    return Trace("by hand", tokens, queries, keys, keys.copy(), tuple(rules), causal)


def corpus_of(lengths: Sequence[int], **options: Any) -> list[Trace]:
    """One trace a length, with the options of `trace_of`; its words tell it from the others."""
    return [
        trace_of(
            read_words(" ".join(f"w{number}x{i}" for i in range(length - 1)))[:length],
            number,
            **options,
        )
        for number, length in enumerate(lengths)
    ]


def trace_part(
    index: int,
    traces: Iterable[tuple[int, Trace]],
    texts: Texts = (),
    labels: Texts = (),
) -> Shard | None:
    """The part of these traces, each with its sentence's number; None where there is none."""
    builder = ShardBuilder(index)
    for number, trace in traces:
        builder.add(number, trace)
    return builder.finish(texts, labels)
