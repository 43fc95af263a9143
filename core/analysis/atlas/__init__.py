"""Every head's queries and keys over a whole corpus: build, search, compare."""

from core.analysis.atlas.data import Atlas, ModelFaithfulness
from core.analysis.atlas.engine import MemoryStore, atlas_of, build_atlas
from core.analysis.atlas.expression import SearchError
from core.analysis.atlas.search import Matches, search_tokens

__all__ = [
    "Atlas",
    "Matches",
    "MemoryStore",
    "ModelFaithfulness",
    "SearchError",
    "atlas_of",
    "build_atlas",
    "search_tokens",
]
