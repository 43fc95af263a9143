"""Which tokens of a corpus stand in sentences that were there before."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.arrays import Indices

if TYPE_CHECKING:
    from core.atlas.data import Atlas


def first_occurrences(atlas: Atlas) -> Indices:
    """Each token's first occurrence in the same place of the same sentence, (token,).

    It is the token's own index unless its sentence repeats an earlier one token by token: then its
    query and key are those of that one again, in every head. Of images those with the same pixels
    count as repeated.
    """
    starts = np.searchsorted(atlas.tokens.sentence, np.arange(len(atlas.sentences) + 1))
    earlier: dict[Hashable, int] = {}
    firsts = np.arange(len(atlas.tokens))
    for sentence, (start, end) in enumerate(pairwise(starts.tolist())):
        content: Hashable = atlas.tokens.texts[start:end]
        if atlas.images is not None:
            content = atlas.images.pixels[sentence].tobytes()
        firsts[start:end] += earlier.setdefault(content, start) - start
    return firsts
