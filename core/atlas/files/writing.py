"""Writing a small atlas as one zip file."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from core.atlas.data import Atlas, AtlasFacts, CorpusTexts, HeadPoints, facts_of, heads_of
from core.atlas.files.archive import ARRAYS, DESCRIPTION, MAX_FILE, new_member
from core.atlas.files.description import encode_description
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.facts import facts_arrays, pack_arrays
from core.atlas.files.tables import GROUP_ROWS, ROW_BYTES, part_name, table_writers
from core.atlas.files.texts import MAX_TEXTS, as_stored, pack_texts
from core.atlas.whole_file import whole_file

MAX_TOKENS = 2_000_000  # of one file: their texts and places take 200 bytes each when opened
Target: TypeAlias = str | os.PathLike[str] | BinaryIO


def write_atlas(atlas: Atlas, target: Target) -> None:
    """Write an atlas, without its vectors and masks, to a path or an open binary file.

    An existing file is replaced once everything is written. The same atlas gives the same bytes.
    Raises `AtlasFileError` when points are not finite, the texts are too long, or it is too large
    for one file; `OSError` when it cannot be written.
    """
    write_file(facts_of(atlas), atlas, heads_of(atlas), target)


def write_file(
    facts: AtlasFacts, texts: CorpusTexts, heads: Iterable[HeadPoints], target: Target
) -> None:
    """Write some sentences as an atlas of their own; errors as in :func:`write_atlas`.

    `heads` are the points of their tokens in all heads, in order. The facts may be those of a whole
    corpus, of which these are a sample.
    """
    layers, heads_of_layer = facts.heads
    size = len(texts.tokens)
    if layers * heads_of_layer * size * ROW_BYTES > MAX_FILE or size > MAX_TOKENS:
        raise AtlasFileError(
            f"The atlas is too large for one file: {layers * heads_of_layer:,} heads of {size:,}"
            " tokens."
        )
    if isinstance(target, str | os.PathLike):
        with whole_file(Path(target)) as path:
            _write(facts, as_stored(texts), heads, path)
    else:
        _write(facts, as_stored(texts), heads, target)


def _write(
    facts: AtlasFacts, texts: CorpusTexts, heads: Iterable[HeadPoints], target: Path | BinaryIO
) -> None:
    writers = table_writers(texts, heads, group_rows=GROUP_ROWS)
    with zipfile.ZipFile(target, "w", allowZip64=False) as file:
        for table, write in writers.items():
            with new_member(file, part_name(table, 0)) as member:
                write(member)
        parts = [(0, len(texts.tokens), len(texts.sentences))]
        contents = {
            ARRAYS: pack_arrays(facts_arrays(facts) | _texts(texts)),
            DESCRIPTION: encode_description(facts, parts),
        }
        for name, content in contents.items():
            with new_member(file, name) as member:
                member.write(content)


def _texts(texts: CorpusTexts) -> dict[str, np.ndarray[Any, Any]]:
    """All texts as arrays, tokens by their index in a vocabulary."""
    columns = {"texts.token": texts.tokens.texts, "texts.display": texts.tokens.displays}
    words = dict.fromkeys(word for column in columns.values() for word in column)
    order = {word: i for i, word in enumerate(words)}
    arrays = pack_texts("texts.vocabulary", list(order))
    arrays |= pack_texts("texts.sentences", texts.sentences)
    if texts.labels:
        arrays |= pack_texts("texts.labels", texts.labels)
    size = sum(array.nbytes for array in arrays.values())
    if size > MAX_TEXTS:
        raise AtlasFileError(
            f"The corpus is too large for one file: its texts take {size / 1e6:.0f} MB; the limit"
            f" is {MAX_TEXTS / 1e6:.0f} MB."
        )
    for name, column in columns.items():
        arrays[name] = np.array([order[word] for word in column], dtype=np.int32)
    return arrays
