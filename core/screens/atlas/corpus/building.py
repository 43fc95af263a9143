"""Build the atlas under a progress bar, after an estimate of its cost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial

import streamlit as st

from core.atlas.engine.build import Chunk, MemoryStore, Row, atlas_of, chunks_of, walk
from core.atlas.source import Source
from core.model import (
    Chosen,
    LoadedModel,
    ModelError,
    Trace,
    choose_texts,
    estimate_texts,
    trace_by_length,
)
from core.screens.atlas.corpus.entry import (
    AtlasEntry,
    cost_of,
    find_atlas,
    keep_atlas,
    take_memory,
    too_large,
)
from core.screens.atlas.corpus.images import plan_images, traced
from core.screens.atlas.corpus.source import Material
from core.ui import cache, controls
from core.ui.current import current_model
from core.ui.frame.attention_types import note_corpus
from core.ui.frame.model_chip import show_model_facts
from core.ui.serve.long_work import ProgressBar, bar_with_cancel, long_work
from core.ui.words.messages import show_model_error
from core.ui.words.prose import Prose

BATCH_TOKENS = 512  # in one forward pass: 0.2 s with the bundled model
_WAIT_SECONDS = 1.0  # between checks while a visitor waits for someone else's atlas
_PART_TOKENS = 8_192  # sorted by length before they run, so that there is little padding
_PROJECTING = "Projecting the queries and keys of every head …"
_PRESSED, _ASKED, _STOPPED = "_atlas_pressed", "_atlas_asked", "_atlas_stopped"
_building = threading.BoundedSemaphore()  # two at once would only compete for CPU and memory
_words = Prose(__file__)


def atlas_of_corpus(corpus: Material, budget: int) -> AtlasEntry:
    """The atlas, from the cache or built now; ends the page while there is none."""
    model = current_model()
    show_model_facts(model)
    note_corpus(model)
    return make_atlas(model, corpus, budget)


def is_waiting(model_name: str, corpus: Material, budget: int) -> bool:
    """Whether the atlas still has to be built and the visitor has not pressed Cancel."""
    request = _request(model_name, corpus, budget)
    return find_atlas(request) is None and st.session_state.get(_STOPPED) != request


def _request(model_name: str, corpus: Material, budget: int) -> tuple[str, str]:
    return model_name, f"{corpus.digest} {budget}"


def make_atlas(model: LoadedModel, corpus: Material, budget: int) -> AtlasEntry:
    """Like :func:`atlas_of_corpus`, for a model that is already loaded."""
    request = _request(model.name, corpus, budget)
    state = st.session_state
    if state.pop(_PRESSED, False):
        state[_ASKED] = request
        state.pop(_STOPPED, None)
    entry = find_atlas(request)
    if entry is None:
        # A visitor's own texts are neither tokenized nor run before the button is pressed.
        if state.get(_STOPPED) == request or not (corpus.is_ours or state.get(_ASKED) == request):
            _offer(model, corpus, budget)
            controls.end_page()
        try:
            with long_work():
                entry = _make(model, corpus, budget, request)
        except ModelError as error:
            show_model_error(error)
            controls.end_page()
    return entry


def _offer(model: LoadedModel, corpus: Material, budget: int) -> None:
    """Show the estimated cost, and a button if there is enough memory."""
    if corpus.images:
        tokens, texts = plan_images(model, corpus).tokens, f"{len(corpus.texts)} images"
    else:
        about = estimate_texts(model, corpus.texts, budget, cache.MAX_TOKENS)
        tokens, texts = about.tokens, f"{about.texts:,} texts"
    cost = cost_of(model, tokens)
    estimate = _words("cost", texts=texts, tokens=tokens, size=max(1, cost / 1e6))
    if refusal := too_large(cost):
        st.error(f"{estimate} {refusal}")
        return
    st.markdown(estimate)
    st.button(
        "Build the atlas",
        type="primary",
        key="atlas_build",
        on_click=st.session_state.update,
        # not the request, which would miss a label chosen just before the click
        kwargs={_PRESSED: True},
    )


def _make(
    model: LoadedModel, corpus: Material, budget: int, request: tuple[str, str]
) -> AtlasEntry:
    """Build the atlas, or wait while another visitor builds one; any click interrupts it."""
    stop = partial(st.session_state.update, {_STOPPED: request})
    with bar_with_cancel("atlas_cancel", stop) as bar:
        bar.show(0.0, "Counting the tokens of the corpus …")
        while not _building.acquire(timeout=_WAIT_SECONDS):
            bar.show(0.0, "Another atlas is being built on this server …")
        try:
            if (existing := find_atlas(request)) is not None:  # by another visitor meanwhile
                return existing
            plan = _choose(model, corpus, budget, bar)
            store = _trace(plan, model, corpus, bar)
            bar.show(1.0, _PROJECTING)
            size = cost_of(model, plan.tokens)
            return keep_atlas(request, AtlasEntry(Source(atlas_of(store)), plan, size))
        finally:
            _building.release()


def _choose(model: LoadedModel, corpus: Material, budget: int, bar: ProgressBar) -> Chosen:
    """Tokenize texts a few at a time until the budget is full; a click may interrupt it."""
    if corpus.images:
        return plan_images(model, corpus)

    def show(texts: int, tokens: int) -> None:
        share = max(texts / max(len(corpus.texts), 1), tokens / budget)
        bar.step(share, f"Counting tokens: {tokens:,} in {texts:,} texts")

    return choose_texts(model, corpus.texts, budget, cache.MAX_TOKENS, show)


def _trace(plan: Chosen, model: LoadedModel, corpus: Material, bar: ProgressBar) -> MemoryStore:
    """Run the texts; a click interrupts it between two sentences.

    Ends the page if there is too little memory, or no token.
    """
    store, cost = MemoryStore(), cost_of(model, plan.tokens)
    if refusal := take_memory(cost):
        st.error(refusal)
        controls.end_page()
    rows = (
        Row(place, length, corpus.texts[place], corpus.labels[place] if corpus.labels else None)
        for place, length in zip(plan.places, plan.lengths, strict=True)
    )
    start, done = time.perf_counter(), 0

    def show(tokens: int) -> None:
        nonlocal done
        done += tokens
        pace = f"{done / max(time.perf_counter() - start, 1e-6):,.0f} tokens per second"
        bar.step(done / max(plan.tokens, 1), f"{done:,} of {plan.tokens:,} tokens · {pace}")

    walk(chunks_of(rows, _PART_TOKENS), partial(_traces, model, corpus), store, show)
    if not done:
        st.info("This corpus has **no tokens** except special ones: use other sentences.")
        controls.end_page()
    return store


def _traces(model: LoadedModel, corpus: Material, chunk: Chunk) -> Iterator[tuple[int, Trace]]:
    """The traces of the texts or images in a chunk, each with its index in the corpus."""
    places = [row.number for row in chunk.rows]
    if corpus.images:
        traces = traced(model, corpus, places)
    else:
        texts, max_tokens = [corpus.texts[place] for place in places], cache.MAX_TOKENS
        traces = trace_by_length(model, texts, batch_tokens=BATCH_TOKENS, max_tokens=max_tokens)
    return ((places[index], trace) for index, trace in traces)
