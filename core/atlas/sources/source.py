"""What pages ask of an atlas, wherever its points lie, and tables of what it answers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.atlas.data import Atlas, AtlasFacts, TokenRows
from core.atlas.search import Kind, Matches


class Source(Protocol):
    """An atlas in memory or in a folder. Tokens and sentences are numbered from 0 among all."""

    @property
    def facts(self) -> AtlasFacts:
        """All of it that does not grow with its tokens."""

    @property
    def sample(self) -> Atlas:
        """What of it is in memory: all, or a random sample of whole sentences, numbered anew."""

    def search(self, query: str, kind: Kind = "token") -> Matches:
        """Tokens of all of it that match; errors as of :func:`core.atlas.search_tokens`."""

    def tokens_at(self, indices: NDArray[np.integer]) -> TokenRows:
        """The tokens with these indices, in this order."""

    def sentences_at(self, numbers: NDArray[np.integer]) -> list[str]:
        """The texts of the sentences with these numbers, in this order."""


def matches_table(source: Source, found: Matches, rows: int) -> pd.DataFrame:
    """A row for each token that was found, the first so many: what it is, where, and in what."""
    tokens = source.tokens_at(found.indices[:rows])
    return pd.DataFrame(
        {
            "token": tokens.displays,
            "position": tokens.position + 1,
            "sentence": tokens.sentence + 1,
            "text": source.sentences_at(tokens.sentence),
        }
    )
