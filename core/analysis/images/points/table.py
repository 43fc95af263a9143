"""Where the queries and keys of patches lie in a picture, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.images.points.colouring import Tints
from core.analysis.query_key.clouds import Cloud
from core.model.trace import Trace
from core.vocabulary import labels_of

if TYPE_CHECKING:
    import pandas as pd


def places_table(trace: Trace, clouds: Sequence[Cloud], tints: Tints) -> pd.DataFrame:
    """A row for every point of every panel: what it is, where it lies, what its colour says."""
    import pandas as pd

    labels, count = labels_of(trace.tokens), len(trace.tokens)
    tokens = [*trace.tokens, *trace.tokens]
    tones = np.broadcast_to(tints.tones, (len(clouds), 2 * count))
    parts = []
    for cloud, colour in zip(clouds, tones, strict=True):
        points = np.vstack([cloud.picture.queries, cloud.picture.keys])
        columns: dict[str, object] = {
            "stage": cloud.stage,
            "kind": np.repeat(["query", "key"], count),
            "token": [*labels, *labels],
            "row": [token.row + 1 or None for token in tokens],
            "column": [token.column + 1 or None for token in tokens],
        }
        columns |= dict(zip("xyz", points.T, strict=False))
        if tints.scale != "type":
            columns["colour"] = colour
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)
