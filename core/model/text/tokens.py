"""Turn token ids into text that people read."""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from core.model.trace import Token

if TYPE_CHECKING:
    from tokenizers import Encoding
    from transformers import PreTrainedTokenizerFast

# Characters that are invisible or reorder the text around them; shown as code points.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_JOINERS = frozenset(
    "\u200c\u200d\ufe0e\ufe0f"
)  # allowed inside a token: they shape emoji and script
BEGINS = ("Ġ", "▁")  # how byte-level and SentencePiece vocabularies mark the start of a word
CONTINUES = "##"  # how WordPiece marks a piece that continues a word
_BLANKS = {" ": "␣", "\n": "↵", "\r": "␍", "\t": "⇥", "\u00a0": "⍽"}


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
    byte_level = is_byte_level(tokenizer)
    added = {getattr(tokenizer, f"{name}_token_id") for name in ("cls", "sep", "bos", "eos", "pad")}
    unknown_id, tokens = tokenizer.unk_token_id, []
    segment, word, previous_unit = 0, -1, None
    # An encoding builds each of these lists anew whenever it is asked.
    columns = zip(
        *(names, encoding.ids, encoding.sequence_ids, encoding.special_tokens_mask),
        *(encoding.word_ids, encoding.offsets),
        strict=True,
    )
    for position, (name, id_, source, added_here, unit_number, span) in enumerate(columns):
        segment = segment if source is None else source
        special = bool(added_here) or id_ in added
        unit = None if special else (source, unit_number)
        if unit is not None and (unit != previous_unit or name.startswith("▁")):
            word += 1
        previous_unit = unit
        start, end = span
        typed = (text, pair or "")[source or 0][start:end]
        unknown = id_ == unknown_id and not special and typed not in {"", name}
        display = visible(typed) if unknown else display_name(name, byte_level)
        index = -1 if special else word
        tokens.append(
            Token(name, display, id_, special, segment, position, index, (start, end), unknown)
        )
    return tuple(tokens)


def describe_ids(tokenizer: PreTrainedTokenizerFast, ids: Sequence[int]) -> tuple[Token, ...]:
    """Describe tokens that come from no text, such as those that a model wrote."""
    names = [
        name or f"<{id_}>"  # vocabularies may have gaps
        for name, id_ in zip(tokenizer.convert_ids_to_tokens(list(ids)), ids, strict=True)
    ]
    byte_level, special = is_byte_level(tokenizer), set(tokenizer.all_special_ids)
    marked = any(name.startswith(BEGINS) for name in names)
    tokens, word = [], -1
    for position, (name, id_) in enumerate(zip(names, ids, strict=True)):
        begins = name.startswith(BEGINS) if marked else not name.startswith(CONTINUES)
        ordinary = id_ not in special
        word += ordinary and (begins or word < 0)
        index = word if ordinary else -1
        display = display_name(name, byte_level)
        tokens.append(Token(name, display, id_, not ordinary, 0, position, index))
    return tuple(tokens)


@lru_cache(maxsize=2**14)
def display_name(name: str, byte_level: bool = False) -> str:
    """A vocabulary entry as people read it.

    >>> display_name("Ġbook", byte_level=True), display_name("##y"), display_name("▁it")
    ('book', '##y', 'it')
    >>> display_name("ð", byte_level=True)
    '<0xF0>'
    """
    if byte_level:
        name = _decode_bytes(name)
    elif name.startswith("▁") and len(name) > 1:
        name = name[1:]
    if name.startswith(" ") and name.strip():
        name = name[1:]
    return visible(name)


def visible(text: str) -> str:
    """`text` with blanks, invisible and direction-changing characters made visible."""
    if not text.strip(" "):
        return "␣" * len(text)
    all_hidden = all(map(_is_hidden, text))
    return "".join(
        _BLANKS.get(char, f"<U+{ord(char):04X}>")
        if _is_hidden(char) and (all_hidden or char not in _JOINERS)
        else char
        for char in text
    )


def _is_hidden(char: str) -> bool:
    shown_as_sign = char in _BLANKS and char != " "
    shapes_or_hides = char in _JOINERS or unicodedata.category(char) in _HIDDEN_CATEGORIES
    return shown_as_sign or shapes_or_hides


def is_byte_level(tokenizer: PreTrainedTokenizerFast) -> bool:
    """Whether the vocabulary spells bytes with stand-in characters, as GPT-2's does."""
    return "ByteLevel" in repr(tokenizer.backend_tokenizer.decoder)


def marks_starts(tokenizer: PreTrainedTokenizerFast) -> bool:
    """Whether the vocabulary marks the tokens that begin a word, by the blank before them."""
    decoder = repr(tokenizer.backend_tokenizer.decoder)
    return any(mark in decoder for mark in ("ByteLevel", "Metaspace", "▁"))


def _decode_bytes(name: str) -> str:
    """Text of a byte-level token; bytes that are not a character by themselves as ``<0xF0>``."""
    table = _byte_of_char()
    if any(char not in table for char in name):
        return name  # an added token such as <|endoftext|>, stored as plain text
    return bytes(table[char] for char in name).decode("utf-8", errors="byte_marks")


@cache
def _byte_of_char() -> dict[str, int]:
    """Printable stand-in -> byte, in byte-level BPE (Radford et al. 2019)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    stand_ins = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(0x100) if byte not in printable)
    return stand_ins | {chr(0x100 + index): byte for index, byte in enumerate(others)}


def _mark_bytes(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: write each byte that does not decode as ``<0xF0>``."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad = error.object[error.start : error.end]
    return "".join(f"<0x{byte:02X}>" for byte in bad), error.end


codecs.register_error("byte_marks", _mark_bytes)
