"""The image of a patch of the atlas, and what the head on screen attends to in it."""

from __future__ import annotations

from weakref import ref

import numpy as np
import streamlit as st

from core.atlas import Atlas
from core.atlas.pixels import CorpusImages
from core.figures.palette import palette
from core.figures.patch_heat import heat_pixels
from core.model import LoadedModel, ModelError, Trace, trace_patches
from core.screens.atlas.screen import Screen
from core.screens.atlas.sentence import model_of, same_tokens
from core.ui.cache import remembered
from core.ui.words.messages import quote, show_model_error
from core.ui.words.prose import Prose
from core.vocabulary import percent

_SEEN = "_atlas_image_seen"  # the last image that the model saw again, and its trace
_words = Prose(__file__)


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
    """What the model makes of the very pixels it had, kept until another image is chosen."""
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
