"""The table in an atlas's file: its schema, and the columns that all heads share."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from core.analysis.atlas.saved.texts import shortened, well_formed
from core.analysis.query_key.clouds import STAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyarrow import Schema

    from core.analysis.atlas.data import CorpusTokens

KEY = b"headscope"  # of the header in the file's key-value metadata
OLD_KEY = b"attention_atlas"  # in files saved under the project's first name
NORMS = ("query_norm", "key_norm")
POINTS = {
    stage: [f"{kind}_{stage}_{axis}" for kind, axis in product(("query", "key"), "xyz")]
    for stage in STAGES
}
# Of the file, per head and token: 20 numbers that hardly compress, and indices of texts. Measured:
# 78 to 85 for usual texts, 92 where every token is different and has its own label.
ROW_BYTES = 96
FLOATS = [*NORMS, *(name for stage in STAGES for name in POINTS[stage])]


def schema_of(*, labelled: bool) -> Schema:
    """Columns and their types; no entry may be missing."""
    import pyarrow as pa

    text = pa.dictionary(pa.int32(), pa.string())
    kinds = {
        "layer": pa.int16(),
        "head": pa.int16(),
        "sentence": pa.int32(),
        "position": pa.int32(),
        "token": text,
        "display": text,
        "special": pa.bool_(),
        **({"label": text} if labelled else {}),
        **dict.fromkeys(FLOATS, pa.float32()),
    }
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in kinds.items()])


def token_columns_of(tokens: CorpusTokens, labels: Sequence[str]) -> list[Any]:
    """The columns that all heads share, in the order of the schema."""
    import pyarrow as pa

    texts = [tokens.texts, tokens.displays]
    if labels:
        texts.append(tuple(labels[index] for index in tokens.sentence))
    token, display, *label = (_dictionary(each) for each in texts)
    numbers = [pa.array(tokens.sentence), pa.array(tokens.position)]
    return [*numbers, token, display, pa.array(tokens.special), *label]


def _dictionary(texts: Sequence[str]) -> Any:  # noqa: ANN401 - an array of a library without types
    import pyarrow as pa

    stored = {text: shortened(well_formed(text)) for text in dict.fromkeys(texts)}
    order = {text: index for index, text in enumerate(dict.fromkeys(stored.values()))}
    indices = pa.array([order[stored[text]] for text in texts], pa.int32())
    return pa.DictionaryArray.from_arrays(indices, pa.array(order, pa.string()))
