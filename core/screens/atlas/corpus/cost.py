"""What an atlas will cost: told before it begins, from what is known without running the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.analysis.atlas.saved.file import MAX_ROWS
from core.model import estimate_texts
from core.model.memory import available_bytes
from core.screens.atlas.shelf import atlas_shelves, known_rate
from core.ui import cache

if TYPE_CHECKING:
    from core.model import Chosen, Estimate, LoadedModel
    from core.screens.atlas.corpus.source import Corpus

_HEAD_SECONDS = 0.012  # projecting a head of few tokens; measured where a forward pass is cheap
_TOKEN_HEAD_SECONDS = 3e-6  # and what each token adds to it
_FREE_SHARE = 0.8  # of the memory that is free may be taken
_BYTES_A_POINT = 3 * 3 * 4 + 4  # three stages of three components, and the norm
_BYTES_A_ROW = 2 * _BYTES_A_POINT  # of a saved atlas: a query and a key


@dataclass(frozen=True)
class Cost:
    """Seconds, None where no rate is known yet, and bytes of memory."""

    seconds: float | None
    size: int


def estimate(model: LoadedModel, corpus: Corpus, budget: int) -> tuple[Estimate, Cost]:
    """About what it will take, from the number of characters."""
    about = estimate_texts(model, corpus.texts, budget, cache.MAX_TOKENS)
    return about, cost_of(model, about.tokens)


def cost_of(model: LoadedModel, tokens: int) -> Cost:
    """What so many tokens take, by the pace of the last atlas of this model on this server."""
    heads = model.layers * model.heads
    vectors = 4 * model.layers * (model.heads + model.kv_heads) * model.dim
    size = tokens * (vectors + 2 * heads * _BYTES_A_POINT)
    rate = known_rate(model.name)
    if rate is None:
        return Cost(None, size)
    projecting = heads * (_HEAD_SECONDS + tokens * _TOKEN_HEAD_SECONDS)
    return Cost(tokens * rate + projecting, size)


def too_large(cost: Cost) -> str:
    """A sentence where so much memory cannot be had, else nothing. No atlas is dropped for it."""
    free = available_bytes()
    if free is None:
        return ""
    shelves = atlas_shelves()
    if cost.size <= shelves.max_bytes:
        free += shelves.size  # others may have to go
    if cost.size <= _FREE_SHARE * free:
        return ""
    return f"Only {free / 1e6:,.0f} MB are free: take fewer tokens."


def take_memory(cost: Cost) -> str:
    """As `too_large`; where there is room, older atlases go as far as it takes to have it."""
    refusal = too_large(cost)
    if refusal:
        return refusal
    shelves = atlas_shelves()
    shelves.make_room(cost.size)
    while cost.size > _FREE_SHARE * (available_bytes() or float("inf")):
        if cost.size > shelves.max_bytes or not shelves.drop_oldest():
            break
    return ""


def rows_that_fit() -> int:
    """Rows of a file that may be opened: a small file of zeros has as many as a large one."""
    free = available_bytes()
    return MAX_ROWS if free is None else min(MAX_ROWS, int(_FREE_SHARE * free) // _BYTES_A_ROW)


def tell_estimate(about: Estimate, cost: Cost) -> str:
    """Before the button, where nothing was run: Markdown."""
    texts = "one text" if about.texts == 1 else f"all {about.texts:,} texts"
    part = f"{texts}, {about.characters:,} characters"
    if not about.whole:
        part = f"some of {part}, drawn at random"
    size = f"**{_megabytes(cost.size)}** of memory here"
    takes = (
        f"{size}; how long is told once it runs"
        if cost.seconds is None
        else f"**{in_words(cost.seconds)}** and {size}"
    )
    return (
        f"About **{about.tokens:,} tokens** ({part}) will take about {takes}."
        " This is an estimate from the number of characters: nothing has been run yet."
    )


def tell_cost(chosen: Chosen, cost: Cost) -> str:
    """Once the texts are tokenized: Markdown."""
    part = (
        f"all {chosen.corpus_size:,} texts"
        if len(chosen.places) == chosen.corpus_size
        else f"{len(chosen.places):,} of {chosen.corpus_size:,} texts, drawn at random"
    )
    return f"**{chosen.tokens:,} tokens** ({part}) take **{_megabytes(cost.size)}** of memory here."


def in_words(seconds: float) -> str:
    """Seconds, or minutes where there are many."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min"


def _megabytes(size: int) -> str:
    return f"{max(1, size / 1e6):,.0f} MB"
