"""Making the atlas under a progress bar: what it will cost, how far it is, what a Cancel keeps."""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.atlas import Gathered, atlas_of, gather_trace
from core.analysis.atlas.file import MOST_ROWS, AtlasFileError, read_atlas
from core.model import Chosen, LoadedModel, ModelError, choose_texts, trace_by_length
from core.model.memory import available_bytes
from core.ui import cache
from core.ui.atlas.source import end_here, fitted, sample_digest
from core.ui.current import current_model
from core.ui.messages import escape, quote, show_model_error
from core.ui.sidebar import show_model_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.delta_generator import DeltaGenerator
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from core.model import Trace
    from core.ui.atlas.source import Corpus

LARGE = 20_000  # tokens: an atlas larger than this takes the place of all others in memory
_TRIAL_TEXTS = 8  # run before anything is promised
_TRIALS = 3  # of them the quickest counts: a model's first run takes longer than all others
_HEAD_SECONDS = 0.012  # projecting a head of few tokens; measured where a forward pass is cheap
_TOKEN_HEAD_SECONDS = 3e-6  # and what each token adds to it
_TELL_SECONDS = 0.3  # between two steps of the progress bar
_FREE_SHARE = 0.8  # of the memory that is free may be taken
_BYTES_A_POINT = 3 * 3 * 4 + 4  # three stages of three components, and the norm
_FILE, _PRESSED, _ASKED, _STOPPED, _USED = (
    "_atlas_file_digest",
    "_atlas_pressed",
    "_atlas_asked",
    "_atlas_stopped",
    "_atlas_used",
)
_turn = threading.Lock()  # one atlas at a time: two would only share the processors, and the memory


@dataclass(frozen=True)
class Cost:
    """What is known before it begins: seconds, and bytes of memory."""

    seconds: float
    size: int


def atlas_from_file(file: UploadedFile) -> cache.AtlasShelf:
    """The atlas in a file; ends the page with a message where it holds none."""
    shelf = cache.atlas_shelf("", _digest(file))
    if shelf.atlas is None:
        try:
            with st.spinner("Opening the atlas …"):
                file.seek(0)
                shelf.atlas = read_atlas(file, _most_rows())
        except AtlasFileError as error:
            st.error(f"{quote(file.name)}: {escape(str(error))}")
            end_here()
    return shelf


def _most_rows() -> int:
    """That are opened: a small file of zeros has as many rows as a large one."""
    free = available_bytes()
    rows = MOST_ROWS if free is None else int(_FREE_SHARE * free) // (2 * _BYTES_A_POINT)
    return min(MOST_ROWS, rows)


def _digest(file: UploadedFile) -> str:
    """Of what the file holds: the same for all who upload it, and taken once."""
    kept = st.session_state.get(_FILE)
    if kept is None or kept[0] != file.file_id:
        file.seek(0)
        kept = file.file_id, hashlib.file_digest(file, "sha256").hexdigest()
        st.session_state[_FILE] = kept
    return str(kept[1])


def atlas_of_corpus(corpus: Corpus, budget: int) -> cache.AtlasShelf:
    """The atlas, from the cache or made now; ends the page while there is none."""
    model = current_model()
    show_model_facts(model)
    budget = fitted(budget, model)
    of = f"{corpus.digest} {budget}"
    if st.session_state.pop(_PRESSED, False):
        st.session_state[_ASKED] = f"{model.name} {of}"
    shelf = cache.atlas_shelf(model.name, of)
    if shelf.atlas is not None:
        return shelf
    chosen, cost = _plan(shelf, model, corpus, budget)
    if st.session_state.get(_STOPPED) == (model.name, of):
        part = _after_cancel(shelf, corpus, chosen)
        if part is None:
            end_here()
        return part
    if not _may_begin(corpus, chosen, cost, f"{model.name} {of}"):
        end_here()
    try:
        _make(shelf, model, corpus, chosen, of)
    except ModelError as error:
        shelf.gathered = Gathered()
        show_model_error(error)
        end_here()
    if chosen.tokens > LARGE:
        cache.atlas_shelf.clear()
        kept = cache.atlas_shelf(model.name, of)
        kept.atlas, kept.plan = shelf.atlas, shelf.plan
        return kept
    return shelf


def _plan(
    shelf: cache.AtlasShelf, model: LoadedModel, corpus: Corpus, budget: int
) -> tuple[Chosen, Cost]:
    """Which texts, and what they will cost by a trial of a few of usual length."""
    if shelf.plan is None:
        try:
            chosen = choose_texts(model, corpus.texts, budget, cache.MAX_TOKENS)
            by_length = sorted(zip(chosen.lengths, chosen.places, strict=True))
            middle = max(0, (len(by_length) - _TRIAL_TEXTS) // 2)
            trial = [corpus.texts[i] for _, i in by_length[middle : middle + _TRIAL_TEXTS]]
            rate, run = min(_trial(model, trial) for _ in range(_TRIALS))
        except ModelError as error:
            show_model_error(error)
            end_here()
        if not run:
            st.info("**No token is left** of this corpus but special ones: take other sentences.")
            end_here()
        shelf.plan = chosen, rate
    chosen, rate = shelf.plan
    heads = model.layers * model.heads
    projecting = heads * (_HEAD_SECONDS + chosen.tokens * _TOKEN_HEAD_SECONDS)
    vectors = 4 * model.layers * (model.heads + model.kv_heads) * model.dim
    size = chosen.tokens * (vectors + 2 * heads * _BYTES_A_POINT)
    return chosen, Cost(chosen.tokens * rate + projecting, size)


def _trial(model: LoadedModel, texts: list[str]) -> tuple[float, int]:
    """Seconds a token, and how many tokens were run."""
    start = time.perf_counter()
    run = sum(trace.shape[2] for _, trace in _traces(model, texts))
    return (time.perf_counter() - start) / max(run, 1), run


def _may_begin(corpus: Corpus, chosen: Chosen, cost: Cost, of: str) -> bool:
    """Whether it was asked for, or is the sample; else what it costs and a button."""
    part = (
        f"all {chosen.of:,} texts"
        if len(chosen.places) == chosen.of
        else f"{len(chosen.places):,} of {chosen.of:,} texts, drawn at random"
    )
    told = (
        f"**{chosen.tokens:,} tokens** ({part}) will take about **{_time(cost.seconds)}** and"
        f" **{max(1, cost.size / 1e6):,.0f} MB** of memory here, by a trial of a few texts."
    )
    free = available_bytes()
    if free is not None and cost.size > _FREE_SHARE * free:
        st.error(f"{told} Only {free / 1e6:,.0f} MB are free: take fewer tokens.")
        return False
    if corpus.digest == sample_digest() or st.session_state.get(_ASKED) == of:
        return True
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


def _make(
    shelf: cache.AtlasShelf, model: LoadedModel, corpus: Corpus, chosen: Chosen, of: str
) -> None:
    """Make the atlas, or watch another visitor make it; one at a time on this server."""
    slot = st.empty()
    with slot.container(), st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, text="Running the corpus through the model …")
        st.button(
            "Cancel",
            key="atlas_cancel",
            on_click=st.session_state.update,
            args=({_STOPPED: (model.name, of)},),
        )
    while shelf.atlas is None:
        if not _turn.acquire(timeout=_TELL_SECONDS):
            done = shelf.gathered.count
            bar.progress(min(1.0, done / chosen.tokens), text=_waiting(done, chosen.tokens))
            continue
        try:  # a click ends this run, wherever it is, with an exception
            if shelf.atlas is None:
                _gather(shelf, model, corpus, chosen, bar)
                bar.progress(1.0, text="Projecting the queries and keys of every head …")
                shelf.atlas = atlas_of(shelf.gathered, corpus.texts, corpus.labels)
                shelf.gathered = Gathered()
        finally:
            _turn.release()
    slot.empty()


def _gather(
    shelf: cache.AtlasShelf,
    model: LoadedModel,
    corpus: Corpus,
    chosen: Chosen,
    bar: DeltaGenerator,
) -> None:
    """Run what has not been run yet; between two sentences a click may end it."""
    gathered = shelf.gathered
    left = [place for place in chosen.places if place not in gathered.tokens]
    told = start = time.perf_counter()
    before = shelf.seconds
    for index, trace in _traces(model, [corpus.texts[place] for place in left]):
        gather_trace(gathered, left[index], trace)
        now = time.perf_counter()
        shelf.seconds = before + now - start
        if now - told > _TELL_SECONDS:  # also where Streamlit notices that Cancel was pressed
            told = now
            bar.progress(
                min(1.0, gathered.count / chosen.tokens),
                text=_progress(gathered.count, chosen.tokens, shelf.seconds),
            )


def _traces(model: LoadedModel, texts: list[str]) -> Iterator[tuple[int, Trace]]:
    return trace_by_length(model, texts, max_tokens=cache.MAX_TOKENS)


def _after_cancel(
    shelf: cache.AtlasShelf, corpus: Corpus, chosen: Chosen
) -> cache.AtlasShelf | None:
    """What was done before the Cancel: None while it is asked whether to go on or to take it."""
    if st.session_state.get(_USED) == st.session_state[_STOPPED]:
        part = _part(shelf, corpus)
        if part is shelf:
            return shelf
        if part is not None and part.atlas is not None:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(
                    f"Cancelled: this atlas has {part.atlas.shape[2]:,} of {chosen.tokens:,}"
                    " tokens, the shortest texts first."
                )
                st.button("Build all of it", key="atlas_whole", on_click=_go_on)
            return part
    done = shelf.gathered.count
    st.markdown(f"Stopped after **{done:,} of {chosen.tokens:,} tokens**. They are kept.")
    with st.container(horizontal=True):
        st.button("Go on", key="atlas_go_on", type="primary", on_click=_go_on)
        if done:
            label = f"Use these {done:,} tokens"
            st.button(label, key="atlas_use", on_click=_use, args=(shelf,))
    return None


def _part(shelf: cache.AtlasShelf, corpus: Corpus) -> cache.AtlasShelf | None:
    """What was done, projected; the shelf itself where another visitor has finished meanwhile."""
    if shelf.partial is None:
        with st.spinner("Projecting the queries and keys of every head …"), _turn:
            if shelf.atlas is not None:
                return shelf
            if shelf.gathered.count:
                made = atlas_of(shelf.gathered.copy(), corpus.texts, corpus.labels)
                shelf.partial = cache.AtlasShelf(atlas=made, plan=shelf.plan)
    return shelf.partial


def _use(shelf: cache.AtlasShelf) -> None:
    shelf.partial = None  # of fewer tokens, from a Cancel before
    st.session_state[_USED] = st.session_state[_STOPPED]


def _go_on() -> None:
    for key in (_STOPPED, _USED):
        st.session_state.pop(key, None)


def _waiting(done: int, of: int) -> str:
    """While another visitor has the turn."""
    if done:
        return f"Another visitor is building the same atlas: {done:,} of {of:,} tokens"
    return "Another atlas is being built on this server; this one comes next"


def _progress(done: int, of: int, seconds: float) -> str:
    rate = done / max(seconds, 1e-6)
    return (
        f"{done:,} of {of:,} tokens · {rate:,.0f} tokens a second · about"
        f" {_time((of - done) / max(rate, 1e-6))} left"
    )


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min"
