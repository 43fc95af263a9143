"""Points of one head's picture: those in an outline, as a table, and as a file.

Embedding Atlas opens the file as it is.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from core.analysis.arrays import Floats, Indices
from core.atlas.data import Atlas, CorpusTokens
from core.model.trace import Array

ABOUT = b"headscope.points"  # where the file says what it holds, as JSON
EMBEDDING_ATLAS = "--x x --y y --text text"  # the options of embedding-atlas that name its columns


@dataclass(frozen=True, eq=False)
class PointRows:
    """Some points of a head: what a table of them needs, without the rest of the atlas.

    Attributes
    ----------
    token : of each point, as an index into `tokens`.
    is_key : whether it is the token's key, or else its query.
    places : (point, 2 or 3) in the picture.
    """

    tokens: CorpusTokens
    sentences: tuple[str, ...]
    labels: tuple[str, ...]
    token: Indices
    is_key: NDArray[np.bool_]
    places: Array

    def frame(self) -> pd.DataFrame:
        """One row a point: its kind, token and position, its sentence, and where it is."""
        sentence = self.tokens.sentence[self.token]
        columns: dict[str, Any] = {
            "point": np.where(self.is_key, "key", "query"),
            "token": [_encodable(self.tokens.displays[i]) for i in self.token],
            "position": self.tokens.position[self.token] + 1,
            "sentence_number": sentence + 1,
            "sentence": [_encodable(self.sentences[i]) for i in sentence],
        }
        if self.labels:
            columns["label"] = [_encodable(self.labels[i]) for i in sentence]
        axes = {axis: self.places[:, i] for i, axis in enumerate("xyz"[: self.places.shape[1]])}
        return pd.DataFrame(columns | axes)


def point_rows(atlas: Atlas, tokens: Indices, points: Array, chosen: Indices) -> PointRows:
    """The chosen ones of the points (2 token, 2 or 3) of these tokens, queries first."""
    return PointRows(
        atlas.tokens,
        atlas.sentences,
        atlas.labels,
        tokens[chosen % tokens.size],
        np.asarray(chosen >= tokens.size),
        points[chosen],
    )


def points_inside(points: Array | Floats, outline: Floats) -> Indices:
    """Indices of the points (point, 2) in the closed outline (corner, 2), ascending.

    Where the outline crosses itself, what it runs around an even number of times is outside.
    """
    if len(outline) < 3:
        return np.zeros(0, dtype=np.intp)
    near = np.flatnonzero(
        ((points >= outline.min(axis=0)) & (points <= outline.max(axis=0))).all(axis=1)
    )
    x, y = points[near].astype(np.float64).T
    inside = np.zeros(near.size, dtype=np.bool_)
    for (ax, ay), (bx, by) in zip(outline, np.roll(outline, 1, axis=0), strict=True):
        if ay != by:
            crosses = (ay > y) != (by > y)
            inside ^= crosses & (x < (bx - ax) * (y - ay) / (by - ay) + ax)
    return near[inside]


def embedding_atlas_file(rows: PointRows, about: Mapping[str, Any]) -> bytes:
    """The points as Parquet that Embedding Atlas opens with its options `EMBEDDING_ATLAS`.

    Its reader is pandas, and asks for the columns that its options name: two numbers and a text.
    Here they are `x`, `y` and `text`, the sentence with the token in brackets; `category` is
    "query" or "key". The other columns are those of :meth:`PointRows.frame`; `about` is kept in the
    file's metadata.
    """
    frame = rows.frame().rename(columns={"point": "category"})
    frame.insert(0, "text", [_encodable(_marked(rows, int(token))) for token in rows.token])
    table = pa.Table.from_pandas(frame, preserve_index=False)
    known = table.schema.metadata or {}
    table = table.replace_schema_metadata({**known, ABOUT: json.dumps(about).encode()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _encodable(text: str) -> str:
    """Halves of surrogate pairs, which no file can hold, become question marks."""
    return text.encode("utf-8", "replace").decode()


def _marked(rows: PointRows, token: int) -> str:
    """The sentence with the token in brackets; one that is in no text stands before it."""
    text = rows.sentences[int(rows.tokens.sentence[token])]
    first, end = (int(place) for place in rows.tokens.spans[token])
    if end <= first:
        return f"[{rows.tokens.displays[token].strip('[]')}] {text}"
    return f"{text[:first]}[{text[first:end]}]{text[end:]}"
