"""The two sides: how B is chosen, both traces, how far each head differs, and the noise floor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import streamlit as st

from core.analysis.arrays import Bools, Floats
from core.analysis.compare.alignment import Alignment, align
from core.analysis.compare.difference import Matching, between_heads, head_distances, match_heads
from core.analysis.compare.noise_floor import floor, half_distances, paraphrases
from core.corpus.sample import sample_sentences
from core.model import LoadedModel, Trace, trace_by_length, trace_text, untrained_twin
from core.model.memory import return_freed_memory
from core.ui import address, cache, controls
from core.ui.cache import TraceKey
from core.ui.corpus_walk import measure_once
from core.ui.frame.layout import more
from core.ui.serve.access import access, box_help, resolve
from core.ui.serve.long_work import ProgressBar, Shared, room_for_twin
from core.ui.words.messages import notice, quote
from core.ui.words.prose import Prose

MAX_TOKENS = 128  # of a side: pictures of more words cannot be read next to each other
MAX_LINES = 20  # of the visitor's own paraphrases
TWIN = "twin"  # as model B: A's with fresh weights
_SAMPLES = 48  # sentences over which heads of two models are matched
_MAX_TRACES, _MAX_FLOORS, _MAX_RUNS = 8, 64, 32  # for all visitors; 5 MB, 12 kB, 20 kB each
_MATCH, _OF = "match", "_texts_of_match"
_PAIR = re.compile(r"(\d{1,4})-(\d{1,4})")
_words = Prose(__file__)
Place = tuple[int, int]  # layer and head, from 0


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sides, measured.

    Attributes
    ----------
    distances : of A's heads to those of B, (layer, head).
    noise : of heads between texts that do not differ, (text, layer, head), for the noise floor.
    lines : these texts, paraphrases of A; none where two models are compared.
    matchings : of two models, "nearest", the head of B that is most alike over the sample corpus
        for each of A, and "matched", the same with each head of B taken once.
    """

    a: Trace
    b: Trace
    alignment: Alignment
    distances: Floats
    noise: Floats
    lines: tuple[str, ...]
    matchings: dict[str, Matching]

    def head_of_b(self, layer: int, head: int) -> Place:
        """The head of B that a head of A is compared with."""
        if not self.matchings:
            return layer, head
        number = int(self.matchings["nearest"].partner[layer * self.a.shape[1] + head])
        return divmod(number, self.b.shape[1])

    @cached_property
    def floor(self) -> Floats:
        """What a head's distance must exceed, (layer, head); nan where there are no texts."""
        return floor(self.noise)

    @property
    def over(self) -> Bools:
        """Whether each head differs by more than the floor, or at all where there is none."""
        return self.distances > np.nan_to_num(self.floor)

    @property
    def largest(self) -> Place:
        """The head that differs most, of those over the floor if there are any."""
        sizes = self.distances + self.over
        return divmod(int(sizes.argmax()), sizes.shape[1])


def pick_other() -> tuple[str, str, tuple[str, ...]]:
    """Choose the model and text of B, each "" for that of A, and the visitor's paraphrases."""
    text = controls.text(
        "text_b", "", "B: another sentence", column=330, placeholder="Empty: the same"
    )
    model = _pick_model()
    with more():
        help_ = _words("lines", most=MAX_LINES)
        lines = controls.text("lines", "", "Your own paraphrases of A", height=150, help=help_)
    own = filter(None, map(str.strip, lines.splitlines()))
    return model, text.strip(), tuple(own)[:MAX_LINES]


def _pick_model() -> str:
    """A menu of the models on offer, in which a visitor who may can type any other."""
    granted, key = access(), "model_b"
    names = {"": "the same", TWIN: "its untrained twin"}
    typed = controls.text(key, "")
    with st.container(width=200):
        st.selectbox(
            "B: another model",
            dict.fromkeys([*names, *granted.names, typed]),
            key=key,
            format_func=lambda name: names.get(name, name),
            accept_new_options=granted.free_text,
            persist_state="session",
            help=f"{_words('models')} {box_help(granted)}",
        )
    return typed.strip()


def compare(key: TraceKey, model: str, text: str, lines: tuple[str, ...]) -> Comparison | None:
    """Measure both sides, B as :func:`pick_other` gives it; None if they are the same.

    Raises ModelError where model B cannot be used; what does not fit in memory is not loaded.
    """
    twin = model == TWIN
    model_b = resolve(model) if model and not twin else key.model
    key_b = key._replace(text=text or key.text)
    if model_b != key.model:
        key_b = TraceKey(model_b, key_b.text, key.pair)
    if key_b == key and not twin:
        return None
    a, b = _trace(key), run(key_b, twin=True) if twin else _trace(key_b)
    alignment = _aligned(a, b)
    if twin or model_b != key.model:
        return _compare_models(a, b, alignment, (key.model, model_b, twin))
    lines = lines or paraphrases(key.text)
    distances = head_distances(a, b, alignment) if alignment.pairs else np.zeros(a.shape[:2])
    return Comparison(a, b, alignment, distances, _noise(key, lines), lines, {})


def _trace(key: TraceKey) -> Trace:
    """The trace of a side, shared with the other pages unless the text must be cut."""
    trace = cache.trace(*key)
    return run(key) if len(trace.tokens) > MAX_TOKENS else trace


@st.cache_resource(max_entries=_MAX_TRACES, show_spinner=False)
def run(key: TraceKey, *, twin: bool = False) -> Trace:
    """The trace of at most :data:`MAX_TOKENS` tokens; with `twin`, that of the untrained twin."""
    with _model(key.model, twin=twin) as model:
        trace = trace_text(
            model,
            key.text,
            key.pair,
            MAX_TOKENS,
            key.target,
            decode=key.attention_type in {"decoder", "cross"},
            languages=key.languages,
        )
    return trace if key.attention_type is None else trace.of_type(key.attention_type)


@contextmanager
def _model(name: str, *, twin: bool) -> Iterator[LoadedModel]:
    """A model, or its untrained twin, which is gone afterwards."""
    if not twin:
        yield cache.model(name)
        return
    try:
        with room_for_twin:
            yield untrained_twin(cache.model(name))
    finally:
        return_freed_memory()


@st.cache_resource(max_entries=_MAX_FLOORS, show_spinner="Running paraphrases of A …")
def _noise(key: TraceKey, lines: tuple[str, ...]) -> Floats:
    """The distances of a text to its paraphrases; one that shares no word with it is left out."""
    a = _trace(key)
    sides = [(trace, align(a, trace)) for trace in (run(key._replace(text=each)) for each in lines)]
    distances = [head_distances(a, trace, aligned) for trace, aligned in sides if aligned.pairs]
    return np.array(distances).reshape(-1, *a.shape[:2])


@st.cache_resource(max_entries=_MAX_RUNS, show_spinner=False)
def place_of(*question: object) -> Shared[list[Any]]:  # noqa: ARG001 - the key
    """The slot for what a long run finds, shared by all visitors; empty until it has finished."""
    return Shared([])


def _compare_models(
    a: Trace, b: Trace, alignment: Alignment, models: tuple[str, str, bool]
) -> Comparison:
    """Each head of A beside the head of B that is most alike over the sample corpus."""
    over_corpus = lambda bar: _over_corpus(models, bar)
    begins, place = _words("matching", done=0, total=_SAMPLES), place_of(*models)
    stop = lambda: controls.pick(model_b="")
    matchings, noise = measure_once(place, over_corpus, begins, "compare_cancel", stop)
    distances = np.zeros(a.shape[:2])
    if alignment.pairs:
        between = between_heads(a, b, alignment)
        partners = matchings["nearest"].partner
        distances = between[np.arange(len(between)), partners].reshape(a.shape[:2])
    return Comparison(a, b, alignment, distances, noise, (), matchings)


def _over_corpus(
    models: tuple[str, str, bool], bar: ProgressBar
) -> tuple[dict[str, Matching], Floats]:
    """The matchings of two models, and the distances between halves of the corpus in A."""
    model_a, model_b, twin = models
    texts = sample_sentences()
    texts = texts[:: len(texts) // _SAMPLES][:_SAMPLES]
    of_a = dict(trace_by_length(cache.model(model_a), texts, whole=False))
    distances = []
    with _model(model_b, twin=twin) as b:
        for done, (index, trace) in enumerate(trace_by_length(b, texts, whole=False)):
            distances.append(between_heads(of_a[index], trace, align(of_a[index], trace)))
            bar.step(done / len(texts), _words("matching", done=done, total=len(texts)))
    each = np.array(distances)
    matchings = {"nearest": match_heads(each, one_to_one=False), "matched": match_heads(each)}
    return matchings, half_distances(of_a.values())


def _aligned(a: Trace, b: Trace) -> Alignment:
    """Both sides with the visitor's pairs of words; without them once a text has changed."""
    state, texts = st.session_state, hash((a.tokens, b.tokens))
    if state.setdefault(_OF, texts) != texts and not address.asks_for(_MATCH):
        state[_MATCH] = ""
    state[_OF] = texts
    asked = controls.text(_MATCH, "")
    pairs = [(int(i) - 1, int(j) - 1) for i, j in _PAIR.findall(asked)]
    alignment = align(a, b, pairs)
    all_a, all_b = range(len(alignment.a)), range(len(alignment.b))
    known = ",".join(f"{i + 1}-{j + 1}" for i, j in pairs if i in all_a and j in all_b)
    if known != asked:
        notice(f"This link asks for match {quote(asked)}; some of it is not in these sentences.")
        state[_MATCH] = known
    return alignment


def set_pair(pair: list[int]) -> None:
    """Make a word of A and one of B partners, or undo all such pairs; for callbacks."""
    match = st.session_state[_MATCH] if pair else ""
    controls.pick(match=",".join(filter(None, [match, "-".join(str(i + 1) for i in pair)])))
