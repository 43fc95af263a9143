"""Small files that unpack to much: each is refused by its header, or opened within a budget.

The files are made before the attack; what opening one takes is the most that the process ever had
in memory (VmHWM), less what it had when the attack began.
"""

from __future__ import annotations

import functools
import gc
import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from core.model import open_image
from core.model.errors import ImageError
from core.model.memory import return_freed_memory

if TYPE_CHECKING:
    from collections.abc import Callable

EXTRA_MB = 4_000  # of address space: what is really taken is measured, so none is refused for want
# The budget of decoding, a reduced picture of less than 3,200 x 3,200, bands and the file itself.
MOST_MB = 210

Chunk = tuple[bytes, bytes]  # name and body


def chunk(name: bytes, body: bytes) -> bytes:
    """A part of a PNG file."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(sides: tuple[int, int], depth: int, colour: int, *before: bytes) -> bytes:
    """Only zeros of `sides` (width, height); chunks that stand `before` the pixels."""
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    packer = zlib.compressobj(1)
    row = bytes(1 + sides[0] * channels * depth // 8)
    pixels = b"".join([packer.compress(row) for _ in range(sides[1])] + [packer.flush()])
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", *sides, depth, colour, 0, 0, 0))
    rest = (*before, chunk(b"IDAT", pixels), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(rest)


def webp_of_one_colour(width: int, height: int) -> bytes:
    """A lossless WebP of 34 bytes: five Huffman codes of one symbol, so that no pixel has a bit."""
    bits = (width - 1) | (height - 1) << 14
    place = 14 + 14 + 1 + 3  # the sides, no alpha, version 0
    place += 3  # no transform, no cache of colours, no second layer of codes
    for _ in range(5):  # a simple code (1) of one symbol (0), which is one bit wide (0): zero
        bits |= 1 << place
        place += 4
    body = b"\x2f" + bits.to_bytes(-(-place // 8), "little")
    body += bytes(14 - len(body))
    return (
        b"RIFF"
        + struct.pack("<I", 4 + 8 + len(body))
        + b"WEBPVP8L"
        + struct.pack("<I", len(body))
        + body
    )


def saved(image: Image.Image, kind: str, **settings: object) -> bytes:
    """The file of an image."""
    file = BytesIO()
    image.save(file, kind, **settings)
    return file.getvalue()


def exif_of_many_entries(value_bytes: int) -> bytes:
    """65,000 entries, each with another tag, all of which name the same megabytes."""
    entries = (struct.pack("<HHII", tag, 7, value_bytes, 8) for tag in range(0x0113, 65_000))
    table = b"".join(entries)
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(table) // 12) + table + bytes(value_bytes)


def jpeg_with(*segments: bytes) -> bytes:
    """A small photograph with segments after its start."""
    data = saved(Image.new("RGB", (64, 64)), "JPEG")
    return data[:2] + b"".join(segments) + data[2:]


def segment(marker: int, body: bytes) -> bytes:
    """A part of a JPEG file."""
    return bytes([0xFF, marker]) + struct.pack(">H", 2 + len(body)) + body


def opens(data: bytes) -> None:
    """The image opens."""
    assert open_image(data).image.mode == "RGB"


def is_refused(data: bytes) -> None:
    """The image is refused for what it would take, with the figures."""
    with pytest.raises(ImageError, match=r"pixels in a file of this kind, takes [0-9]+ MB"):
        open_image(data)


def is_answered(data: bytes) -> None:
    """Opened or refused, both are well."""
    try:
        opens(data)
    except ImageError:
        return


def _lossy_with_alpha(width: int, height: int) -> bytes:
    """Noise would take minutes to encode: a ramp, and a transparency that is one too."""
    ramp = np.linspace(0, 255, width, dtype=np.uint8)
    layer = Image.fromarray(np.broadcast_to(ramp, (height, width)).copy())
    image = Image.merge("RGBA", [layer] * 4)
    return saved(image, "WEBP", quality=20, method=0, alpha_quality=50)


def _animated(sides: tuple[int, int]) -> bytes:
    """A PNG whose first picture is to be wiped: PIL makes two more of its size when it opens."""
    control = struct.pack(">IIIIIHHBB", 0, *sides, 0, 0, 1, 1, 1, 0)
    return png(sides, 8, 6, chunk(b"acTL", struct.pack(">II", 2, 0)), chunk(b"fcTL", control))


def _two_headers() -> bytes:
    """The second is for 400 MB."""
    return png((8, 8), 8, 6, chunk(b"IHDR", struct.pack(">IIBBBBB", 9_999, 9_999, 8, 6, 0, 0, 0)))


def _progressive() -> bytes:
    """27 million pixels, each of 6 bytes until the last scan is read."""
    image = Image.new("RGB", (5_200, 5_200))
    return saved(image, "JPEG", progressive=True, subsampling=0, quality=5)


_NAMED = (7_071, 7_071)
_WITHIN = (5_000, 5_000)  # 100 MB as PIL keeps colours
_KINDS: dict[str, tuple[Callable[[], bytes], Callable[[bytes], None]]] = {
    "webp_of_34_bytes": (lambda: webp_of_one_colour(16_383, 3_050), is_refused),
    "webp_within": (lambda: webp_of_one_colour(4_080, 3_060), opens),
    "lossy_webp_with_alpha": (lambda: _lossy_with_alpha(3_600, 3_300), is_refused),
    "lossy_webp_with_alpha_within": (lambda: _lossy_with_alpha(3_400, 3_300), opens),
    "grey_of_16_bits": (lambda: png(_NAMED, 16, 0, chunk(b"tRNS", b"\0\1")), opens),
    "colours_with_alpha": (lambda: png(_NAMED, 8, 6), is_refused),
    "grey_with_alpha_of_16_bits": (lambda: png(_NAMED, 16, 4), is_refused),
    "grey_with_alpha_of_16_bits_within": (lambda: png(_WITHIN, 16, 4), opens),
    "animation_that_wipes": (lambda: _animated(_WITHIN), opens),
    "strip": (lambda: png((50_000, 600), 8, 2, chunk(b"tRNS", bytes(6))), opens),
    "two_headers": (_two_headers, opens),
    "progressive_photograph": (_progressive, is_refused),
    "photograph": (lambda: saved(Image.new("RGB", (8_000, 6_000)), "JPEG", quality=5), opens),
    "camera_says_much": (
        lambda: png((8, 8), 8, 2, chunk(b"eXIf", exif_of_many_entries(10_000_000))),
        opens,
    ),
    "camera_of_a_photograph_says_much": (
        lambda: jpeg_with(segment(0xE1, b"Exif\0\0" + exif_of_many_entries(0)[:60_000])),
        opens,
    ),
    "unknown_chunks": (lambda: png((8, 8), 8, 2, 1_600_000 * chunk(b"prIv", b"")), opens),
    "comments": (lambda: jpeg_with(3_000_000 * segment(0xFE, b"")), is_answered),
}
_files: dict[str, bytes] = {}


def prepare() -> None:
    """What a server does with freed memory; then the files."""
    return_freed_memory()
    for name, (make, _) in _KINDS.items():
        _files[name] = make()
        assert len(_files[name]) < 20_000_000, name
    assert len(_files["webp_of_34_bytes"]) == 34
    open_image(jpeg_with())  # what is imported once
    gc.collect()


def _attack(name: str) -> None:
    ends = _KINDS[name][1]
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew: proc(5)
    before = _megabytes("VmHWM")
    ends(_files[name])
    taken = _megabytes("VmHWM") - before
    assert taken < MOST_MB, f"{name} took {taken:.0f} MB"


def _megabytes(field: str) -> float:
    """A line of /proc/self/status, in MB."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    (line,) = (each for each in lines if each.startswith(f"{field}:"))
    return int(line.split()[1]) / 1024


def _named(name: str) -> Callable[[], None]:
    attack = functools.partial(_attack, name)
    attack.__name__ = name  # type: ignore[attr-defined]  # by which the runner reports it
    return attack


ATTACKS = tuple(map(_named, _KINDS))
