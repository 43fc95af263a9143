"""Making the atlas under a progress bar: what it will cost, how far it is, what a Cancel keeps."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.atlas import Atlas, Gathered, atlas_of, gather_trace
from core.analysis.atlas.file import AtlasFileError, read_atlas
from core.model import Chosen, LoadedModel, ModelError, choose_texts, trace_by_length
from core.model.memory import available_bytes
from core.ui import cache
from core.ui.atlas.source import sample_digest
from core.ui.current import current_model
from core.ui.messages import escape, quote, show_model_error
from core.ui.sidebar import show_model_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_JOB, _ASKED, _PARTIAL = "_atlas_job", "_atlas_asked", "_atlas_partial"


@dataclass(eq=False)
class _Job:
    """One visitor's run, which a click or a Cancel may interrupt."""

    of: str
    gathered: Gathered = field(default_factory=Gathered)
    stopped: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Cost:
    """What is known before it begins: seconds, and bytes of memory."""

    seconds: float
    size: int


def atlas_from_file(data: bytes, name: str) -> cache.AtlasShelf:
    """The atlas in a file; ends the page with a message where it holds none."""
    import hashlib
    import io

    shelf = cache.atlas_shelf("", hashlib.sha256(data).hexdigest())
    if shelf.atlas is None:
        try:
            with st.spinner("Opening the atlas …"):
                shelf.atlas = read_atlas(io.BytesIO(data))
        except AtlasFileError as error:
            st.error(f"{quote(name)}: {escape(str(error))}")
            st.stop()
    return shelf


def atlas_of_corpus(corpus: Corpus, budget: int) -> cache.AtlasShelf:
    """The atlas, from the cache or made now; ends the page while there is none."""
    model = current_model()
    show_model_facts(model)
    of = f"{model.name} {corpus.digest} {budget}"
    shelf = cache.atlas_shelf(model.name, f"{corpus.digest} {budget}")
    if shelf.atlas is not None:
        return shelf
    partial = _partial(of)
    if partial is not None:
        return partial
    chosen, cost = _plan(shelf, model, corpus, budget)
    job: _Job | None = st.session_state.get(_JOB)
    if job is None or job.of != of:
        job = None
        if not _may_begin(corpus, chosen, cost, of):
            st.stop()
        job = _Job(of)
        st.session_state[_JOB] = job
    if job.stopped:
        _ask_after_cancel(job, corpus, chosen)
    try:
        _gather(job, model, corpus, chosen)
    except ModelError as error:
        st.session_state.pop(_JOB)
        show_model_error(error)
        st.stop()
    if chosen.tokens > LARGE:
        cache.atlas_shelf.clear()
        shelf = cache.atlas_shelf(model.name, f"{corpus.digest} {budget}")
    shelf.atlas, shelf.plan = _projected(job, corpus), (chosen, 0.0)
    st.session_state.pop(_JOB)
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
            st.stop()
        if not run:
            st.info("**No token is left** of this corpus but special ones: take other sentences.")
            st.stop()
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
        kwargs={_ASKED: of},
    )
    return False


def _gather(job: _Job, model: LoadedModel, corpus: Corpus, chosen: Chosen) -> None:
    left = [place for place in chosen.places if place not in job.gathered.tokens]
    slot = st.empty()
    with slot.container(), st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, text="Running the corpus through the model …")
        st.button("Cancel", key="atlas_cancel", on_click=_stop, args=(job,))
    told = start = time.perf_counter()
    before = job.seconds
    for index, trace in _traces(model, [corpus.texts[place] for place in left]):
        gather_trace(job.gathered, left[index], trace)
        now = time.perf_counter()
        job.seconds = before + now - start
        if now - told > _TELL_SECONDS:  # also where Streamlit notices that Cancel was pressed
            told = now
            bar.progress(
                min(1.0, job.gathered.count / chosen.tokens),
                text=_progress(job.gathered.count, chosen.tokens, job.seconds),
            )
    slot.empty()


def _traces(model: LoadedModel, texts: list[str]) -> Iterator[tuple[int, Trace]]:
    return trace_by_length(model, texts, max_tokens=cache.MAX_TOKENS)


def _projected(job: _Job, corpus: Corpus) -> Atlas:
    layers, heads = next(iter(job.gathered.queries.values())).shape[:2]
    with st.spinner(f"Projecting the queries and keys of {layers * heads} heads …"):
        return atlas_of(job.gathered, corpus.texts, corpus.labels)


def _stop(job: _Job) -> None:
    job.stopped = True


def _ask_after_cancel(job: _Job, corpus: Corpus, chosen: Chosen) -> None:
    """After a Cancel: go on, or take what there is; ends the page until one is pressed."""
    done = job.gathered.count
    st.markdown(f"Stopped after **{done:,} of {chosen.tokens:,} tokens**. They are kept.")
    with st.container(horizontal=True):
        on = st.button("Go on", key="atlas_go_on", type="primary")
        use = done > 0 and st.button(f"Use these {done:,} tokens", key="atlas_use")
    if use:
        shelf = cache.AtlasShelf(atlas=_projected(job, corpus), plan=(chosen, 0.0))
        st.session_state[_PARTIAL] = job.of, shelf
        st.session_state.pop(_JOB)
    elif on:
        job.stopped = False
    else:
        st.stop()
    st.rerun()


def _partial(of: str) -> cache.AtlasShelf | None:
    """What this visitor took after a Cancel, with the way to the whole."""
    kept, shelf = st.session_state.get(_PARTIAL, (None, None))
    if kept != of or shelf is None:
        return None
    chosen, _ = shelf.plan
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"Cancelled: this atlas has {shelf.atlas.shape[2]:,} of {chosen.tokens:,} tokens, the"
            " shortest texts first."
        )
        st.button(
            "Build all of it", key="atlas_whole", on_click=st.session_state.pop, args=(_PARTIAL,)
        )
    found: cache.AtlasShelf = shelf
    return found


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
