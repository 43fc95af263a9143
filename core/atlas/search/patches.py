"""Find patches in an atlas of images: those of an image, or like another patch."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from core.analysis.arrays import Bools, Indices
from core.analysis.images.colour import oklab
from core.atlas.data import Atlas
from core.atlas.pixels import CorpusImages
from core.atlas.search.parts import Matches, SearchError

ImageKind = Literal["image", "like"]
IMAGE_KINDS: tuple[ImageKind, ...] = ("image", "like")
# How far two mean colours may lie apart in OKLab to be alike: 0.02 is just noticeable.
LIKE = 0.06
_PATCH = re.compile(r"r(\d+)c(\d+)", re.IGNORECASE)


def search_patches(atlas: Atlas, query: str, kind: ImageKind = "image") -> Matches:
    """Patches of the corpus that match.

    The kind "image" is all patches of the images whose names have the query in them, "like" the
    patches of all images whose mean colour is within `LIKE` of that of one patch ("r3c5 cat": the
    patch, then the image's name or a part of it).

    Raises
    ------
    SearchError
        When the query is empty, names no patch of the grid, or no image.
    ValueError
        For an atlas of texts.
    """
    if atlas.images is None:
        raise ValueError("an atlas of texts has no patches")
    query = query.strip()
    if not query:
        raise SearchError("Type what to look for.")
    place = atlas.images.places(atlas.tokens.position)
    if kind == "image":
        matching = np.isin(atlas.tokens.sentence, _images(atlas, query)) & (place >= 0)
    else:
        matching = _like(atlas, atlas.images, place, query)
    found = np.flatnonzero(matching)
    images = np.unique(atlas.tokens.sentence[found]).size
    return Matches(found, matching.size, found.size, int(images))


def _images(atlas: Atlas, query: str) -> Indices:
    wanted = query.casefold()
    return np.flatnonzero([wanted in name.casefold() for name in atlas.sentences])


def _like(atlas: Atlas, images: CorpusImages, place: Indices, query: str) -> Bools:
    named, _, image = query.partition(" ")
    found = _PATCH.fullmatch(named)
    if found is None:
        raise SearchError("Write a patch and its image: r3c5 cat.")
    candidates = _images(atlas, image.strip())
    if not candidates.size:
        raise SearchError(f"No image of this atlas is called {image.strip()!r}.")
    row, column = int(found[1]) - 1, int(found[2]) - 1
    if not (0 <= row < images.rows and 0 <= column < images.columns):
        raise SearchError(f"The grid has {images.rows} rows and {images.columns} columns.")
    colours = oklab(images.colours().reshape(-1, 3)).reshape(len(images.pixels), -1, 3)
    wanted = colours[int(candidates[0]), row * images.columns + column]
    near = np.linalg.norm(colours - wanted, axis=-1) <= LIKE  # (image, patch)
    return np.asarray((place >= 0) & near[atlas.tokens.sentence, place])
