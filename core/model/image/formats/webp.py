"""WebP: its size by its first chunk, and its first picture without copies.

The decoder takes two canvases the moment it exists, so the size must be known before.
"""

from __future__ import annotations

from PIL import Image, _webp

from core.model.image.formats.stored import Decoded, Stored

RIFF, WEBP = b"RIFF", b"WEBP"
# Two canvases of 4 bytes a pixel, and as many for what it decodes into, or for what it hands over;
# a layer of transparency of its own is kept beside them.
_BYTES_PER_PIXEL, _BYTES_OF_ALPHA = 12, 1


def read_webp(data: bytes) -> Stored:
    """A WebP file."""
    width, height = _size(data)
    each = _BYTES_PER_PIXEL + (_BYTES_OF_ALPHA if b"ALPH" in data else 0)
    return Stored((width, height), width * height * each, lambda: _decode(data))


def _decode(data: bytes) -> Decoded:
    # Through PIL's own image file the picture would be there four times, here it is three.
    decoder = _webp.WebPAnimDecoder(data)
    size, _, _, frames, mode = decoder.get_info()
    pixels, _ = decoder.get_next()
    profile, exif = decoder.get_chunk("ICCP") or b"", decoder.get_chunk("EXIF") or b""
    image = Image.frombuffer(mode, size, pixels, "raw", mode, 0, 1)
    return Decoded(image, frames, profile, exif)


def _size(data: bytes) -> tuple[int, int]:
    """(width, height) by the first chunk (WebP container specification)."""
    kind, body = data[12:16], data[20:30]
    if kind == b"VP8X":
        return _little(body[4:7]) + 1, _little(body[7:10]) + 1
    if kind == b"VP8L":
        bits = _little(body[1:5])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return _little(body[6:8]) & 0x3FFF, _little(body[8:10]) & 0x3FFF


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
