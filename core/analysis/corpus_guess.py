"""Which of the older encodings a text has that is neither Unicode nor ASCII: a guess."""

from __future__ import annotations

import re

_SAMPLE = 2**16  # bytes: a guess gains nothing from more
_GUESSES = {  # in the order of preference where two fit equally well
    "gb18030": "GB 18030",
    "cp932": "Shift JIS",
    "euc_jp": "EUC-JP",
    "cp949": "EUC-KR",
    "big5": "Big5",
    "cp1251": "Windows-1251",
    "koi8_r": "KOI8-R",
    "cp1250": "Windows-1250",
    "cp1253": "Windows-1253",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "cp1254": "Windows-1254",
    "cp1257": "Windows-1257",
    "cp874": "Windows-874",
    "mac_roman": "Mac Roman",
    "cp1252": "Windows-1252",
}
_IN_NO_WORD = "[¡-©«¬®-´¶¸¹»-¿×÷†‡ˆ‰‹›˜™•„‚ƒ”€\ufffd]"  # nor are the hyphens, apostrophes and "·"


def guess_encoding(data: bytes) -> tuple[str, str]:
    """Python's name of the most likely encoding of `data`, and the name people know.

    Western European where that makes words, else by the statistics of charset-normalizer: alone, it
    takes short texts in French or German for Central European ones.
    """
    sample = _sample(data)
    codec = "cp1252" if _is_western(sample.decode("cp1252", "replace")) else _by_statistics(sample)
    if codec == "cp1252" and not re.search(rb"[\x80-\x9f]", data):
        return codec, "Latin-1"  # the same characters, under the name people know
    return codec, _GUESSES[codec]


def _by_statistics(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    order = list(_GUESSES)
    # a sample that was cut may end within a character, of up to four bytes
    ends = range(len(sample), len(sample) - (4 if len(sample) == _SAMPLE else 1), -1)
    matches = [match for end in ends for match in from_bytes(sample[:end], cp_isolation=order)]
    found = [match for match in matches if match.encoding in order]
    best = min(
        found,
        key=lambda match: (match.chaos, -match.coherence, order.index(match.encoding)),
        default=None,
    )
    return best.encoding if best is not None else "cp1252"


def _sample(data: bytes) -> bytes:
    """The lines that hold more than ASCII, long ones from just before; `_SAMPLE` bytes at most."""
    if len(data) <= _SAMPLE:
        return data
    lines, size = [], 0
    for line in re.split(rb"[\r\n]+", data):
        first = re.search(rb"[\x80-\xff]", line)
        if first and size < _SAMPLE:
            start = max(0, first.start() - 100)
            lines.append(line[start : start + _SAMPLE])
            size += len(lines[-1]) + 1
    return b"\n".join(lines)[:_SAMPLE]


def _is_western(text: str) -> bool:
    """Whether bytes read as Windows-1252 make words of Western Europe.

    Read so, Greek or Cyrillic are runs of accented letters; Polish has signs amid its words, and a
    Spanish question that never ends; what a Mac wrote has capitals within words.
    """
    letter = "[^\\W\\d_]"
    accented = "[ŠŒŽšœžŸÀ-ÖØ-öø-ÿ]"
    strange = re.findall(
        f"{accented}{{3,}}|(?<={letter}){_IN_NO_WORD}+(?={letter})|(?<=[a-zß-öø-ÿ])[À-ÖØ-ÞŠŒŽŸ]"
        f"|{_IN_NO_WORD}{{2,}}(?={letter})|{accented}(?:[ºªµ]|[¡-¿]{accented})"
        "|[¡¿](?![^\n]{0,200}[!?])",
        text,
    )
    return sum(map(len, strange)) <= 0.05 * len(re.findall(r"[^\x00-\x7f]", text))
