"""What of the attention moved between two traces of the same tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.vocabulary import labels_of

if TYPE_CHECKING:
    import pandas as pd

    from core.model.trace import Trace


def moved_table(before: Trace, after: Trace) -> pd.DataFrame:
    """How much of its attention each head moved, a row per head, in the order of layers and heads.

    Columns ``layer`` and ``head`` (from 1); ``moved``, half the sum of absolute changes of a row,
    which is the share of the query's attention that went elsewhere, its mean over tokens;
    ``largest``, the largest change of one weight by size, with its sign, and its ``query`` and
    ``key``, as :func:`core.vocabulary.labels_of` calls them.
    """
    import pandas as pd

    labels, rows = labels_of(before.tokens), []
    for layer, label in enumerate(before.layer_labels):
        for head, change in enumerate(after.attention(layer) - before.attention(layer)):
            sizes = np.abs(change, dtype=np.float64)
            query, key = (int(each) for each in np.unravel_index(sizes.argmax(), sizes.shape))
            moved = float(sizes.sum(axis=-1).mean() / 2)
            largest = float(change[query, key])
            rows.append((label, head + 1, moved, largest, labels[query], labels[key]))
    return pd.DataFrame(rows, columns=["layer", "head", "moved", "largest", "query", "key"])
