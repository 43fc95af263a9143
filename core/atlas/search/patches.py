"""Find patches in an atlas of images: those of an image, of a region, or like another patch."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from core.analysis.arrays import Bools, Indices
from core.analysis.images.colour import oklab
from core.atlas.data import Atlas
from core.atlas.pixels import CorpusImages
from core.atlas.search.expression import SearchError
from core.atlas.search.parts import Matches

ImageKind = Literal["image", "region", "like"]
IMAGE_KINDS: tuple[ImageKind, ...] = ("image", "region", "like")
# How far two mean colours may lie apart in OKLab to be alike: 0.02 is just noticeable.
LIKE = 0.06
_REGION = re.compile(r"r(\d+)c(\d+)(?:\s*[-:–]\s*r(\d+)c(\d+))?", re.IGNORECASE)


def search_patches(atlas: Atlas, query: str, kind: ImageKind = "image") -> Matches:
    """Patches of the corpus that match.

    The kind "image" is all patches of the images whose names have the query in them, "region" a
    rectangle of the grid in every image ("r1c1-r4c6"; rows and columns from 1), "like" the patches
    of all images whose mean colour is within `LIKE` of that of one patch ("r3c5 cat": the patch,
    then the image's name or a part of it).

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
    elif kind == "region":
        matching = _in_region(atlas.images, place, query)
    else:
        matching = _like(atlas, atlas.images, place, query)
    found = np.flatnonzero(matching)
    images = np.unique(atlas.tokens.sentence[found]).size
    return Matches(found, matching.size, found.size, int(images))


def _images(atlas: Atlas, query: str) -> Indices:
    wanted = query.casefold()
    return np.flatnonzero([wanted in name.casefold() for name in atlas.sentences])


def _in_region(images: CorpusImages, place: Indices, query: str) -> Bools:
    found = _REGION.fullmatch(query)
    if found is None:
        raise SearchError("Write a region as its corners: r1c1-r4c6, or one patch: r3c5.")
    top, left, bottom, right = (int(each or 0) for each in found.groups())
    bottom, right = bottom or top, right or left
    if not (1 <= top <= bottom <= images.rows and 1 <= left <= right <= images.columns):
        raise SearchError(
            f"The grid has {images.rows} rows and {images.columns} columns, counted from 1, and a"
            " region goes from its top left corner to its bottom right one."
        )
    row, column = np.divmod(place, images.columns)
    inside = (row + 1 >= top) & (row < bottom) & (column + 1 >= left) & (column < right)
    return np.asarray(inside & (place >= 0))


def _like(atlas: Atlas, images: CorpusImages, place: Indices, query: str) -> Bools:
    named, _, image = query.partition(" ")
    found = _REGION.fullmatch(named)
    if found is None or found[3] is not None:
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
