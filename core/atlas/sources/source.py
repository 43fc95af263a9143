"""What pages ask of an atlas, wherever its points lie."""

from __future__ import annotations

from typing import Protocol

from core.atlas.data import Atlas, AtlasFacts
from core.atlas.search import Kind, Matches


class Source(Protocol):
    """An atlas in memory or in a folder."""

    @property
    def facts(self) -> AtlasFacts:
        """All of it that does not grow with its tokens."""

    @property
    def sample(self) -> Atlas:
        """What of it is in memory: all, or a random sample of whole sentences, numbered anew."""

    def search(self, query: str, kind: Kind = "token") -> Matches:
        """Tokens of all of it that match; errors as of :func:`core.atlas.search_tokens`."""
