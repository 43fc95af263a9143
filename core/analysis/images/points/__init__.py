"""Queries and keys drawn as the patches they stand for: colours, pictures, and their places."""

from core.analysis.images.points.colouring import COLOURINGS, OF_PATCHES, Tints, tints_of
from core.analysis.images.points.pictures import partners, thumbnails
from core.analysis.images.points.table import places_table

__all__ = [
    "COLOURINGS",
    "OF_PATCHES",
    "Tints",
    "partners",
    "places_table",
    "thumbnails",
    "tints_of",
]
