"""The images that pages may show, by name: the sample images, and visitors' own.

A visitor's image is named by a hash of its content, which only the owner of the file can know; it
is in no link, in no log and on no disk. The server keeps the last few; a session keeps its own.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import streamlit as st

from core.model.sample_images import SAMPLE_IMAGES, open_sample_image

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SIDE = 1024  # pixels: longer sides are scaled down, which makes no difference to any model here
_MAX_BROUGHT = 24  # images kept for all visitors, each at most 3 MB
_BROUGHT = "own:"


def bring(image: Image) -> tuple[str, Image]:
    """Register an image; returns its name, and the image as it is kept."""
    small = image.copy()
    small.thumbnail((MAX_SIDE, MAX_SIDE))
    digest = hashlib.sha256(repr(small.size).encode() + small.tobytes()).hexdigest()
    kept(_BROUGHT + digest, small)
    return _BROUGHT + digest, small


@st.cache_resource(max_entries=_MAX_BROUGHT, show_spinner=False)
def kept(name: str, _image: Image | None = None) -> Image:
    """The image of this name; `_image` is cached. Raises KeyError if neither cached nor given."""
    if _image is None:
        raise KeyError(name)
    return _image


def pixels(name: str) -> Image:
    """The image of this name, RGB. Raises KeyError if it is neither kept nor a sample."""
    return open_sample_image(name) if name in SAMPLE_IMAGES else kept(name)


def is_brought(name: str) -> bool:
    """Whether this is a visitor's own image, which no link can carry."""
    return name.startswith(_BROUGHT)
