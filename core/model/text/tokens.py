"""Turn token ids into text that people read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from core.model.trace import Token
from core.vocabulary import PART, RING, numbered

if TYPE_CHECKING:
    from tokenizers import Encoding
    from transformers import PreTrainedTokenizerFast

# Characters that are invisible or reorder the text around them; shown as code points. So are Hangul
# fillers, two Khmer vowels and a Braille pattern, which are blank.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"})
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")  # bare inside a token: they shape emoji, script
_HIDDEN = _JOINERS | frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
UNUSED_ROW = "(no token)"  # for a row of the embedding table that the tokenizer does not use
BEGINS = ("Ġ", "▁")  # how byte-level and SentencePiece vocabularies mark the start of a word
CONTINUES = "##"  # how WordPiece marks a piece that continues a word
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_STRAY = re.compile("[\udc80-\udcff]")
_BLANKS = {" ": "␣", "\n": "↵", "\r": "␍", "\t": "⇥", "\u00a0": "⍽"}


@dataclass(frozen=True)
class Spelling:
    """How a vocabulary writes its entries.

    Attributes
    ----------
    byte_level : whether it spells bytes with stand-in characters, as GPT-2's does.
    end : how it marks the end of a word: ``</w>`` in CLIP's, nothing in most.
    """

    byte_level: bool = False
    end: str = ""


PLAIN = Spelling()


def spelling_of(tokenizer: PreTrainedTokenizerFast) -> Spelling:
    """How this tokenizer's vocabulary writes its entries."""
    end = getattr(tokenizer.backend_tokenizer.model, "end_of_word_suffix", None) or ""
    return Spelling(any("ByteLevel" in part for part in _parts(tokenizer)), end)


def read_tokens(
    tokenizer: PreTrainedTokenizerFast, encoding: Encoding, text: str, pair: str | None
) -> tuple[Token, ...]:
    """Describe every position of an encoded text (or pair of texts).

    Parameters
    ----------
    tokenizer : a fast tokenizer.
    encoding : its result for `text` and `pair`, without padding.
    text, pair : what was encoded; unknown tokens are displayed as typed.
    """
    names = tokenizer.convert_ids_to_tokens(encoding.ids)
    spelling, added = spelling_of(tokenizer), _marks(tokenizer)
    unknown_id, tokens = tokenizer.unk_token_id, []
    segment, word, typed_before, end_before = 0, -1, "", 0
    previous_unit: tuple[int | None, int | None] | None = None
    # An encoding rebuilds these lists on every access.
    columns = zip(
        *(names, encoding.ids, encoding.sequence_ids, encoding.special_tokens_mask),
        *(encoding.word_ids, encoding.offsets),
        strict=True,
    )
    for position, (name, id_, source, added_here, unit_number, span) in enumerate(columns):
        segment = segment if source is None else source
        special = bool(added_here) or id_ in added
        unit = None if special else (source, unit_number)
        start, end = span
        typed = (text, pair or "")[source or 0][start:end]
        begins = unit != previous_unit or name.startswith("▁")
        goes_on = previous_unit is not None and previous_unit[0] == source and start == end_before
        if unit is not None and begins and not (goes_on and _is_accented(typed_before, typed)):
            word += 1
        previous_unit, typed_before, end_before = unit, typed, end
        unknown = id_ == unknown_id and not special and typed not in {"", name}
        display = visible(typed) if unknown else display_name(name, spelling)
        index = -1 if special else word
        tokens.append(
            Token(name, display, id_, special, segment, position, index, (start, end), unknown)
        )
    return _with_parts(tokens, spelling)


def describe_ids(tokenizer: PreTrainedTokenizerFast, ids: Sequence[int]) -> tuple[Token, ...]:
    """Describe tokens that come from no text, such as those that a model wrote."""
    names = tokenizer.convert_ids_to_tokens(list(ids))  # None for a gap in the vocabulary
    spelling = spelling_of(tokenizer)
    special = set(tokenizer.all_special_ids) - _signs(tokenizer)
    marked = any(name.startswith(BEGINS) for name in names if name)
    tokens, word, before = [], -1, ""
    for position, (name, id_) in enumerate(zip(names, ids, strict=True)):
        text = name or f"<{id_}>"
        begins = text.startswith(BEGINS) if marked else not text.startswith(CONTINUES)
        begins = begins and before.endswith(spelling.end)
        ordinary = id_ not in special
        word += ordinary and (begins or word < 0)
        index, before = word if ordinary else -1, text if ordinary else spelling.end
        display = display_name(name, spelling)
        tokens.append(Token(text, display, id_, not ordinary, 0, position, index))
    return _with_parts(tokens, spelling)


def _marks(tokenizer: PreTrainedTokenizerFast) -> set[int]:
    """Ids that begin, separate, end or pad texts, and are no word or sign that people type."""
    names = ("cls", "sep", "bos", "eos", "pad")
    return {getattr(tokenizer, f"{name}_token_id") for name in names} - _signs(tokenizer)


def _signs(tokenizer: PreTrainedTokenizerFast) -> set[int]:
    """Ids of special tokens that are plain signs: OpenCLIP pads texts with "!"."""
    special = zip(tokenizer.all_special_tokens, tokenizer.all_special_ids, strict=True)
    return {id_ for name, id_ in special if len(name) == 1}


def _with_parts(tokens: list[Token], spelling: Spelling) -> tuple[Token, ...]:
    """The tokens, with bytes of one character shown as its parts: 日 1/3, 日 2/3, 日 3/3.

    Bytes that make no character stay ``<0xF0>``.
    """
    if not any("<0x" in token.display for token in tokens):
        return tuple(tokens)
    spelled = [b"" if token.special else _bytes_of(token.text, spelling) for token in tokens]
    # A token without bytes gets one that never occurs in UTF-8.
    owners = [place for place, own in enumerate(spelled) for _ in own or b"\xff"]
    data, start = b"".join(own or b"\xff" for own in spelled), 0
    written = ["" for _ in tokens]
    in_parts = set()
    for char in data.decode("utf-8", errors="surrogateescape"):
        length = len(char.encode("utf-8", errors="surrogateescape"))
        own = list(dict.fromkeys(owners[start : start + length]))
        start += length
        for part, place in enumerate(own, start=1):
            if len(own) > 1:
                written[place] += numbered(visible(char), f"{PART}{part}/{len(own)}")
                in_parts.add(place)
            else:
                written[place] += visible(_with_byte_marks(char))
    return tuple(
        replace(token, display=written[place].removeprefix("␣")) if place in in_parts else token
        for place, token in enumerate(tokens)
    )


def _bytes_of(name: str, spelling: Spelling) -> bytes:
    """The bytes that a vocabulary entry spells; none where it is written in characters."""
    if spelling.byte_level:
        table, name = _byte_of_char(), name.removesuffix(spelling.end)
        return bytes(table[char] for char in name) if all(map(table.__contains__, name)) else b""
    byte = _BYTE.fullmatch(name)
    return b"" if byte is None else bytes.fromhex(byte[1])


@lru_cache(maxsize=2**14)
def display_name(name: str | None, spelling: Spelling = PLAIN) -> str:
    """A vocabulary entry as people read it; None or "" for a row that the tokenizer does not use.

    >>> display_name("Ġbook", Spelling(byte_level=True)), display_name("##y"), display_name("▁it")
    ('book', '##y', 'it')
    >>> display_name("ð", Spelling(byte_level=True)), display_name("the</w>", Spelling(end="</w>"))
    ('<0xF0>', 'the')
    """
    if not name:
        return UNUSED_ROW
    if spelling.end:
        name = name.removesuffix(spelling.end) or name
    if spelling.byte_level:
        name = _decode_bytes(name)
    elif name.startswith("▁") and len(name) > 1:
        name = name[1:]
    if name.startswith(" ") and name.strip():
        name = name[1:]
    if name.startswith(CONTINUES) and len(name) > len(CONTINUES):
        return CONTINUES + visible(name.removeprefix(CONTINUES))
    return visible(name)


def visible(text: str) -> str:
    """`text` with blanks, invisible and direction-changing characters made visible.

    A leading accent is put on a dotted ring.
    """
    if not text.strip(" "):
        return "␣" * len(text)
    all_hidden = all(map(_is_hidden, text))
    ring = RING if _is_accent(text[0]) and not all_hidden else ""  # an accent needs a place
    return ring + "".join(
        _BLANKS.get(char, f"<U+{ord(char):04X}>")
        if _is_hidden(char) and (all_hidden or char not in _JOINERS)
        else char
        for char in text
    )


def _is_hidden(char: str) -> bool:
    return char != " " and (char in _HIDDEN or unicodedata.category(char) in _HIDDEN_CATEGORIES)


def _is_accent(char: str) -> bool:
    """Whether it combines with the letter before it."""
    return bool(char) and unicodedata.category(char).startswith("M")


def _is_accented(before: str, after: str) -> bool:
    """Whether two pieces of a text are one word, because an accent stands where they meet."""
    return _is_accent(after[:1]) or (_is_accent(before[-1:]) and after[:1].isalpha())


def marks_starts(tokenizer: PreTrainedTokenizerFast) -> bool:
    """Whether the vocabulary marks the tokens that begin a word, by the blank before them."""
    parts = _parts(tokenizer)
    return any(mark in part for mark in ("ByteLevel", "Metaspace", "▁") for part in parts)


def _parts(tokenizer: PreTrainedTokenizerFast) -> tuple[str, ...]:
    """What the tokenizer does besides its vocabulary; a decoder may be missing."""
    backend = tokenizer.backend_tokenizer
    return tuple(map(repr, (backend.decoder, backend.pre_tokenizer, backend.normalizer)))


def _decode_bytes(name: str) -> str:
    """The text of a byte-level token; bytes that form no character appear as ``<0xF0>``."""
    table = _byte_of_char()
    if any(char not in table for char in name):
        return name  # an added token such as <|endoftext|>, stored as plain text
    return _with_byte_marks(
        bytes(table[char] for char in name).decode("utf-8", errors="surrogateescape")
    )


@cache
def _byte_of_char() -> dict[str, int]:
    """Printable stand-in -> byte, in byte-level BPE (Radford et al. 2019)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    stand_ins = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(0x100) if byte not in printable)
    return stand_ins | {chr(0x100 + index): byte for index, byte in enumerate(others)}


def _with_byte_marks(text: str) -> str:
    """The text with ``<0xF0>`` for each byte that "surrogateescape" could not decode."""
    return _STRAY.sub(lambda byte: f"<0x{ord(byte[0]) - 0xDC00:02X}>", text)
