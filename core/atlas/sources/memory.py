"""An atlas in memory: its points, and finding tokens in its corpus."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from core.analysis.arrays import Bools
from core.atlas.data import Atlas, AtlasFacts, facts_of
from core.atlas.search.parts import SURROGATE, Ints, Kind, Matches, Words, search_parts
from core.atlas.search.patches import search_patches


@dataclass(frozen=True, eq=False)
class InMemory:
    """All of an atlas; see :class:`core.atlas.sources.Source`."""

    sample: Atlas

    @cached_property
    def facts(self) -> AtlasFacts:
        """All of it that does not grow with its tokens."""
        return facts_of(self.sample)

    def search(self, query: str, kind: Kind = "token") -> Matches:
        """Tokens that match, or patches of an atlas of images."""
        if self.sample.images is None:
            return search_tokens(self.sample, query, kind)
        return search_patches(self.sample, query)

    @property
    def count(self) -> int:
        """Of its tokens; this and what follows is what a search reads, all as one part."""
        return len(self.sample.tokens)

    def words(self) -> tuple[Words, Words]:
        """Its tokens as the tokenizer writes them, and as they are shown."""
        tokens, each = self.sample.tokens, np.arange(self.count)
        return (tokens.texts, each), (tokens.displays, each)

    def sentence(self) -> Ints:
        """The number of each token's sentence."""
        return self.sample.tokens.sentence

    def texts(self) -> tuple[Ints, pa.Array]:
        """The number and the text of each sentence."""
        texts = [SURROGATE.sub("\ufffd", text) for text in self.sample.sentences]
        return np.arange(len(texts)), pa.array(texts, pa.large_string())

    def spans(self) -> tuple[Ints, Bools]:
        """Where each token lies in its sentence, and which are in no text."""
        return self.sample.tokens.spans, self.sample.tokens.special


def search_tokens(atlas: Atlas, query: str, kind: Kind = "token") -> Matches:
    """Tokens of the corpus that match, ignoring case.

    The kind "token" is a whole token as it is shown or as the tokenizer writes it, "substring" a
    part of one, such as its beginning, "phrase" whole words in this order. Special tokens are in no
    text, so only the first two kinds find them. Raises `SearchError` when the query is empty or too
    long.
    """
    return search_parts([InMemory(atlas)], query, kind)
