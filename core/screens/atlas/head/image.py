"""The image of a patch of the atlas, and what the head on screen attends to in it."""

from __future__ import annotations

from weakref import ref

import numpy as np
import streamlit as st

from core.atlas import Atlas
from core.atlas.pixels import CorpusImages
from core.figures.images.patch_heat import heat_pixels
from core.model import LoadedModel, ModelError, Trace, trace_patches
from core.screens.atlas.screen import Screen
from core.screens.atlas.sentence import model_of, same_tokens
from core.ui.words.messages import quote, show_model_error

_SEEN = "_atlas_image_seen"  # the last image that the model saw again, and its trace


def show_image(screen: Screen, images: CorpusImages, token: int) -> Trace | None:
    """The image under the attention of the token as a query, if the model is available.

    Returns the model's trace of the image; None, with a message, if it is not available.
    """
    atlas, columns = screen.atlas, screen.atlas.tokens
    image, position = int(columns.sentence[token]), int(columns.position[token])
    st.markdown(f"**{quote(columns.displays[token])}** of {quote(atlas.sentences[image])}:")
    model = model_of(atlas)
    trace = None if model is None else _trace(atlas, images, model, image)
    patches = images.of_image(image)
    place = int(images.places(np.array([position]))[0])
    marked = place if place >= 0 else None
    if trace is None:
        weights = np.ones(patches.count, dtype=np.float32)
    else:
        weights = trace.attention(screen.layer, screen.head)[position, patches.tokens]
    theme = st.context.theme.type or "light"
    st.image(heat_pixels(patches, weights, theme, marked), width="stretch")
    if trace is not None:
        st.caption(
            f"What this patch attends to in {screen.name}: pink, framed in green the patch itself."
            f" {float(weights.sum()):.0%} of its attention goes to patches,"
            f" {1 - float(weights.sum()):.0%} to other tokens."
        )
    return trace


def _trace(atlas: Atlas, images: CorpusImages, model: LoadedModel, image: int) -> Trace | None:
    """What the model makes of the very pixels it had, kept until another image is chosen."""
    state = st.session_state
    key = (ref(atlas), image)
    if state.get(_SEEN, (None, None))[0] != key:
        try:
            trace = trace_patches(model, images.of_image(image))
        except ModelError as error:
            show_model_error(error)
            return None
        state[_SEEN] = (key, trace)
    trace = state[_SEEN][1]
    if not same_tokens(atlas, image, trace):
        st.caption("The model cuts this image into other patches than this atlas has.")
        return None
    return trace
