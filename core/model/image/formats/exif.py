"""Which way up a camera was held, read from EXIF by anyone.

PIL reads all entries of a table that may have 65,535, each of which may name the same megabytes.
"""

from __future__ import annotations

import struct

from PIL.Image import Transpose

_ORIENTATION, _SHORT, _LONG = 0x0112, 3, 4
_HEADER = b"Exif\0\0"  # JPEG has it, PNG and WebP may
_ENTRY_BYTES = 12
# What makes a stored picture upright, by the tag's value (EXIF 2.32, section 4.6.4).
_TURNS = {
    2: Transpose.FLIP_LEFT_RIGHT,
    3: Transpose.ROTATE_180,
    4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_270,
    7: Transpose.TRANSVERSE,
    8: Transpose.ROTATE_90,
}


def turn_of(exif: bytes) -> Transpose | None:
    """How to turn the stored picture; None where it is upright, or nothing valid is said.

    The table of a TIFF file: byte order, place of the table, number of entries, and in each its
    tag, type, number of values, and value (TIFF 6.0, section 2).
    """
    tiff = exif.removeprefix(_HEADER)
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return None
    try:
        (table,) = struct.unpack_from(f"{order}I", tiff, 4)
        (count,) = struct.unpack_from(f"{order}H", tiff, table)
        for entry in range(table + 2, table + 2 + count * _ENTRY_BYTES, _ENTRY_BYTES):
            tag, kind = struct.unpack_from(f"{order}HH", tiff, entry)
            if tag == _ORIENTATION and kind in (_SHORT, _LONG):
                letter = "H" if kind == _SHORT else "I"
                return _TURNS.get(struct.unpack_from(order + letter, tiff, entry + 8)[0])
    except struct.error:  # damaged EXIF is no reason to refuse the picture
        pass
    return None
