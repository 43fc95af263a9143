"""Points of one head's picture as a file that Embedding Atlas opens as it is."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core.analysis.arrays import Indices
from core.atlas.data import Atlas
from core.model.trace import Array

ABOUT = b"headscope.points"  # where the file says what it holds, as JSON
EMBEDDING_ATLAS = "--x x --y y --text text"  # the options of embedding-atlas that name its columns


def embedding_atlas_file(
    atlas: Atlas, tokens: Indices, points: Array, about: Mapping[str, Any]
) -> bytes:
    """The points (2 token, 2) of these tokens, queries first, as Parquet.

    Embedding Atlas opens it with its options `EMBEDDING_ATLAS`. Its reader is pandas, and asks for
    the columns that its options name: two numbers and a text. Here they are `x`, `y` and `text`,
    the sentence with the token in brackets; `category` is "query" or "key". `about` is kept in the
    file's metadata.
    """
    own = np.tile(tokens, 2)
    sentence = atlas.tokens.sentence[own]
    columns: dict[str, Any] = {
        "text": [_encodable(_marked(atlas, int(token))) for token in own],
        "category": np.repeat(["query", "key"], tokens.size),
        "token": [_encodable(atlas.tokens.displays[i]) for i in own],
        "position": atlas.tokens.position[own] + 1,
        "sentence_number": sentence + 1,
        "sentence": [_encodable(atlas.sentences[i]) for i in sentence],
    }
    if atlas.labels:
        columns["label"] = [_encodable(atlas.labels[i]) for i in sentence]
    axes = {axis: points[:, i] for i, axis in enumerate("xy")}
    table = pa.Table.from_pandas(pd.DataFrame(columns | axes), preserve_index=False)
    known = table.schema.metadata or {}
    table = table.replace_schema_metadata({**known, ABOUT: json.dumps(about).encode()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _encodable(text: str) -> str:
    """Halves of surrogate pairs, which no file can hold, become question marks."""
    return text.encode("utf-8", "replace").decode()


def _marked(atlas: Atlas, token: int) -> str:
    """The sentence with the token in brackets; one that is in no text stands before it."""
    text = atlas.sentences[int(atlas.tokens.sentence[token])]
    first, end = (int(place) for place in atlas.tokens.spans[token])
    if end <= first:
        return f"[{atlas.tokens.displays[token].strip('[]')}] {text}"
    return f"{text[:first]}[{text[first:end]}]{text[end:]}"
