"""From the bytes of a file that a person brings to its text, whatever wrote it.

What the file says of itself comes first (a byte order mark), then what can be proved (strict UTF-8,
the NUL pattern of UTF-16 and UTF-32), then a guess, which is told. What is no text is refused.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass, replace

import numpy as np

from core.analysis.corpus_guess import guess_encoding

MOST_BYTES = 20 * 2**20  # what a browser sends in a few seconds, and far more than an atlas takes

_SAMPLE = 2**18  # bytes from which the width of a character is told
_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
_KINDS = (
    (rb"%PDF-\d", "a PDF"),
    (rb"PK(\x03\x04|\x05\x06)", "a ZIP archive, as Word and Excel documents are"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8[79]a", "an image"),
    (rb"PAR1.*PAR1\Z", "a Parquet table"),
    (rb"\x1f\x8b|BZh\d1AY&SY|\xfd7zXZ\x00|\x28\xb5\x2f\xfd|7z\xbc\xaf", "compressed"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Word or Excel document"),
    (rb"SQLite format 3\x00", "a database"),
    (rb"\{\\rtf", "a rich text document"),
)
_CONTROLS = "".join(map(chr, {*range(1, 32), 127} - set(b"\t\n\v\f\r\x1a\x1b")))
_COMMON = [*b"\t\n\r", *range(0x20, 0x7F), 0x3001, 0x3002, 0xFF0C]  # ASCII, and "、。，"


class CorpusFileError(ValueError):
    """A file that cannot be a corpus: one plain sentence of what was found, and the way out."""


@dataclass(frozen=True)
class Decoded:
    """The text of a file, the encoding it was found in, and what was done to it, for people."""

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Reading:
    """One way to read the bytes; how many characters could not be; whether it is a guess.

    `nuls` counts the NULs that are no longer in the text, `strewn` those with text behind them.
    """

    text: str
    encoding: str
    replaced: int = 0
    guessed: bool = False
    nuls: int = 0
    strewn: int = 0


def decode(data: bytes, name: str) -> Decoded:
    """The text of `data`, without byte order marks and NUL characters; `name` is for messages.

    Line ends stay as they are. No surrogate is left: the text can be written as UTF-8.

    Raises
    ------
    CorpusFileError
        When the file is empty, larger than `MOST_BYTES`, or not a text.
    """
    if not data:
        raise CorpusFileError(f"{name} is empty: choose a file with a sentence a line, or a table.")
    check_size(len(data), name)
    for pattern, kind in _KINDS:
        if re.match(pattern, data, re.DOTALL):
            raise CorpusFileError(
                f"{name} is not a text file: it is {kind}. Save its text as .txt or .csv first."
            )
    reading = _marked(data) or _wide(data)
    reading = _without_nuls(reading) if reading is not None else _narrow(data)
    _refuse_binary(reading, name)
    return _cleaned(reading)


def check_size(size: int, name: str) -> None:
    """Raise `CorpusFileError` for more bytes than can be read."""
    if size > MOST_BYTES:
        # rounded up, so that a file just over the limit is not said to be at it
        found = f"{-(-size * 10 // 2**20) / 10:,.1f}".removesuffix(".0")
        raise CorpusFileError(
            f"{name} has {found} MB; at most {MOST_BYTES // 2**20} MB can be read. Cut it shorter."
        )


def mended(text: str) -> tuple[str, int]:
    """Well-formed `text`: pairs of surrogates joined, lone ones replaced; how many those were."""
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return joined, joined.count("\ufffd") - text.count("\ufffd")
    return text, 0


def told(count: int, one: str, many: str) -> tuple[str, ...]:
    """A note that begins with its number, or none where nothing is to be told.

    >>> told(2, "line was left out.", "lines were left out.")
    ('2 lines were left out.',)
    """
    return (f"{count:,} {one if count == 1 else many}",) if count else ()


def _marked(data: bytes) -> _Reading | None:
    for mark, codec, encoding in _MARKS:
        if data.startswith(mark):
            text = _strict(data[len(mark) :], codec)
            if text is not None:
                return _Reading(text, encoding)
            text = data[len(mark) :].decode(codec, "replace")
            if encoding != "UTF-32":  # else more likely UTF-16 whose first character is NUL
                return _Reading(text, encoding, text.count("\ufffd"))
    return None


def _wide(data: bytes) -> _Reading | None:
    """UTF-16 or UTF-32 without a mark: ASCII characters and spaces leave NULs at every other byte.

    The right order of bytes yields many common characters, the wrong one next to none.
    """
    if b"\0" not in data:
        return None
    for codec, unit in (("utf-32-le", "<u4"), ("utf-32-be", ">u4")):
        if _common(data, unit) > 0.02:
            text = _strict(data, codec)
            if text is not None:
                return _Reading(text, "UTF-32")
    little, big = _common(data, "<u2"), _common(data, ">u2")
    most, less, codec = max((little, big, "utf-16-le"), (big, little, "utf-16-be"))
    if most <= max(0.02, 2 * less):  # "一", U+4E00, reads as "N" in the wrong order
        return None
    if most < 0.5 and _has_stray_nuls(data, little > big):
        return None
    text = _strict(data, codec)
    if text is None or "\0" in text.rstrip("\0") or _unassigned(text) > 0.05:
        return None
    return _Reading(text, "UTF-16")


def _has_stray_nuls(data: bytes, little: bool) -> bool:
    """Whether `data` reads well a byte a character, its NULs being no halves of spaces.

    Asked only where few units are ASCII: in Greek, Chinese or Korean, say.
    """
    if _controls_share(data.replace(b"\0", b"").decode("latin-1")) > 0.01:
        return False
    odd, even = data[1::2].count(0), data[::2].count(0)
    spaces = [bytes([space]) for space in b" \n\r"]
    paired = sum(data.count(s + b"\0" if little else b"\0" + s) for s in spaces)
    return paired <= 0.5 * sum(map(data.count, spaces)) or max(odd, even) < 0.8 * (odd + even)


def _common(data: bytes, unit: str) -> float:
    """Share of the units (a NumPy type: width and order) of `data` that are common characters."""
    units = np.frombuffer(data, unit, count=min(len(data), _SAMPLE) // int(unit[2]))
    return float(np.isin(units, _COMMON).mean()) if len(units) else 0.0


def _without_nuls(reading: _Reading) -> _Reading:
    nuls, strewn = (text.count("\0") for text in (reading.text, reading.text.rstrip("\0")))
    return replace(reading, text=reading.text.replace("\0", ""), nuls=nuls, strewn=strewn)


def _narrow(data: bytes) -> _Reading:
    """A byte or a few a character; NULs are taken out first: one may part a character's bytes."""
    text = data.replace(b"\0", b"")
    nuls, strewn = data.count(0), data.rstrip(b"\0").count(0)
    return replace(_utf8(text) or _guessed(text), nuls=nuls, strewn=strewn)


def _utf8(data: bytes) -> _Reading | None:
    """UTF-8; with some bytes replaced where almost all others of its kind are in order."""
    try:
        return _Reading(*_utf8_with_surrogates(data))
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    own = data.count("\ufffd".encode())
    replaced = text.count("\ufffd") - own
    sound = len(text) - replaced - len(data.translate(None, bytes(range(128, 256))))
    return _Reading(text, "UTF-8", replaced) if sound > 2 * replaced else None


def _utf8_with_surrogates(data: bytes) -> tuple[str, str, int]:
    """Some programs write halves of a UTF-16 pair as if each were a character."""
    text, replaced = mended(data.decode("utf-8", "surrogatepass"))
    return text, "UTF-8", replaced


def _guessed(data: bytes) -> _Reading:
    codec, encoding = guess_encoding(data)
    text = data.decode(codec, "replace")
    return _Reading(text, encoding, text.count("\ufffd"), guessed=True)


def _refuse_binary(reading: _Reading, name: str) -> None:
    text, size = reading.text, len(reading.text)
    if (
        not text
        or reading.strewn > max(3, 0.1 * size)  # behind the text, a file may be laid out larger
        or reading.replaced > max(3, 0.05 * size)
        or _controls_share(text) > (0.002 if reading.guessed else 0.02)
        or (reading.replaced and _unassigned(text) > 0.1)
    ):
        raise CorpusFileError(
            f"{name} is not a text file: it holds bytes that no text has. "
            "Save its text as .txt, .csv, .tsv or .jsonl first."
        )


def _cleaned(reading: _Reading) -> Decoded:
    text = reading.text
    marks = text.count("\ufeff")
    guess = (
        f"The file does not say its encoding; {reading.encoding} is a guess from its bytes. "
        "Save the file as UTF-8 if letters look wrong."
    )
    notes = (
        *((guess,) if reading.guessed else ()),
        *told(
            reading.replaced,
            f"character could not be read as {reading.encoding} and shows as �.",
            f"characters could not be read as {reading.encoding} and show as �.",
        ),
        *told(reading.nuls, "NUL character was left out.", "NUL characters were left out."),
        *told(
            marks,
            "byte order mark inside the text was left out.",
            "byte order marks inside the text were left out.",
        ),
    )
    return Decoded(text.replace("\ufeff", ""), reading.encoding, notes)


def _strict(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def _controls_share(text: str) -> float:
    return sum(map(text.count, _CONTROLS)) / max(len(text), 1)


def _unassigned(text: str) -> float:
    """Share of the first characters that Unicode has given no meaning."""
    sample = text[:20_000]
    return sum(unicodedata.category(c) in {"Cn", "Co", "Cs"} for c in sample) / max(len(sample), 1)
