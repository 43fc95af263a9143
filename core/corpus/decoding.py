"""From the bytes of a file to its text: UTF-8, UTF-16 with a byte order mark, or a stated guess."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

MAX_BYTES = 20 * 2**20  # sent by a browser in a few seconds, and far more than an atlas takes

# Older encodings that a guess may name, with Python's name for each.
_OLDER = {
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "cp1253": "Windows-1253",
    "cp932": "Shift JIS",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "cp949": "EUC-KR",
}
_SAMPLE = 2**14  # bytes; more would not improve the guess
_MAX_CONTROLS = 0.002  # share of a text's characters
_CONTROLS = dict.fromkeys({*range(32), 127} - set(b"\t\n\v\f\r\x1a\x1b"))
_FORMS = re.compile(r"\{(.*?)\|(.*?)\}")  # word forms: singular and plural
_LOST = "{character could not be read and shows|characters could not be read and show} as �."


class CorpusFileError(ValueError):
    """A file that cannot be a corpus: one plain sentence on what is wrong, and a way out."""


class Decoded(NamedTuple):
    """The text of a file, and notes for people."""

    text: str
    notes: tuple[str, ...] = ()
    codec: str = ""  # the one that was guessed


def decode(data: bytes, name: str, codec: str = "") -> Decoded:
    """The text of `data`, without byte order marks; `name` is for messages.

    Line ends stay as they are. The text has no surrogates: it can be written as UTF-8. What is not
    UTF-8 apart from a few letters is read with `codec`, the one guessed for the text before it.
    Raises `CorpusFileError` if the file is empty, larger than `MAX_BYTES`, or not text in a known
    encoding.
    """
    if not data:
        raise CorpusFileError(
            f"{name} is empty: choose a file of sentences, one per line, or a table."
        )
    check_file_size(len(data), name)
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        decoded = Decoded(data.decode("utf-16" if marked else "utf-8-sig"))
    except UnicodeDecodeError:
        if marked or b"\0" in data:
            raise not_text(name) from None
        decoded = _broken_utf8(data) or (_by(codec, data, name) if codec else _guess(data, name))
    return _checked(decoded, name)


def check_file_size(size: int, name: str) -> None:
    """Raise `CorpusFileError` for more bytes than can be read."""
    if size > MAX_BYTES:
        # Rounded up, so that a file just over the limit does not appear to be at it
        megabytes = f"{-(-size * 10 // 2**20) / 10:,.1f}".removesuffix(".0")
        raise CorpusFileError(
            f"{name} has {megabytes} MB; the limit is {MAX_BYTES // 2**20} MB. Shorten it."
        )


def without_surrogates(text: str) -> tuple[str, int]:
    """`text` with UTF-16 pairs joined and lone surrogates replaced; the number of the latter."""
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return joined, joined.count("\ufffd") - text.count("\ufffd")
    return text, 0


def _broken_utf8(data: bytes) -> Decoded | None:
    """UTF-8 with a few bad bytes, if there are at least twice as many good non-ASCII letters."""
    text = data.decode("utf-8", "replace")
    replaced = text.count("\ufffd")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    return Decoded(text, counted(replaced, _LOST)) if beyond_ascii > 3 * replaced else None


def counted(count: int, note: str) -> tuple[str, ...]:
    """A note that begins with its number, or none for zero.

    >>> counted(2, "{line was|lines were} left out.")
    ('2 lines were left out.',)
    """
    chosen = _FORMS.sub(lambda forms: forms[1 if count == 1 else 2], note)
    return (f"{count:,} {chosen}",) if count else ()


def _guess(data: bytes, name: str) -> Decoded:
    """charset-normalizer's best guess from a sample of the bytes.

    It often finds Windows-1252 as likely as a rarer code page: then Windows-1252 is used.
    """
    from charset_normalizer import from_bytes

    matches = list(from_bytes(_sample(data), cp_isolation=list(_OLDER)))
    if not matches:
        raise not_text(name)
    best = (matches[0].chaos, matches[0].coherence)
    likely = [match for match in matches if (match.chaos, match.coherence) == best]
    windows = any("cp1252" in match.could_be_from_charset for match in likely)
    codec = "cp1252" if windows else matches[0].encoding
    note = (
        f"The file is not UTF-8 and does not state its encoding: {_OLDER.get(codec, codec)} is a"
        " guess from its bytes. Save it as UTF-8 if letters look wrong."
    )
    decoded = _by(codec, data, name)
    return decoded._replace(notes=(note, *decoded.notes))


def _by(codec: str, data: bytes, name: str) -> Decoded:
    text = data.decode(codec, "replace")
    replaced = text.count("\ufffd")
    if replaced > max(3, 0.05 * len(text)):
        raise not_text(name)
    return Decoded(text, counted(replaced, _LOST), codec)


def _sample(data: bytes) -> bytes:
    """The bytes to guess from: from the first beyond ASCII, up to a blank."""
    if len(data) <= _SAMPLE:
        return data
    first = re.search(rb"[\x80-\xff]", data)
    start = max(0, first.start() - 100) if first else 0
    cut = data[start : start + _SAMPLE]
    return cut[: max(cut.rfind(b" "), cut.rfind(b"\n"), _SAMPLE // 2)]


def _checked(decoded: Decoded, name: str) -> Decoded:
    """The text without byte order marks and NULs; refused if it has many control characters."""
    text, notes = decoded.text.replace("\ufeff", ""), decoded.notes
    controls = len(text) - len(text.translate(_CONTROLS))
    if not text or controls > _MAX_CONTROLS * len(text) or text.startswith("%PDF-"):
        raise not_text(name)
    notes += counted(text.count("\0"), "NUL {character was|characters were} left out.")
    return decoded._replace(text=text.replace("\0", ""), notes=notes)


def not_text(name: str) -> CorpusFileError:
    """The error for bytes that are not text."""
    return CorpusFileError(
        f"{name} cannot be read as text: open it in the program that made it and save it as UTF-8,"
        " as .txt, .csv, .tsv or .jsonl."
    )
