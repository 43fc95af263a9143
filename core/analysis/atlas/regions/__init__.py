"""Regions of one head's picture: dense groups of points, named by their frequent words."""

from core.analysis.atlas.regions.finding import Region, Regions, find_regions
from core.analysis.atlas.regions.words import Word

__all__ = ["Region", "Regions", "Word", "find_regions"]
