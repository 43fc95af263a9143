"""Atlases' files made by hand and forged ones, for tests of reading them."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import load, save

from core.atlas import Atlas, build_atlas, open_large
from core.vocabulary import Stage
from tests.atlas.corpora import read_words, trace_of
from tests.atlas.folders import save_atlas

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from core.model.trace import Trace

    Files = Mapping[str, bytes]

LAYERS, HEADS, DIM = 2, 3, 4
STAGES: tuple[Stage, ...] = ("raw", "translated", "normalized")
SENTENCES = (
    "Oh, this book?",
    "</script><img src=x onerror=alert(1)> $x$ :red[x]",
    "עברית 🧑‍🚀 \x00 and half of a pair: \ud83d",
    "a",
)
LABELS = ("good", "bad", "good", "\ud83d “—”")
JSON, ARRAYS = "atlas.json", "atlas.safetensors"


def trace(text: str, seed: int, *, causal: bool) -> Trace:
    tokens = []
    for token in read_words(text):
        clean = token.display.encode("utf-8", "replace").decode()
        tokens.append(replace(token, text="##" + clean, display=clean))
    shape = {"layers": LAYERS, "heads": HEADS, "kv_heads": HEADS, "dim": DIM}
    return trace_of(tuple(tokens), seed, **shape, causal=causal)


def an_atlas(*, labelled: bool = True, causal: bool = False) -> Atlas:
    traces = [trace(text, seed, causal=causal) for seed, text in enumerate(SENTENCES)]
    built = build_atlas(traces, SENTENCES, LABELS if labelled else ())
    return replace(built, settings={"tokens_cut": 3, "corpus": "a “file”.csv"})


def as_stored(atlas: Atlas) -> Atlas:
    """What the files keep: no vectors, masks, rules of scores, nor halves of surrogate pairs."""
    sentences, labels = (
        tuple(text.replace("\ud83d", "\ufffd") for text in texts)
        for texts in (atlas.sentences, atlas.labels)
    )
    layer_labels, depth = atlas.layer_labels, atlas.depth or atlas.layer_labels[-1]
    kept = replace(
        atlas, layer_numbers=layer_labels, depth=depth, sentences=sentences, labels=labels
    )
    return replace(kept, vectors=None, masks={}, rules=())


def assert_same(found: Any, expected: Any, where: str = "atlas", tolerance: float = 0.0) -> None:
    """Equal in type, shape and every bit, or within a share of the largest number."""
    assert isinstance(found, type(expected)), where
    if isinstance(expected, tuple):
        found, expected = dict(enumerate(found)), dict(enumerate(expected))
    if isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), where
        if tolerance:
            atol = tolerance * max(1.0, np.nanmax(np.abs(expected), initial=0.0))
            np.testing.assert_allclose(found, expected, rtol=0, atol=atol, err_msg=where)
        else:
            assert found.tobytes() == expected.tobytes(), where
    elif is_dataclass(expected):
        assert type(found) is type(expected), where
        for each in fields(expected):
            one, other = getattr(found, each.name), getattr(expected, each.name)
            assert_same(one, other, each.name, tolerance)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            assert_same(found[key], value, f"{where} {key}", tolerance)
    else:
        assert found == expected, where
        assert type(found) is type(expected), where


def written(atlas: Atlas) -> dict[str, bytes]:
    """The files of its folder, by name."""
    with TemporaryDirectory() as place:
        folder = save_atlas(atlas, Path(place) / "made.atlas")
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def opened(files: Files) -> Atlas:
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        return open_large(Path(folder)).sample


def description_of(files: Files) -> dict[str, Any]:
    return json.loads(files[JSON])


def arrays_of(files: Files) -> dict[str, NDArray[Any]]:
    """Copies that may be changed."""
    return {name: array.copy() for name, array in load(files[ARRAYS]).items()}


def forged(
    files: Files,
    description: dict[str, Any] | bytes | None = None,
    arrays: dict[str, NDArray[Any]] | bytes | None = None,
) -> dict[str, bytes]:
    """The same with another description, or other arrays."""
    changed = dict(files)
    if description is not None:
        raw = description if isinstance(description, bytes) else json.dumps(description).encode()
        changed[JSON] = raw
    if arrays is not None:
        changed[ARRAYS] = arrays if isinstance(arrays, bytes) else save(arrays)
    return changed
