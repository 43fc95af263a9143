"""Caches that several pages share, with their limits. Keys are plain strings and numbers.

Caches of a single page are in its ``core/screens/<page>``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from threading import Condition
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import streamlit as st
from cachetools import LRUCache, cached

from core.model.bundled import first
from core.model.memory import return_freed_memory
from core.model.opening.catalog import bundled_problem, find_entry
from core.model.trace import Array, AttentionType, Trace, kept
from core.ui.serve import access, deployment
from core.ui.serve.long_work import FirstLoad, room_for_twin
from core.vocabulary import Modality

if TYPE_CHECKING:
    import pandas as pd

    from core.model import LoadedModel
    from core.model.opening.load import Phase
    from core.model.text.languages import Languages

Answer = TypeVar("Answer")


class TraceKey(NamedTuple):
    """The cache key of a trace: a text, or an image.

    `target` is what the decoder of an encoder-decoder reads, None for the model's own answer;
    `attention_type` is the type shown, None for a model's only or first one. `image` is a name
    that :mod:`core.ui.serve.images` knows, and then there is no text. `languages` are the ones
    that a translator reads and writes.
    """

    model: str
    text: str
    pair: str | None = None
    target: str | None = None
    attention_type: AttentionType | None = None
    image: str | None = None
    languages: Languages | None = None

    @property
    def modality(self) -> Modality:
        """What the model is given."""
        return "text" if self.image is None else "image"


MAX_TOKENS = 1024  # longest input on any page: beyond, a token x token picture is unreadable
# How many of each are kept for all visitors; sizes are for one, with the bundled model.
MAX_MODELS = 2  # the one on screen and the one before: 90 MB, BERT base 440 MB
MAX_TRACES, MAX_TRACE_BYTES = 64, 160_000_000  # a sentence takes 0.6 MB; at least the last two
MAX_NORMS = 8  # 150 kB at 512 tokens

# For the models that pages open with, by name and modality.
first_loads: dict[tuple[str, Modality], FirstLoad[LoadedModel]] = {
    (first.TEXT, "text"): FirstLoad(),
    (first.IMAGE, "image"): FirstLoad(),
}


def model(name: str, modality: Modality = "text") -> LoadedModel:
    """The model, loaded and probed; one that is not on this machine is refused.

    `name` comes from :func:`core.ui.serve.access.resolve`: only that checks that the visitor may
    use it, and only an absolute path is a folder. The token does not change what is loaded, only
    whether the hub says more than that the model is missing.
    """
    return loaded_model(name, modality)


def model_of(trace: Trace) -> LoadedModel:
    """The model that a trace was made with."""
    return model(trace.model, trace.input.modality)


@st.cache_resource(max_entries=MAX_MODELS, show_spinner="Loading the model and checking it …")
def loaded_model(name: str, modality: Modality) -> LoadedModel:
    """What :func:`model` returns, cached by both arguments."""
    if (name, modality) in first_loads:
        begin_first_load(name, modality)
        return first_loads[name, modality].take()
    return _load(name, modality, access.hub_token())


def begin_first_load(name: str, modality: Modality, delay: float = 0.0) -> None:
    """Load a default model in a thread after `delay` seconds, unless it is already loading."""
    first_loads[name, modality].begin(partial(_load, name, modality, None), delay)


def _load(
    name: str,
    modality: Modality,
    token: bool | None,
    on_stage: Callable[[Phase], None] = lambda _: None,
) -> LoadedModel:
    from core.model import load
    from core.model.opening.load import pick_device

    return_freed_memory()
    return load(
        name,
        download=False,
        folders=Path(name).is_absolute(),
        token=token,
        modality=modality,
        half=deployment.is_on("HALF") and pick_device() != "cpu",
        on_stage=on_stage,
    )


def first_input(key: TraceKey) -> first.FirstInput | None:
    """What the app ships for this input, if anything; this needs no model."""
    text = TraceKey(first.TEXT, first.SENTENCE)
    image = TraceKey(first.IMAGE, "", image=first.PICTURE)
    return first_of(key.model) if key in (text, image) else None


def first_of(model_name: str) -> first.FirstInput | None:
    """What the app ships for a model's first input, if anything."""
    spec = find_entry(model_name)
    if spec is None or model_name not in first.FILES or bundled_problem(spec) is not None:
        return None
    return first.first_of(model_name)


def trace(
    model_name: str,
    text: str,
    pair: str | None,
    target: str | None = None,
    attention_type: AttentionType | None = None,
    image: str | None = None,
    languages: Languages | None = None,
) -> Trace:
    """One forward pass of the text, with attention of one type; by default the first.

    Of the image instead, if one is named.
    """
    key = TraceKey(model_name, text, pair, target, None, image, languages)
    first = forward_pass(key, decode=attention_type in {"decoder", "cross"})
    return first if attention_type is None else first.of_type(attention_type)


traces: LRUCache[Hashable, Trace] = LRUCache(
    MAX_TRACE_BYTES,
    lambda each: min(max(each.nbytes, MAX_TRACE_BYTES // MAX_TRACES), MAX_TRACE_BYTES // 2),
)


@cached(traces, condition=Condition())  # of those who ask at once, one computes
def forward_pass(key: TraceKey, *, decode: bool) -> Trace:
    """One forward pass, with attention of all types. Immutable, so that sessions may share it."""
    if (shipped := first_input(key)) is not None:
        return shipped.trace
    with st.spinner(f"Running the {key.modality} through the model …"):
        if key.image is not None:
            return pass_image(key.model, key.image)
        from core.model import trace_text

        own, target = model(key.model), key.target
        return trace_text(
            own, key.text, key.pair, MAX_TOKENS, target, decode=decode, languages=key.languages
        )


def pass_image(model_name: str, image: str) -> Trace:
    """One forward pass of an image, not cached."""
    from core.model import trace_image
    from core.ui.serve import images

    return trace_image(model(model_name, "image"), images.pixels(image))


@st.cache_resource(max_entries=MAX_NORMS, show_spinner=False)
def transformed_norms(key: TraceKey) -> Array | None:
    """|f(v)| of every head and key token, (layer, head, token); None if W_O is unknown."""
    if (shipped := first_input(key)) is not None:
        return shipped.norms
    from core.model.weights import output_projection

    return output_projection.transformed_norms(model(key.model, key.modality), trace(*key))


@kept
def followed(trace: Trace) -> pd.DataFrame:
    """What each head follows in an image, and each of the model's untrained twin; read-only."""
    from core.analysis.images.patch_scores import patches_of
    from core.analysis.images.selectivity import selectivity, selectivity_table
    from core.model import trace_patches, untrained_twin

    words = "Asking every head what it follows, here and with the image moved over its grid …"
    with st.spinner(words):
        try:  # the twin is as large as the model; only a few numbers per head are kept
            with room_for_twin:
                twin_trace = trace_patches(untrained_twin(model_of(trace)), patches_of(trace))
        finally:
            return_freed_memory()
        return selectivity_table(selectivity(trace), selectivity(twin_trace))


def remembered(
    key: str, question: Hashable, find_out: Callable[[], Answer], most: int = 1
) -> Answer:
    """What `find_out` returned for a question; each `key` keeps `most` answers per session.

    Its exceptions pass through, and the next call tries again. A question about an atlas holds a
    weak reference to it, so that no session keeps one in memory.
    """
    answers: LRUCache[Hashable, Answer] = st.session_state.setdefault(key, LRUCache(most))
    if question not in answers:
        answers[question] = find_out()
    return answers[question]
