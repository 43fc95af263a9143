"""Find tokens and patches of an atlas."""

from core.atlas.search.expression import SearchError
from core.atlas.search.parts import Matches

__all__ = ["Matches", "SearchError"]
