"""Atlases as earlier versions saved them: one Parquet table, with a header in its metadata.

Only for converting a person's own files (:mod:`core.atlas_convert`); what a page opens is of the
current format. The header is JSON, its arrays base64, packed with zlib where that was shorter.
"""

from __future__ import annotations

import base64
import json
import zlib
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.atlas.data import (
    METRICS,
    Atlas,
    CorpusTokens,
    Measured,
    ModelFaithfulness,
    Positions,
)
from core.analysis.atlas.files import AtlasFileError
from core.analysis.atlas.files.tables import NORMS, POINTS
from core.analysis.atlas.images.pixels import CorpusImages
from core.analysis.head_patterns.similarity import Distances
from core.analysis.query_key.clouds import STAGES
from core.analysis.query_key.scaling import ModelScaling

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from pyarrow.parquet import ParquetFile

    from core.analysis.query_key.clouds import Stage
    from core.model.trace import Array

    Arrays = dict[str, NDArray[Any]]

KEYS = (b"headscope", b"attention_atlas")  # of the header; the second by the project's first name
_FIGURES = ("correlation", "low", "high", "per_sentence", "top1", "top3")
_MAX_HEADER = 2**27  # bytes


def read_old_atlas(path: Path) -> Atlas:
    """The atlas in a Parquet file of format 1 or 2.

    Format 1 measured faithfulness in another way: it is NaN. Raises `AtlasFileError` when it is no
    such file, or it is damaged.
    """
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(path, thrift_string_size_limit=_MAX_HEADER)
        return _atlas(file, _header(file))
    except AtlasFileError:
        raise
    except (ArrowException, ValueError, KeyError, IndexError, TypeError, zlib.error) as error:
        raise AtlasFileError(
            "The file is no atlas of an earlier version, or it is damaged"
            f" ({type(error).__name__})."
        ) from error


def _header(file: ParquetFile) -> dict[str, Any]:
    metadata = file.metadata.metadata or {}
    raw = next((metadata[key] for key in KEYS if key in metadata), None)
    if raw is None:
        raise AtlasFileError("The file is a table, but no atlas.")
    header: dict[str, Any] = json.loads(raw)
    if header["format"] not in {1, 2}:
        raise AtlasFileError(f"The file has format {header['format']}, which is not known.")
    return header


def _atlas(file: ParquetFile, header: dict[str, Any]) -> Atlas:
    layers, heads, size = header["shape"]
    arrays = {name: _unpacked(stored) for name, stored in header["arrays"].items()}
    points, norms = _points(file, layers, heads, size)
    grid = header.get("images")
    return Atlas(
        model=header["model"],
        causal=header["causal"],
        sentences=tuple(header["sentences"]),
        labels=tuple(header["labels"]),
        tokens=_tokens(file, arrays),
        points=points,
        shares={stage: arrays[f"shares.{stage}"] for stage in STAGES},
        norms=norms,
        **_faithfulness(header, arrays),
        distances=Distances(arrays["distances.sums"], *header["compared"]),
        positions=Positions(arrays["positions.sums"], arrays["positions.counts"]),
        settings=header["settings"],
        layer_numbers=tuple(header.get("layer_numbers", range(1, layers + 1))),
        depth=header.get("depth", layers),
        images=CorpusImages(arrays["images.pixels"], *grid[2:]) if grid else None,
    )


def _unpacked(stored: dict[str, Any]) -> NDArray[Any]:
    size = int(np.prod(stored["shape"])) * np.dtype(stored["type"]).itemsize
    raw = base64.b64decode(stored.get("zlib") or stored["bytes"])
    if "zlib" in stored:
        raw = zlib.decompressobj().decompress(raw, size + 1)
    array = np.frombuffer(raw, dtype=stored["type"]).reshape(stored["shape"])
    return array.astype(array.dtype.newbyteorder("="))


def _tokens(file: ParquetFile, arrays: Arrays) -> CorpusTokens:
    """The tokens, which every head has once."""
    names = ["sentence", "position", "token", "display", "special"]
    table = file.read_row_group(0, columns=names)
    columns = {name: table.column(name) for name in names}
    return CorpusTokens(
        texts=tuple(columns["token"].to_pylist()),
        displays=tuple(columns["display"].to_pylist()),
        sentence=columns["sentence"].to_numpy(),
        position=columns["position"].to_numpy(),
        word=arrays["word"],
        special=columns["special"].to_numpy(),
        spans=arrays["spans"],
    )


def _points(
    file: ParquetFile, layers: int, heads: int, size: int
) -> tuple[dict[Stage, Array], Array]:
    """Points and norms; the file has a group of rows for every head."""
    points: dict[Stage, Array] = {
        stage: np.empty((layers, heads, 2 * size, 3), dtype=np.float32) for stage in STAGES
    }
    norms = np.empty((layers, heads, 2 * size), dtype=np.float32)
    halves = (slice(None, size), slice(size, None))
    for group, head in enumerate(np.ndindex(layers, heads)):
        table = file.read_row_group(group)
        for half, name in zip(halves, NORMS, strict=True):
            norms[(*head, half)] = table.column(name).to_numpy()
        for stage in STAGES:
            for name, place in zip(POINTS[stage], product(halves, range(3)), strict=True):
                points[stage][(*head, *place)] = table.column(name).to_numpy()
    return points, norms


def _faithfulness(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """The fields of an atlas about faithfulness."""
    unknown = np.full(arrays["scaling.c"].shape, np.nan)
    none = np.zeros(unknown.shape, dtype=np.int64)

    def read(name: str) -> ModelFaithfulness:
        if header["format"] == 1:
            return ModelFaithfulness(*[unknown] * len(_FIGURES))
        figures = {each: arrays[name][..., i].copy() for i, each in enumerate(_FIGURES)}
        return ModelFaithfulness(**figures)

    full = {
        metric: {stage: read(f"full.{metric}.{stage}") for stage in STAGES} for metric in METRICS
    }
    euclidean = full["euclidean"]
    return {
        "scaling": ModelScaling(
            raw=euclidean["raw"].correlation,
            translated=euclidean["translated"].correlation,
            normalized=euclidean["normalized"].correlation,
            c=arrays["scaling.c"],
            on_edge=arrays["scaling.on_edge"],
            few=arrays["scaling.few"],
            raw_top1=euclidean["raw"].top1,
            normalized_top1=euclidean["normalized"].top1,
        ),
        "faithfulness": {stage: read(f"trust.{stage}") for stage in STAGES},
        "full": full,
        "measured": Measured(
            header.get("measured", (0, 0))[0],
            header.get("measured", (0, 0))[1],
            arrays.get("measured.pairs", none),
            arrays.get("measured.top1", unknown),
            arrays.get("measured.top3", unknown),
        ),
    }
