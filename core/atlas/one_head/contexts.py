"""Contexts of a head from every tenth of its strength, and not its strongest ones alone.

The strongest contexts of a head look alike and mislead about what it does most of the time, so
these are drawn at random within each tenth, as HeadVis does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats, Indices
from core.analysis.pairs import permitted_somewhere
from core.atlas.data import Atlas
from core.model.trace import Array, Trace

DECILES = 10
MAX_TOKENS = 2000  # run again: a few seconds with the bundled model
MAX_SENTENCES = 120
_SEED = 0


@dataclass(frozen=True, eq=False)
class Contexts:
    """Query tokens of some sentences, and how strongly every head attends from each.

    Attributes
    ----------
    sentence, position : of each context's query token, (context,).
    strength : (layer, head, context), its largest attention to a key that counts.
    key : (layer, head, context), the position of that key.
    """

    sentence: Indices
    position: Indices
    strength: Array
    key: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Decile:
    """A tenth of a head's contexts by strength.

    Attributes
    ----------
    number : from 1, the weakest, to 10, the strongest.
    low, high : the strengths at its ends.
    size : how many contexts are in it.
    drawn : some of them, as indices of contexts, the strongest first.
    """

    number: int
    low: float
    high: float
    size: int
    drawn: Indices


def draw_sentences(atlas: Atlas, seed: int = _SEED) -> list[int]:
    """Random sentences of the atlas, ascending: up to `MAX_TOKENS` tokens, but at least one."""
    counts = np.bincount(atlas.tokens.sentence, minlength=len(atlas.sentences))
    order = np.random.default_rng(seed).permutation(np.flatnonzero(counts))[:MAX_SENTENCES]
    fitting = max(1, int((np.cumsum(counts[order]) <= MAX_TOKENS).sum()))
    return sorted(int(sentence) for sentence in order[:fitting])


def contexts_of(trace: Trace, sentence: int) -> Contexts:
    """Every query token that is not special and may attend to a key that counts.

    A key counts if it is neither the query token itself nor a special token, nor, in a causal
    model, the first token, where heads leave the attention that they have no use for.
    """
    counted = _counted(trace)
    positions = np.flatnonzero((counted & permitted_somewhere(trace)).any(axis=1))
    layers, heads = trace.shape[:2]
    strength = np.zeros((layers, heads, positions.size), dtype=np.float32)
    key = np.zeros((layers, heads, positions.size), dtype=np.int32)
    if positions.size:
        for layer in range(layers):
            rows = np.where(counted, trace.attention(layer), 0)[:, positions]
            strength[layer], key[layer] = rows.max(axis=-1), rows.argmax(axis=-1)
    return Contexts(np.full(positions.size, sentence, dtype=np.intp), positions, strength, key)


def _counted(trace: Trace) -> Bools:
    """Which pairs can make a context, whether permitted or not, (token, token)."""
    special = np.array([token.special for token in trace.tokens])
    keys = ~special
    if trace.causal:
        keys[:1] = False
    return ~special[:, None] & keys[None] & ~np.eye(special.size, dtype=np.bool_)


def join_contexts(parts: Sequence[Contexts]) -> Contexts:
    """The contexts of several sentences of one model, one after the other."""
    return Contexts(
        np.concatenate([part.sentence for part in parts]),
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.strength for part in parts], axis=-1),
        np.concatenate([part.key for part in parts], axis=-1),
    )


def draw_deciles(strength: Array | Floats, count: int, seed: int = _SEED) -> list[Decile]:
    """Up to `count` contexts from each tenth of the strengths (context,), strongest tenth first.

    Within a tenth each context is as likely as any other; `seed` fixes the draw. With fewer than
    ten contexts some tenths are empty, and left out.
    """
    generator = np.random.default_rng(seed)
    order = np.argsort(strength, kind="stable")
    deciles = []
    for number, members in enumerate(np.array_split(order, DECILES), start=1):
        if not members.size:
            continue
        chosen = generator.choice(members, min(count, members.size), replace=False)
        drawn = chosen[np.argsort(-strength[chosen], kind="stable")]
        low, high = float(strength[members[0]]), float(strength[members[-1]])
        deciles.append(Decile(number, low, high, members.size, drawn))
    return deciles[::-1]
