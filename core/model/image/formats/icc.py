"""Colour profiles: what one calls itself (ICC.1:2022, 7.3 and 9.2.41). It is anybody's file."""

from __future__ import annotations

import struct

_TAGS_AT, _TAG = 128, struct.Struct(">4sII")  # signature, where it begins, its size
_MOST_TAGS = 100
_TEXT_AT = 12  # of a description of version 2, in ASCII
_RECORD = struct.Struct(">II4xII")  # of version 4: records, their size; length and place of one


def is_srgb(profile: bytes) -> bool:
    """Whether the description of a profile begins with "sRGB"; other parts may name it too."""
    try:
        return _description(profile).startswith("sRGB")
    except struct.error:
        return False


def _description(profile: bytes) -> str:
    """The first text of the tag ``desc``; empty without one. Raises struct.error where cut."""
    (count,) = struct.unpack_from(">I", profile, _TAGS_AT)
    for place in range(min(count, _MOST_TAGS)):
        name, start, size = _TAG.unpack_from(profile, _TAGS_AT + 4 + place * _TAG.size)
        if name != b"desc":
            continue
        tag = profile[start : start + size]
        if not tag.startswith(b"mluc"):
            return tag[_TEXT_AT:].decode("ascii", "ignore")
        _, _, length, text_at = _RECORD.unpack_from(tag, 8)
        return tag[text_at : text_at + length].decode("utf-16-be", "ignore")
    return ""
