"""Making the atlas under a progress bar: what it will cost, and how far it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial

import streamlit as st

from core.atlas.engine import Chunk, MemoryStore, Row, atlas_of, chunks_of, walk
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

BATCH_TOKENS = 512  # of a forward pass: 0.2 s of the bundled model
_WAIT_SECONDS = 1.0  # between two looks of a visitor who waits for another's atlas
_PART_TOKENS = 8_192  # run by length, so that there is little padding
_PROJECTING = "Projecting the queries and keys of every head …"
_PRESSED, _ASKED, _STOPPED = "_atlas_pressed", "_atlas_asked", "_atlas_stopped"
_building = threading.BoundedSemaphore()  # two would only share the processors and the memory
_words = Prose(__file__)


def atlas_of_corpus(corpus: Material, budget: int) -> AtlasEntry:
    """The atlas, from the cache or made now; ends the page while there is none."""
    model = current_model()
    show_model_facts(model)
    note_corpus(model)
    return make_atlas(model, corpus, budget)


def is_waiting(model_name: str, corpus: Material, budget: int) -> bool:
    """Whether the atlas is still to be made, and the visitor has not pressed Cancel."""
    request = _request(model_name, corpus, budget)
    return find_atlas(request) is None and st.session_state.get(_STOPPED) != request


def _request(model_name: str, corpus: Material, budget: int) -> tuple[str, str]:
    return model_name, f"{corpus.digest} {budget}"


def make_atlas(model: LoadedModel, corpus: Material, budget: int) -> AtlasEntry:
    """The atlas of a model that is here; as :func:`atlas_of_corpus`."""
    request = _request(model.name, corpus, budget)
    state = st.session_state
    if state.pop(_PRESSED, False):
        state[_ASKED] = request
        state.pop(_STOPPED, None)
    entry = find_atlas(request)
    if entry is None:
        # Nothing that a visitor brings is tokenized or run before the button is pressed.
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
    """An estimate of the cost, and a button if there is memory for it."""
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
        # not the request: it would miss a label chosen just before the press
        kwargs={_PRESSED: True},
    )


def _make(
    model: LoadedModel, corpus: Material, budget: int, request: tuple[str, str]
) -> AtlasEntry:
    """Make the atlas, or wait while another visitor makes one; a click ends it anywhere."""
    stopped = {_STOPPED: request}
    with bar_with_cancel("atlas_cancel", st.session_state.update, stopped) as bar:
        bar.show(0.0, "Counting the tokens of the corpus …")
        while not _building.acquire(timeout=_WAIT_SECONDS):
            bar.show(0.0, "Another atlas is being built on this server …")
        try:
            if (made := find_atlas(request)) is not None:  # by another visitor meanwhile
                return made
            plan = _choose(model, corpus, budget, bar)
            store = _trace(plan, model, corpus, bar)
            bar.show(1.0, _PROJECTING)
            size = cost_of(model, plan.tokens)
            return keep_atlas(request, AtlasEntry(Source(atlas_of(store)), plan, size))
        finally:
            _building.release()


def _choose(model: LoadedModel, corpus: Material, budget: int, bar: ProgressBar) -> Chosen:
    """Plan which texts fit the budget, tokenized a few at a time; a click may end it."""
    if corpus.images:
        return plan_images(model, corpus)

    def show(texts: int, tokens: int) -> None:
        share = max(texts / max(len(corpus.texts), 1), tokens / budget)
        bar.step(share, f"Counting tokens: {tokens:,} in {texts:,} texts")

    return choose_texts(model, corpus.texts, budget, cache.MAX_TOKENS, show)


def _trace(plan: Chosen, model: LoadedModel, corpus: Material, bar: ProgressBar) -> MemoryStore:
    """Run the texts; a click ends it between two sentences.

    Ends the page if there is no memory for it, or no token.
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
    """The traces of the texts or images of a piece, each with its place in the corpus."""
    places = [row.number for row in chunk.rows]
    if corpus.images:
        traces = traced(model, corpus, places)
    else:
        own, most = [corpus.texts[place] for place in places], cache.MAX_TOKENS
        traces = trace_by_length(model, own, batch_tokens=BATCH_TOKENS, max_tokens=most)
    return ((places[index], trace) for index, trace in traces)
