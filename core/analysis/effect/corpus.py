"""Effects over the texts of a corpus, with intervals over texts, and what untrained heads pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.analysis.bootstrap import interval_of_mean
from core.analysis.effect.table import NEGLIGIBLE, HeadEffects
from core.analysis.head_patterns.naming import NAMING
from core.vocabulary import Layered

if TYPE_CHECKING:
    import pandas as pd

EFFECT = "effect"  # the row of `thresholds_table` that is of the effect


def corpus_table(layered: Layered, found: Sequence[HeadEffects]) -> pd.DataFrame:
    """Whether each head matters over several texts, a row per head.

    Parameters
    ----------
    layered : a trace whose layers these are.
    found : of :func:`core.model.effects`, one a text, all with the same measure.

    Columns ``layer`` and ``head`` (from 1); ``effect``, the mean over texts, with ``low`` and
    ``high``, its 95 % bootstrap interval over texts; ``size``, the mean without signs;
    ``control``, the mean over texts of the largest effect of a random direction by size;
    ``beyond``, the mean over texts of size less control, with ``beyond_low`` and ``beyond_high``;
    ``exceeds``, whether ``beyond_low`` is above 0 and ``size`` no less than `NEGLIGIBLE` of the
    largest; ``often``, the share of texts on which the effect is larger than its control;
    ``others``, the share of the other heads of its layer whose effect is smaller, mean over texts:
    one half for a head like the others. A head that a layer does not have is nan. ``table.attrs``
    has "measure", "unit" and "replace" of the effects, and "texts", how many.

    Raises
    ------
    ValueError
        For no text.
    """
    import pandas as pd

    if not found:
        raise ValueError("there is no text")
    values = np.stack([each.values for each in found])  # noqa: PD011 - of no data frame
    control = np.stack([each.control for each in found])  # (text, layer, head)
    sizes = np.abs(values)
    size, beyond = sizes.mean(axis=0), sizes - control
    low, high = interval_of_mean(values)
    beyond_low, beyond_high = interval_of_mean(beyond)
    layers, heads = size.shape
    layer, head = np.divmod(np.arange(layers * heads), heads)
    grids: dict[str, NDArray[Any]] = {
        "effect": values.mean(axis=0),
        "low": low,
        "high": high,
        "size": size,
        "control": control.mean(axis=0),
        "beyond": beyond.mean(axis=0),
        "beyond_low": beyond_low,
        "beyond_high": beyond_high,
        "exceeds": (beyond_low > 0) & (size >= NEGLIGIBLE * np.nanmax(size)),
        "often": np.where(np.isfinite(size), (beyond > 0).mean(axis=0), np.nan),
        "others": _above_others(sizes).mean(axis=0),
    }
    labels = np.array(layered.layer_labels)[layer]
    columns = {name: grid.ravel() for name, grid in grids.items()}
    table = pd.DataFrame({"layer": labels, "head": head + 1, **columns})
    table.attrs |= {
        "measure": found[0].measure,
        "unit": found[0].unit,
        "replace": found[0].replace,
        "texts": len(found),
    }
    return table


def _above_others(sizes: Floats) -> Floats:
    """The share of the other heads of the layer that are smaller, (text, layer, head)."""
    smaller = (sizes[..., None, :] < sizes[..., None]).sum(axis=-1)
    others = np.isfinite(sizes).sum(axis=-1, keepdims=True) - 1
    known = np.isfinite(sizes) & (others > 0)
    return np.where(known, smaller / np.maximum(others, 1), np.nan)


def thresholds_table(
    trained: tuple[pd.DataFrame, pd.DataFrame], untrained: tuple[pd.DataFrame, pd.DataFrame]
) -> pd.DataFrame:
    """How many heads of a model and of its untrained twin pass each threshold on one text.

    `trained` and `untrained` are the pattern table and the effect table of each. A row per pattern,
    and one called `EFFECT` of the heads whose effect exceeds its control. Columns ``threshold``,
    ``trained``, ``untrained`` and ``heads``, of how many.
    """
    import pandas as pd

    rows = []
    for name in (*NAMING, EFFECT):
        passing = [
            int((effects["exceeds"] if name == EFFECT else patterns["class"] == name).sum())
            for patterns, effects in (trained, untrained)
        ]
        rows.append((name, *passing, len(trained[0])))
    return pd.DataFrame(rows, columns=["threshold", "trained", "untrained", "heads"])
