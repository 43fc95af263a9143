"""What a reader of any format hands over: first the size and the cost, then, if asked, pixels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image


@dataclass(frozen=True)
class Stored:
    """A picture that is not decoded yet.

    Attributes
    ----------
    size : (width, height) in pixels, as stored.
    decoding_bytes : the most memory that `decode` takes, its picture included.
    decode : the first picture of the file; raises anything where that is damaged.
    """

    size: tuple[int, int]
    decoding_bytes: int
    decode: Callable[[], Decoded]


@dataclass(frozen=True)
class Decoded:
    """A picture as its decoder gives it.

    Attributes
    ----------
    image : in the file's own mode; of JPEG perhaps smaller than stored.
    frames : how many pictures the file has.
    profile : the ICC profile of its colours; empty without one.
    exif : what its camera says; empty without it.
    sixteen_bits : whether a channel has 16 bits in the file.
    """

    image: Image.Image
    frames: int = 1
    profile: bytes = b""
    exif: bytes = b""
    sixteen_bits: bool = False
