"""The short form of long texts in links."""

from __future__ import annotations

import base64
import json
import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ui.address.link_text import pack, unpack

ROOM = 10**6
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(text=WORDS, pair=WORDS)
def test_what_is_packed_is_unpacked(text: str, pair: str) -> None:
    texts = {"text": text, "pair": pair}
    packed = pack(texts)
    assert re.fullmatch(r"[A-Za-z0-9_-]*", packed)
    assert unpack(packed, ROOM) == texts


def test_the_form_is_raw_deflate_of_json_in_base64url() -> None:
    packed = pack({"text": "本 " * 50})
    raw = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -15)
    assert json.loads(raw) == {"text": "本 " * 50}


def deflated(raw: bytes) -> str:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.urlsafe_b64encode(deflate.compress(raw) + deflate.flush()).decode()


@pytest.mark.parametrize(
    "packed",
    [
        *("", "!", "本", "AAAA", "A", pack({"text": "I saw it"})[:-4]),
        *(deflated(b"[1]"), deflated(b"{"), deflated(b'{"text": 5}')),
        *(deflated(b"[" * 100_000), deflated(b"\xff\xfe")),
    ],
)
def test_anything_else_is_refused(packed: str) -> None:
    assert unpack(packed, ROOM) is None


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = deflated(b'{"text": "' + b"x" * 50_000_000 + b'"}')
    assert len(bomb) < 70_000
    assert unpack(bomb, ROOM) is None


def test_half_a_character_in_an_escape_is_replaced() -> None:
    assert unpack(deflated(b'{"text": "a\\ud800b"}'), ROOM) == {"text": "a?b"}
