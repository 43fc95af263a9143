"""What pages ask of an atlas, wherever its points lie, and tables of what it answers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.atlas.data import Atlas, AtlasFacts, TokenRows
from core.atlas.density import Density, Look
from core.atlas.search import Matches
from core.atlas.search.expression import Kind, Step, no_step
from core.atlas.search.patches import ImageKind
from core.vocabulary import Stage


class Source(Protocol):
    """An atlas in memory or in a folder. Tokens and sentences are numbered from 0 among all."""

    @property
    def facts(self) -> AtlasFacts:
        """All of it that does not grow with its tokens."""

    @property
    def sample(self) -> Atlas:
        """What of it is in memory: all, or a random sample of whole sentences, numbered anew."""

    def density(self, stage: Stage) -> Density:
        """All points of a stage, counted."""

    def look(self, layer: int, head: int, stage: Stage, part: Floats) -> Look:
        """What lies in a part (x from, x to, y from, y to) of one head's plane."""

    def search(
        self, query: str, kind: Kind | ImageKind = "token", on_step: Step = no_step
    ) -> Matches:
        """Tokens of all of it that match; errors as of :func:`core.atlas.search_tokens`."""

    def tokens_at(self, indices: NDArray[np.integer]) -> TokenRows:
        """The tokens with these indices, in this order."""

    def sentences_at(self, numbers: NDArray[np.integer]) -> list[str]:
        """The texts of the sentences with these numbers, in this order."""


def matches_table(source: Source, found: Matches, rows: int | None = None) -> pd.DataFrame:
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


def part_table(source: Source, look: Look) -> pd.DataFrame:
    """A row for each token with a query or a key in a part whose points were few enough.

    Raises `ValueError` for a part of which only counts are known.
    """
    if look.tokens is None:
        raise ValueError("this part has too many points to name them")
    rows = source.tokens_at(look.tokens)
    queries, keys = np.split(look.points, 2)
    return pd.DataFrame(
        {
            "token": rows.displays,
            "sentence": rows.sentence + 1,
            "position": rows.position + 1,
            **{f"query {axis}": queries[:, i] for i, axis in enumerate("xy")},
            **{f"key {axis}": keys[:, i] for i, axis in enumerate("xy")},
            "text": source.sentences_at(rows.sentence),
        }
    )
