"""The header of an atlas's file, as JSON: all that is not one value per head and token.

Arrays are little-endian bytes in base64, packed with zlib where that is shorter. What is read is
not trusted: nothing is unpacked beyond the size that the header's own shape implies.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from core.analysis.atlas.data import DIMENSIONS, Positions
from core.analysis.atlas.saved.errors import AtlasFileError
from core.analysis.atlas.saved.header_checks import (
    check_arrays,
    check_json,
    check_model,
    check_settings,
)
from core.analysis.atlas.saved.header_faithfulness import (
    FORMAT,
    OLDEST_FORMAT,
    StoredFaithfulness,
    expected_arrays,
    faithfulness_arrays,
    read_faithfulness,
)
from core.analysis.atlas.saved.texts import (
    is_well_formed,
    read_texts,
    storable_sentences,
    storable_texts,
    well_formed,
)
from core.analysis.head_patterns.similarity import Distances
from core.analysis.layers import without_attention
from core.analysis.query_key.clouds import STAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.analysis.atlas.data import Atlas, Ints
    from core.analysis.query_key.clouds import Stage

    Floats = NDArray[np.float64]
    Spec = dict[str, tuple[tuple[int, ...], str]]

MAX_BYTES = 64 * 2**20  # of a header: the texts of a corpus and 20 bytes per token
MAX_HEADS = 2048  # in all layers; the distances between more would fill a header
MAX_DEPTH = 4096  # layers of a model, those that do not attend included
_MAX_POSITIONS = 32  # in the view by position, as in core.analysis.atlas.gather
# Bytes of a header's parts: a reserve for files written before long texts were cut; per token two
# texts and a gap of 200 characters, and 20 for its numbers; per head its attention by position and
# its figures; per two heads their distance.
_SPARE_BYTES, _TOKEN_BYTES, _HEAD_BYTES, _PAIR_BYTES = 8 * 2**20, 2500, 16_384, 11
Kind = TypeVar("Kind")


@dataclass(frozen=True, eq=False)
class Header:
    """The fields of an atlas except its points, norms and the columns of its table."""

    model: str
    causal: bool
    shape: tuple[int, int, int]
    sentences: tuple[str, ...]
    labels: tuple[str, ...]
    word: Ints
    spans: Ints
    shares: dict[Stage, Floats]
    faithfulness: StoredFaithfulness
    distances: Distances
    positions: Positions
    settings: dict[str, str | int]
    numbers: tuple[int, ...]  # of the layers, as people read them
    depth: int  # of the model, in layers


def corpus_hash(sentences: Sequence[str]) -> str:
    """SHA-256 of the sentences as a JSON list, in hexadecimal."""
    digest = hashlib.sha256(b"[")
    for index, text in enumerate(sentences):  # one by one: ASCII takes six times the memory
        digest.update((", " * bool(index) + json.dumps(text)).encode("ascii"))
    digest.update(b"]")
    return digest.hexdigest()


def max_header_bytes(heads: int, tokens: int) -> int:
    """The most that the header of an atlas with this many heads and tokens can take."""
    needed = tokens * _TOKEN_BYTES + heads * _HEAD_BYTES + heads**2 * _PAIR_BYTES
    return min(MAX_BYTES, _SPARE_BYTES + needed)


def encode_header(atlas: Atlas) -> bytes:
    """The header of an atlas; its points and norms are not used.

    Labels and long pieces of sentences are cut (see :mod:`core.analysis.atlas.saved.texts`). Raises
    `AtlasFileError` when it is longer than readers accept.
    """
    layers, heads = atlas.scaling.c.shape
    sentences, spans = storable_sentences(atlas.sentences, atlas.tokens)
    fields = {
        "format": FORMAT,
        "model": well_formed(atlas.model),
        "causal": bool(atlas.causal),
        "shape": [layers, heads, len(atlas.tokens)],
        "corpus_sha256": corpus_hash(sentences),
        "settings": {
            key: well_formed(value) if isinstance(value, str) else int(value)
            for key, value in atlas.settings.items()
        },
        "measured": [int(atlas.measured.tokens), int(atlas.measured.sentences)],
        "compared": [int(atlas.distances.compared), int(atlas.distances.tokens)],
        "sentences": list(sentences),
        "labels": storable_texts(atlas.labels),
        **_layer_numbers(atlas),
        "arrays": {
            name: _packed(array) for name, array in (_arrays(atlas) | {"spans": spans}).items()
        },
    }
    raw = json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()
    limit = max_header_bytes(layers * heads, len(atlas.tokens))
    if len(raw) > limit:
        raise AtlasFileError(
            f"The corpus is too large for one atlas: its texts and marks take {len(raw) / 1e6:.0f}"
            f" MB; the limit is {limit / 1e6:.0f} MB."
        )
    return raw


def decode_header(raw: bytes, max_rows: int, tokens: int) -> Header:
    """The header that :func:`encode_header` wrote.

    `tokens` is the number in the table, which limits what its header may hold. Raises
    `AtlasFileError` when it is damaged, of another format, contradicts itself, or describes more
    than `max_rows` rows (heads times tokens).
    """
    fields = _parsed(raw, tokens)
    layers, heads, tokens = _shape(fields, max_rows)
    sentences, labels = (_strings(fields, name) for name in ("sentences", "labels"))
    if not 1 <= len(sentences) <= tokens or len(labels) not in {0, len(sentences)}:
        raise AtlasFileError(
            f"The file contradicts itself: {len(sentences):,} sentences,"
            f" {len(labels):,} labels and {tokens:,} tokens."
        )
    if _entry(fields, "corpus_sha256", str) != corpus_hash(sentences):
        raise AtlasFileError("The sentences of the file do not match its checksum.")
    stored = _entry(fields, "arrays", dict)
    shown = _positions_shown(stored)
    arrays = {
        name: _unpacked(stored.get(name), name, shape, kind)
        for name, (shape, kind) in _expected(layers, heads, tokens, shown, fields["format"]).items()
    }
    compared = _compared(fields)
    check_arrays(arrays, len(sentences), compared[0])
    counted = _measured(fields, tokens, len(sentences))
    return Header(
        model=check_model(_entry(fields, "model", str)),
        causal=_entry(fields, "causal", bool),
        shape=(layers, heads, tokens),
        sentences=sentences,
        labels=tuple(read_texts(labels, "labels")),
        word=arrays["word"],
        spans=_spans(arrays["spans"]),
        shares={stage: arrays[f"shares.{stage}"] for stage in STAGES},
        faithfulness=read_faithfulness(arrays, counted, fields["format"]),
        distances=Distances(arrays["distances.sums"], *compared),
        positions=Positions(arrays["positions.sums"], arrays["positions.counts"]),
        settings=check_settings(_entry(fields, "settings", dict)),
        **_numbers(fields, layers),
    )


def _arrays(atlas: Atlas) -> dict[str, NDArray[np.generic]]:
    """All except the spans, which are those in the texts as written."""
    return {
        "word": atlas.tokens.word,
        "distances.sums": atlas.distances.sums,
        "positions.sums": atlas.positions.sums,
        "positions.counts": atlas.positions.counts,
        **{f"shares.{stage}": atlas.shares[stage] for stage in STAGES},
        **faithfulness_arrays(atlas),
    }


def _layer_numbers(atlas: Atlas) -> dict[str, Any]:
    """What only hybrids need: files of other models stay as they were."""
    if not without_attention(atlas):
        return {}
    return {"layer_numbers": list(atlas.numbers), "depth": max(atlas.depth or 0, atlas.numbers[-1])}


def _expected(layers: int, heads: int, tokens: int, shown: int, version: int) -> Spec:
    """Shape and type of every array."""
    each = (layers, heads)
    return {
        "word": ((tokens,), "<i4"),
        "spans": ((tokens, 2), "<i4"),
        "distances.sums": ((layers * heads, layers * heads), "<f8"),
        "positions.sums": ((*each, shown, shown), "<f8"),
        "positions.counts": ((shown, shown), "<f8"),
        **{f"shares.{stage}": ((*each, DIMENSIONS), "<f8") for stage in STAGES},
        **expected_arrays(layers, heads, version),
    }


def _packed(array: NDArray[np.generic]) -> dict[str, Any]:
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    raw = plain.tobytes()
    short = zlib.compress(raw)
    key, chosen = ("zlib", short) if len(short) < len(raw) else ("bytes", raw)
    return {
        "type": plain.dtype.str,
        "shape": list(plain.shape),
        key: base64.b64encode(chosen).decode("ascii"),
    }


def _unpacked(stored: object, name: str, shape: tuple[int, ...], kind: str) -> NDArray[Any]:
    """One array, of exactly this shape and type."""
    if not isinstance(stored, dict):
        raise AtlasFileError(f"The file lacks “{name}”.")
    if stored.get("type") != kind or stored.get("shape") != list(shape):
        raise AtlasFileError(f"“{name}” has another shape or type than the file's sizes imply.")
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    try:
        key = "zlib" if "zlib" in stored else "bytes"
        raw = base64.b64decode(stored[key], validate=True)
        if key == "zlib":  # one byte too many would show that there is more
            raw = zlib.decompressobj().decompress(raw, size + 1)
    except (KeyError, TypeError, ValueError, binascii.Error, zlib.error) as error:
        raise AtlasFileError(f"“{name}” is damaged ({type(error).__name__}).") from error
    if len(raw) != size:
        raise AtlasFileError(f"“{name}” does not have as many values as the file's sizes imply.")
    if kind == "|b1" and raw.strip(b"\0\1"):
        raise AtlasFileError(f"“{name}” has values that are neither true nor false.")
    array = np.frombuffer(raw, dtype=kind).reshape(shape)
    return array.astype(array.dtype.newbyteorder("="))  # a writable copy


def _parsed(raw: bytes, tokens: int) -> dict[str, Any]:
    check_json(raw, tokens)
    try:
        fields = json.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise AtlasFileError("The file's description of itself is damaged.") from error
    if not isinstance(fields, dict):
        raise AtlasFileError("The file's description of itself is damaged.")
    version = fields.get("format")
    if type(version) is not int or not OLDEST_FORMAT <= version <= FORMAT:
        raise AtlasFileError(
            f"The file has format {str(version)[:20]!r}; this version opens formats"
            f" {OLDEST_FORMAT} to {FORMAT}: build the atlas again."
        )
    return fields


def _entry(fields: dict[str, Any], name: str, kind: type[Kind]) -> Kind:
    value = fields.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise AtlasFileError(f"The file lacks “{name}”, or it is of the wrong kind.")
    return value


def _strings(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    values = _entry(fields, name, list)
    if not all(isinstance(value, str) for value in values):
        raise AtlasFileError(f"“{name}” has something other than texts.")
    if not all(map(is_well_formed, values)):
        raise AtlasFileError(f"“{name}” has half of a character (a lone surrogate).")
    return tuple(values)


def _count(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise AtlasFileError(f"“{name}” is not a count.")
    return value


def _shape(fields: dict[str, Any], max_rows: int) -> tuple[int, int, int]:
    values = [_count(value, "shape") for value in _entry(fields, "shape", list)]
    if len(values) != 3 or min(values) < 1:
        raise AtlasFileError("The file does not say how many layers, heads and tokens it has.")
    layers, heads, tokens = values
    if layers * heads > MAX_HEADS or layers * heads * tokens > max_rows:
        raise AtlasFileError(
            f"The atlas is too large to open: {layers * heads:,} heads of {tokens:,} tokens are"
            f" {layers * heads * tokens:,} rows, and there is room for {max_rows:,} (of"
            f" {MAX_HEADS:,} heads)."
        )
    return layers, heads, tokens


def _numbers(fields: dict[str, Any], layers: int) -> dict[str, Any]:
    """The number of each layer and the depth of the model; where the file has none, they count."""
    if "layer_numbers" not in fields:
        return {"numbers": tuple(range(1, layers + 1)), "depth": layers}
    numbers = [_count(each, "layer_numbers") for each in _entry(fields, "layer_numbers", list)]
    depth = _count(fields.get("depth"), "depth")
    ascend = all(before < after for before, after in pairwise([0, *numbers]))
    if len(numbers) != layers or not ascend or not numbers[-1] <= depth <= MAX_DEPTH:
        raise AtlasFileError("“layer_numbers” are not those of the layers of one model.")
    return {"numbers": tuple(numbers), "depth": depth}


def _positions_shown(stored: dict[str, Any]) -> int:
    counts = stored.get("positions.counts")
    shape = counts.get("shape") if isinstance(counts, dict) else None
    shown = shape[0] if isinstance(shape, list) and shape else None
    if not isinstance(shown, int) or not 1 <= shown <= _MAX_POSITIONS:
        raise AtlasFileError("The file does not say for how many positions it has attention.")
    return shown


def _spans(spans: Ints) -> Ints:
    if (spans[:, 0] < 0).any() or (spans[:, 0] > spans[:, 1]).any():
        raise AtlasFileError("“spans” has pieces of text that end before they begin.")
    return spans


def _measured(fields: dict[str, Any], tokens: int, sentences: int) -> tuple[int, int]:
    """The tokens and sentences that faithfulness was measured on; zeros in an old file."""
    if fields["format"] < FORMAT:
        return 0, 0
    values = [_count(value, "measured") for value in _entry(fields, "measured", list)]
    if len(values) != 2 or values[0] > tokens or values[1] > sentences:
        raise AtlasFileError("“measured” counts more tokens or sentences than there are.")
    return values[0], values[1]


def _compared(fields: dict[str, Any]) -> tuple[int, int]:
    values = _entry(fields, "compared", list)
    if len(values) != 2:
        raise AtlasFileError("The distances between heads are damaged.")
    compared, tokens = (_count(value, "compared") for value in values)
    if compared > tokens:
        raise AtlasFileError("The distances between heads are of more tokens than there are.")
    return compared, tokens
