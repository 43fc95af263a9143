"""The box of images: pictures that come with the app, by name. No torch, no network.

>>> open_box("three-shapes").size
(480, 480)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from core.model.box.drawn import DRAWN
from core.model.box.entry import BoxImage
from core.model.box.photographs import PHOTOGRAPHS

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["BOX", "BoxImage", "open_box"]

BOX: Mapping[str, BoxImage] = MappingProxyType(
    {image.name: image for image in (*DRAWN, *PHOTOGRAPHS)}
)


def open_box(name: str) -> Image:
    """The picture of that name, RGB and square, the same every time.

    Raises
    ------
    KeyError
        When `BOX` has no such name.
    """
    return BOX[name].open()
