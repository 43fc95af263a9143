"""One head of an atlas: contexts from each decile of its strength, and its points as a file."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats, Indices
from core.analysis.pairs import permitted_somewhere
from core.atlas.data import Atlas
from core.model.trace import Array, Trace
from core.records import well_formed

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


def draw_sentences(atlas: Atlas) -> list[int]:
    """Random sentences of the atlas, ascending: up to `MAX_TOKENS` tokens, but at least one."""
    counts = np.bincount(atlas.tokens.sentence, minlength=len(atlas.sentences))
    order = np.random.default_rng(_SEED).permutation(np.flatnonzero(counts))[:MAX_SENTENCES]
    fitting = max(1, int((np.cumsum(counts[order]) <= MAX_TOKENS).sum()))
    return sorted(int(sentence) for sentence in order[:fitting])


def contexts_of(trace: Trace, sentence: int) -> Contexts:
    """Every query token that is not special and may attend to a key that counts.

    A key counts if it is neither the query token itself nor a special token nor, in a causal
    model, the first token, where heads put attention that they have no use for.
    """
    possible = _counted(trace)
    positions = np.flatnonzero((possible & permitted_somewhere(trace)).any(axis=1))
    layers, heads = trace.shape[:2]
    strength = np.zeros((layers, heads, positions.size), dtype=np.float32)
    key = np.zeros((layers, heads, positions.size), dtype=np.int32)
    if positions.size:
        for layer in range(layers):
            rows = np.where(possible, trace.attention(layer), 0)[:, positions]
            strength[layer], key[layer] = rows.max(axis=-1), rows.argmax(axis=-1)
    return Contexts(np.full(positions.size, sentence, dtype=np.intp), positions, strength, key)


def _counted(trace: Trace) -> Bools:
    """Which pairs can form a context, whether permitted or not, (token, token)."""
    special = np.array([token.special for token in trace.tokens])
    keys = ~special
    if trace.causal:
        keys[:1] = False
    return ~special[:, None] & keys[None] & ~np.eye(special.size, dtype=np.bool_)


def join_contexts(parts: Sequence[Contexts]) -> Contexts:
    """The contexts of several sentences of one model, one after the other."""
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return Contexts(*(np.concatenate(column, axis=-1) for column in columns))


def draw_deciles(strength: Array | Floats, count: int, seed: int = _SEED) -> list[Decile]:
    """Up to `count` contexts from each tenth of the strengths (context,), strongest tenth first.

    Within a tenth every context is equally likely; `seed` fixes the draw. With fewer than
    ten contexts some tenths are empty and left out.
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


ABOUT = b"headscope.points"  # metadata key under which the file describes itself, as JSON
EMBEDDING_ATLAS = "--x x --y y --text text"  # embedding-atlas's options that name the columns


def embedding_atlas_file(
    atlas: Atlas, tokens: Indices, points: Array, about: Mapping[str, Any]
) -> bytes:
    """The points (2 token, 2) of these tokens, queries first, as Parquet.

    Embedding Atlas opens it with the options `EMBEDDING_ATLAS`. It reads the file with pandas, and
    asks for the columns that the options name: two numbers and a text. Here they are `x`, `y` and
    `text`, the sentence with the token in brackets; `category` is "query" or "key". `about` is
    kept in the file's metadata.
    """
    own = np.tile(tokens, 2)
    sentence = atlas.tokens.sentence[own]
    columns: dict[str, Any] = {
        "text": [well_formed(_marked(atlas, int(token))) for token in own],
        "category": np.repeat(["query", "key"], tokens.size),
        "token": [well_formed(atlas.tokens.displays[i]) for i in own],
        "position": atlas.tokens.position[own] + 1,
        "sentence_number": sentence + 1,
        "sentence": [well_formed(atlas.sentences[i]) for i in sentence],
    }
    if atlas.labels:
        columns["label"] = [well_formed(atlas.labels[i]) for i in sentence]
    axes = {axis: points[:, i] for i, axis in enumerate("xy")}
    table = pa.table(columns | axes, metadata={ABOUT: json.dumps(about)})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _marked(atlas: Atlas, token: int) -> str:
    """The sentence with the token in brackets; a token outside the text is put before it."""
    text = atlas.sentences[int(atlas.tokens.sentence[token])]
    first, end = (int(place) for place in atlas.tokens.spans[token])
    if end <= first:
        return f"[{atlas.tokens.displays[token].strip('[]')}] {text}"
    return f"{text[:first]}[{text[first:end]}]{text[end:]}"
