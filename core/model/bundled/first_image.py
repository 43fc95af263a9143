"""What comes with the app of the image that pages begin with."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from core.model.bundled.first import FILES, IMAGE, FirstInput
from core.model.image.facts import Vision
from core.model.trace.stored import read_record


@dataclass(frozen=True, eq=False, kw_only=True)
class FirstImage(FirstInput):
    """Also what the model takes, and what it takes the image for, the likeliest class first."""

    vision: Vision
    classes: tuple[tuple[str, float], ...]


@functools.cache
def first_image() -> FirstImage:
    """That of the model of images."""
    return read_record(FirstImage, FILES[IMAGE])
