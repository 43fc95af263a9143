"""Find tokens and patches of an atlas."""

from core.atlas.search.parts import KINDS, MAX_QUERY, Kind, Matches, SearchError

__all__ = ["KINDS", "MAX_QUERY", "Kind", "Matches", "SearchError"]
