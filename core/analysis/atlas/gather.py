"""What is taken from the traces of a corpus, one after the other, before an atlas is made of it."""

from __future__ import annotations

import contextlib
import ctypes
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.atlas.blocks import unusual_masks
from core.analysis.atlas.data import CorpusVectors, Positions
from core.analysis.head_patterns.similarity import Distances, head_distances
from core.model.trace import softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas.data import Masks
    from core.model.trace import Array, Layer, Token, Trace

    Floats = NDArray[np.float64]

MAX_POSITIONS = 32  # of the view by position: what comes later in a sentence is not averaged
COMPARED_EVERY = 5  # tokens: heads are compared on every fifth
_LET_GO_BYTES = 2**26  # of sentences' vectors, after which memory is given back
_ROWS_AT_ONCE = 64  # rows of attention that are compared together


@dataclass(eq=False)
class Gathered:
    """What is known so far, by the sentence's place in the corpus.

    Attributes
    ----------
    queries, kv_keys : float32 (layer, head, token, dim) of each sentence.
    masks : what layers permit, of the sentences where that is not the usual.
    rules : how each layer scales and caps its scores, without a mask.
    rows : attention of all heads to tokens that are yet to be compared, (head, row, key) each.
    before : tokens of the corpus that were gathered elsewhere before these, which decides on which
        of these heads are compared.
    count : tokens gathered so far.
    """

    model: str = ""
    causal: bool = False
    tokens: dict[int, tuple[Token, ...]] = field(default_factory=dict)
    queries: dict[int, Array] = field(default_factory=dict)
    kv_keys: dict[int, Array] = field(default_factory=dict)
    masks: dict[int, Masks] = field(default_factory=dict)
    rules: tuple[Layer, ...] = ()
    positions: Positions | None = None
    distances: Distances | None = None
    dropped: int = 0
    cut_characters: int = 0
    rows: list[Array] = field(default_factory=list)
    before: int = 0
    count: int = 0

    def copy(self) -> Gathered:
        """The same once more: what is added to either, or taken from it, the other does not see."""
        own = {
            each.name: copy(getattr(self, each.name))
            for each in fields(self)
            if each.name != "positions"
        }
        if self.positions is not None:
            own["positions"] = Positions(self.positions.sums.copy(), self.positions.counts.copy())
        return Gathered(**own)


def gather_trace(into: Gathered, place: int, trace: Trace) -> None:
    """Add the trace of the sentence at that place."""
    into.model, into.causal = trace.model, trace.causal
    into.rules = tuple(replace(rule, mask=None) for rule in trace.layers)
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
    """Compare the rows that wait, and give the distances of all heads."""
    if any(part.shape[1] for part in into.rows):
        longest = max(part.shape[2] for part in into.rows)
        # Keys of no attention make no difference between heads.
        rows = np.concatenate([_wider(part, longest) for part in into.rows], axis=1)
        found = head_distances(rows) * rows.shape[1]
        compared = rows.shape[1]
        if into.distances is not None:
            found, compared = found + into.distances.sums, compared + into.distances.compared
        into.distances = Distances(found, compared, into.count)
    into.rows.clear()
    if into.distances is None:  # a few tokens, all of them between those that are compared
        assert into.positions is not None  # noqa: S101 - a corpus has a sentence
        heads = int(np.prod(into.positions.sums.shape[:2]))
        into.distances = Distances(np.zeros((heads, heads)), 0, into.count)
    return Distances(into.distances.sums, into.distances.compared, into.count)


def cut_settings(dropped: int, cut_characters: int) -> dict[str, str | int]:
    """What an atlas tells of texts that were cut: characters only where there were any."""
    settings: dict[str, str | int] = {"tokens_cut": dropped}
    if cut_characters:
        settings["characters_cut"] = cut_characters
    return settings


def take_vectors(into: Gathered) -> CorpusVectors:
    """The vectors of all sentences in the order of their places; `into` gives them away."""
    return CorpusVectors(_joined(into.queries), _joined(into.kv_keys))


def _add_attention(into: Gathered, trace: Trace) -> None:
    layers, heads, tokens, _ = trace.shape
    shown = min(tokens, MAX_POSITIONS)
    if into.positions is None:
        size = MAX_POSITIONS
        into.positions = Positions(np.zeros((layers, heads, size, size)), np.zeros((size, size)))
    into.positions.counts[:shown, :shown] += 1
    compared = np.arange(-(into.before + into.count) % COMPARED_EVERY, tokens, COMPARED_EVERY)
    wanted = np.union1d(np.arange(shown), compared)
    rows = []
    for layer in range(layers):
        attention = softmax(trace.scores(layer)[:, wanted])
        into.positions.sums[layer, :, :shown, :shown] += attention[:, :shown, :shown]
        rows.append(attention[:, np.searchsorted(wanted, compared)])
    into.rows.append(np.concatenate(rows))
    if sum(part.shape[1] for part in into.rows) >= _ROWS_AT_ONCE:
        finish_comparison(into)


def _wider(rows: Array, keys: int) -> Array:
    return np.pad(rows, ((0, 0), (0, 0), (0, keys - rows.shape[2])))


def _joined(parts: dict[int, Array]) -> Array:
    """Along the tokens. Each part is let go as it is copied, so that both are never in memory."""
    freed = 0
    first = next(iter(parts.values()))
    total = sum(part.shape[2] for part in parts.values())
    whole = np.empty((*first.shape[:2], total, first.shape[3]), dtype=np.float32)
    at = 0
    for place in sorted(parts):
        part = parts.pop(place)
        whole[:, :, at : at + part.shape[2]] = part
        at += part.shape[2]
        freed += part.nbytes
        if freed > _LET_GO_BYTES:
            del part
            _give_back()
            freed = 0
    whole.setflags(write=False)
    return whole


def _give_back() -> None:
    """Freed memory to the system, where the allocator is one that keeps it for itself (glibc)."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
