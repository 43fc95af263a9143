"""One way to ask for the points of an atlas, in memory or in a folder."""

from core.atlas.sources.folder import LargeAtlas, open_large
from core.atlas.sources.memory import InMemory, search_tokens
from core.atlas.sources.source import Source

__all__ = ["InMemory", "LargeAtlas", "Source", "open_large", "search_tokens"]
