"""Turn an upload into an RGB image, or refuse it: anyone may have made the file.

Decoders run in a process of their own (`decoding.py`), which the system kills before it exceeds its
memory or time limit. Nothing is written to disk; notes say what was changed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from core.model.errors import ImageError
from core.model.image.pixels import check_shape
from core.model.memory import available_bytes

MAX_BYTES = 20_000_000
MAX_PIXELS = 50_000_000  # a photograph of 8,600 x 5,800: seconds of decoding
# What decoding may take: 22 million pixels of WebP, 50 of nearly all PNG files and photographs.
MAX_DECODING_BYTES = 450_000_000
MAX_DECODING_SECONDS = 10  # of processor time; progressive JPEG files may ask for hours
# The longer side of what is kept: models see some 200 to 800 pixels, and each visitor's image
# stays in memory (8 MB at most).
MAX_KEPT_SIDE = 1_600
_PATIENCE_SECONDS = 60.0  # for the decoding process, on a busy machine
_BY_LIMIT = {-9, -24}  # SIGKILL, SIGXCPU: how the system ends a process over its limit
_SAVE_AGAIN = "Save it again as PNG, JPEG or WebP, and upload that."
_SHRINK = "Make it smaller first."
_decoding = threading.Lock()  # one at a time: decoding needs the most memory


@dataclass(frozen=True, eq=False)
class OpenedImage:
    """An upright RGB image, and sentences on what was changed to make it so."""

    image: Image.Image
    notes: tuple[str, ...]


def open_image(data: bytes) -> OpenedImage:
    """The image of a PNG, JPEG or WebP file.

    Raises
    ------
    ImageError
        For any other file, one that is too large or damaged, or a mere strip.
    """
    if not data:
        raise ImageError("The file is empty.", _SAVE_AGAIN)
    if len(data) > MAX_BYTES:
        raise ImageError(
            f"The file has {len(data) / 1e6:,.1f} MB; this app opens images of at most"
            f" {MAX_BYTES // 10**6} MB.",
            _SHRINK,
        )
    if not _is_known(data):
        raise ImageError("The file is not a PNG, JPEG or WebP image.", _SAVE_AGAIN)
    with _decoding:
        free = available_bytes()
        about, pixels = _run(data, min(MAX_DECODING_BYTES, free))
    width, height = about["stored"]
    if about.get("refused") == "pixels":
        raise ImageError(
            f"The image has {width:,} x {height:,} pixels; this app opens at most"
            f" {MAX_PIXELS / 1e6:.0f} million.",
            _SHRINK,
        )
    if about.get("refused") == "memory":
        limit = f"this app gives an image at most {MAX_DECODING_BYTES / 1e6:.0f} MB"
        if free < MAX_DECODING_BYTES:
            limit = f"{free / 1e6:,.0f} MB are free"
        sides = f", {width:,} x {height:,} pixels in a file of this kind," if width else ""
        raise ImageError(f"Opening the image{sides} takes too much memory; {limit}.", _SHRINK)
    check_shape(width, height)
    return OpenedImage(Image.frombytes("RGB", about["size"], pixels), tuple(about["notes"]))


def _is_known(data: bytes) -> bool:
    """Whether a file begins as one of the three formats does, whatever its name says."""
    return data.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")) or (
        data.startswith(b"RIFF") and data[8:12] == b"WEBP"
    )


def _run(data: bytes, memory: int) -> tuple[dict[str, Any], bytes]:
    """What the process reports about the picture, and its pixels.

    Raises
    ------
    ImageError
        When it took too long, or ended without an answer: decoders may raise anything.
    """
    limits = (memory, MAX_DECODING_SECONDS, MAX_PIXELS, MAX_KEPT_SIDE)
    script = str(Path(__file__).with_name("decoding.py"))
    try:
        ended = subprocess.run(
            [sys.executable, "-P", script, *map(str, limits)],
            input=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
        is_late = ended.returncode in _BY_LIMIT
    except subprocess.TimeoutExpired:
        is_late = True
    if is_late:
        raise ImageError("Reading the image takes too long.", _SAVE_AGAIN)
    if ended.returncode:
        raise ImageError(
            "The image cannot be read: its file is incomplete or damaged.", _SAVE_AGAIN
        )
    about, _, pixels = ended.stdout.partition(b"\n")
    return json.loads(about), pixels
