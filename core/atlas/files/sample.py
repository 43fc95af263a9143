"""The sample of an atlas, whole sentences with the points of all heads, in ``atlas.safetensors``.

The file is not trusted: of an array without a known length no more is read than an atlas has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.atlas.data import (
    DIMENSIONS,
    SAMPLED,
    TOKEN_COLUMNS,
    Atlas,
    AtlasFacts,
    CorpusTokens,
    Measures,
    ProjectedPart,
    values_of,
)
from core.atlas.files.description import Description, Sizes
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.facts import Arrays, Spec
from core.atlas.files.texts import (
    MAX_TEXTS,
    as_stored,
    check_lengths,
    check_sentences,
    pack_texts,
    unpack_texts,
)
from core.vocabulary import STAGES


def sample_arrays(part: Atlas | ProjectedPart) -> dict[str, NDArray[Any]]:
    """The arrays of these sentences, numbered anew, and tokens by their index in a vocabulary.

    Raises `AtlasFileError` when points are not finite, or the texts too long.
    """
    texts = as_stored(part)
    tokens = texts.tokens
    columns = {name: getattr(tokens, name) for name in TOKEN_COLUMNS}
    columns["sentence"] = np.searchsorted(texts.numbers, tokens.sentence).astype(np.int32)
    words = {"tokens.text": tokens.texts, "tokens.display": tokens.displays}
    order = {word: i for i, word in enumerate(dict.fromkeys((*tokens.texts, *tokens.displays)))}
    arrays = pack_texts("texts.vocabulary", list(order))
    arrays |= pack_texts("texts.sentences", texts.sentences)
    if texts.labels:
        arrays |= pack_texts("texts.labels", texts.labels)
    _check_room(arrays)
    arrays |= {f"tokens.{name}": column for name, column in columns.items()}
    for name, column in words.items():
        arrays[name] = np.array([order[word] for word in column], dtype=np.int32)
    points = {f"points.{stage}": part.points[stage] for stage in STAGES} | {"norms": part.norms}
    for layer, head in np.ndindex(part.norms.shape[:2]):
        if not all(np.isfinite(array[layer, head]).all() for array in points.values()):
            number = part.layer_labels[layer]
            raise AtlasFileError(f"L{number} H{head + 1} has points that are not finite.")
    return arrays | points


def expected_sample(description: Description) -> Spec:
    """Shape and type of each of these arrays; -1 is a length that only texts know."""
    tokens, sentences = description.sample
    both = description.layers, description.heads, 2 * tokens
    lists = {"vocabulary": -1, "sentences": sentences}
    lists |= {"labels": sentences} if description.labelled else {}
    numbers = ("sentence", "position", "word", "text", "display")
    return {
        **{f"texts.{name}": ((-1,), "uint8") for name in lists},
        **{f"texts.{name}.ends": ((count,), "int64") for name, count in lists.items()},
        **{f"tokens.{name}": ((tokens,), "int32") for name in numbers},
        "tokens.special": ((tokens,), "bool"),
        "tokens.spans": ((tokens, 2), "int32"),
        **{f"points.{stage}": ((*both, DIMENSIONS), "float32") for stage in STAGES},
        "norms": (both, "float32"),
    }


def max_bytes(expected: Spec) -> int:
    """The most that a file with these arrays can take."""
    sizes = (
        abs(int(np.prod(shape))) * np.dtype(kind).itemsize for shape, kind in expected.values()
    )
    return sum(sizes) + MAX_TEXTS + 2**17


def read_sample(description: Description, facts: AtlasFacts, arrays: Arrays) -> Atlas:
    """The sample, with the facts of the whole; `AtlasFileError` where a number is impossible."""
    points = {stage: arrays[f"points.{stage}"] for stage in STAGES}
    if not all(np.isfinite(each).all() for each in (*points.values(), arrays["norms"])):
        raise AtlasFileError("The sample has points that are not finite.")
    if (arrays["norms"] < 0).any():
        raise AtlasFileError("“norms” has lengths below zero.")
    _check_room(arrays)
    tokens = _read_tokens(arrays, description.sample)
    sentences = tuple(unpack_texts("texts.sentences", arrays))
    check_sentences(sentences, tokens)
    labels = unpack_texts("texts.labels", arrays) if description.labelled else []
    check_lengths(labels, "labels")
    whole = Sizes(facts.tokens, facts.sentences)
    sampled = {} if whole == description.sample else dict(zip(SAMPLED, whole, strict=True))
    return Atlas(
        **(values_of(Measures, facts) | {"settings": dict(facts.settings) | sampled}),
        sentences=sentences,
        labels=tuple(labels),
        tokens=tokens,
        points=points,
        norms=arrays["norms"],
    )


def _read_tokens(arrays: Arrays, sizes: Sizes) -> CorpusTokens:
    """The tokens, if they are in the order of their sentences."""
    own, position, spans = (arrays[f"tokens.{name}"] for name in ("sentence", "position", "spans"))
    steps = np.diff(own, prepend=-1)
    starts = np.flatnonzero(steps)
    in_order = own[0] == 0 and np.isin(steps, (0, 1)).all() and starts.size == sizes.sentences
    if not in_order or (position != np.arange(own.size) - starts[own]).any():
        raise AtlasFileError("The tokens of the file are not in the order of their sentences.")
    if (spans[:, 0] < 0).any() or (spans[:, 0] > spans[:, 1]).any():
        raise AtlasFileError("“spans” has pieces of text that end before they begin.")
    if arrays["texts.vocabulary.ends"].size > 2 * own.size:
        raise AtlasFileError("The file has more different texts than its tokens can.")
    vocabulary = unpack_texts("texts.vocabulary", arrays)
    check_lengths(vocabulary, "token")
    texts, displays = (
        _chosen(vocabulary, arrays[f"tokens.{name}"]) for name in ("text", "display")
    )
    columns = {name: arrays[f"tokens.{name}"] for name in TOKEN_COLUMNS}
    return CorpusTokens(texts=texts, displays=displays, **columns)


def _chosen(vocabulary: list[str], indices: NDArray[np.int32]) -> tuple[str, ...]:
    if (indices < 0).any() or (indices >= len(vocabulary)).any():
        raise AtlasFileError("A token of the file has a text that is not in it.")
    return tuple(vocabulary[index] for index in indices.tolist())


def _check_room(arrays: Arrays) -> None:
    """`AtlasFileError` for texts, packed, of more than `MAX_TEXTS` bytes."""
    size = sum(array.nbytes for name, array in arrays.items() if name.startswith("texts."))
    if size > MAX_TEXTS:
        raise AtlasFileError(
            f"The texts of the sample take {size / 1e6:.0f} MB; the limit is"
            f" {MAX_TEXTS / 1e6:.0f} MB."
        )
