"""Every head's queries and keys over a whole corpus: build, search, compare."""

from core.analysis.atlas.build import atlas_of, build_atlas
from core.analysis.atlas.data import Atlas, CorpusTokens, CorpusVectors, Positions, Trust
from core.analysis.atlas.gather import Gathered, gather_trace

__all__ = [
    "Atlas",
    "CorpusTokens",
    "CorpusVectors",
    "Gathered",
    "Positions",
    "Trust",
    "atlas_of",
    "build_atlas",
    "gather_trace",
]
