"""Contexts of a head from every decile of its strength: the strongest alone would mislead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

import numpy as np
import streamlit as st

from core.atlas import Atlas
from core.atlas.one_head import (
    Contexts,
    Decile,
    contexts_of,
    draw_deciles,
    draw_sentences,
    join_contexts,
)
from core.components.contexts import Context, ContextGroup, show_contexts
from core.model import LoadedModel, ModelError
from core.screens.atlas.head.sentence import OTHER_TOKENS, model_of, traces_of
from core.screens.atlas.screen import Screen
from core.screens.atlas.wording import number
from core.ui.cache import remembered
from core.ui.serve.long_work import ProgressBar
from core.ui.words.messages import show_model_error
from core.ui.words.prose import Prose

_SAMPLE, _DRAWN = "_atlas_contexts_sample", "_atlas_contexts_drawn"
_MAX_DRAWN = 8  # heads whose contexts are cached, so that stepping back and forth reruns nothing
PER_DECILE = 2
_words = Prose(__file__)


def show_contexts_of_head(screen: Screen) -> None:
    """Show the contexts of the head on screen, or why there are none."""
    st.header(f"Contexts of {screen.name}", anchor=False)
    model = model_of(screen.atlas)
    if model is None:
        return
    try:
        atlas = ref(screen.atlas)
        contexts = remembered(_SAMPLE, atlas, lambda: _sample(screen.atlas, model))
        if contexts is None:
            st.warning(OTHER_TOKENS)
            return
        head = atlas, screen.layer, screen.head
        groups = remembered(_DRAWN, head, lambda: _groups(screen, model, contexts), _MAX_DRAWN)
    except ModelError as error:
        show_model_error(error)
        return
    show_contexts(groups, key="atlas_contexts")
    words = _words(
        "how_contexts_were_drawn",
        sentences=np.unique(contexts.sentence).size,
        causal=screen.atlas.causal,
        contexts=contexts.sentence.size,
        drawn=PER_DECILE,
    )
    st.caption(words)


def _sample(atlas: Atlas, model: LoadedModel) -> Contexts | None:
    """The contexts of all heads in a sample of sentences; None if the atlas's tokens differ."""
    sentences = draw_sentences(atlas)
    parts: list[Contexts] = []
    slot = st.empty()
    bar = ProgressBar(slot.progress)
    bar.show(0.0, _progress(0, len(sentences)))
    for sentence, trace in traces_of(atlas, model, sentences):
        parts.append(contexts_of(trace, sentence))
        bar.step(len(parts) / len(sentences), _progress(len(parts), len(sentences)))
    slot.empty()
    return join_contexts(parts) if parts else None


def _progress(done: int, count: int) -> str:
    return f"The model reads sentence {done:,} of {count:,} …"


def _groups(screen: Screen, model: LoadedModel, contexts: Contexts) -> Sequence[ContextGroup]:
    """The contexts to draw with their attention, rerun for the head on screen."""
    head = screen.layer, screen.head
    deciles = draw_deciles(contexts.strength[head], PER_DECILE)
    sentences = sorted({int(contexts.sentence[i]) for each in deciles for i in each.drawn})
    with st.spinner(f"Drawing contexts of {screen.name} …"):
        rows = {
            sentence: (trace.attention(*head), [token.display for token in trace.tokens])
            for sentence, trace in traces_of(screen.atlas, model, sentences)
        }
    return [_group(each, contexts, head, rows) for each in deciles]


def _group(
    decile: Decile, contexts: Contexts, head: tuple[int, int], rows: dict[int, Any]
) -> ContextGroup:
    examples = []
    for i in decile.drawn:
        sentence, query = int(contexts.sentence[i]), int(contexts.position[i])
        attention, tokens = rows[sentence]
        key = int(contexts.key[(*head, i)])
        examples.append(Context(tokens, attention[query], query, key, sentence + 1))
    low, high = number(decile.low), number(decile.high)
    title = _words("decile", number=decile.number, low=low, high=high, contexts=decile.size)
    return ContextGroup(title, examples)
