"""A corpus that a person brings: lines of text, CSV, TSV or JSON lines.

Bytes -> :func:`read_table` -> :class:`CorpusTable` -> :func:`choose` -> :class:`Texts`. Nothing is
left out or changed without a note that says how much.
"""

from core.analysis.corpus.decoding import MAX_BYTES, CorpusFileError
from core.analysis.corpus.reading import (
    ENDINGS,
    CorpusTable,
    Texts,
    choose,
    read_lines,
    read_table,
    repeats_note,
)

__all__ = [
    "ENDINGS",
    "MAX_BYTES",
    "CorpusFileError",
    "CorpusTable",
    "Texts",
    "choose",
    "read_lines",
    "read_table",
    "repeats_note",
]
