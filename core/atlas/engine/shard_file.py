"""A part as one safetensors file: arrays, and what is no array as JSON in one of bytes."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save

from core.analysis.arrays import Floats
from core.atlas.data import (
    TOKEN_COLUMNS,
    CorpusTexts,
    CorpusTokens,
    CorpusVectors,
    Masks,
)
from core.atlas.engine.shard import Shard
from core.atlas.engine.sums import Candidates, Moments, Sums
from core.model.trace import Layer

Dtype = Literal["float32", "float16"]
_PLAIN = ("model", "causal", "layer_numbers", "depth", "tokens", "sentences", "dropped")
_SUMS = (  # of the arrays among the sums: where they are, and their names in the file
    *("queries.mean", "queries.scatter", "keys.mean", "keys.scatter"),
    *("candidates.numbers", "candidates.lengths"),
)
_LARGEST_HALF = 65_504.0  # of float16


class VectorsError(ValueError):
    """The vectors do not fit the type they should be kept in; the message says so in one line."""


def pack_shard(part: Shard | None, dtype: Dtype = "float32") -> bytes:
    """The contents of a part's file; `ValueError` for vectors beyond float16."""
    if part is None:
        return save({"facts": _bytes_of({"empty": True})})
    if part.patches:
        raise ValueError("an atlas of images is made in memory")
    vectors = part.vectors
    longest = max(map(_largest, (vectors.queries, vectors.kv_keys)))
    if dtype == "float16" and longest > _LARGEST_HALF:
        raise VectorsError("The vectors of this model are too long for float16.")
    mask_facts, masks = _pack_masks(part.masks)
    facts = {
        "texts": part.sentences,
        "labels": part.labels,
        "tokens": part.tokens.texts,
        "displays": part.tokens.displays,
        **mask_facts,
    }
    arrays = {
        "facts": _bytes_of(facts),
        "sums": _bytes_of(_facts_of(part.sums)),
        "masks": masks,
        **{f"tokens.{name}": getattr(part.tokens, name) for name in TOKEN_COLUMNS},
        **{name: attrgetter(name)(part.sums) for name in _SUMS},
        "queries": vectors.queries.astype(dtype, copy=False),
        "kv_keys": vectors.kv_keys.astype(dtype, copy=False),
    }
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def unpack_shard(path: Path, index: int) -> Shard | None:
    """The part in a file."""
    sums, texts = read_sums(path), read_tokens(path)
    if sums is None or texts is None:
        return None
    with safe_open(path, "np") as file:
        queries, kv_keys = (
            file.get_tensor(name).astype(np.float32, copy=False) for name in ("queries", "kv_keys")
        )
    masks = read_masks(path, set(np.unique(texts.tokens.sentence).tolist()))
    return Shard(
        **vars(texts),
        index=index,
        vectors=CorpusVectors(queries, kv_keys),
        masks=masks,
        patches={},
        sums=sums,
    )


def read_tokens(path: Path) -> CorpusTexts | None:
    """The tokens and texts of the part in a file; None where it has no sentence."""
    with safe_open(path, "np") as file:
        facts = _read_json(file, "facts")
        if "empty" in facts:
            return None
        columns = {name: file.get_tensor(f"tokens.{name}") for name in TOKEN_COLUMNS}
    tokens = CorpusTokens(tuple(facts["tokens"]), tuple(facts["displays"]), **columns)
    return CorpusTexts(tokens, tuple(facts["texts"]), tuple(facts["labels"]))


def read_sums(path: Path) -> Sums | None:
    """The sums of the part in a file, read without its vectors; None where it has no sentence."""
    with safe_open(path, "np") as file:
        if "sums" not in file.keys():  # noqa: SIM118 - it is no dictionary
            return None
        facts = _read_json(file, "sums")
        read = file.get_tensor
        queries, keys = (
            Moments(facts["tokens"], read(f"{side}.mean"), read(f"{side}.scatter"))
            for side in ("queries", "keys")
        )
        return Sums(
            **{name: facts[name] for name in _PLAIN if name != "layer_numbers"},
            layer_numbers=tuple(facts["layer_numbers"]),
            cut_characters=facts["cut_characters"],
            rules=tuple(Layer(scaling, None, softcap) for scaling, softcap in facts["rules"]),
            queries=queries,
            keys=keys,
            candidates=Candidates(read("candidates.numbers"), read("candidates.lengths")),
        )


def read_tokens_of(path: Path, numbers: NDArray[np.int64]) -> list[tuple[int, slice]]:
    """Which of these sentences the part in a file has, each with its tokens' places in it."""
    with safe_open(path, "np") as file:
        if "tokens.sentence" not in file.keys():  # noqa: SIM118 - it is no dictionary
            return []
        sentence = file.get_tensor("tokens.sentence")
    own = np.intersect1d(numbers, sentence)
    ends = zip(np.searchsorted(sentence, own), np.searchsorted(sentence, own + 1), strict=True)
    return [
        (int(number), slice(int(first), int(last)))
        for number, (first, last) in zip(own, ends, strict=True)
    ]


def read_vectors_of(
    path: Path, layer: int, head: int, ranges: Sequence[slice]
) -> tuple[Floats, Floats]:
    """Queries and keys of one head at these places in a part, float64 (token, dim) each."""
    with safe_open(path, "np") as file:
        stored = file.get_slice("queries"), file.get_slice("kv_keys")
        heads, kv_heads = (each.get_shape()[1] for each in stored)
        own = head, head * kv_heads // heads
        queries, keys = (
            np.concatenate([array[layer, number, tokens] for tokens in _joined(ranges)])
            for array, number in zip(stored, own, strict=True)
        )
    return queries.astype(np.float64), keys.astype(np.float64)


def read_masks(path: Path, numbers: Collection[int]) -> dict[int, Masks]:
    """The unusual masks of these sentences, by number."""
    with safe_open(path, "np") as file:
        facts = _read_json(file, "facts")
        packed = file.get_tensor("masks") if facts["masks"] else np.empty(0, dtype=np.uint8)
    shapes = facts["mask_shapes"]
    sizes = [int(np.prod(shape)) for shape in shapes]
    starts = np.cumsum([0, *(-(-size // 8) for size in sizes)])  # in bytes

    def unpacked(i: int) -> NDArray[np.bool_]:
        bits = np.unpackbits(packed[starts[i] : starts[i + 1]], count=sizes[i])
        return bits.reshape(shapes[i]).astype(np.bool_)

    return {
        int(number): tuple(unpacked(i) for i in layers)
        for number, layers in facts["masks"].items()
        if int(number) in numbers
    }


def _joined(ranges: Sequence[slice]) -> list[slice]:
    """The same places with those that touch made one: fewer reads."""
    joined: list[slice] = []
    for each in ranges:
        if joined and joined[-1].stop == each.start:
            joined[-1] = slice(joined[-1].start, each.stop)
        else:
            joined.append(each)
    return joined


def _facts_of(sums: Sums) -> dict[str, Any]:
    return {
        **{name: getattr(sums, name) for name in _PLAIN},
        "causal": bool(sums.causal),
        "cut_characters": sums.cut_characters,
        "rules": [[rule.scaling, rule.softcap] for rule in sums.rules],
    }


def _pack_masks(masks: Mapping[int, Masks]) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    """Bits of every distinct mask, once: sentences of one length mostly share theirs."""
    numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
    by_sentence = {}
    for sentence, layers in masks.items():
        keys = [(mask.shape, np.packbits(mask).tobytes()) for mask in layers]
        by_sentence[sentence] = [numbers.setdefault(key, len(numbers)) for key in keys]
    bits = np.frombuffer(b"".join(raw for _, raw in numbers), dtype=np.uint8)
    return {"masks": by_sentence, "mask_shapes": [shape for shape, _ in numbers]}, bits


def _largest(vectors: NDArray[np.float32]) -> float:
    return float(max(vectors.max(initial=0), -vectors.min(initial=0)))


def _bytes_of(content: object) -> NDArray[np.uint8]:
    # half of a surrogate pair has no UTF-8
    return np.frombuffer(json.dumps(content).encode("ascii"), dtype=np.uint8)


def _read_json(file: Any, name: str) -> dict[str, Any]:  # noqa: ANN401 - safetensors has no types
    return json.loads(file.get_tensor(name).tobytes())
