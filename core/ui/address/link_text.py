"""Long texts in a short form for links: deflated, in URL-safe base64.

English shrinks to about half of its length in an address, Chinese to a quarter.
"""

from __future__ import annotations

import base64
import json
import zlib

_RAW_DEFLATE = -15  # zlib's window for a stream without header and checksum (RFC 1951)


def pack(texts: dict[str, str]) -> str:
    """Texts by link parameter -> letters, digits, "-" and "_".

    >>> unpack(pack({"text": "I saw it", "pair": "本"}), 1000)
    {'text': 'I saw it', 'pair': '本'}
    """
    raw = json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    deflated = zlib.compress(raw, 9, wbits=_RAW_DEFLATE)
    return base64.urlsafe_b64encode(deflated).rstrip(b"=").decode("ascii")


def unpack(packed: str, max_bytes: int) -> dict[str, str] | None:
    """The texts given to :func:`pack`, or None if `packed` is anything else.

    `packed` comes from a link and is not trusted: more than `max_bytes` are never inflated.
    """
    try:
        deflated = base64.urlsafe_b64decode(packed.encode("ascii") + b"=" * (-len(packed) % 4))
        inflate = zlib.decompressobj(_RAW_DEFLATE)
        raw = inflate.decompress(deflated, max_bytes + 1)
        if len(raw) > max_bytes or not inflate.eof:
            return None
        texts = json.loads(raw)
    except (ValueError, zlib.error, RecursionError):
        return None
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        return None
    # A JSON escape can spell half of a surrogate pair, which is not a character.
    return {key: text.encode("utf-8", "replace").decode() for key, text in texts.items()}
