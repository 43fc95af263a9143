"""One head of a text that is worth showing first, and the two tokens it joins."""

from core.analysis.found_link.search import RANDOM_LINKS, FoundLink, find_link

__all__ = ["RANDOM_LINKS", "FoundLink", "find_link"]
