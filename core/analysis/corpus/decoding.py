"""From the bytes of a file to its text: UTF-8, UTF-16 with a mark, or a guess that is told."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

MAX_BYTES = 20 * 2**20  # what a browser sends in a few seconds, and far more than an atlas takes

# The older encodings that a guess may name, by Python's name of each.
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
_SAMPLE = 2**14  # bytes: the guess gains nothing from more
_MIN_SHARE = 0.998  # of a text's characters that are no control characters
_CONTROLS = dict.fromkeys({*range(32), 127} - set(b"\t\n\v\f\r\x1a\x1b"))


class CorpusFileError(ValueError):
    """A file that cannot be a corpus: one plain sentence of what was found, and the way out."""


@dataclass(frozen=True)
class Decoded:
    """The text of a file, the encoding it was read as, and notes for people."""

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


def decode(data: bytes, name: str) -> Decoded:
    """The text of `data`, without byte order marks; `name` is for messages.

    Line ends stay as they are. No surrogate is left: the text can be written as UTF-8.

    Raises
    ------
    CorpusFileError
        When the file is empty, larger than `MAX_BYTES`, or no text in an encoding that is known.
    """
    if not data:
        raise CorpusFileError(f"{name} is empty: choose a file with a sentence a line, or a table.")
    check_size(len(data), name)
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    codec, encoding = ("utf-16", "UTF-16") if marked else ("utf-8-sig", "UTF-8")
    try:
        return _checked(Decoded(data.decode(codec), encoding), name)
    except UnicodeDecodeError:
        if marked or b"\0" in data:
            raise _no_text(name) from None
    return _checked(_broken_utf8(data) or _guess(data, name), name)


def check_size(size: int, name: str) -> None:
    """Raise `CorpusFileError` for more bytes than can be read."""
    if size > MAX_BYTES:
        # rounded up, so that a file just over the limit is not said to be at it
        found = f"{-(-size * 10 // 2**20) / 10:,.1f}".removesuffix(".0")
        raise CorpusFileError(
            f"{name} has {found} MB; at most {MAX_BYTES // 2**20} MB can be read. Cut it shorter."
        )


def without_surrogates(text: str) -> tuple[str, int]:
    """`text` with halves of a UTF-16 pair joined, lone ones replaced; how many those were."""
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return joined, joined.count("\ufffd") - text.count("\ufffd")
    return text, 0


def _broken_utf8(data: bytes) -> Decoded | None:
    """UTF-8 in which a few bytes are out of order, beside twice as many letters that are not."""
    text = data.decode("utf-8", "replace")
    replaced = text.count("\ufffd")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    return Decoded(text, "UTF-8", _lost(replaced)) if beyond_ascii > 3 * replaced else None


def _lost(count: int) -> tuple[str, ...]:
    one = "1 character could not be read and shows as �."
    return (one if count == 1 else f"{count:,} characters could not be read and show as �.",)


def _guess(data: bytes, name: str) -> Decoded:
    """What charset-normalizer takes the lines for that hold more than ASCII.

    It often finds Windows-1252 and a rarer code page equally likely: then it is the first.
    """
    from charset_normalizer import from_bytes

    matches = list(from_bytes(_sample(data), cp_isolation=list(_OLDER)))
    if not matches:
        raise _no_text(name)
    likely = [
        match
        for match in matches
        if (match.chaos, -match.coherence) == (matches[0].chaos, -matches[0].coherence)
    ]
    codecs_found = [codec for match in likely for codec in match.could_be_from_charset]
    codec = "cp1252" if "cp1252" in codecs_found else matches[0].encoding
    text = data.decode(codec, "replace")
    replaced = text.count("\ufffd")
    if replaced > max(3, 0.05 * len(text)):
        raise _no_text(name)
    encoding = _OLDER.get(codec, codec)
    guess = (
        f"The file is not UTF-8 and does not say its encoding: {encoding} is a guess from its"
        " bytes. Save it as UTF-8 if letters look wrong."
    )
    return Decoded(text, encoding, (guess, *_lost(replaced)) if replaced else (guess,))


def _sample(data: bytes) -> bytes:
    """What the guess is made from: from where bytes beyond ASCII begin, up to a blank."""
    if len(data) <= _SAMPLE:
        return data
    first = re.search(rb"[\x80-\xff]", data)
    start = max(0, first.start() - 100) if first else 0
    cut = data[start : start + _SAMPLE]
    return cut[: max(cut.rfind(b" "), cut.rfind(b"\n"), _SAMPLE // 2)]


def _checked(decoded: Decoded, name: str) -> Decoded:
    """The text without marks inside it; what is no text is full of control characters."""
    text = decoded.text.replace("\ufeff", "")
    sound = len(text.translate(_CONTROLS)) >= _MIN_SHARE * len(text)
    if not text or not sound or text.startswith("%PDF-"):
        raise _no_text(name)
    nuls = text.count("\0")
    notes = decoded.notes
    if nuls:
        text = text.replace("\0", "")
        notes += (f"{nuls:,} NUL {'character was' if nuls == 1 else 'characters were'} left out.",)
    return Decoded(text, decoded.encoding, notes)


def _no_text(name: str) -> CorpusFileError:
    return CorpusFileError(
        f"{name} cannot be read as text: open it where it was made and save it as UTF-8, as .txt,"
        " .csv, .tsv or .jsonl."
    )
