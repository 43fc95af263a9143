"""Writing a small atlas as one zip file."""

from __future__ import annotations

import os
import secrets
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeAlias

import numpy as np

from core.atlas.data import Atlas, AtlasFacts, CorpusTokens, ProjectedPart, facts_of
from core.atlas.files.archive import (
    ARRAYS,
    DESCRIPTION,
    MAX_FILE,
    POINTS,
    SENTENCES,
    TOKENS,
    new_member,
)
from core.atlas.files.description import encode_description
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.facts import facts_arrays, pack_arrays
from core.atlas.files.tables import (
    GROUP_ROWS,
    ROW_BYTES,
    PointsWriter,
    write_sentences,
    write_tokens,
)
from core.atlas.files.texts import MAX_TEXTS, pack_texts, storable_sentences, stored_texts
from core.model.trace import Array
from core.vocabulary import Stage

MAX_TOKENS = 2_000_000  # of one file: their texts and places take 200 bytes each when opened
_TOKEN_BYTES, _SPARE_BYTES = 60, 2**16  # of a file beside its points, and the texts
UNFINISHED = ".writing"  # the end of the name of a file that is being written
Target: TypeAlias = str | os.PathLike[str] | BinaryIO


class AtlasWriter:
    """Writes an atlas head by head, then the rest; for use in a `with` statement.

    `labels` are one per sentence of `tokens`, or none at all.
    """

    def __init__(
        self, target: Path | BinaryIO, tokens: CorpusTokens, labels: Sequence[str] = ()
    ) -> None:
        self._tokens, self._labels = tokens, labels
        self._file = zipfile.ZipFile(target, "w", allowZip64=False)
        self._member = new_member(self._file, POINTS)
        self._points = PointsWriter(self._member, tokens, group_rows=GROUP_ROWS)

    def write_head(
        self, layer: int, head: int, points: Mapping[Stage, Array], norms: Array
    ) -> None:
        """Add the next head, as in :meth:`PointsWriter.write_head`."""
        self._points.write_head(layer, head, points, norms)

    def finish(self, facts: AtlasFacts, sentences: Sequence[str]) -> None:
        """Add all else; `sentences` are those of the tokens, in order.

        Raises `AtlasFileError` when the texts are too long for a file.
        """
        self._points.finish()
        self._member.close()
        tokens = self._tokens
        numbers = np.unique(tokens.sentence)
        own = np.searchsorted(numbers, tokens.sentence).astype(np.int32)
        texts, spans = storable_sentences(sentences, replace(tokens, sentence=own))
        labels = stored_texts(self._labels)
        with new_member(self._file, TOKENS) as member:
            write_tokens(member, tokens, spans)
        with new_member(self._file, SENTENCES) as member:
            write_sentences(member, numbers, texts, labels)
        self._add(ARRAYS, pack_arrays(facts_arrays(facts) | _texts(tokens, texts, labels)))
        held = (0, len(tokens), len(numbers))
        self._add(DESCRIPTION, encode_description(facts, [held]))

    def _add(self, name: str, data: bytes) -> None:
        with new_member(self._file, name) as member:
            member.write(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:  # what is open within the file is closed before it
            self._points.__exit__(kind, error, trace)
            self._member.close()
        self._file.close()


def write_atlas(atlas: Atlas, target: Target) -> None:
    """Write an atlas, without its vectors and masks, to a path or an open binary file.

    An existing file is replaced once everything is written. The same atlas gives the same bytes.
    Raises `AtlasFileError` when points are not finite, the texts are too long, or it is too large
    for one file; `OSError` when it cannot be written.
    """
    shared = {name: getattr(atlas, name) for name in ("tokens", "sentences", "labels", "points")}
    part = ProjectedPart(0, **shared, norms=atlas.norms, layer_numbers=atlas.layer_numbers)
    write_file(facts_of(atlas), part, target)


def write_file(facts: AtlasFacts, part: ProjectedPart, target: Target) -> None:
    """Write a part as an atlas of its own; errors as in :func:`write_atlas`.

    The facts may be those of a whole corpus, of which the part is a sample.
    """
    layers, heads = facts.heads
    size = len(part.tokens)
    if layers * heads * size * ROW_BYTES > MAX_FILE or size > MAX_TOKENS:
        raise AtlasFileError(
            f"The atlas is too large for one file: {layers * heads:,} heads of {size:,} tokens."
        )
    if isinstance(target, str | os.PathLike):
        with whole_file(Path(target)) as path:
            _write(facts, part, path)
    else:
        _write(facts, part, target)


def max_file_bytes(atlas: Atlas) -> int:
    """An upper bound of the size of the atlas's file, whose texts are in it twice."""
    layers, heads, tokens = atlas.shape
    texts = (*set(atlas.tokens.texts), *set(atlas.tokens.displays), *atlas.sentences, *atlas.labels)
    text = sum(len(each.encode("utf-8", "replace")) + 12 for each in texts)
    images = 0 if atlas.images is None else atlas.images.pixels.nbytes
    distances = 8 * (layers * heads) ** 2 + 8 * atlas.positions.sums.size + 1024 * layers * heads
    points = layers * heads * tokens * ROW_BYTES
    return points + tokens * _TOKEN_BYTES + 2 * text + images + distances + _SPARE_BYTES


@contextmanager
def whole_file(path: Path, *, shared: bool = False) -> Iterator[Path]:
    """A path to write to, which becomes `path` once complete, and is removed on failure.

    `shared`: another process may write the same file meanwhile. What a process that was killed
    leaves ends in `UNFINISHED`.
    """
    own = f".{secrets.token_hex(4)}" if shared else ""
    unfinished = path.with_name(f"{path.name}{own}{UNFINISHED}")
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _write(facts: AtlasFacts, part: ProjectedPart, target: Path | BinaryIO) -> None:
    layers, heads = facts.heads
    with AtlasWriter(target, part.tokens, part.labels) as writer:
        for layer, head in np.ndindex(layers, heads):
            points = {stage: each[layer, head] for stage, each in part.points.items()}
            writer.write_head(facts.layer_labels[layer], head + 1, points, part.norms[layer, head])
        writer.finish(facts, part.sentences)


def _texts(
    tokens: CorpusTokens, sentences: Sequence[str], labels: Sequence[str]
) -> dict[str, np.ndarray[Any, Any]]:
    """All texts as arrays, tokens by their index in a vocabulary."""
    columns = [stored_texts(each) for each in (tokens.texts, tokens.displays)]
    order = {text: i for i, text in enumerate(dict.fromkeys([*columns[0], *columns[1]]))}
    arrays = pack_texts("texts.vocabulary", list(order)) | pack_texts("texts.sentences", sentences)
    if labels:
        arrays |= pack_texts("texts.labels", labels)
    size = sum(array.nbytes for array in arrays.values())
    if size > MAX_TEXTS:
        raise AtlasFileError(
            f"The corpus is too large for one file: its texts take {size / 1e6:.0f} MB; the limit"
            f" is {MAX_TEXTS / 1e6:.0f} MB."
        )
    for name, texts in zip(("texts.token", "texts.display"), columns, strict=True):
        arrays[name] = np.array([order[text] for text in texts], dtype=np.int32)
    return arrays
