"""The images that pages may show: the sample images, and what visitors have brought, by name.

An image that a visitor brings is named by its content, which only who has the file can know; it is
in no link, in no log and on no disk. The server keeps the last few; a session keeps its own.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from core.model.box import BOX, open_box

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SIDE = 1024  # pixels: a longer side is scaled down, which no model here would see
_MAX_BROUGHT = 24  # images of all visitors that are kept, of at most 3 MB
_BROUGHT = "own:"
_kept: OrderedDict[str, Image] = OrderedDict()
_turn = threading.Lock()


def bring(image: Image) -> tuple[str, Image]:
    """Make an image known; its name, and the image as it is kept."""
    small = image.copy()
    small.thumbnail((MAX_SIDE, MAX_SIDE))
    digest = hashlib.sha256(repr(small.size).encode() + small.tobytes()).hexdigest()
    keep(_BROUGHT + digest, small)
    return _BROUGHT + digest, small


def keep(name: str, image: Image) -> None:
    """Have the image at hand, again if the server has let it go."""
    with _turn:
        _kept[name] = image
        _kept.move_to_end(name)
        while len(_kept) > _MAX_BROUGHT:
            _kept.popitem(last=False)


def pixels(name: str) -> Image:
    """The image of that name, RGB. Raises KeyError for one that is neither here nor a sample."""
    if name in BOX:
        return open_box(name)
    with _turn:
        return _kept[name]


def is_brought(name: str) -> bool:
    """Whether a visitor brought it, so that no link can carry it."""
    return name.startswith(_BROUGHT)
