"""Find the patches of images by the images' names."""

from __future__ import annotations

import numpy as np

from core.atlas.data import Atlas
from core.atlas.search.parts import Matches, SearchError


def search_patches(atlas: Atlas, query: str) -> Matches:
    """All patches of the images whose names have the query in them.

    Raises
    ------
    SearchError
        When the query is empty.
    ValueError
        For an atlas of texts.
    """
    if atlas.images is None:
        raise ValueError("an atlas of texts has no patches")
    wanted = query.strip().casefold()
    if not wanted:
        raise SearchError("Type what to look for.")
    named = np.flatnonzero([wanted in name.casefold() for name in atlas.sentences])
    place = atlas.images.places(atlas.tokens.position)
    found = np.flatnonzero(np.isin(atlas.tokens.sentence, named) & (place >= 0))
    images = np.unique(atlas.tokens.sentence[found]).size
    return Matches(found, place.size, found.size, int(images))
