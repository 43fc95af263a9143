"""Attention through all layers at once: rollout, the mean of everything, and a token's paths.

Let C_l be the mixing matrix of layer l, (token, token), and R_l the relevance of the tokens after
it: all on the target after the last layer, and R_{l-1} = R_l C_l below, so that R_0 is the target's
row of the product of all layers. It sums over all paths, as rollout does with half attention and
half the identity as C_l. Of the flows R_l(i) C_l(i, j) the strongest are kept; what runs from the
target to the tokens of the text on kept flows alone is what they account for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.arrays import Bools
from core.analysis.pairs import permitted_pairs, uniform_attention
from core.model.trace import Array, Trace
from core.vocabulary import labels_of

if TYPE_CHECKING:
    import pandas as pd

Overall = Literal["mean", "rollout"]


def overall_attention(trace: Trace, kind: Overall) -> Array:
    """The attention of the model as a whole, float32 (token, key token), rows summing to one.

    "mean" averages all heads of all layers, "rollout" is the :func:`rollout` of the layer means.
    """
    layers = (trace.attention(layer).mean(axis=0) for layer in range(trace.shape[0]))
    return _join(layers, kind)


def uniform_overall(trace: Trace, kind: Overall) -> Array:
    """The same if every head attended uniformly to all it may see, float32 (token, key token)."""
    layers = (
        uniform_attention(permitted_pairs(trace, layer)).mean(axis=0)
        for layer in range(trace.shape[0])
    )
    return _join(layers, kind)


def rollout(layers: Iterable[Array]) -> Array:
    """How attention passes from the last layer down to the tokens, float32 (token, token).

    The product over layers, the first one rightmost, of half the layer's attention and half the
    identity, which stands for the residual connection (Abnar and Zuidema 2020, section 3).

    `layers` start with the first, each (token, token) with rows that sum to one. Raises ValueError
    if there are none, or for cross attention, whose rows and columns are different tokens.
    """
    flow: Array | None = None
    for weights in layers:
        if weights.shape[0] != weights.shape[1]:
            raise ValueError("cross attention leads to other tokens: it cannot be rolled out")
        step: Array = weights / np.float32(2)
        np.fill_diagonal(step, step.diagonal() + np.float32(0.5))
        flow = step if flow is None else np.matmul(step, flow, dtype=np.float32)
    if flow is None:
        raise ValueError("there is no layer to roll out")
    return flow


def _join(layers: Iterator[Array], kind: Overall) -> Array:
    return rollout(layers) if kind == "rollout" else np.mean(list(layers), axis=0, dtype=np.float32)


FLOWS = 6  # flows kept per layer: as many as stay readable, for short texts and long ones


@dataclass(frozen=True, eq=False)
class Paths:
    """The flow from one token after the last layer to the tokens of the text.

    Attributes
    ----------
    target : the token, from 0.
    relevance : (layer + 1, token), each token's share of the target: in the text, then after each
        layer. Rows sum to one.
    flows : (layer, token, token), what goes from a token after a layer to each one before it.
    kept : (layer, token, token), the strongest flows that lie on a whole path of kept flows.
    accounted : the share of the target that runs on kept flows alone.
    """

    target: int
    relevance: Array
    flows: Array
    kept: Bools
    accounted: float

    @property
    def count(self) -> int:
        """How many flows are kept."""
        return int(self.kept.sum())


def follow_paths(mixing: Array, target: int, count: int | None = None) -> Paths:
    """Follow a token, from 0, back through `mixing`, (layer, token, token), rows summing to one.

    The `count` strongest flows are kept (by default :data:`FLOWS` times the number of layers), less
    those that lead nowhere.
    """
    layers, tokens = mixing.shape[:2]
    relevance = np.zeros((layers + 1, tokens), dtype=np.float32)
    relevance[layers, target] = 1
    flows = np.empty_like(mixing)
    for layer in reversed(range(layers)):
        flows[layer] = relevance[layer + 1][:, None] * mixing[layer]
        relevance[layer] = flows[layer].sum(axis=0)
    kept = _on_whole_paths(_strongest(flows, FLOWS * layers if count is None else count), target)
    return Paths(target, relevance, flows, kept, _accounted(mixing, kept, target))


def as_many_paths(mixing: Array, target: int, lines: int) -> Paths:
    """The strongest flows of another `mixing`, as few as leave at least `lines` lines.

    All of them if there are fewer.
    """
    counts = range(lines, mixing.size + 1)
    enough = bisect_left(counts, lines, key=lambda count: follow_paths(mixing, target, count).count)
    return follow_paths(mixing, target, counts[min(enough, len(counts) - 1)])


def uniform_mixing(trace: Trace, mixing: Array) -> Array:
    """The same if tokens attended uniformly: each keeps its own share of itself, and spreads the
    rest over all other tokens that it may see, (layer, token, token).
    """
    uniform = np.zeros_like(mixing)
    for layer, layer_mixing in enumerate(mixing):
        others = np.asarray(permitted_pairs(trace, layer).any(axis=0))
        np.fill_diagonal(others, val=False)
        seen_count = others.sum(axis=1, keepdims=True)
        itself = np.where(seen_count[:, 0] > 0, layer_mixing.diagonal(), 1)
        uniform[layer] = others * (1 - itself)[:, None] / np.maximum(seen_count, 1)
        np.fill_diagonal(uniform[layer], itself)
    return uniform


def paths_table(trace: Trace, paths: Paths) -> pd.DataFrame:
    """A row per kept flow, the strongest of a layer first, from the last layer down.

    Columns ``layer`` (its number); ``token`` and ``position`` (from 1) of the token after the
    layer; ``from`` and ``from_position`` of the one before it; ``flow``, the share of the target.
    ``table.attrs`` has "target", "accounted" and the "shares" of all tokens of the text.
    """
    import pandas as pd

    layer, after, before = np.nonzero(paths.kept)
    flow = paths.flows[paths.kept]
    order = np.lexsort((-flow, -layer))
    labels = np.array(labels_of(trace.tokens), dtype=object)
    table = pd.DataFrame(
        {
            "layer": np.array(trace.layer_labels)[layer[order]],
            "token": labels[after[order]],
            "position": after[order] + 1,
            "from": labels[before[order]],
            "from_position": before[order] + 1,
            "flow": flow[order],
        }
    )
    shares = paths.relevance[0].tolist()
    table.attrs |= {"target": paths.target + 1, "accounted": paths.accounted, "shares": shares}
    return table


def _strongest(flows: Array, count: int) -> Bools:
    """The `count` largest flows above zero; of equals, the first."""
    order = np.argsort(-flows, axis=None, kind="stable")[:count]
    kept = np.zeros(flows.size, dtype=np.bool_)
    kept[order] = True
    return np.asarray(kept.reshape(flows.shape) & (flows > 0))


def _on_whole_paths(kept: Bools, target: int) -> Bools:
    """The kept flows that are part of some path from the target to the tokens of the text."""
    layers, tokens = kept.shape[:2]
    after = np.zeros((layers + 1, tokens), dtype=np.bool_)  # reachable from the target
    after[layers, target] = True
    for layer in reversed(range(layers)):
        after[layer] = (kept[layer] & after[layer + 1][:, None]).any(axis=0)
    before = np.ones((layers + 1, tokens), dtype=np.bool_)  # reachable from the text
    for layer in range(layers):
        before[layer + 1] = (kept[layer] & before[layer][None]).any(axis=1)
    return np.asarray(kept & after[1:, :, None] & before[:-1, None])


def _accounted(mixing: Array, kept: Bools, target: int) -> float:
    share = np.zeros(mixing.shape[1])
    share[target] = 1
    for layer in reversed(range(len(mixing))):
        share = share @ (mixing[layer] * kept[layer])
    return float(share.sum())
