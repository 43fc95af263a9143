"""How far methods that judge heads can be trusted: against heads whose part is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

POINTS = 0.1  # of what a method says of the largest head: from there on it points to a head
ATTENDS = 0.9  # the same for an attention weight, which has a scale of its own


def trust_table(
    judged: Sequence[Mapping[str, Floats]],
    needed: Sequence[Sequence[bool]],
    idle: Sequence[Sequence[bool]],
    names: Sequence[Sequence[str]],
) -> pd.DataFrame:
    """A row a method: what it finds, what it misses, what it points to in error.

    Parameters
    ----------
    judged : of each model, by method what it says of each head, (layer, head), in parts of what it
        says of the largest; "attention" in weights.
    needed : of each model, whether each head is needed, in the order of layers and heads.
    idle : likewise, whether each head does nothing: no method takes such a head for a needed one.
    names : of each model, what each head is called in the table.

    Columns ``method``; ``auc``, the area under the ROC curve over the heads of all models, and
    ``auc_active`` without the idle ones; ``found`` of ``needed``, how many needed heads it points
    to (from `POINTS`, or `ATTENDS`); ``missed`` and ``wrong``, the names of needed heads it does
    not point to, and of others it does, joined by ", ". ``table.attrs`` has "others", how many
    heads are not needed, and "idle", how many of these are idle.
    """
    import pandas as pd
    from sklearn.metrics import roc_auc_score

    truth, is_idle = (
        np.concatenate([np.asarray(each, dtype=bool) for each in flags]) for flags in (needed, idle)
    )
    called = [name for each in names for name in each]
    rows = []
    for method in judged[0]:
        scores = np.concatenate([each[method].ravel() for each in judged])
        points = scores >= (ATTENDS if method == "attention" else POINTS)
        rows.append(
            {
                "method": method,
                "auc": float(roc_auc_score(truth, scores)),
                "auc_active": float(roc_auc_score(truth[~is_idle], scores[~is_idle])),
                "found": int((points & truth).sum()),
                "needed": int(truth.sum()),
                "missed": _named(called, truth & ~points),
                "wrong": _named(called, points & ~truth),
            }
        )
    table = pd.DataFrame(rows)
    table.attrs |= {"others": int((~truth).sum()), "idle": int((is_idle & ~truth).sum())}
    return table


def _named(called: Sequence[str], which: np.ndarray) -> str:
    return ", ".join(name for name, chosen in zip(called, which, strict=True) if chosen)
