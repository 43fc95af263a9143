"""Traces and atlases made by hand, their folders, and forged ones, for tests of reading them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from core.atlas import Atlas, build_atlas, open_large
from core.atlas.data import CorpusTexts, ProjectedPart
from core.atlas.engine.shard import Shard, ShardBuilder
from core.atlas.saved import ATLAS, POINTS, write_atlas
from core.model.trace import Layer, Token, Trace
from core.records import write_record
from core.vocabulary import STAGES

Files = Mapping[str, bytes]
Texts = Sequence[str] | Mapping[int, str]

SCALING = 0.5
LAYERS, HEADS, DIM = 2, 3, 4
SENTENCES = (
    "Oh, this book?",
    "</script><img src=x onerror=alert(1)> $x$ :red[x]",
    "עברית 🧑‍🚀 \x00 and half of a pair: \ud83d",
    "a",
)
LABELS = ("good", "bad", "good", "\ud83d “—”")


def read_words(text: str) -> tuple[Token, ...]:
    """One token a word of the text, after a token that is in no text."""
    first = Token("[CLS]", "[CLS]", 0, special=True, segment=0, position=0, word=-1)
    tokens, start = [first], 0
    for number, word in enumerate(text.split(" ")):
        own: dict[str, Any] = {
            "position": number + 1,
            "word": number,
            "span": (start, start + len(word)),
        }
        tokens.append(replace(first, text=word, display=word, id=1, special=False, **own))
        start += len(word) + 1
    return tuple(tokens)


def window_mask(size: int, *, causal: bool, window: int | None) -> NDArray[np.bool_]:
    """Which keys are permitted: none later if causal, none as far away as the window or farther."""
    i, j = np.indices((size, size))
    near = np.abs(i - j) < (window or size)
    return near & (j <= i) if causal else near


def trace_of(
    tokens: tuple[Token, ...],
    seed: int,
    *,
    layers: int = 2,
    heads: int = 4,
    kv_heads: int = 2,
    dim: int = 5,
    causal: bool = False,
    window: int | None = None,
) -> Trace:
    """Random queries and keys; the window is that of the last layer alone."""
    draw = np.random.default_rng(seed)
    size = len(tokens)
    # Keys away from the origin and of another size than queries, so that every stage differs.
    queries = draw.normal(size=(layers, heads, size, dim)).astype(np.float32)
    keys = (3 + 2 * draw.normal(size=(layers, kv_heads, size, dim))).astype(np.float32)
    rules = []
    for layer in range(layers):
        mask = window_mask(size, causal=causal, window=window if layer == layers - 1 else None)
        additive = None if mask.all() else np.where(mask, 0, -np.inf).astype(np.float32)
        rules.append(Layer(SCALING, additive))
    return Trace("by hand", tokens, queries, keys, keys.copy(), tuple(rules), causal)


def corpus_of(lengths: Sequence[int], **options: Any) -> list[Trace]:
    """One trace a length, with the options of `trace_of`; its words tell it from the others."""
    return [
        trace_of(
            read_words(" ".join(f"w{number}x{i}" for i in range(length - 1)))[:length],
            number,
            **options,
        )
        for number, length in enumerate(lengths)
    ]


def trace_part(
    traces: Iterable[tuple[int, Trace]],
    texts: Texts = (),
    labels: Texts = (),
) -> Shard | None:
    """The part of these traces, each with its sentence's number; None where there is none."""
    builder = ShardBuilder()
    for number, trace in traces:
        builder.add(number, trace)
    return builder.finish(texts, labels)


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
    if isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), where
        if tolerance:
            atol = tolerance * max(1.0, np.nanmax(np.abs(expected), initial=0.0))
            np.testing.assert_allclose(found, expected, rtol=0, atol=atol, err_msg=where)
        else:
            assert found.tobytes() == expected.tobytes(), where
    elif is_dataclass(expected) or isinstance(expected, tuple | dict):
        assert type(found) is type(expected), where
        own, others = _entries(found), _entries(expected)
        assert own.keys() == others.keys(), where
        for key, value in others.items():
            assert_same(own[key], value, f"{where} {key}", tolerance)
    else:
        assert (type(found), found) == (type(expected), expected), where


def _entries(value: Any) -> dict[Any, Any]:
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return value if isinstance(value, dict) else dict(enumerate(value))


def part_of(atlas: Atlas, sentences: Sequence[int]) -> tuple[CorpusTexts, ProjectedPart]:
    """Some sentences of an atlas in memory."""
    texts = atlas.texts.which(np.array(sentences))
    own = np.flatnonzero(np.isin(atlas.tokens.sentence, sentences))
    both = np.concatenate([own, own + len(atlas.tokens)])
    points = {stage: atlas.points[stage][:, :, both] for stage in STAGES}
    tokens = texts.tokens
    return texts, ProjectedPart(tokens.sentence, tokens.position, points, atlas.norms[:, :, both])


def sample_of(atlas: Atlas, sentences: Sequence[int]) -> Atlas:
    """An atlas of these alone, with the figures of all."""
    texts, part = part_of(atlas, sentences)
    own = np.searchsorted(texts.numbers, texts.tokens.sentence).astype(np.int32)
    whole = {"corpus_tokens": len(atlas.tokens), "corpus_sentences": len(atlas.sentences)}
    return replace(
        atlas,
        tokens=replace(texts.tokens, sentence=own),
        sentences=texts.sentences,
        labels=texts.labels,
        points=part.points,
        norms=part.norms,
        settings={**atlas.settings, **whole},
    )


def write_folder(
    atlas: Atlas, folder: Path, parts: Sequence[Sequence[int]], sample: Sequence[int]
) -> Path:
    """A folder with parts of these sentences, and a sample of some."""
    folder.mkdir()
    for index in reversed(range(len(parts))):  # in any order
        write_record(part_of(atlas, parts[index])[1], folder / POINTS.format(index))
    finish(atlas, folder, parts, sample)
    return folder


def finish(
    atlas: Atlas, folder: Path, parts: Sequence[Sequence[int]], sample: Sequence[int] = (0,)
) -> None:
    """Write what a folder has beside its points."""
    write_atlas(folder, sample_of(atlas, sample), [part_of(atlas, own)[0] for own in parts])


def save_atlas(atlas: Atlas, folder: Path) -> Path:
    """A folder whose sample is all of it, as that of images; without the points."""
    folder.mkdir()
    write_atlas(folder, atlas, () if atlas.images else (atlas.texts,))
    return folder


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


def unpacked(raw: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays that may be changed, and the description of a record."""
    size = int.from_bytes(raw[:8], "little")
    about = json.loads(json.loads(raw[8 : 8 + size])["__metadata__"]["record"])
    return {name: array.copy() for name, array in load(raw).items()}, about


def packed(arrays: dict[str, NDArray[Any]], about: Mapping[str, Any] | str) -> bytes:
    return save(arrays, {"record": about if isinstance(about, str) else json.dumps(about)})


def forged(files: Files, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> Files:
    """The same once arrays, or the fields that describe the atlas, are changed."""
    arrays, about = unpacked(files[ATLAS])
    change(arrays, about["content"])
    return {**files, ATLAS: packed(arrays, about)}
