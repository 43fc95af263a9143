"""One head of a text that is worth showing first, and the two tokens it joins."""

from core.analysis.found_link.search import FoundLink, find_link

__all__ = ["FoundLink", "find_link"]
