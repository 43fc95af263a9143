"""The atlases of all visitors, and what one will cost before it is made."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.projections.joint_embedding import Projection
from core.atlas import Atlas
from core.atlas.layouts import Layout
from core.model import Chosen, LoadedModel
from core.model.memory import available_bytes
from core.vocabulary import Stage

if TYPE_CHECKING:
    from core.atlas.source import Source  # plainly, it would lengthen the longest chain of imports


# One of 5,000 tokens of the bundled model takes 76 MB: 46 of vectors, 30 of points. The server
# takes 0.65 GB without any and should stay under 1 GB.
MAX_ATLASES = 3
_turn = threading.Lock()


@dataclass(eq=False)
class LayoutJob:
    """All heads, one after the other; `touched` is when somebody last looked."""

    projection: Projection
    stage: Stage
    total: int
    touched: float
    done: int = 0
    error: str = ""
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def running(self) -> bool:
        """Whether more heads are coming."""
        return self.done < self.total and not self.error and not self.stop.is_set()


@dataclass(eq=False)
class AtlasEntry:
    """An atlas, and what is slow to draw of it.

    Attributes
    ----------
    source : of the points.
    plan : the texts it is made of; None for one that was opened.
    size : its memory in bytes, as it was estimated before it was made.
    layouts : by projection, stage, layer, head and maximum of tokens.
    jobs : the threads that lay out all heads, by projection and stage.
    """

    source: Source
    plan: Chosen | None = None
    size: int = 0
    layouts: dict[tuple[str, str, int, int, int], Layout] = field(default_factory=dict)
    jobs: dict[tuple[str, str], LayoutJob] = field(default_factory=dict)

    @property
    def atlas(self) -> Atlas:
        """What of it is in memory: all, or the sample of a folder."""
        return self.source.sample


@st.cache_resource(show_spinner=False)
def atlas_entries() -> OrderedDict[tuple[str, str], AtlasEntry]:
    """The last atlases of this server, by model and corpus (or by file); the last used is last."""
    return OrderedDict()


def find_atlas(key: tuple[str, str]) -> AtlasEntry | None:
    """The atlas of a model and a corpus (or of a file), if it is here."""
    entries = atlas_entries()
    with _turn:
        if key in entries:
            entries.move_to_end(key)
        return entries.get(key)


def keep_atlas(key: tuple[str, str], entry: AtlasEntry) -> AtlasEntry:
    """Keep one; of more than `MAX_ATLASES` the least recently used go."""
    entries = atlas_entries()
    with _turn:
        entries[key] = entry
        while len(entries) > MAX_ATLASES:
            entries.popitem(last=False)
    return entry


_USABLE_SHARE = 0.8  # of the free memory
_POINT_BYTES = 3 * 3 * 4 + 4  # three stages of three components, and the norm


def cost_of(model: LoadedModel, tokens: int) -> int:
    """The bytes of memory that an atlas of this many tokens takes."""
    vectors = 4 * model.layers * (model.heads + model.kv_heads) * model.dim
    return tokens * (vectors + 2 * model.layers * model.heads * _POINT_BYTES)


def too_large(cost: int) -> str:
    """A sentence if that much memory is not available, else an empty text. Drops no atlas."""
    free = available_bytes()
    others = sum(entry.size for entry in [*atlas_entries().values()])  # which may have to go
    if cost <= _USABLE_SHARE * (free + others):
        return ""
    return f"Only {free / 1e6:,.0f} MB are free: take fewer tokens."


def take_memory(cost: int) -> str:
    """As `too_large`; if there is room, drops as many older atlases as it takes."""
    refusal, entries = too_large(cost), atlas_entries()
    while not refusal and entries and cost > _USABLE_SHARE * available_bytes():
        entries.popitem(last=False)
    return refusal
