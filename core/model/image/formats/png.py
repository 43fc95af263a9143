"""PNG: only the chunks that make its first picture reach the decoder.

PIL keeps every chunk that it does not know, every text, and up to three pictures of an animation.
"""

from __future__ import annotations

import struct
from io import BytesIO

from PIL import PngImagePlugin

from core.model.image.formats.stored import Decoded, Stored

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEPT = frozenset({b"IHDR", b"PLTE", b"tRNS", b"iCCP", b"IDAT", b"IEND"})
_FRAMING_BYTES = 12  # of a chunk: its length, its name, and its sum
_GREY, _PALETTE, _ALL = 0, 3, frozenset({0, 2, 3, 4, 6})  # types of colour


def read_png(data: bytes) -> Stored:
    """A PNG file; raises ValueError or struct.error where its header is damaged."""
    if data[12:16] != b"IHDR":
        raise ValueError("no header")
    width, height, depth, colour = struct.unpack_from(">IIBB", data, 16)
    if colour not in _ALL:
        raise ValueError("unknown colours")
    each = 4  # bytes of a pixel in PIL, also of grey with transparency
    if colour in (_GREY, _PALETTE):
        each = 2 if depth > 8 else 1
    return Stored((width, height), width * height * each, lambda: _decode(data, depth > 8))


def _decode(data: bytes, sixteen_bits: bool) -> Decoded:
    needed, frames, exif = _chunks(data)
    file = PngImagePlugin.PngImageFile(BytesIO(needed))
    file.load()
    return Decoded(file, frames, file.info.get("icc_profile", b""), exif, sixteen_bits)


def _chunks(data: bytes) -> tuple[bytearray, int, bytes]:
    """The file with what is kept of it, its number of pictures, and its EXIF.

    Of several headers the first counts: another size may be in the next.
    """
    kept, frames, exif, declared = bytearray(SIGNATURE), 0, b"", 1
    position = len(SIGNATURE)
    while position + _FRAMING_BYTES <= len(data):
        length, name = struct.unpack_from(">I4s", data, position)
        end = position + _FRAMING_BYTES + length
        if name in _KEPT and (name != b"IHDR" or position == len(SIGNATURE)):
            kept += memoryview(data)[position:end]
        elif name == b"acTL":
            declared = struct.unpack_from(">I", data, position + 8)[0]
        elif name == b"fcTL":  # in front of each picture of an animation
            frames += 1
        elif name == b"eXIf":
            exif = data[position + 8 : end - 4]
        if name == b"IEND":
            break
        position = end
    return kept, max(1, min(frames, declared)), exif
