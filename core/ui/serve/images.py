"""The images that pages may show: the sample images, and what visitors have brought, by name.

An image that a visitor brings is named by its content, which only who has the file can know; it is
in no link, in no log and on no disk. The server keeps the last few; a session keeps its own.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import streamlit as st

from core.model.sample_images import SAMPLE_IMAGES, open_sample_image

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SIDE = 1024  # pixels: a longer side is scaled down, which no model here would see
_MAX_BROUGHT = 24  # images of all visitors that are kept, of at most 3 MB
_BROUGHT = "own:"


def bring(image: Image) -> tuple[str, Image]:
    """Make an image known; its name, and the image as it is kept."""
    small = image.copy()
    small.thumbnail((MAX_SIDE, MAX_SIDE))
    digest = hashlib.sha256(repr(small.size).encode() + small.tobytes()).hexdigest()
    kept(_BROUGHT + digest, small)
    return _BROUGHT + digest, small


@st.cache_resource(max_entries=_MAX_BROUGHT, show_spinner=False)
def kept(name: str, _image: Image | None = None) -> Image:
    """The image of that name; a given one is kept. Raises KeyError where it is neither."""
    if _image is None:
        raise KeyError(name)
    return _image


def pixels(name: str) -> Image:
    """The image of that name, RGB. Raises KeyError for one that is neither here nor a sample."""
    return open_sample_image(name) if name in SAMPLE_IMAGES else kept(name)


def is_brought(name: str) -> bool:
    """Whether a visitor brought it, so that no link can carry it."""
    return name.startswith(_BROUGHT)
