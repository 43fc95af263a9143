"""An upload -> an RGB image, or a refusal: anyone may have made the file.

Nothing is decoded before the header has said how large the image is, and nothing is written to
disk. What was changed on the way is told in words.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps, JpegImagePlugin, PngImagePlugin, WebPImagePlugin

from core.model.errors import ImageError
from core.model.image.pixels import check_shape

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

MAX_BYTES = 20_000_000
MAX_PIXELS = 50_000_000  # a photograph of 8,600 x 5,800; 150 MB once it is decoded
# The longer side of what is kept: models see some 200 to 800 pixels, and each visitor's image
# stays in memory (8 MB at most).
MAX_KEPT_SIDE = 1_600
_MAX_SCANS = 100  # of a JPEG; progressive ones have about ten, and each costs a whole pass
_PNG, _JPEG, _RIFF, _WEBP = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF", b"WEBP"
_PNG_DEPTH = 24  # where a PNG says how many bits a channel has
_ORIENTATION = 0x0112  # in EXIF
_SRGB = (b"sRGB", "sRGB".encode("utf-16-be"))  # as profiles of version 2 and 4 write it
_SAVE_AGAIN = "Save it again as PNG, JPEG or WebP, and upload that."
_DAMAGED = "The image cannot be read: its file is cut off or damaged."
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
        file = _read_header(data)
        _check_size(*file.size)
        with _decoding:
            return _decode(file, data)
    except ImageError as error:
        raise error.with_traceback(None) from None
    except Exception:  # noqa: BLE001 - decoders raise anything; it must not hold on to the image
        refusal = ImageError(_DAMAGED, _SAVE_AGAIN)
    raise refusal


def _read_header(data: bytes) -> ImageFile:
    """The image of a file, not decoded yet; by its first bytes, whatever its name says."""
    if data.startswith(_PNG):
        return PngImagePlugin.PngImageFile(BytesIO(data))
    if data.startswith(_JPEG):
        if data.count(b"\xff\xda") > _MAX_SCANS:
            raise ImageError(
                f"The image has more than {_MAX_SCANS} scans, which takes too long to read.",
                _SAVE_AGAIN,
            )
        return JpegImagePlugin.JpegImageFile(BytesIO(data))
    if data.startswith(_RIFF) and data[8:12] == _WEBP:
        _check_size(*_webp_size(data))  # its decoder takes memory for the image at once
        return WebPImagePlugin.WebPImageFile(BytesIO(data))
    raise ImageError("The file is no PNG, JPEG or WebP image.", _SAVE_AGAIN)


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise ImageError(
            f"The image has {width:,} x {height:,} pixels; this app opens at most"
            f" {MAX_PIXELS / 1e6:.0f} million.",
            _SHRINK,
        )
    check_shape(width, height)


def _webp_size(data: bytes) -> tuple[int, int]:
    """(width, height) by the first chunk of a WebP file (its container specification)."""
    kind, body = data[12:16], data[20:30]
    if kind == b"VP8X":
        return _little(body[4:7]) + 1, _little(body[7:10]) + 1
    if kind == b"VP8L":
        bits = _little(body[1:5])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return _little(body[6:8]) & 0x3FFF, _little(body[8:10]) & 0x3FFF


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _decode(file: ImageFile, data: bytes) -> OpenedImage:
    notes = _notes_on_file(file, data)
    size = file.size
    frames = getattr(file, "n_frames", 1)
    if frames > 1:
        notes.append(f"It has {frames} pictures; this is the first.")
    if isinstance(file, JpegImagePlugin.JpegImageFile):
        file.draft(file.mode, (MAX_KEPT_SIDE, MAX_KEPT_SIDE))  # decodes it smaller, never below
    file.load()
    turned = _upright(file)
    if turned is not file:
        notes.append("It was turned upright, as its camera says (EXIF).")
    image, blended = _as_rgb(turned)
    if blended:
        notes.append("Its transparent parts are shown on white.")
    image.thumbnail((MAX_KEPT_SIDE, MAX_KEPT_SIDE), Image.Resampling.BICUBIC)
    if max(size) > MAX_KEPT_SIDE:
        notes.append(
            f"It was reduced from {size[0]:,} x {size[1]:,} pixels (as stored) to"
            f" {image.width:,} x {image.height:,}."
        )
    return OpenedImage(image, tuple(notes))


def _notes_on_file(file: ImageFile, data: bytes) -> list[str]:
    """What the file says about colours that are not 8 bits of sRGB."""
    notes = []
    if file.mode == "CMYK":
        notes.append("Its printing colours (CMYK) were converted to RGB, without a profile.")
    elif (profile := file.info.get("icc_profile")) and not any(name in profile for name in _SRGB):
        notes.append("It names a colour profile of its own; its colours are read as sRGB.")
    if isinstance(file, PngImagePlugin.PngImageFile) and data[_PNG_DEPTH] > 8:
        notes.append("Its 16 bits a channel were rounded to 8.")
    return notes


def _upright(file: ImageFile) -> Image.Image:
    """The image as its camera was held; itself where it says nothing, or nothing that is valid."""
    try:
        if file.getexif().get(_ORIENTATION, 1) == 1:
            return file
        return ImageOps.exif_transpose(file)
    except Exception:  # noqa: BLE001 - damaged EXIF is no reason to refuse the image
        return file


def _as_rgb(image: Image.Image) -> tuple[Image.Image, bool]:
    """An image as RGB, and whether any of it was transparent."""
    if image.mode.startswith("I"):  # PIL would clip 16 bits, not scale them
        wide = np.asarray(image, dtype=np.int64)
        opaque = np.rint(wide.clip(0, 65_535) / 257).astype(np.uint8)
        clear = image.info.get("transparency")
        grey = Image.fromarray(opaque)
        if not isinstance(clear, int):
            return grey.convert("RGB"), False
        alpha = Image.fromarray(np.where(wide == clear, 0, 255).astype(np.uint8))
        image = Image.merge("LA", (grey, alpha))
    if not image.has_transparency_data:
        return image.convert("RGB"), False
    layered = image.convert("RGBA")
    blended = bool((np.asarray(layered.getchannel("A")) < 255).any())
    ground = Image.new("RGBA", layered.size, "white")
    return Image.alpha_composite(ground, layered).convert("RGB"), blended
