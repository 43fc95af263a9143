"""One sample image, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PIL import Image

Group = Literal["drawn", "photograph"]


@dataclass(frozen=True)
class BoxImage:
    """A picture that comes with the app.

    Attributes
    ----------
    name : what a link carries.
    title : the name in words.
    group : whether the project drew it or somebody photographed it.
    look_for : one sentence, what to look for.
    licence, author, source : under which licence, by whom, and where it was published.
    open : reads it: RGB, square.
    """

    name: str
    title: str
    group: Group
    look_for: str
    licence: str
    author: str
    source: str
    open: Callable[[], Image.Image]


def stored(file: str) -> Image.Image:
    """A picture that lies beside this module."""
    with Image.open(Path(__file__).with_name(file)) as image:
        return image.convert("RGB")
