"""The atlases of all visitors, and the pace of each model."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.projections.joint_embedding import Projection
from core.atlas import Atlas
from core.atlas.layouts import Layout
from core.model import Chosen
from core.model.memory import available_bytes
from core.ui.serve.deployment import setting
from core.ui.serve.shared_cache import SharedCache, bytes_of
from core.vocabulary import Stage

if TYPE_CHECKING:
    from core.atlas.sources import Source  # plainly, it would lengthen the longest chain of imports

# An atlas of 5,000 tokens of the bundled model takes 76 MB: 46 of vectors, 30 of points. So two of
# the usual size fit, or four of 1,800 tokens, in a server that takes 0.65 GB without any and should
# stay under 1 GB. One that is larger than all of them may be has a place of its own.
ATLASES_BYTES = 200 * 10**6
_ATLASES_SHARE = 1 / 3  # of the memory that is free when the first is made, where that is less
_MAX_RATES = 64  # models whose seconds per token are remembered


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
    """A place for an atlas while it is made and after, and for what is slow to draw.

    Attributes
    ----------
    source : of the points; None until they are there.
    plan : the texts it is made of, once they are tokenized.
    layouts : by projection, stage, layer, head, dimensions and maximum of tokens.
    jobs : the threads that lay out all heads, by projection and stage.
    """

    source: Source | None = None
    plan: Chosen | None = None
    layouts: dict[tuple[str, str, int, int, int, int], Layout] = field(default_factory=dict)
    jobs: dict[tuple[str, str], LayoutJob] = field(default_factory=dict)
    _measured: tuple[Atlas | None, int] = (None, 0)

    @property
    def atlas(self) -> Atlas | None:
        """What of it is in memory: all, or the sample of a folder."""
        return None if self.source is None else self.source.sample

    @property
    def size(self) -> int:
        """Bytes of everything on it."""
        if self._measured[0] is not self.atlas:  # an atlas never changes, and is slow to measure
            self._measured = self.atlas, bytes_of(self.atlas)
        layouts = [a for one in list(self.layouts.values()) for a in (one.tokens, one.points)]
        return self._measured[1] + sum(array.nbytes for array in layouts)

    def stop_jobs(self) -> None:
        """Stop laying out what nobody will see."""
        for job in list(self.jobs.values()):
            job.stop.set()


@st.cache_resource(show_spinner=False)
def atlas_entries() -> SharedCache[AtlasEntry]:
    """The atlases of this server, up to `ATLASES_BYTES` or HEADSCOPE_ATLAS_MB together."""
    given = setting("ATLAS_MB") or ""
    free = available_bytes()
    limit = ATLASES_BYTES if free is None else min(ATLASES_BYTES, int(free * _ATLASES_SHARE))
    if given.isdigit():
        limit = int(given) * 10**6
    return SharedCache(limit, lambda entry: entry.size, AtlasEntry.stop_jobs)


def atlas_entry(model_name: str, digest: str) -> AtlasEntry:
    """The entry of a model and a corpus (or of a file), empty at first."""
    return atlas_entries().get((model_name, digest), AtlasEntry)


@st.cache_resource(show_spinner=False)
def _rates() -> dict[str, float]:
    return {}


def known_rate(model_name: str) -> float | None:
    """Seconds per token in this server's last atlas of a model; None before the first."""
    return _rates().get(model_name)


def remember_rate(model_name: str, seconds: float) -> None:
    """Remember the seconds per token of a model."""
    rates = _rates()
    rates.pop(model_name, None)
    rates[model_name] = seconds
    for name in list(rates)[:-_MAX_RATES]:
        rates.pop(name, None)
