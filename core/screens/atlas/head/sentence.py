"""The sentence or image that a token of the atlas is from, and what the head attends to there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from weakref import ref

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.analysis.layer_payload import LayerPayload
from core.analysis.query_key.clouds import strongest_lines
from core.atlas import Atlas
from core.atlas.pixels import CorpusImages
from core.components.head_view import show_one_head
from core.figures.palette import palette, token_colours
from core.figures.patch_heat import heat_pixels
from core.model import LoadedModel, ModelError, Trace, trace_by_length, trace_patches
from core.model.errors import NotOfferedError
from core.screens.atlas.screen import Screen, contents_of
from core.ui import cache
from core.ui.cache import remembered
from core.ui.serve.access import resolve
from core.ui.words.messages import quote, show_model_error
from core.ui.words.prose import Prose
from core.vocabulary import Modality, percent

KEYS_PER_QUERY = 2  # as AttentionViz draws them
OTHER_TOKENS = "The model now splits these sentences into different tokens than this atlas."


def show_sentence(screen: Screen, token: int) -> Trace | None:
    """Show the token's sentence, and a head view of it if the model is available.

    Returns the model's trace of the sentence; None, with a message, if it is not available.
    """
    atlas, columns = screen.atlas, screen.atlas.tokens
    sentence, position = int(columns.sentence[token]), int(columns.position[token])
    label = f" · {quote(atlas.labels[sentence])}" if atlas.labels else ""
    st.markdown(
        f"Token **{position + 1}**, {quote(columns.displays[token])}, of sentence"
        f" {sentence + 1}{label}:"
    )
    st.text(atlas.sentences[sentence])
    model = model_of(atlas)
    if model is None:
        return None
    try:
        trace = cache.trace(model.name, atlas.sentences[sentence], None)
    except ModelError as error:
        show_model_error(error)
        return None
    if not same_tokens(atlas, sentence, trace):
        st.caption("The model reads this sentence differently when it is alone.")
        return None
    show_one_head(
        trace,
        {screen.layer: LayerPayload.drawn(trace, screen.layer)},
        (screen.layer, screen.head),
        {theme: token_colours(trace.shape[1], theme) for theme in ("light", "dark")},
        key="atlas_sentence",
        pinned=[position],
        picture=contents_of(screen, "sentence").titled("Attention"),
    )
    return trace


def sentence_lines(
    screen: Screen, trace: Trace, picked: int, tokens: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Lines from each query of a token's sentence to the keys it attends to most, in one head.

    Parameters
    ----------
    trace : the model's trace of that sentence.
    picked : the token, as an index into the atlas.
    tokens : the tokens that are drawn, ascending.

    Returns
    -------
    (line, 4), the strongest last: the query's and the key's index into `tokens`, the attention, and
    0. Lines to tokens that are not drawn are left out.
    """
    columns = screen.atlas.tokens
    sentence = columns.of_sentence(int(columns.sentence[picked]))
    weights = trace.attention(screen.layer, screen.head).astype(np.float64)
    lines = strongest_lines(weights, KEYS_PER_QUERY)
    queries, keys = sentence[lines.queries], sentence[lines.keys]
    in_view = np.isin(queries, tokens) & np.isin(keys, tokens)
    ends = [np.searchsorted(tokens, each[in_view]) for each in (queries, keys)]
    table = np.column_stack([*ends, lines.weights[in_view], np.zeros(ends[0].size)])
    return table[np.argsort(table[:, 2], kind="stable")]


def model_of(atlas: Atlas) -> LoadedModel | None:
    """The model, or None with a message: a saved atlas may name any model."""
    try:
        modality: Modality = "text" if atlas.images is None else "image"
        model = cache.model(resolve(atlas.model, modality), modality)
    except NotOfferedError:
        st.caption(
            f"Attention between tokens needs the model {quote(atlas.model)}, which this site does"
            " not offer."
        )
        return None
    except ModelError as error:
        st.caption("Attention between tokens needs the model of this atlas:")
        show_model_error(error)
        return None
    layers, heads = atlas.shape[:2]
    if (model.layers, model.heads) != (layers, heads):
        st.warning(
            f"{quote(atlas.model)} has {model.layers} × {model.heads} heads here and {layers} ×"
            f" {heads} in this atlas: the model has changed since."
        )
        return None
    return model


def traces_of(
    atlas: Atlas, model: LoadedModel, sentences: Sequence[int]
) -> Iterator[tuple[int, Trace]]:
    """Sentences and their traces, shortest first; skips any that the model now splits otherwise."""
    texts = [atlas.sentences[i] for i in sentences]
    for place, trace in trace_by_length(model, texts, max_tokens=cache.MAX_TOKENS):
        if same_tokens(atlas, sentences[place], trace):
            yield sentences[place], trace


def same_tokens(atlas: Atlas, sentence: int, trace: Trace) -> bool:
    """Whether the model splits a sentence into as many tokens as the atlas has for it."""
    return len(trace.tokens) == len(atlas.tokens.of_sentence(sentence))


_SEEN = "_atlas_image_seen"  # the last image that was run again, and its trace
_words = Prose(__file__)


def show_image(screen: Screen, images: CorpusImages, token: int) -> Trace | None:
    """Show the image under the token's attention as a query, if the model is available.

    Returns the model's trace of the image; None, with a message, if it is not available.
    """
    atlas, columns = screen.atlas, screen.atlas.tokens
    image, position = int(columns.sentence[token]), int(columns.position[token])
    st.markdown(f"**{quote(columns.displays[token])}** of {quote(atlas.sentences[image])}:")
    model = model_of(atlas)
    trace = None if model is None else _trace(atlas, images, model, image)
    patches = images.of_image(image)
    place = int(images.places(np.array([position]))[0])
    if trace is None:
        weights = np.ones(patches.count, dtype=np.float32)
    else:
        weights = trace.attention(screen.layer, screen.head)[position, patches.tokens]
    theme = st.context.theme.type or "light"
    frames = {place: palette(theme).query} if place >= 0 else {}
    st.image(heat_pixels(patches, weights, theme, frames), width="stretch")
    if trace is not None:
        share = float(weights.sum())
        shares = percent(share), percent(1 - share)
        st.caption(_words("attention_of_a_patch", name=screen.name, shares=shares))
    return trace


def _trace(atlas: Atlas, images: CorpusImages, model: LoadedModel, image: int) -> Trace | None:
    """The trace of exactly the same pixels, kept until another image is chosen."""
    try:
        trace = remembered(
            _SEEN, (ref(atlas), image), lambda: trace_patches(model, images.of_image(image))
        )
    except ModelError as error:
        show_model_error(error)
        return None
    if not same_tokens(atlas, image, trace):
        st.caption("The model cuts this image into other patches than this atlas has.")
        return None
    return trace
