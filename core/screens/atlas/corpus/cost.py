"""What an atlas will cost: shown before it begins, from what is known without running the model."""

from __future__ import annotations

from typing import NamedTuple

from core.model import Chosen, Estimate, LoadedModel
from core.model.memory import available_bytes
from core.screens.atlas.corpus.entry import atlas_entries, known_rate
from core.ui.words.prose import Prose

_HEAD_SECONDS = 0.012  # to project a head of few tokens; measured where a forward pass is cheap
_TOKEN_HEAD_SECONDS = 3e-6  # more for each token
_USABLE_SHARE = 0.8  # of the free memory
_POINT_BYTES = 3 * 3 * 4 + 4  # three stages of three components, and the norm
_words = Prose(__file__)


class Cost(NamedTuple):
    """Seconds, None while no rate is known, and bytes of memory."""

    seconds: float | None
    size: int

    @property
    def time(self) -> str:
        """The seconds as people read them; empty where they are not known."""
        return "" if self.seconds is None else in_words(self.seconds)

    @property
    def memory(self) -> str:
        """The size as people read it."""
        return f"{max(1, self.size / 1e6):,.0f} MB"


def cost_of(model: LoadedModel, tokens: int) -> Cost:
    """The cost of this many tokens, at the pace of this server's last atlas of this model."""
    heads = model.layers * model.heads
    vectors = 4 * model.layers * (model.heads + model.kv_heads) * model.dim
    size = tokens * (vectors + 2 * heads * _POINT_BYTES)
    rate = known_rate(model.name)
    if rate is None:
        return Cost(None, size)
    return Cost(tokens * rate + heads * (_HEAD_SECONDS + tokens * _TOKEN_HEAD_SECONDS), size)


def too_large(cost: Cost) -> str:
    """A sentence if that much memory is not available, else an empty text. Drops no atlas."""
    free = available_bytes()
    others = sum(entry.size for entry in [*atlas_entries().values()])  # which may have to go
    if cost.size <= _USABLE_SHARE * (free + others):
        return ""
    return f"Only {free / 1e6:,.0f} MB are free: take fewer tokens."


def take_memory(cost: Cost) -> str:
    """As `too_large`; if there is room, drops as many older atlases as it takes."""
    refusal, entries = too_large(cost), atlas_entries()
    while not refusal and entries and cost.size > _USABLE_SHARE * available_bytes():
        entries.popitem(last=False)
    return refusal


def describe_estimate(about: Estimate, cost: Cost) -> str:
    """Before the button, when nothing has been run: Markdown."""
    return _words(
        "estimate",
        tokens=about.tokens,
        texts=about.texts,
        characters=about.characters,
        whole=about.whole,
        time=cost.time,
        size=cost.memory,
    )


def describe_cost(chosen: Chosen, cost: Cost) -> str:
    """Once the texts are tokenized: Markdown."""
    count, texts = len(chosen.places), chosen.corpus_size
    return _words("cost", tokens=chosen.tokens, chosen=count, texts=texts, size=cost.memory)


def describe_images(chosen: Chosen, cost: Cost) -> str:
    """Before the button, of images: Markdown."""
    images, size = chosen.corpus_size, cost.memory
    return _words("cost_of_images", tokens=chosen.tokens, images=images, time=cost.time, size=size)


def in_words(seconds: float) -> str:
    """Seconds, or minutes if there are many."""
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{seconds / 60:.0f} min"
