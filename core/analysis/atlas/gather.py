"""What is collected from the traces of a corpus, one after the other, to make an atlas of."""

from __future__ import annotations

import contextlib
import ctypes
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.atlas.blocks import unusual_masks
from core.analysis.atlas.data import CorpusVectors, Positions
from core.analysis.head_patterns.similarity import Distances, add_distances, head_distances

if TYPE_CHECKING:
    from core.analysis.atlas.data import Masks
    from core.model.trace import Array, Layer, Token, Trace

MAX_POSITIONS = 32  # in the view by position; later ones are not averaged
COMPARED_EVERY = 5  # tokens: heads are compared on every fifth
_FREE_EVERY = 2**26  # bytes of sentences' vectors, after which memory goes back to the system
_COMPARED_TOGETHER = 64  # rows of attention


@dataclass(eq=False)
class Gathered:
    """What has been collected so far, by each sentence's place in the corpus."""

    model: str = ""
    causal: bool = False
    tokens: dict[int, tuple[Token, ...]] = field(default_factory=dict)
    queries: dict[int, Array] = field(default_factory=dict)  # (layer, head, token, dim)
    kv_keys: dict[int, Array] = field(default_factory=dict)
    masks: dict[int, Masks] = field(default_factory=dict)  # where they are not the usual
    rules: tuple[Layer, ...] = ()  # how each layer scales and caps its scores, without a mask
    layer_numbers: tuple[int, ...] = ()  # as people read them
    depth: int | None = None  # of the model, in layers
    positions: Positions | None = None
    distances: Distances | None = None
    dropped: int = 0
    cut_characters: int = 0
    rows: list[Array] = field(default_factory=list)  # of attention to compare, (head, row, key)
    before: int = 0  # tokens gathered elsewhere, which decide on which of these heads are compared
    count: int = 0  # tokens gathered so far

    def copy(self) -> Gathered:
        """An independent copy; vectors, which never change, are shared."""
        values = {each.name: copy(getattr(self, each.name)) for each in fields(self)}
        if self.positions is not None:
            values["positions"] = Positions(
                self.positions.sums.copy(), self.positions.counts.copy()
            )
        return Gathered(**values)


def gather_trace(into: Gathered, place: int, trace: Trace) -> None:
    """Add the trace of the sentence at that place."""
    into.model, into.causal = trace.model, trace.causal
    into.rules = tuple(replace(rule, mask=None) for rule in trace.layers)
    into.layer_numbers = trace.numbers
    into.depth = max(trace.depth or 0, trace.numbers[-1])
    into.tokens[place] = trace.tokens
    into.queries[place], into.kv_keys[place] = trace.queries, trace.kv_keys
    into.dropped += trace.dropped
    into.cut_characters += trace.cut_characters
    masks = unusual_masks(trace)
    if masks is not None:
        into.masks[place] = masks
    _add_attention(into, trace)
    into.count += len(trace.tokens)


def finish_comparison(into: Gathered) -> Distances:
    """Compare the rows that are waiting; returns the distances between all heads."""
    assert into.distances is not None  # noqa: S101 - a corpus has a sentence
    if any(part.shape[1] for part in into.rows):
        longest = max(part.shape[2] for part in into.rows)
        # Zeros on padded keys make no difference between heads.
        padded = [
            np.pad(part, ((0, 0), (0, 0), (0, longest - part.shape[2]))) for part in into.rows
        ]
        rows = np.concatenate(padded, axis=1)
        added = Distances(head_distances(rows) * rows.shape[1], rows.shape[1], 0)
        into.distances = add_distances([into.distances, added])
    into.rows.clear()
    return replace(into.distances, tokens=into.count)


def cut_settings(dropped: int, cut_characters: int) -> dict[str, str | int]:
    """The settings that say how much of the texts was cut: characters only where there are any."""
    characters = {"characters_cut": cut_characters} if cut_characters else {}
    return {"tokens_cut": dropped, **characters}


def take_vectors(gathered: Gathered) -> CorpusVectors:
    """The vectors of all sentences in the order of their places, moved out of `gathered`."""
    return CorpusVectors(_joined(gathered.queries), _joined(gathered.kv_keys))


def _add_attention(into: Gathered, trace: Trace) -> None:
    layers, heads, tokens, _ = trace.shape
    shown = min(tokens, MAX_POSITIONS)
    if into.positions is None:
        square = (MAX_POSITIONS, MAX_POSITIONS)
        into.positions = Positions(np.zeros((layers, heads, *square)), np.zeros(square))
        into.distances = Distances(np.zeros((layers * heads,) * 2), 0, 0)
    into.positions.counts[:shown, :shown] += 1
    compared = np.arange(-(into.before + into.count) % COMPARED_EVERY, tokens, COMPARED_EVERY)
    wanted = np.union1d(np.arange(shown), compared)
    rows = []
    for layer in range(layers):
        attention = trace.layers[layer].weights(trace.scores(layer)[:, wanted])
        into.positions.sums[layer, :, :shown, :shown] += attention[:, :shown, :shown]
        rows.append(attention[:, np.searchsorted(wanted, compared)])
    into.rows.append(np.concatenate(rows))
    if sum(part.shape[1] for part in into.rows) >= _COMPARED_TOGETHER:
        finish_comparison(into)


def _joined(parts: dict[int, Array]) -> Array:
    """Joined along the tokens; each part is dropped once copied, so nothing is held twice."""
    freed = end = 0
    first = next(iter(parts.values()))
    total = sum(part.shape[2] for part in parts.values())
    joined = np.empty((*first.shape[:2], total, first.shape[3]), dtype=np.float32)
    for place in sorted(parts):
        part = parts.pop(place)
        start, end = end, end + part.shape[2]
        joined[:, :, start:end] = part
        freed += part.nbytes
        if freed > _FREE_EVERY:
            del part
            freed = 0
            with contextlib.suppress(OSError, AttributeError, TypeError):  # glibc alone hoards
                ctypes.CDLL(None).malloc_trim(0)
    joined.setflags(write=False)
    return joined
