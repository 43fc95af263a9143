"""Making the atlas under a progress bar: what it will cost, how far it is, what a Cancel keeps."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.atlas import Gathered, atlas_of, gather_trace
from core.analysis.atlas.saved.file import AtlasFileError, read_atlas
from core.model import LoadedModel, ModelError, choose_texts, trace_by_length
from core.screens.atlas.corpus.cost import (
    cost_of,
    estimate,
    in_words,
    rows_that_fit,
    take_memory,
    tell_cost,
    tell_estimate,
    too_large,
)
from core.screens.atlas.corpus.source import file_digest, fitted, sample_digest
from core.screens.atlas.shelf import AtlasShelf, atlas_shelf, atlas_shelves, remember_rate
from core.ui import cache, controls
from core.ui.current import current_model
from core.ui.messages import escape, quote, show_model_error
from core.ui.sidebar import show_model_facts
from core.ui.site import turns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streamlit.delta_generator import DeltaGenerator
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from core.model import Chosen, Trace
    from core.screens.atlas.corpus.source import Corpus

_TELL_SECONDS = 0.3  # between two steps of the progress bar
_WAIT_SECONDS = 1.0  # between two looks of a visitor whose turn it is not yet
_BATCH_TOKENS = 512  # of a forward pass: 0.2 s of the bundled model, then others may come first
_RATE_TOKENS = 200  # from which on the pace of a model is told to those who come later
_PRESSED, _ASKED, _STOPPED, _USED = (
    "_atlas_pressed",
    "_atlas_asked",
    "_atlas_stopped",
    "_atlas_used",
)
_line = turns.Line()  # one atlas at a time: two would only share the processors, and the memory


def atlas_from_file(file: UploadedFile) -> AtlasShelf:
    """The atlas in a file; ends the page with a message where it holds none."""
    shelf = atlas_shelf("", file_digest(file))
    if shelf.atlas is None:
        try:
            with st.spinner("Opening the atlas …"):
                file.seek(0)
                shelf.atlas = read_atlas(file, rows_that_fit())
        except AtlasFileError as error:
            st.error(f"{quote(file.name)}: {escape(str(error))}")
            controls.end_page()
    return shelf


def atlas_of_corpus(corpus: Corpus, budget: int) -> AtlasShelf:
    """The atlas, from the cache or made now; ends the page while there is none."""
    model = current_model()
    show_model_facts(model)
    budget = fitted(budget, model)
    of = f"{corpus.digest} {budget}"
    if st.session_state.pop(_PRESSED, False):
        st.session_state[_ASKED] = f"{model.name} {of}"
    shelf = atlas_shelf(model.name, of)
    if shelf.atlas is not None:
        return shelf
    if st.session_state.get(_STOPPED) == (model.name, of):
        part = _after_cancel(shelf, corpus)
        if part is None:
            controls.end_page()
        return part
    if not _may_begin(model, corpus, budget, f"{model.name} {of}"):
        controls.end_page()
    try:
        with turns.long_work(), atlas_shelves().holding(shelf):
            _make(shelf, model, corpus, budget, of)
    except ModelError as error:
        shelf.gathered = Gathered()
        show_model_error(error)
        controls.end_page()
    return shelf


def _may_begin(model: LoadedModel, corpus: Corpus, budget: int, of: str) -> bool:
    """Whether it was asked for, or is the sample; else what it costs, about, and a button.

    Nothing that a visitor brings is tokenized or run before the button is pressed.
    """
    if corpus.digest == sample_digest() or st.session_state.get(_ASKED) == of:
        return True
    about, cost = estimate(model, corpus, budget)
    told = tell_estimate(about, cost)
    if refusal := too_large(cost):
        st.error(f"{told} {refusal}")
        return False
    st.markdown(told)
    st.button(
        "Build the atlas",
        type="primary",
        key="atlas_build",
        on_click=st.session_state.update,
        # not what is asked for: a label chosen just before the press would not be part of it
        kwargs={_PRESSED: True},
    )
    return False


def _make(shelf: AtlasShelf, model: LoadedModel, corpus: Corpus, budget: int, of: str) -> None:
    """Make the atlas, or watch another visitor make it; one at a time, first come first served."""
    slot = st.empty()
    with slot.container(), st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, text="Counting the tokens of the corpus …")
        st.button(
            "Cancel",
            key="atlas_cancel",
            on_click=st.session_state.update,
            args=({_STOPPED: (model.name, of)},),
        )
    ticket = _line.join()
    try:  # a click ends this run, wherever it is, with an exception
        if _wait_for_turn(shelf, ticket, bar):
            if shelf.plan is None:
                shelf.plan = _choose(model, corpus, budget, bar)
            _check_memory(shelf.plan, model)
            _gather(shelf, model, corpus, bar)
            _project(shelf, corpus, bar, ticket)
    finally:
        if not shelf.projecting:  # else it leaves when that is done, with or without this visitor
            _line.leave(ticket)
    slot.empty()


def _wait_for_turn(shelf: AtlasShelf, ticket: object, bar: DeltaGenerator) -> bool:
    """False where another visitor has made the same atlas meanwhile."""
    while shelf.atlas is None:
        if _line.wait(ticket, _WAIT_SECONDS):
            return shelf.atlas is None
        done, of = shelf.gathered.count, shelf.plan.tokens if shelf.plan else 0
        bar.progress(min(1.0, done / max(of, 1)), text=_waiting(done, of, _line.ahead(ticket)))
    return False


def _choose(model: LoadedModel, corpus: Corpus, budget: int, bar: DeltaGenerator) -> Chosen:
    """The texts within the budget, tokenized a few at a time; a click may end it."""
    told = time.perf_counter()

    def tell(texts: int, tokens: int) -> None:
        nonlocal told
        turns.give_way()
        if time.perf_counter() - told > _TELL_SECONDS:
            told = time.perf_counter()
            share = max(texts / max(len(corpus.texts), 1), tokens / budget)
            bar.progress(min(1.0, share), text=f"Counting tokens: {tokens:,} in {texts:,} texts")

    return choose_texts(model, corpus.texts, budget, cache.MAX_TOKENS, tell)


def _check_memory(chosen: Chosen, model: LoadedModel) -> None:
    """Make room for it; ends the page where there is none."""
    cost = cost_of(model, chosen.tokens)
    if refusal := take_memory(cost):
        st.error(f"{tell_cost(chosen, cost)} {refusal}")
        controls.end_page()


def _gather(shelf: AtlasShelf, model: LoadedModel, corpus: Corpus, bar: DeltaGenerator) -> None:
    """Run what has not been run yet. Between two sentences others come first; a click ends it."""
    assert shelf.plan is not None  # noqa: S101 - the texts were chosen
    gathered, total = shelf.gathered, shelf.plan.tokens
    left = [
        (place, length)
        for place, length in zip(shelf.plan.places, shelf.plan.lengths, strict=True)
        if place not in gathered.tokens
    ]
    told = start = time.perf_counter()
    before = shelf.seconds
    texts, lengths = [corpus.texts[place] for place, _ in left], [length for _, length in left]
    for index, trace in _traces(model, texts, lengths):
        gather_trace(gathered, left[index][0], trace)
        now = time.perf_counter()
        shelf.seconds = before + now - start
        if now - told > _TELL_SECONDS:  # also where Streamlit notices that Cancel was pressed
            told = now
            bar.progress(
                min(1.0, gathered.count / max(total, 1)),
                text=_progress(gathered.count, total, shelf.seconds),
            )
        turns.give_way()
    if not gathered.count:
        st.info("**No token is left** of this corpus but special ones: take other sentences.")
        controls.end_page()
    if gathered.count >= _RATE_TOKENS:
        remember_rate(model.name, shelf.seconds / gathered.count)


def _traces(
    model: LoadedModel, texts: list[str], lengths: Sequence[int]
) -> Iterator[tuple[int, Trace]]:
    return trace_by_length(
        model, texts, batch_tokens=_BATCH_TOKENS, max_tokens=cache.MAX_TOKENS, lengths=lengths
    )


def _project(shelf: AtlasShelf, corpus: Corpus, bar: DeltaGenerator, ticket: object) -> None:
    """Project every head in a thread that comes to its end even where a click ends this run.

    The vectors are given away as it begins, so that half of it could not be gone on with.
    """
    heads = [0, 1]  # done, of
    errors: list[Exception] = []

    def between(done: int, of: int) -> None:
        heads[:] = done, of
        turns.give_way()

    def work() -> None:
        try:
            with turns.long_work(), atlas_shelves().holding(shelf):
                shelf.atlas = atlas_of(shelf.gathered, corpus.texts, corpus.labels, between)
        except Exception as error:  # noqa: BLE001 - it is raised where a person can see it
            errors.append(error)
        finally:
            shelf.gathered = Gathered()
            shelf.projecting = False
            _line.leave(ticket)

    thread = threading.Thread(target=work, daemon=True)
    shelf.projecting = True
    thread.start()
    while thread.is_alive():
        bar.progress(heads[0] / heads[1], text="Projecting the queries and keys of every head …")
        thread.join(_TELL_SECONDS)
    if errors:
        raise errors[0]


def _after_cancel(shelf: AtlasShelf, corpus: Corpus) -> AtlasShelf | None:
    """What was done before the Cancel: None while it is asked whether to go on or to take it."""
    total = shelf.plan.tokens if shelf.plan else 0
    slot = st.empty()  # where the bar of a build is: what is said here goes when that begins
    if st.session_state.get(_USED) == st.session_state[_STOPPED]:
        part = _part(shelf, corpus, slot)
        if part is shelf:
            return shelf
        if part is not None and part.atlas is not None:
            with slot.container(), st.container(horizontal=True, vertical_alignment="center"):
                st.caption(
                    f"Cancelled: this atlas has {part.atlas.shape[2]:,} of {total:,}"
                    " tokens, the shortest texts first."
                )
                st.button("Build all of it", key="atlas_whole", on_click=_go_on)
            return part
    done = shelf.gathered.count
    with slot.container():
        if total:
            st.markdown(f"Stopped after **{done:,} of {total:,} tokens**. They are kept.")
        else:
            st.markdown("Stopped before any text was run.")
        with st.container(horizontal=True):
            st.button("Go on", key="atlas_go_on", type="primary", on_click=_go_on)
            if done and not shelf.projecting:
                label = f"Use these {done:,} tokens"
                st.button(label, key="atlas_use", on_click=_use, args=(shelf,))
    return None


def _part(shelf: AtlasShelf, corpus: Corpus, slot: DeltaGenerator) -> AtlasShelf | None:
    """What was done, projected; the shelf itself where another visitor has finished meanwhile."""
    if shelf.partial is not None:
        return shelf.partial
    bar = slot.progress(0.0, text="Projecting the queries and keys of every head …")
    ticket = _line.join()
    try:
        with turns.long_work(), atlas_shelves().holding(shelf):
            if not _wait_for_turn(shelf, ticket, bar):
                return shelf
            if shelf.gathered.count:
                made = atlas_of(
                    shelf.gathered.copy(),
                    corpus.texts,
                    corpus.labels,
                    lambda *_: turns.give_way(),
                )
                shelf.partial = AtlasShelf(atlas=made, plan=shelf.plan)
    finally:
        _line.leave(ticket)
    slot.empty()
    return shelf.partial


def _use(shelf: AtlasShelf) -> None:
    shelf.partial = None  # of fewer tokens, from a Cancel before
    st.session_state[_USED] = st.session_state[_STOPPED]


def _go_on() -> None:
    for key in (_STOPPED, _USED):
        st.session_state.pop(key, None)


def _waiting(done: int, of: int, ahead: int) -> str:
    """While another visitor has the turn, `ahead` of them before this one."""
    if done:
        return f"Another visitor is building the same atlas: {done:,} of {of:,} tokens"
    if ahead > 1:
        return f"{ahead} atlases come before this one on this server"
    return "Another atlas is being built on this server; this one comes next"


def _progress(done: int, of: int, seconds: float) -> str:
    rate = done / max(seconds, 1e-6)
    return (
        f"{done:,} of {of:,} tokens · {rate:,.0f} tokens a second · about"
        f" {in_words((of - done) / max(rate, 1e-6))} left"
    )
