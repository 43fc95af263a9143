"""An upload -> an RGB image, or a refusal: anyone may have made the file.

Nothing is decoded before the header has said how large the image is and what decoding it costs,
nothing is copied before it is small, and nothing is written to disk. What was changed on the way is
told in words.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from PIL import Image

from core.model.errors import ImageError
from core.model.image.formats.exif import turn_of
from core.model.image.formats.icc import is_srgb
from core.model.image.formats.jpeg import START, read_jpeg
from core.model.image.formats.png import SIGNATURE, read_png
from core.model.image.formats.stored import Decoded, Stored
from core.model.image.formats.webp import RIFF, WEBP, read_webp
from core.model.image.pixels import check_shape
from core.model.image.reducing import small_rgb
from core.model.memory import available_bytes

MAX_BYTES = 20_000_000
MAX_PIXELS = 50_000_000  # a photograph of 8,600 x 5,800: seconds of decoding
# What decoding may take: 12 million pixels of WebP, 37 of PNG in colours, 50 of most photographs.
MAX_DECODING_BYTES = 150_000_000
# The longer side of what is kept: models see some 200 to 800 pixels, and each visitor's image
# stays in memory (8 MB at most).
MAX_KEPT_SIDE = 1_600
_SAVE_AGAIN = "Save it again as PNG, JPEG or WebP, and upload that."
_DAMAGED = "The image cannot be read: its file is incomplete or damaged."
_SHRINK = "Make it smaller first."
_decoding = threading.Lock()  # one at a time: decoding needs the most memory


@dataclass(frozen=True, eq=False)
class OpenedImage:
    """An image of mode RGB, upright, and sentences on what was changed to make it so."""

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
    try:
        stored = _read_header(data)
        _check_size(*stored.size)
        with _decoding:
            _check_memory(stored)
            return _upright_rgb(stored)
    except ImageError as error:
        raise error.with_traceback(None) from None
    except MemoryError:
        refusal = ImageError("There is not enough memory to open the image.", _SHRINK)
    except Exception:  # noqa: BLE001 - decoders raise anything; it must not hold on to the image
        refusal = ImageError(_DAMAGED, _SAVE_AGAIN)
    raise refusal


def _read_header(data: bytes) -> Stored:
    """What the file says of itself; by its first bytes, whatever its name says."""
    if data.startswith(SIGNATURE):
        return read_png(data)
    if data.startswith(START):
        return read_jpeg(data, MAX_KEPT_SIDE)
    if data.startswith(RIFF) and data[8:12] == WEBP:
        return read_webp(data)
    raise ImageError("The file is not a PNG, JPEG or WebP image.", _SAVE_AGAIN)


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise ImageError(
            f"The image has {width:,} x {height:,} pixels; this app opens at most"
            f" {MAX_PIXELS / 1e6:.0f} million.",
            _SHRINK,
        )
    check_shape(width, height)


def _check_memory(stored: Stored) -> None:
    """Refuse an image that takes more memory to decode than it may, or than there is."""
    free = available_bytes()
    if stored.decoding_bytes <= min(MAX_DECODING_BYTES, free):
        return
    width, height = stored.size
    limit = f"this app gives an image at most {MAX_DECODING_BYTES / 1e6:.0f} MB"
    if free < MAX_DECODING_BYTES:
        limit = f"{free / 1e6:,.0f} MB are free"
    raise ImageError(
        f"Opening the image, {width:,} x {height:,} pixels in a file of this kind, takes"
        f" {stored.decoding_bytes / 1e6:,.0f} MB of memory; {limit}.",
        _SHRINK,
    )


def _upright_rgb(stored: Stored) -> OpenedImage:
    decoded = stored.decode()
    notes = _notes_on_file(decoded)
    turn = turn_of(decoded.exif)
    image, blended = small_rgb(decoded.image, MAX_KEPT_SIDE)
    if turn is not None:
        image = image.transpose(turn)
        notes.append("It was turned upright, as its camera says (EXIF).")
    if blended:
        notes.append("Its transparent parts are shown on white.")
    width, height = stored.size
    if max(stored.size) > MAX_KEPT_SIDE:
        notes.append(
            f"It was reduced from {width:,} x {height:,} pixels (as stored) to"
            f" {image.width:,} x {image.height:,}."
        )
    return OpenedImage(image, tuple(notes))


def _notes_on_file(decoded: Decoded) -> list[str]:
    """What the file says about its pictures, and about colours that are not 8 bits of sRGB."""
    notes = []
    if decoded.image.mode == "CMYK":
        notes.append("Its printing colours (CMYK) were converted to RGB, without a profile.")
    elif decoded.profile and not is_srgb(decoded.profile):
        notes.append("It names a colour profile of its own; its colours are read as sRGB.")
    if decoded.sixteen_bits:
        notes.append("Its 16 bits a channel were rounded to 8.")
    if decoded.frames > 1:
        notes.append(f"It has {decoded.frames} pictures; this is the first.")
    return notes
