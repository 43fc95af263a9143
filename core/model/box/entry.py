"""One picture of the box, and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL.Image import Image

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
    open : draws or reads it: RGB, square.
    """

    name: str
    title: str
    group: Group
    look_for: str
    licence: str
    author: str
    source: str
    open: Callable[[], Image]
