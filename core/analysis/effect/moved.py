"""What of the attention moved between two traces whose tokens are the same, or most of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.vocabulary import labels_of

if TYPE_CHECKING:
    import pandas as pd

    from core.model.trace import Array, Trace


def attention_change(
    before: Trace,
    after: Trace,
    aligned: Sequence[tuple[int, int]],
    layer: int,
    head: int | None = None,
) -> Array:
    """Weights after minus weights before, of the tokens that are `aligned`.

    float32 (aligned query, aligned key), with heads first where no `head` is given; `aligned` are
    positions before and after. Layer and head from 0.
    """
    old, new = np.array(aligned, dtype=np.intp).reshape(-1, 2).T
    changed = after.attention(layer, head)[..., new[:, None], new]
    return changed - before.attention(layer, head)[..., old[:, None], old]


def moved_table(before: Trace, after: Trace, aligned: Sequence[tuple[int, int]]) -> pd.DataFrame:
    """How much of its attention each head moved, a row per head, in the order of layers and heads.

    Columns ``layer`` and ``head`` (from 1); ``moved``, half the sum of absolute changes of a row,
    which is the share of the query's attention that went elsewhere, its mean over the `aligned`
    tokens; ``largest``, the largest change of one weight by size, with its sign, and its ``query``
    and ``key``, as :func:`core.vocabulary.labels_of` calls them.
    """
    import pandas as pd

    labels, columns = labels_of(before.tokens), ("moved", "largest", "query", "key")
    rows = []
    for layer, label in enumerate(before.layer_labels):
        for head, change in enumerate(attention_change(before, after, aligned, layer)):
            sizes = np.abs(change, dtype=np.float64)
            moved = sizes.sum(axis=-1).mean() / 2 if sizes.size else 0.0
            place = np.unravel_index(int(sizes.argmax()), sizes.shape) if sizes.size else None
            row = (0.0, "", "")
            if place is not None:
                query, key = (labels[aligned[int(each)][0]] for each in place)
                row = (float(change[place]), query, key)
            rows.append((label, head + 1, float(moved), *row))
    return pd.DataFrame(rows, columns=["layer", "head", *columns])
