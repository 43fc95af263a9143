"""The two sides: how B is chosen, both traces, how far each head differs, and the noise floor."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import streamlit as st

from core.analysis.arrays import Bools, Floats
from core.analysis.compare.alignment import Alignment, align
from core.analysis.compare.difference import (
    Matching,
    Place,
    between_heads,
    head_distances,
    match_heads,
)
from core.analysis.compare.noise_floor import Floor, floor, model_floor, paraphrases
from core.corpus.sample import sample_sentences
from core.model import LoadedModel, Trace, trace_by_length, trace_text, untrained_twin
from core.model.memory import return_freed_memory
from core.ui import address, cache, controls
from core.ui.cache import TraceKey
from core.ui.corpus_walk import measure_once
from core.ui.frame.layout import more
from core.ui.serve.access import access, box_help, resolve
from core.ui.serve.long_work import ProgressBar, Shared, room_for_twin
from core.ui.words.prose import Prose

MAX_TOKENS = 128  # of a side: pictures of more words cannot be read next to each other
MAX_LINES = 20  # of the visitor's own paraphrases
TWIN = "twin"  # model B: A's with fresh weights
_SAMPLES = 48  # sentences over which heads of two models are matched
_MAX_TRACES, _MAX_FLOORS, _MAX_PAIRS = 16, 64, 4  # kept for all visitors; 5 MB, 1 kB, 2 MB each
_MATCH, _OF = "match", "_texts_of_match"
_PAIR = re.compile(r"(\d{1,4})-(\d{1,4})")
_words = Prose(__file__)


class Other(NamedTuple):
    """Side B as it was chosen: a model by its link name, a text; and the visitor's paraphrases."""

    model: str  # "" for the model of A
    text: str  # "" for the text of A
    lines: tuple[str, ...]


class OverCorpus(NamedTuple):
    """What two models do over the sample corpus."""

    distances: Floats  # (sentence, heads of A, heads of B)
    floor: Floor


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sides, measured.

    Attributes
    ----------
    distances : of A's heads to those of B, (layer, head).
    lines : the paraphrases behind the floor; none where two models are compared.
    nearest, matched : for two models, the most alike head of B for each of A, and the same with
        each head of B taken once; else None.
    """

    a: Trace
    b: Trace
    alignment: Alignment
    distances: Floats
    floor: Floor
    lines: tuple[str, ...] = ()
    nearest: Matching | None = None
    matched: Matching | None = None

    def head_of_b(self, layer: int, head: int) -> Place:
        """The head of B that a head of A is compared with."""
        if self.nearest is None:
            return layer, head
        number = self.nearest.partner[layer * self.a.shape[1] + head]
        return int(number) // self.b.shape[1], int(number) % self.b.shape[1]

    @property
    def over(self) -> Bools:
        """Whether each head differs by more than the floor, or at all where there is none."""
        return self.floor.over(self.distances) if self.floor.count else self.distances > 0

    @property
    def largest(self) -> Place:
        """The head that differs most, of those over the floor if there are any."""
        sizes = np.where(self.over, 1 + self.distances, self.distances)
        layer, head = np.unravel_index(int(sizes.argmax()), sizes.shape)
        return int(layer), int(head)


def pick_other() -> Other:
    """Choose side B: another text, another model, or both."""
    text = controls.text(
        "b", "", "B: another sentence", column=330, placeholder="Empty: the sentence above"
    )
    model = _pick_model()
    with more():
        lines = controls.text(
            "lines", "", "Your own paraphrases of A", height=150, help=_words("lines")
        )
    own = [line.strip() for line in lines.splitlines() if line.strip()]
    return Other(model, text.strip(), tuple(own[:MAX_LINES]))


def _pick_model() -> str:
    """A menu of the models on offer, in which a visitor who may can type any other."""
    granted = access()
    names = {"": "the same", TWIN: "its untrained twin"} | {name: name for name in granted.names}
    if granted.free_text:
        name = controls.text("model_b", "")
        names.setdefault(name, name)
    else:
        name = controls.choice("model_b", names, subject="The models of side B are")
    with st.container(width=200):
        st.selectbox(
            "B: another model",
            list(names),
            key="model_b",
            format_func=lambda each: names.get(each, each),
            accept_new_options=granted.free_text,
            persist_state="session",
            help=f"{_words('models')} {box_help(granted)}",
        )
    return name.strip()


def compare(key: TraceKey, other: Other) -> Comparison | None:
    """Measure both sides; None if they are the same text and model.

    Raises ModelError where model B cannot be used, before anything of it is loaded.
    """
    is_twin = other.model == TWIN
    model_b = key.model if is_twin else resolve(other.model or key.model)
    text = other.text or key.text
    if not is_twin and (model_b, text) == key[:2]:
        return None
    key_b = key._replace(text=text)
    if model_b != key.model:
        key_b = TraceKey(model_b, text, key.pair)
    a, b = trace_of(key), _twin_trace(key_b) if is_twin else trace_of(key_b)
    alignment = align(a, b, _corrections(a, b))
    if is_twin or model_b != key.model:
        return _compare_models(a, b, alignment, OfModels(key.model, model_b, is_twin))
    lines = other.lines or paraphrases(key.text)
    distances = head_distances(a, b, alignment) if alignment.pairs else np.zeros(a.shape[:2])
    return Comparison(a, b, alignment, distances, _floor(key, lines), lines)


def _run(key: TraceKey, model: LoadedModel | None = None) -> Trace:
    """The trace of at most :data:`MAX_TOKENS` tokens, not cached."""
    trace = trace_text(
        model or cache.model(key.model),
        key.text,
        key.pair,
        MAX_TOKENS,
        key.target,
        decode=key.attention_type in {"decoder", "cross"},
        languages=key.languages,
    )
    return trace if key.attention_type is None else trace.of_type(key.attention_type)


@st.cache_resource(max_entries=_MAX_TRACES, show_spinner="Running the text through the model …")
def _cut(key: TraceKey) -> Trace:
    return _run(key)


def trace_of(key: TraceKey) -> Trace:
    """The trace of a side, shared with the other pages unless the text must be cut."""
    trace = cache.trace(*key)
    return _cut(key) if len(trace.tokens) > MAX_TOKENS else trace


@st.cache_resource(max_entries=_MAX_TRACES, show_spinner="Running the untrained twin …")
def _twin_trace(key: TraceKey) -> Trace:
    try:
        with room_for_twin:
            return _run(key, untrained_twin(cache.model(key.model)))
    finally:
        return_freed_memory()


@st.cache_resource(max_entries=_MAX_FLOORS, show_spinner="Running paraphrases of A …")
def _floor(key: TraceKey, lines: Sequence[str]) -> Floor:
    """How far heads differ between a text and its paraphrases; one without common words is left."""
    a, distances = trace_of(key), []
    for line in lines:
        trace = _run(key._replace(text=line))
        alignment = align(a, trace)
        if alignment.pairs:
            distances.append(head_distances(a, trace, alignment))
    return floor(np.array(distances).reshape(-1, *a.shape[:2]))


class OfModels(NamedTuple):
    """Two models, by the names that load them; B may be A's untrained twin."""

    a: str
    b: str
    is_twin: bool


@st.cache_resource(max_entries=_MAX_PAIRS, show_spinner=False)
def _place(models: OfModels) -> Shared[list[OverCorpus]]:  # noqa: ARG001 - the key
    """The slot for what two models do over the corpus; empty until a run has finished."""
    return Shared([])


def _compare_models(a: Trace, b: Trace, alignment: Alignment, models: OfModels) -> Comparison:
    """Each head of A beside the head of B that is most alike over the sample corpus."""
    begins, stop = _words("matching", done=0, total=_SAMPLES), "compare_cancel"
    run = lambda bar: _over_corpus(models, bar)
    found = measure_once(_place(models), run, begins, stop, _same_model)
    nearest = match_heads(found.distances, one_to_one=False)
    distances = np.zeros(a.shape[:2])
    if alignment.pairs:
        between = between_heads(a, b, alignment)
        distances = between[np.arange(len(between)), nearest.partner].reshape(a.shape[:2])
    matched = match_heads(found.distances)
    return Comparison(a, b, alignment, distances, found.floor, (), nearest, matched)


def _same_model() -> None:
    controls.pick(model_b="")


def _over_corpus(models: OfModels, bar: ProgressBar) -> OverCorpus:
    """Both models on sentences of the sample corpus, of which only queries and keys are kept."""
    sentences = sample_sentences()
    texts = sentences[:: len(sentences) // _SAMPLES][:_SAMPLES]
    of_a = dict(trace_by_length(cache.model(models.a), texts, max_tokens=MAX_TOKENS, whole=False))
    distances = []
    with room_for_twin if models.is_twin else contextlib.nullcontext():
        b = cache.model(models.b)
        b = untrained_twin(b) if models.is_twin else b
        for index, trace in trace_by_length(b, texts, max_tokens=MAX_TOKENS, whole=False):
            if index in of_a:
                alignment = align(of_a[index], trace)
                distances.append(between_heads(of_a[index], trace, alignment))
            done = len(distances)
            bar.step(done / len(texts), _words("matching", done=done, total=len(texts)))
    return OverCorpus(np.array(distances), model_floor(of_a.values()))


def _corrections(a: Trace, b: Trace) -> list[tuple[int, int]]:
    """The pairs of words, from 0, that the visitor has set; none once a text has changed."""
    state, texts = st.session_state, hash((a.tokens, b.tokens))
    if state.setdefault(_OF, texts) != texts and not address.asks_for(_MATCH):
        state[_MATCH] = ""
    state[_OF] = texts
    return [(int(i) - 1, int(j) - 1) for i, j in _PAIR.findall(controls.text(_MATCH, ""))]


def set_pair(pair: tuple[int, int] | None) -> None:
    """Make a word of A and one of B partners, or undo all such pairs; for callbacks."""
    before = _PAIR.findall(st.session_state[_MATCH]) if pair else []
    now = [(str(pair[0] + 1), str(pair[1] + 1))] if pair else []
    kept = [each for each in before if not (each[0] == now[0][0] or each[1] == now[0][1])]
    controls.pick(match=",".join("-".join(each) for each in kept + now))
