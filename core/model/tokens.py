"""Token ids -> what people read."""

from __future__ import annotations

import codecs
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from core.model.trace import Token

if TYPE_CHECKING:
    from tokenizers import Encoding
    from transformers import PreTrainedTokenizerFast

# Characters that would be invisible, or would reorder the text around them: shown by their number.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")  # kept inside a token: they shape emoji and script
_BLANKS = {" ": "␣", "\n": "↵", "\r": "␍", "\t": "⇥", "\u00a0": "⍽"}


def read_tokens(
    tokenizer: PreTrainedTokenizerFast, encoding: Encoding, text: str, pair: str | None
) -> tuple[Token, ...]:
    """Describe every position of an encoded text (or pair of texts).

    Parameters
    ----------
    tokenizer : a fast tokenizer.
    encoding : its result for `text` and `pair`, without padding.
    text, pair : what was encoded; unknown tokens are displayed as they were typed.
    """
    names = tokenizer.convert_ids_to_tokens(encoding.ids)
    byte_level = is_byte_level(tokenizer)
    added = {
        tokenizer.cls_token_id,
        tokenizer.sep_token_id,
        tokenizer.bos_token_id,
        tokenizer.eos_token_id,
        tokenizer.pad_token_id,
    }
    tokens = []
    segment, word, last = 0, -1, None
    for position, (name, id_) in enumerate(zip(names, encoding.ids, strict=True)):
        source = encoding.sequence_ids[position]
        segment = segment if source is None else source
        special = bool(encoding.special_tokens_mask[position]) or id_ in added
        here = None if special else (source, encoding.word_ids[position])
        if here is not None and (here != last or name.startswith("▁")):
            word += 1
        last = here
        start, end = encoding.offsets[position]
        typed = (text, pair or "")[source or 0][start:end]
        unknown = id_ == tokenizer.unk_token_id and not special and typed
        display = visible(typed) if unknown else display_name(name, byte_level)
        index = -1 if special else word
        tokens.append(
            Token(name, display, id_, special, segment, position, index, span=(start, end))
        )
    return tuple(tokens)


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
    """`text` with blanks and invisible or direction-changing characters made visible."""
    if not text.strip(" "):
        return "␣" * len(text)
    nothing_else = all(_is_hidden(char) or char in _JOINERS for char in text)
    return "".join(
        _code(char)
        if (char in _JOINERS and nothing_else) or (_is_hidden(char) and char not in _JOINERS)
        else char
        for char in text
    )


def _is_hidden(char: str) -> bool:
    return (char in _BLANKS and char != " ") or unicodedata.category(char) in _HIDDEN_CATEGORIES


def _code(char: str) -> str:
    return _BLANKS.get(char, f"<U+{ord(char):04X}>")


def is_byte_level(tokenizer: PreTrainedTokenizerFast) -> bool:
    """Whether the vocabulary spells bytes with stand-ins, as GPT-2's does."""
    return "ByteLevel" in repr(tokenizer.backend_tokenizer.decoder)


def _decode_bytes(name: str) -> str:
    """Text of a byte-level token; bytes that are no character on their own as ``<0xF0>``."""
    table = _byte_of_char()
    if any(char not in table for char in name):
        return name  # an added token such as <|endoftext|>, stored as plain text
    raw = bytes(table[char] for char in name)
    return raw.decode("utf-8", errors="byte_marks")


@cache
def _byte_of_char() -> dict[str, int]:
    """The printable stand-in of every byte in byte-level BPE (Radford et al. 2019), inverted."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    stand_ins = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(0x100) if byte not in printable)
    return stand_ins | {chr(0x100 + index): byte for index, byte in enumerate(others)}


def _mark_bytes(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: the bytes that do not decode, each as ``<0xF0>``."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad = error.object[error.start : error.end]
    return "".join(f"<0x{byte:02X}>" for byte in bad), error.end


codecs.register_error("byte_marks", _mark_bytes)
