"""Every map of what CLS sees in one image: each head's, summaries over heads, two rollouts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.arrays import Floats
from core.analysis.images.cls.maps import Source, cls_map, region_share, rollout_map, top_mass
from core.analysis.images.cls.region import Region
from core.model.trace import Array, Trace

if TYPE_CHECKING:
    import pandas as pd


SUMMARIES = ("mean", "max")  # over the heads of a layer, after its heads
ROLLOUTS = ("rollout", "weighted rollout")


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
