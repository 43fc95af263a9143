"""Where a token comes from: its share of every token before, back through the layers.

With C_l the mixing of layer l, (token, token), and the relevance R of the layers' tokens: all of
the target after the last layer, R_{l-1} = R_l C_l below it, so that R_0 is the target's row of the
product of all layers. It is the sum over all paths, as a rollout is (:mod:`core.analysis.rollout`)
with half attention and half the identity in place of C_l. Of the flows R_l(i) C_l(i, j) the
strongest are kept; what runs on kept ones alone, from the target down to the tokens of the text, is
what they account for.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.arrays import Bools
from core.analysis.pairs import permitted_pairs
from core.model.trace import Array, Trace
from core.vocabulary import labels_of

if TYPE_CHECKING:
    import pandas as pd

LINES = 6  # flows kept per layer: what can still be read, of a short text and of a long one


@dataclass(frozen=True, eq=False)
class Paths:
    """The flow from one token after the last layer to those of the text.

    Attributes
    ----------
    target : the token, from 0.
    relevance : (layer + 1, token), the target's share of each token: of the text, then after each
        layer. Rows sum to one.
    flows : (layer, token, token), what goes from a token after a layer to each one before it.
    kept : (layer, token, token), the strongest flows that lie on a whole path of such.
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

    `count` of the strongest flows are kept, :data:`LINES` times the layers unless given, less those
    that lead nowhere.
    """
    layers, tokens = mixing.shape[:2]
    relevance = np.zeros((layers + 1, tokens), dtype=np.float32)
    relevance[layers, target] = 1
    flows = np.empty_like(mixing)
    for layer in reversed(range(layers)):
        flows[layer] = relevance[layer + 1][:, None] * mixing[layer]
        relevance[layer] = flows[layer].sum(axis=0)
    kept = _on_whole_paths(_strongest(flows, LINES * layers if count is None else count), target)
    return Paths(target, relevance, flows, kept, _accounted(mixing, kept, target))


def as_many_paths(mixing: Array, target: int, lines: int) -> Paths:
    """The strongest flows of another `mixing`, as few as leave at least so many `lines`.

    All of them where there are fewer.
    """
    counts = range(lines, mixing.size + 1)
    enough = bisect_left(counts, lines, key=lambda count: follow_paths(mixing, target, count).count)
    return follow_paths(mixing, target, counts[min(enough, len(counts) - 1)])


def uniform_mixing(trace: Trace, mixing: Array) -> Array:
    """The same if tokens attended uniformly: each keeps its own share of itself, (layer, token,
    token), and the rest is spread over all other tokens that it may see.
    """
    uniform = np.zeros_like(mixing)
    for layer, own in enumerate(mixing):
        others = np.asarray(permitted_pairs(trace, layer).any(axis=0))
        np.fill_diagonal(others, val=False)
        seen = others.sum(axis=1, keepdims=True)
        itself = np.where(seen[:, 0] > 0, own.diagonal(), 1)
        uniform[layer] = others * (1 - itself)[:, None] / np.maximum(seen, 1)
        np.fill_diagonal(uniform[layer], itself)
    return uniform


def paths_table(trace: Trace, paths: Paths) -> pd.DataFrame:
    """A row per kept flow, the strongest of a layer first, from the last layer down.

    Columns ``layer`` (its number); ``token`` and ``position`` (from 1) of what is after the layer;
    ``from`` and ``from_position`` of what is before it; ``flow``, the share of the target.
    ``table.attrs`` has "target", "accounted" and "shares" of all tokens of the text.
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
    """The `count` largest flows above zero; of equals the first."""
    order = np.argsort(-flows, axis=None, kind="stable")[:count]
    kept = np.zeros(flows.size, dtype=np.bool_)
    kept[order] = True
    return np.asarray(kept.reshape(flows.shape) & (flows > 0))


def _on_whole_paths(kept: Bools, target: int) -> Bools:
    """Those of the flows that some path from the target to the tokens of the text consists of."""
    layers, tokens = kept.shape[:2]
    after = np.zeros((layers + 1, tokens), dtype=np.bool_)  # reached from the target
    after[layers, target] = True
    for layer in reversed(range(layers)):
        after[layer] = (kept[layer] & after[layer + 1][:, None]).any(axis=0)
    before = np.ones((layers + 1, tokens), dtype=np.bool_)  # reached from the text
    for layer in range(layers):
        before[layer + 1] = (kept[layer] & before[layer][None]).any(axis=1)
    return np.asarray(kept & after[1:, :, None] & before[:-1, None])


def _accounted(mixing: Array, kept: Bools, target: int) -> float:
    share = np.zeros(mixing.shape[1])
    share[target] = 1
    for layer in reversed(range(len(mixing))):
        share = share @ (mixing[layer] * kept[layer])
    return float(share.sum())
