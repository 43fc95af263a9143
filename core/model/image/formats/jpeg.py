"""JPEG: its segments, walked by their lengths (ITU-T T.81, annex B), and what decoding them costs.

Only what the decoder needs reaches it: PIL keeps a copy of every comment and reads all EXIF.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice

from PIL import JpegImagePlugin

from core.model.errors import ImageError
from core.model.image.formats.stored import Decoded, Stored

START = b"\xff\xd8\xff"
MAX_SCANS = 100  # progressive files have about ten, and each costs a whole pass
_MAX_SEGMENTS = 10_000  # a photograph with a large profile and a map of depths has some 300
# A marker: no filling, no byte of a picture, no restart within a scan.
_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
_START, _END, _SCAN, _TEMPORARY = 0xD8, 0xD9, 0xDA, 0x01
_EXIF, _COMMENT = 0xE1, 0xFE
_OF_PROGRAMS = range(0xE0, 0xF0)
_KEPT_OF_PROGRAMS = (0xE0, 0xE2, 0xEE)  # JFIF, profile of colours, Adobe's kind of colours
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_PROGRESSIVE = frozenset({0xC2, 0xC6, 0xCA, 0xCE})
_COEFFICIENT_BYTES = 2
_SCALES = (8, 4, 2, 1)  # by which the decoder can make a picture smaller


@dataclass(frozen=True)
class _Header:
    """What stands before the first scan.

    Attributes
    ----------
    size : (width, height).
    channels : of colour.
    coefficients : numbers kept for each pixel while all scans are read; 0 where one pass does.
    """

    size: tuple[int, int]
    channels: int
    coefficients: float


def read_jpeg(data: bytes, wanted: int) -> Stored:
    """A JPEG file whose longer side may be made smaller, but not below `wanted` pixels.

    Raises
    ------
    ImageError
        When it has more scans than a picture needs.
    ValueError, IndexError, struct.error
        When a segment is damaged.
    """
    needed, header, exif = _walk(data)
    width, height = header.size
    longer = max(width, height, 1)
    small = tuple(max(1, min(side, side * wanted // longer)) for side in header.size)
    most = min(width // small[0], height // small[1])
    scale = next((each for each in _SCALES if most >= each), 1)
    each_pixel = (1 if header.channels == 1 else 4) / scale**2
    kept = header.coefficients * _COEFFICIENT_BYTES
    return Stored(
        header.size,
        int(width * height * (each_pixel + kept)),
        lambda: _decode(needed, (small[0], small[1]), exif),
    )


def _decode(data: bytes, size: tuple[int, int], exif: bytes) -> Decoded:
    file = JpegImagePlugin.JpegImageFile(BytesIO(data))
    file.draft(file.mode, size)
    file.load()
    return Decoded(file, 1, file.info.get("icc_profile", b""), exif)


def _walk(data: bytes) -> tuple[bytes, _Header, bytes]:
    """The file with what its decoder needs, what its header says, and its EXIF."""
    segments = list(islice(_segments(data), _MAX_SEGMENTS + 1))
    if len(segments) > _MAX_SEGMENTS:
        raise ValueError("too many segments")
    scans = [start for marker, start, _ in segments if marker == _SCAN]
    if len(scans) > MAX_SCANS:
        raise ImageError(
            f"The image has more than {MAX_SCANS} scans, which takes too long to read.",
            "Save it again as PNG, JPEG or WebP, and upload that.",
        )
    before = [(marker, data[start:end]) for marker, start, end in segments if start < scans[0]]
    (frame,) = (segment for marker, segment in before if marker in _FRAMES)
    exif = next((body[4:] for marker, body in before if marker == _EXIF and _says(body)), b"")
    needed = [data[:2], *(segment for marker, segment in before if _is_needed(marker))]
    header = _read_header(frame, channels_of_scan=data[scans[0] + 4])
    return b"".join([*needed, data[scans[0] :]]), header, exif


def _says(segment: bytes) -> bool:
    """Whether a segment holds EXIF: other programs use the same marker."""
    return segment.startswith(b"Exif\0\0", 4)


def _is_needed(marker: int) -> bool:
    of_a_program = marker in _OF_PROGRAMS and marker not in _KEPT_OF_PROGRAMS
    return marker != _COMMENT and not of_a_program


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Marker, start and end of each segment up to the end of the picture.

    What a program put behind that (another picture, a film) is none, and neither is anything
    inside a segment, such as a profile or a thumbnail.
    """
    position = 2
    while found := _MARKER.search(data, position):
        marker = found.group()[1]
        if marker == _END:
            return
        start, position = found.span()
        if marker not in (_START, _TEMPORARY):
            position += max(2, int.from_bytes(data[position : position + 2], "big"))
        yield marker, start, position


def _read_header(frame: bytes, channels_of_scan: int) -> _Header:
    """What a frame's segment says; `channels_of_scan`, of the first scan."""
    height, width, channels = struct.unpack_from(">HHB", frame, 5)
    sampling = [divmod(frame[11 + 3 * channel], 16) for channel in range(channels)]
    across, down = (max(sides) for sides in zip(*sampling, strict=True))
    coefficients = 0.0
    if frame[1] in _PROGRESSIVE or channels_of_scan < channels:  # nothing is known until the end
        coefficients = sum(wide * high for wide, high in sampling) / (across * down)
    return _Header((width, height), channels, coefficients)
