"""Making the atlas under a progress bar: what it will cost, how far it is, what a Cancel keeps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.atlas.engine import Chunk, MemoryStore, Row, atlas_of, chunks_of, walk
from core.atlas.sources import InMemory
from core.model import (
    Chosen,
    LoadedModel,
    ModelError,
    Trace,
    choose_texts,
    estimate_texts,
    trace_chosen,
)
from core.screens.atlas.corpus.cost import (
    cost_of,
    describe_cost,
    describe_estimate,
    describe_images,
    in_words,
    take_memory,
    too_large,
)
from core.screens.atlas.corpus.entry import AtlasEntry, atlas_entries, atlas_entry, remember_rate
from core.screens.atlas.corpus.images import plan_images, traced
from core.screens.atlas.corpus.source import Corpus, fitted
from core.ui import cache, controls
from core.ui.attention_types import note_corpus
from core.ui.current import current_model
from core.ui.frame.model_chip import show_model_facts
from core.ui.serve import turns
from core.ui.serve.progress import UPDATE_SECONDS, Bar, bar_with_cancel
from core.ui.words.messages import show_model_error
from core.ui.words.prose import Prose

_WAIT_SECONDS = 1.0  # between two looks of a visitor who waits for a turn
BATCH_TOKENS = 512  # of a forward pass: 0.2 s of the bundled model
_PART_TOKENS = 8_192  # run by length, so that there is little padding
_MIN_RATE_TOKENS = 200  # from which on a model's pace is remembered
_PROJECTING = "Projecting the queries and keys of every head …"
_PRESSED, _ASKED = "_atlas_pressed", "_atlas_asked"
_STOPPED, _USED = "_atlas_stopped", "_atlas_used"
_words = Prose(__file__)
_line = turns.FifoQueue()  # one atlas at a time: two would only share the processors and the memory


def atlas_of_corpus(corpus: Corpus, budget: int) -> AtlasEntry:
    """The atlas, from the cache or made now; ends the page while there is none."""
    model = current_model()
    show_model_facts(model)
    note_corpus(model)
    return make_atlas(model, corpus, budget if corpus.images else fitted(budget, model))


def is_waiting(model_name: str, corpus: Corpus, budget: int) -> bool:
    """Whether the atlas is still to be made, and the visitor has not pressed Cancel."""
    request = _request(model_name, corpus, budget)
    return atlas_entry(*request).atlas is None and st.session_state.get(_STOPPED) != request


def _request(model_name: str, corpus: Corpus, budget: int) -> tuple[str, str]:
    return model_name, f"{corpus.digest} {budget}"


def make_atlas(model: LoadedModel, corpus: Corpus, budget: int) -> AtlasEntry:
    """The atlas of a model that is here; as :func:`atlas_of_corpus`."""
    request = _request(model.name, corpus, budget)
    state = st.session_state
    if state.pop(_PRESSED, False):
        state[_ASKED] = request
    entry = atlas_entry(*request)
    if entry.atlas is not None:
        return entry
    if state.get(_STOPPED) == request:
        part = _after_cancel(entry, corpus)
        if part is None:
            controls.end_page()
        return part
    # Nothing that a visitor brings is tokenized or run before the button is pressed.
    if not corpus.is_ours and state.get(_ASKED) != request:
        _offer(model, corpus, budget)
        controls.end_page()
    try:
        with turns.long_work(), atlas_entries().holding(entry):
            _make(entry, model, corpus, budget, request)
    except ModelError as error:
        entry.store = MemoryStore()
        show_model_error(error)
        controls.end_page()
    return entry


def _offer(model: LoadedModel, corpus: Corpus, budget: int) -> None:
    """An estimate of the cost, and a button if there is memory for it."""
    if corpus.images:
        cost = cost_of(model, plan_images(model, corpus).tokens)
        estimate = describe_images(plan_images(model, corpus), cost)
    else:
        about = estimate_texts(model, corpus.texts, budget, cache.MAX_TOKENS)
        cost = cost_of(model, about.tokens)
        estimate = describe_estimate(about, cost)
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
    entry: AtlasEntry, model: LoadedModel, corpus: Corpus, budget: int, request: tuple[str, str]
) -> None:
    """Make the atlas, or watch another visitor make it; one at a time, first come first served."""
    stopped = {_STOPPED: request}
    with bar_with_cancel("atlas_cancel", st.session_state.update, stopped) as bar:
        bar.show(0.0, "Counting the tokens of the corpus …")
        ticket = _line.join()
        try:  # a click ends this run, wherever it is, with an exception
            if _wait_for_turn(entry, ticket, bar):
                if entry.plan is None:
                    _choose(entry, model, corpus, budget, bar)
                _trace(entry, model, corpus, bar)
                _project(entry, corpus, bar, ticket)
        finally:
            if not entry.projecting:  # else its thread leaves, with or without this visitor
                _line.leave(ticket)


def _wait_for_turn(entry: AtlasEntry, ticket: object, bar: Bar) -> bool:
    """False if another visitor has made the same atlas meanwhile."""
    while entry.atlas is None:
        if _line.wait(ticket, _WAIT_SECONDS):
            return entry.atlas is None
        done, total = entry.store.count, entry.plan.tokens if entry.plan else 0
        if done:
            text = f"Another visitor is building the same atlas: {done:,} of {total:,} tokens"
        elif (ahead := _line.ahead(ticket)) > 1:
            text = f"{ahead} atlases are ahead of yours on this server"
        else:
            text = "Another atlas is being built on this server; yours is next"
        bar.show(done / max(total, 1), text)
    return False


def _choose(entry: AtlasEntry, model: LoadedModel, corpus: Corpus, budget: int, bar: Bar) -> None:
    """Plan which texts fit the budget, tokenized a few at a time; a click may end it."""
    if corpus.images:
        entry.plan = plan_images(model, corpus)
        return

    def show(texts: int, tokens: int) -> None:
        share = max(texts / max(len(corpus.texts), 1), tokens / budget)
        bar.step(share, f"Counting tokens: {tokens:,} in {texts:,} texts")

    entry.plan = choose_texts(model, corpus.texts, budget, cache.MAX_TOKENS, show)


def _trace(entry: AtlasEntry, model: LoadedModel, corpus: Corpus, bar: Bar) -> None:
    """Run what has not been run yet; others go first between two sentences, a click ends it.

    Ends the page if there is no memory for it, or no token.
    """
    assert entry.plan is not None  # noqa: S101 - the texts were chosen
    store, total = entry.store, entry.plan.tokens
    cost = cost_of(model, total)
    if refusal := take_memory(cost):
        st.error(f"{describe_cost(entry.plan, cost)} {refusal}")
        controls.end_page()
    rows = (
        Row(place, length, corpus.texts[place], corpus.labels[place] if corpus.labels else None)
        for place, length in zip(entry.plan.places, entry.plan.lengths, strict=True)
    )
    chunks = chunks_of(rows, _PART_TOKENS)
    walk(chunks, partial(_traces, model, corpus), store, _watch(entry, total, bar))
    if not store.count:
        st.info("This corpus has **no tokens** except special ones: use other sentences.")
        controls.end_page()
    if store.count >= _MIN_RATE_TOKENS:
        remember_rate(model.name, entry.seconds / store.count)


def _watch(entry: AtlasEntry, total: int, bar: Bar) -> Callable[[int], None]:
    """What is called after each sentence: it shows how far all is, and lets others go first."""
    start, before = time.perf_counter(), entry.seconds

    def show(_: int) -> None:
        entry.seconds = before + time.perf_counter() - start
        done = entry.store.count
        rate = done / max(entry.seconds, 1e-6)
        left = in_words((total - done) / max(rate, 1e-6))
        pace = f"{rate:,.0f} tokens per second · about {left} left"
        bar.step(done / max(total, 1), f"{done:,} of {total:,} tokens · {pace}")

    return show


def _traces(model: LoadedModel, corpus: Corpus, chunk: Chunk) -> Iterator[tuple[int, Trace]]:
    """The traces of the texts or images of a piece, each with its place in the corpus."""
    places = tuple(chunk.lengths)
    if corpus.images:
        return ((places[index], trace) for index, trace in traced(model, corpus, places))
    chosen = Chosen(places, tuple(chunk.lengths.values()), len(corpus.texts))
    return trace_chosen(
        model, corpus.texts, chosen, batch_tokens=BATCH_TOKENS, max_tokens=cache.MAX_TOKENS
    )


def _project(entry: AtlasEntry, corpus: Corpus, bar: Bar, ticket: object) -> None:
    """Project every head in a thread that finishes even if a click ends this run.

    The vectors are given away as it begins, so half of it could not be resumed.
    """
    progress = [0, 1]  # heads done, heads in all
    errors: list[Exception] = []

    def before_head(done: int, total: int) -> None:
        progress[:] = done, total

    def work() -> None:
        try:
            with turns.long_work(), atlas_entries().holding(entry):
                made = atlas_of(entry.store, corpus.texts, corpus.labels, before_head)
                entry.source = InMemory(made)
        except Exception as error:  # noqa: BLE001 - raised below, where a person can see it
            errors.append(error)
        finally:
            entry.store = MemoryStore()
            entry.projecting = False
            _line.leave(ticket)

    thread = threading.Thread(target=work, daemon=True)
    entry.projecting = True
    thread.start()
    while thread.is_alive():
        bar.show(progress[0] / progress[1], _PROJECTING)
        thread.join(UPDATE_SECONDS)
    if errors:
        raise errors[0]


def _after_cancel(entry: AtlasEntry, corpus: Corpus) -> AtlasEntry | None:
    """What was done before the Cancel; None while the visitor chooses to resume or to use it."""
    total = entry.plan.tokens if entry.plan else 0
    slot = st.empty()  # where a build has its bar: these words go when one begins
    if st.session_state.get(_USED) == st.session_state[_STOPPED]:
        part = _part(entry, corpus, slot)
        if part is entry:
            return entry
        if part is not None and part.atlas is not None:
            with slot.container(), st.container(horizontal=True, vertical_alignment="center"):
                tokens = part.atlas.shape[2]
                st.caption(_words("after_a_cancel", tokens=tokens, total=total))
                st.button("Build all of it", key="atlas_whole", on_click=_resume)
            return part
    done = entry.store.count
    with slot.container():
        if total:
            st.markdown(f"Stopped after **{done:,} of {total:,} tokens**. They are kept.")
        else:
            st.markdown("Stopped before any text was run.")
        with st.container(horizontal=True):
            st.button("Resume", key="atlas_go_on", type="primary", on_click=_resume)
            if done and not entry.projecting:
                label = f"Use these {done:,} tokens"
                st.button(label, key="atlas_use", on_click=_use, args=(entry,))
    return None


def _part(entry: AtlasEntry, corpus: Corpus, slot: DeltaGenerator) -> AtlasEntry | None:
    """What was done, projected; the entry itself if another visitor has finished meanwhile."""
    if entry.partial is not None:
        return entry.partial
    bar = Bar(slot.progress)
    bar.show(0.0, _PROJECTING)
    ticket = _line.join()
    try:
        with turns.long_work(), atlas_entries().holding(entry):
            if not _wait_for_turn(entry, ticket, bar):
                return entry
            if entry.store.count:
                atlas = atlas_of(entry.store.copy(), corpus.texts, corpus.labels)
                entry.partial = AtlasEntry(InMemory(atlas), plan=entry.plan)
    finally:
        _line.leave(ticket)
    slot.empty()
    return entry.partial


def _use(entry: AtlasEntry) -> None:
    entry.partial = None  # of fewer tokens, from an earlier Cancel
    st.session_state[_USED] = st.session_state[_STOPPED]


def _resume() -> None:
    for key in (_STOPPED, _USED):
        st.session_state.pop(key, None)
