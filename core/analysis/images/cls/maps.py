"""CLS attention: its attention to the patches by head, rolled out, and all maps of an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.anomalies.contribution import value_norms
from core.analysis.arrays import Bools, Floats, one_thread, renormalise_rows
from core.analysis.images.cls.region import Region
from core.analysis.images.patch_scores import attention_from, cls_position, patches_of
from core.model.trace import Array, Trace

if TYPE_CHECKING:
    import pandas as pd

Source = Literal["CLS", "mean of patches"]
SUMMARIES = ("mean", "max")  # over the heads of a layer, after its heads
ROLLOUTS = ("rollout", "weighted rollout")
TOP_SHARE = 0.6  # of the mass, where Caron et al. 2021 (DINO) cut their maps


@dataclass(frozen=True, eq=False)
class ClsMap:
    """Attention to the patches on their grid, as one query, or all patches on average, give it."""

    values: Array  # float32 (..., row, column)
    source: Source  # whose attention: models without CLS have only the mean over patch queries
    # The share of attention that goes to patches, (...): 1 less what CLS and registers keep
    on_patches: Array
    on_cls: Array  # the share that CLS keeps to itself, (...); 0 where there is none


def cls_map(trace: Trace, layer: int | None = None, head: int | None = None) -> ClsMap:
    """What CLS gives to each patch, (layer, head, row, column) less the axes that are given.

    Models without CLS: the mean over patch queries, and `source` says so. `ValueError` for a text.
    """
    layers = range(trace.shape[0]) if layer is None else [layer]
    with one_thread():
        rows = np.stack([_rows(trace, each, head) for each in layers])  # (layer, head, token)
    rows = rows if head is None else rows[:, 0]
    return _on_grid(trace, rows if layer is None else rows[0])


def rollout_map(trace: Trace, norms: Array | None = None, *, weighted: bool = False) -> ClsMap:
    """Attention rollout from CLS down to the patches of the first layer, (row, column).

    The row of CLS in the product over layers of half the mean over heads of attention and half the
    identity (Abnar and Zuidema 2020, section 3). `weighted` takes, instead of attention, what each
    token contributes: the sum over heads of a_ij |f(v_j)|, rows divided by their sums (Kobayashi et
    al. 2020, section 3). `norms` are |f(v)|, (layer, head, token), of
    ``core.model.weights.output_projection.transformed_norms``; without them |v| stands in, and a
    page must say so. One row is carried down through the layers, which is the product's own row.
    """
    flow = _start(trace)
    lengths = value_norms(trace, norms) if weighted else None
    with one_thread():
        for layer in reversed(range(trace.shape[0])):
            step = _mean_step(trace, layer, None if lengths is None else lengths[layer])
            flow = (flow + flow @ step) / 2
    return _on_grid(trace, flow.astype(np.float32))


def top_mass(values: Array | Floats, share: float = TOP_SHARE) -> Bools:
    """The smallest set of patches that holds this share of a map's mass, bool (row, column).

    Equal patches are taken in reading order. A map of zeros has no such set: nothing is in it.
    """
    flat = np.asarray(values, dtype=np.float64).ravel()
    order = np.argsort(-flat, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(flat[order])[:-1]])  # mass of the patches ahead
    total = flat.sum()
    chosen = np.zeros(flat.size, dtype=np.bool_)
    # A share that is reached up to rounding is reached.
    chosen[order] = before < share * total - 1e-9 * total
    return chosen.reshape(np.shape(values))


def region_share(values: Array | Floats, region: Bools) -> Floats:
    """The share of each map's mass (..., row, column) on a region, bool (row, column): (...).

    nan for a map of zeros. Uniform attention would give the share of patches in the region.
    """
    exact = np.asarray(values, dtype=np.float64)
    whole = np.asarray(exact.sum(axis=(-1, -2)))
    inside = np.asarray((exact * region).sum(axis=(-1, -2)))
    return np.divide(inside, whole, out=np.full(whole.shape, np.nan), where=whole > 0)


@dataclass(frozen=True, eq=False)
class ClsMaps:
    """What CLS gives to every patch, in every head and summed up.

    Attributes
    ----------
    by_head : float32 (layer, head + 2, row, column): attention of the heads, then its mean and its
        maximum over them, as :data:`SUMMARIES` names them.
    rollouts : float32 (2, row, column), as :data:`ROLLOUTS` names them.
    on_patches, on_cls : (layer, head + 2), the shares of attention that go to patches and to CLS
        itself; registers take the rest. nan for the maximum, which does not add up to one.
    source : whose attention it is: models without CLS have the mean over patch queries.
    exact : whether the weighted rollout knows |f(v)|; else |v| stands in.
    layer_labels : from 1.
    """

    by_head: Array
    rollouts: Array
    on_patches: Floats
    on_cls: Floats
    source: Source
    exact: bool
    layer_labels: tuple[int, ...]

    @property
    def heads(self) -> int:
        """How many heads a layer has."""
        return int(self.by_head.shape[1]) - len(SUMMARIES)


def all_cls_maps(trace: Trace, norms: Array | None = None) -> ClsMaps:
    """All maps of an image; `norms` as :func:`~core.analysis.images.rollout_map` takes them."""
    found = cls_map(trace)
    heads = found.values  # noqa: PD011 - no table of pandas; (layer, head, row, column)
    means, maxima = (f(heads, axis=1, keepdims=True) for f in (np.mean, np.max))
    rollouts = [rollout_map(trace), rollout_map(trace, norms, weighted=True)]
    return ClsMaps(
        np.concatenate([heads, means, maxima], axis=1),
        np.stack([each.values for each in rollouts]),  # noqa: PD011 - likewise
        _with_summaries(found.on_patches),
        _with_summaries(found.on_cls),
        found.source,
        norms is not None,
        trace.layer_labels,
    )


def cls_table(maps: ClsMaps, share: float, region: Region | None = None) -> pd.DataFrame:
    """A row for each map: how concentrated it is, and what it gives to a region.

    Columns: `layer` (0 for rollouts, which are of all layers), `head` (a number, "mean", "max" or a
    rollout), `to_patches` and `to_cls` (shares of attention), `top_share` (as given),
    `top_patches` (how many patches hold it), `top_area` (their share of all patches) and, with a
    region, `region_share` (of the mass on patches) and `region_area`.
    """
    import pandas as pd

    layers, columns, *grid = maps.by_head.shape
    flat = np.concatenate([maps.by_head.reshape(-1, *grid), maps.rollouts])
    names = [*map(str, range(1, maps.heads + 1)), *SUMMARIES]
    counts = np.array([int(top_mass(each, share).sum()) for each in flat])
    none = np.full(len(ROLLOUTS), np.nan)
    area = grid[0] * grid[1]
    table = pd.DataFrame(
        {
            "layer": [*np.repeat(maps.layer_labels, columns), *([0] * len(ROLLOUTS))],
            "head": [*(names * layers), *ROLLOUTS],
            "to_patches": np.concatenate([maps.on_patches.ravel(), none]),
            "to_cls": np.concatenate([maps.on_cls.ravel(), none]),
            "top_share": share,
            "top_patches": counts,
            "top_area": counts / area,
        }
    )
    if region is not None:
        table["region_share"] = region_share(flat, region.on_grid(*grid))
        table["region_area"] = region.count / area
    return table


def _with_summaries(shares: Array) -> Floats:
    """Shares (layer, head) with those of the mean, and nan for the maximum, behind them."""
    exact = shares.astype(np.float64)
    means = exact.mean(axis=1, keepdims=True)
    return np.concatenate([exact, means, np.full_like(means, np.nan)], axis=1)


def _rows(trace: Trace, layer: int, head: int | None) -> Array:
    """The attention of CLS, or of the mean patch, in a layer: (head, token)."""
    cls = cls_position(trace)
    heads = range(trace.shape[1]) if head is None else [head]
    if cls is not None:
        return attention_from(trace, layer, cls)[heads]
    patches = patches_of(trace).tokens
    return np.stack([trace.attention(layer, each)[patches].mean(axis=0) for each in heads])


def _on_grid(trace: Trace, rows: Array) -> ClsMap:
    """Rows (..., token) as maps."""
    patches = patches_of(trace)
    chosen = rows[..., patches.tokens]
    total, cls = rows.sum(axis=-1), cls_position(trace)
    on_patches = chosen.sum(axis=-1) / total
    on_cls = np.zeros_like(on_patches) if cls is None else rows[..., cls] / total
    source: Source = "mean of patches" if cls is None else "CLS"
    shape = (*rows.shape[:-1], patches.rows, patches.columns)
    return ClsMap(chosen.reshape(shape), source, np.asarray(on_patches), np.asarray(on_cls))


def _start(trace: Trace) -> Floats:
    """All weight on CLS, or an equal share on each patch, (token,)."""
    start, cls, patches = np.zeros(trace.shape[2]), cls_position(trace), patches_of(trace)
    start[patches.tokens if cls is None else cls] = 1.0
    return start / start.sum()


def _mean_step(trace: Trace, layer: int, lengths: Floats | None) -> Array:
    """Attention of a layer over all heads, or what tokens contribute; rows sum to one."""
    total = np.zeros((trace.shape[2], len(trace.key_tokens)), dtype=np.float32)
    for head in range(trace.shape[1]):
        weights = trace.attention(layer, head)
        total += weights if lengths is None else weights * lengths[head].astype(np.float32)
    return renormalise_rows(total)
