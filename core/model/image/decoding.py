"""Decode one picture in a process with limited memory and processor time.

    python decoding.py BYTES SECONDS PIXELS SIDE < picture

Decoders allocate whatever a file asks for, so they get its bytes here and nowhere else. The process
writes a line of JSON, then the pixels: RGB, upright, on white, with a longer side of at most SIDE.
The line holds the picture's stored size, the size of the pixels, and sentences on what was changed;
or, under "refused", the limit that is exceeded.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps

FORMATS = ("PNG", "JPEG", "WEBP")
_WEBP_BYTES = 20  # per pixel: the decoder's two canvases, its output, and PIL's copies
_BIT_DEPTH_AT = 24  # in a PNG file (PNG specification, 11.2.1)
_NUMBER_OF_FRAME = b"fcTL"  # in front of each picture of an animated PNG


def main(memory: int, seconds: int, max_pixels: int, max_side: int) -> None:
    """Decode the picture on standard input."""
    _limit(memory, seconds)
    Image.MAX_IMAGE_PIXELS = None  # the limit here is `max_pixels`, for every format
    data = sys.stdin.buffer.read()
    about: dict[str, Any] = {"stored": _webp_size(data)}
    pixels = b""
    try:
        if not (too_many := math.prod(about["stored"]) > max_pixels):
            if math.prod(about["stored"]) * _WEBP_BYTES > memory:
                raise MemoryError
            image = Image.open(BytesIO(data), formats=FORMATS)
            about["stored"] = image.size
            too_many = math.prod(image.size) > max_pixels
        if too_many:
            about["refused"] = "pixels"
        else:
            small, about["notes"] = _decode(image, data, max_side)
            about["size"], pixels = small.size, small.tobytes()
    except MemoryError:
        about["refused"] = "memory"
    sys.stdout.buffer.write(json.dumps(about).encode() + b"\n" + pixels)


def _limit(memory: int, seconds: int) -> None:
    """Limit this process where the system can: Windows has no limits, macOS none on memory."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        pages = int(Path("/proc/self/statm").read_text().split()[0])  # in use already
        maximum = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (maximum, maximum))


def _webp_size(data: bytes) -> tuple[int, int]:
    """(width, height) of a WebP file by its first chunk (WebP container specification), else zeros.

    The decoder allocates two canvases at once, and does not report running out of memory.
    """
    kind, body = data[12:16], data[20:30]
    if kind == b"VP8X":
        return _little(body[4:7]) + 1, _little(body[7:10]) + 1
    if kind == b"VP8L":
        bits = _little(body[1:5])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        return _little(body[6:8]) & 0x3FFF, _little(body[8:10]) & 0x3FFF
    return 0, 0


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _decode(image: Image.Image, data: bytes, max_side: int) -> tuple[Image.Image, list[str]]:
    """The picture as RGB, and what was changed."""
    stored, notes = image.size, []
    image.draft(None, (2 * max_side, 2 * max_side))  # JPEG only: half the size or less
    image.load()
    if image.mode == "CMYK":
        notes.append("Its printing colours (CMYK) were converted to RGB, without a profile.")
    elif (profile := image.info.get("icc_profile")) and not _is_srgb(profile):
        notes.append("It names a colour profile of its own; its colours are read as sRGB.")
    if image.format == "PNG" and data[_BIT_DEPTH_AT] > 8:
        notes.append("Its 16 bits a channel were rounded to 8.")
    if (frames := _count_frames(image, data)) > 1:
        notes.append(f"It has {frames} pictures; this is the first.")
    orientation = _orientation(image)
    image, has_alpha = _with_8_bits(image)
    image.thumbnail((max_side, max_side), Image.Resampling.BICUBIC, reducing_gap=2.0)
    if has_alpha:
        ground = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(ground, image)
    if image.mode != "RGB":
        image = image.convert("RGB")
    if orientation > 1:
        image.getexif()[_ORIENTATION] = orientation
        ImageOps.exif_transpose(image, in_place=True)
        notes.append("It was turned upright, as its camera says (EXIF).")
    if has_alpha:
        notes.append("Its transparent parts are shown on white.")
    if max(stored) > max_side:
        width, height = image.size
        notes.append(
            f"It was reduced from {stored[0]:,} x {stored[1]:,} pixels (as stored) to"
            f" {width:,} x {height:,}."
        )
    return image, notes


_ORIENTATION = 0x0112  # the tag of EXIF 2.32, section 4.6.4


def _orientation(image: Image.Image) -> int:
    """The EXIF orientation, 1 to 8; 1 where EXIF is damaged or missing."""
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001 - also where a table of many entries would fill the memory
        return 1
    return value if value in range(1, 9) else 1


def _with_8_bits(image: Image.Image) -> tuple[Image.Image, bool]:
    """The picture as RGBA and True if any of it is transparent, else as RGB or grey and False."""
    if image.mode == "I;16":  # PIL would clip such grey, not scale it
        return _of_16_bits(image)
    if not image.has_transparency_data:
        return image if image.mode in {"RGB", "L"} else image.convert("RGB"), False
    layered = image if image.mode == "RGBA" else image.convert("RGBA")
    if layered.getchannel("A").getextrema()[0] == 255:
        return layered.convert("RGB"), False
    return layered, True


def _of_16_bits(image: Image.Image) -> tuple[Image.Image, bool]:
    """The same for 16-bit grey, where one of 65,536 values may mean transparent."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # each thread would take address space
    import numpy as np

    wide = np.asarray(image)
    grey = ((wide.astype(np.uint32) + 128) // 257).astype(np.uint8)  # rounded: 257 is odd
    clear = image.info.get("transparency")
    hidden = wide == (clear if isinstance(clear, int) else -1)
    if not hidden.any():
        return Image.fromarray(grey), False
    layered = Image.fromarray(grey).convert("RGBA")
    layered.putalpha(Image.fromarray(np.where(hidden, 0, 255).astype(np.uint8)))
    return layered, True


def _count_frames(image: Image.Image, data: bytes) -> int:
    """The frames of an animation; a PNG may claim 2^31 - 1 of them in 111 bytes."""
    if image.format == "JPEG":  # other views of the same picture
        return 1
    frames = int(getattr(image, "n_frames", 1))
    return min(frames, data.count(_NUMBER_OF_FRAME)) if image.format == "PNG" else frames


def _is_srgb(profile: bytes) -> bool:
    """Whether a profile calls itself sRGB; its other parts may name it too."""
    from PIL import ImageCms

    try:
        return ImageCms.getProfileDescription(BytesIO(profile)).startswith("sRGB")
    except (ImageCms.PyCMSError, OSError):
        return False


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
