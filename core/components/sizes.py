"""How large points are drawn where their size shows the length of their vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ENDS = (2, 98)  # percentiles: a few vectors far longer than all others do not shrink these


def packed_sizes(norms: NDArray[np.floating[Any]]) -> tuple[NDArray[np.uint8], list[float]]:
    """A byte a point from the smallest size to the largest, and the norms at both ends.

    Without points there are no sizes: then all are drawn alike. Where all norms are the same, all
    points have the size in the middle.
    """
    if not norms.size:
        return np.zeros(0, dtype=np.uint8), []
    known = np.nan_to_num(norms.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    low, high = (float(end) for end in np.percentile(known, _ENDS))
    share = (known - low) / (high - low) if high > low else np.full(known.shape, 0.5)
    return np.rint(255 * share.clip(0, 1)).astype(np.uint8), [low, high]
