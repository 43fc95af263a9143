"""What an atlas will cost: shown before it begins, from what is known without running the model."""

from __future__ import annotations

from core.model import LoadedModel
from core.model.memory import available_bytes
from core.screens.atlas.corpus.entry import atlas_entries

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
