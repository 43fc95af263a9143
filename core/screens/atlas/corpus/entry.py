"""The atlases of all visitors, and an estimate of what a new one will cost."""

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
    from core.atlas.source import Source  # else the longest import chain grows


# With the bundled model, 5,000 tokens take 76 MB: 46 for vectors, 30 for points. The server takes
# 0.65 GB without an atlas and should stay under 1 GB.
MAX_ATLASES = 3
_turn = threading.Lock()


@dataclass(eq=False)
class LayoutJob:
    """Lays out all heads, one after the other; `touched` is when a visitor last looked."""

    projection: Projection
    stage: Stage
    total: int
    touched: float
    done: int = 0
    error: str = ""
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def running(self) -> bool:
        """Whether heads are still to come."""
        return self.done < self.total and not self.error and not self.stop.is_set()


@dataclass(eq=False)
class AtlasEntry:
    """An atlas, with the parts of its pictures that are slow to compute.

    Attributes
    ----------
    source : where the points come from.
    plan : the texts it was built from; None for one that was opened.
    size : its memory in bytes, as estimated before it was built.
    layouts : keyed by projection, stage, layer, head and maximum number of tokens.
    jobs : the threads that lay out all heads, keyed by projection and stage.
    """

    source: Source
    plan: Chosen | None = None
    size: int = 0
    layouts: dict[tuple[str, str, int, int, int], Layout] = field(default_factory=dict)
    jobs: dict[tuple[str, str], LayoutJob] = field(default_factory=dict)

    @property
    def atlas(self) -> Atlas:
        """The part that is in memory: all of it, or a sample of one opened from a folder."""
        return self.source.sample


@st.cache_resource(show_spinner=False)
def atlas_entries() -> OrderedDict[tuple[str, str], AtlasEntry]:
    """Recent atlases of this server by model and corpus (or file); the last used comes last."""
    return OrderedDict()


def find_atlas(key: tuple[str, str]) -> AtlasEntry | None:
    """The atlas of a model and a corpus (or of a file), if it is in memory."""
    entries = atlas_entries()
    with _turn:
        if key in entries:
            entries.move_to_end(key)
        return entries.get(key)


def keep_atlas(key: tuple[str, str], entry: AtlasEntry) -> AtlasEntry:
    """Keep an atlas; beyond `MAX_ATLASES` the least recently used are dropped."""
    entries = atlas_entries()
    with _turn:
        entries[key] = entry
        while len(entries) > MAX_ATLASES:
            entries.popitem(last=False)
    return entry


_USABLE_SHARE = 0.8  # of the free memory
_POINT_BYTES = 3 * 3 * 4 + 4  # three stages of three components, and the norm


def cost_of(model: LoadedModel, tokens: int) -> int:
    """The memory, in bytes, that an atlas of this many tokens takes."""
    vectors = 4 * model.layers * (model.heads + model.kv_heads) * model.dim
    return tokens * (vectors + 2 * model.layers * model.heads * _POINT_BYTES)


def too_large(cost: int) -> str:
    """A message if that much memory is not available, else an empty string. Drops no atlas."""
    free = available_bytes()
    others = sum(entry.size for entry in [*atlas_entries().values()])  # they could be dropped
    if cost <= _USABLE_SHARE * (free + others):
        return ""
    return f"Only {free / 1e6:,.0f} MB are free: take fewer tokens."


def take_memory(cost: int) -> str:
    """Like `too_large`, but if there is room, drop as many older atlases as necessary."""
    refusal, entries = too_large(cost), atlas_entries()
    while not refusal and entries and cost > _USABLE_SHARE * available_bytes():
        entries.popitem(last=False)
    return refusal
