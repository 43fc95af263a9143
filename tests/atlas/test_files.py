"""What an atlas's folder keeps: exact to the bit, and read as if a stranger wrote it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from safetensors.numpy import load

from core.atlas.files import AtlasFileError
from core.atlas.files.description import SCHEMA
from tests.atlas.files import (
    ARRAYS,
    HEADS,
    LAYERS,
    an_atlas,
    arrays_of,
    as_stored,
    assert_same,
    description_of,
    forged,
    opened,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tests.atlas.files import Files


@pytest.fixture(scope="module")
def data() -> Files:
    return written(an_atlas())


@pytest.mark.parametrize(("labelled", "causal"), [(True, False), (False, True)])
def test_an_atlas_comes_back_exact_to_the_bit(labelled: bool, causal: bool) -> None:
    atlas = an_atlas(labelled=labelled, causal=causal)
    odd = atlas.faithfulness["raw"].correlation
    odd[0, 0], odd[0, 1], odd[1, 2] = np.nan, -0.0, 5e-324
    atlas.points["raw"][0, 0, 0] = np.array([-0.0, 1e-45, 3e38], dtype=np.float32)
    found = opened(written(atlas))
    assert found.vectors is None
    assert_same(found, as_stored(atlas))
    assert written(atlas) == written(atlas)


def test_points_that_are_no_numbers_are_not_written() -> None:
    atlas = an_atlas()
    atlas.points["raw"][1, 2, 0, 0] = np.nan
    with pytest.raises(AtlasFileError, match="L2 H3"):
        written(atlas)


def test_a_hybrid_s_layers_keep_their_numbers() -> None:
    hybrid = replace(an_atlas(), layer_numbers=(3, 6), depth=8)
    data = written(hybrid)
    assert_same(opened(data), as_stored(hybrid))
    description = description_of(data)
    assert (description["layer_numbers"], description["depth"]) == ([3, 6], 8)


def test_the_description_tells_others_what_it_is(data: Files) -> None:
    description = description_of(data)
    Draft202012Validator.check_schema(SCHEMA)
    assert (description["format"], description["version"]) == ("headscope-atlas", 3)
    assert (description["model"], description["causal"]) == ("by hand", False)
    assert description["settings"] == {"tokens_cut": 3, "corpus": "a “file”.csv"}
    assert (description["layers"], description["heads"]) == (LAYERS, HEADS)
    assert (load(data[ARRAYS])["c"] == an_atlas().c).all()


Fields = dict[str, Any]
DESCRIPTIONS: dict[str, tuple[Callable[[Fields], object], str]] = {
    "another format": (lambda d: d.update(format="zip"), "as an atlas"),
    "another version": (lambda d: d.update(version=2), "version '2'"),
    "a version that is true": (lambda d: d.update(version=True), "version 'True'"),
    "no model": (lambda d: d.pop("model"), "“model”"),
    "causal as a number": (lambda d: d.update(causal=1), "“causal”"),
    "no layers": (lambda d: d.update(layers=0), "“layers”"),
    "huge": (lambda d: sized(d, [10**12, 4]), "too large"),
    "a huge sample": (lambda d: d.update(tokens=10**8, sample=[10**8, 4]), "too large"),
    "many heads": (lambda d: d.update(layers=2000, heads=2000), "4,000,000 heads"),
    "other heads": (
        lambda d: d.update(layers=3, heads=2, layer_numbers=[1, 2, 3], depth=3),
        "shape",
    ),
    "more tokens": (lambda d: sized(d, [99, 4]), "shape"),
    "a sentence less": (lambda d: d.update(sentences=3), "more tokens than there are"),
    "no sentence": (lambda d: d.update(sample=[9, 0]), "“sample”"),
    "more sentences than tokens": (lambda d: d.update(sample=[3, 4]), "contradicts itself"),
    "half a sentence": (lambda d: d["sample"].__setitem__(1, 0.5), "“sample”"),
    "a search of less": (lambda d: d["search"].__setitem__(0, [5, 2]), "“search” is not of all"),
    "a search of nothing": (lambda d: d.update(search=[]), "“search” is not of all"),
    "a search of text": (lambda d: d.update(search="3"), "“search”"),
    "labels that are not there": (lambda d: d.update(labelled="yes"), "“labelled”"),
    "no labels": (lambda d: d.update(labelled=False), "other arrays"),
    "settings in settings": (lambda d: d["settings"].update(a={"b": 1}), "settings"),
    "no name": (lambda d: d.update(model=""), "does not name the model"),
    "a name with half of a character": (lambda d: d.update(model="\ud83d"), "does not name"),
    "tokens cut below zero": (lambda d: d["settings"].update(tokens_cut=-1), "tokens_cut"),
    "a number beyond counting": (lambda d: d["settings"].update(a=10**30), "settings"),
    "many settings": (lambda d: d["settings"].update({str(i): i for i in range(200)}), "200|202"),
    "measured on more than all": (lambda d: d.update(measured=10**6), "more tokens"),
    "measured once": (lambda d: d.update(measured=[5, 1]), "measured"),
    "numbers of other layers": (lambda d: numbers(d, [2, 4, 6]), "layer_numbers"),
    "layers that go back": (lambda d: numbers(d, [4, 2]), "layer_numbers"),
    "layers before the first": (lambda d: numbers(d, [0, 1]), "layer_numbers"),
    "layers beyond the last": (lambda d: numbers(d, [3, 9]), "layer_numbers"),
    "a model of a million layers": (lambda d: numbers(d, [1, 2], 10**6), "depth"),
    "a layer that is no number": (lambda d: numbers(d, [1, "2"]), "layer_numbers"),
    "numbers without a depth": (lambda d: numbers(d, [3, 6], None), "depth"),
    "pixels of nothing": (lambda d: d.update(images=[4, 4, 2, 1]), "images"),
}


def sized(description: Fields, sizes: list[int]) -> None:
    """Say how many tokens and sentences there are."""
    tokens, sentences = sizes
    description.update(tokens=tokens, sentences=sentences, sample=sizes, search=[sizes])


def numbers(description: Fields, layers: list[Any], depth: int | None = 8) -> None:
    """Say which layers these are."""
    description.update(layer_numbers=layers, depth=depth)


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_description_that_is_not_as_it_should_be_is_refused(name: str, data: Files) -> None:
    change, message = DESCRIPTIONS[name]
    description = description_of(data)
    opened(forged(data, description))  # as it was, it opens
    change(description)
    with pytest.raises(AtlasFileError, match=message) as refused:
        opened(forged(data, description))
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b"9" * 10_000, b"1e9"])
def test_a_description_that_is_no_json_object_is_refused(raw: bytes, data: Files) -> None:
    with pytest.raises(AtlasFileError, match=r"describe itself|description of itself"):
        opened(forged(data, raw))


NUMBERS = [  # the array, what fills it, and what is said of it
    ("shares.raw", 2, "shares.raw"),
    ("plane.raw", 7, "plane.raw.correlation"),
    ("measured.top1", 2, "measured.top1"),
    ("c", np.inf, "“c”"),
    ("tokens.text", 99, "a text that is not in it"),
    ("tokens.display", -1, "a text that is not in it"),
    ("texts.sentences.ends", -1, "end before they begin"),
    ("texts.vocabulary.ends", 2**62, "end before they begin"),
    ("texts.vocabulary", 255, "not text"),
    ("texts.labels.ends", 0, "end before they begin"),
    ("points.raw", np.nan, "not finite"),
    ("norms", np.inf, "not finite"),
    ("norms", -1, "below zero"),
    ("tokens.sentence", 2, "order"),
    ("tokens.sentence", -1, "order"),
    ("tokens.position", 7, "order"),
    ("tokens.word", 99, "“word”"),
    ("tokens.word", -2, "“word”"),
    ("tokens.spans", -1, "end before"),
    ("tokens.spans", 1000, "beyond their sentence"),
]


@pytest.mark.parametrize(("name", "number", "message"), NUMBERS)
def test_an_array_of_impossible_numbers_is_refused(
    name: str, number: float, message: str, data: Files
) -> None:
    arrays = arrays_of(data)
    assert_same(opened(forged(data, arrays=arrays)), opened(data))  # as it was, it opens
    arrays[name][...] = number
    with pytest.raises(AtlasFileError, match=message):
        opened(forged(data, arrays=arrays))


Arrays = dict[str, "NDArray[Any]"]
LISTS: dict[str, tuple[Callable[[Arrays], object], str]] = {
    "no array": (lambda a: a.pop("shares.raw"), "other arrays"),
    "an array more": (lambda a: a.update(more=np.zeros(3)), "other arrays"),
    "another type": (lambda a: a.update(c=a["c"].astype("f4")), "“c”"),
    "another shape": (lambda a: a.update(c=a["c"].ravel()), "“c”"),
    "spans backwards": (lambda a: a["tokens.spans"][1].__setitem__(0, 99), "end before"),
    "sentences with a gap": (lambda a: a["tokens.sentence"].__setitem__(-1, 9), "order"),
}


@pytest.mark.parametrize("name", LISTS)
def test_other_arrays_than_those_of_an_atlas_are_refused(name: str, data: Files) -> None:
    change, message = LISTS[name]
    arrays = arrays_of(data)
    change(arrays)
    with pytest.raises(AtlasFileError, match=message):
        opened(forged(data, arrays=arrays))


def lying(raw: bytes, **changes: Any) -> bytes:
    """Safetensors whose list of contents says something else of `c`."""
    size = int.from_bytes(raw[:8], "little")
    listed = json.loads(raw[8 : 8 + size])
    listed["c"] |= changes
    text = json.dumps(listed).encode()
    return len(text).to_bytes(8, "little") + text + raw[8 + size :]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data_offsets": [0, 2**40]}, "damaged"),
        ({"data_offsets": [8, 0]}, "damaged"),
        ({"shape": [2, 10**9]}, "damaged"),
        ({"dtype": "I8"}, "damaged"),
        ({"dtype": "BF16", "shape": [2, 12]}, "another shape"),
        ({"dtype": "U64"}, "another type"),
        ({"shape": "x"}, "damaged"),
    ],
)
def test_safetensors_that_lie_are_refused(
    changes: dict[str, Any], message: str, data: Files
) -> None:
    raw = data[ARRAYS]
    with pytest.raises(AtlasFileError, match=message):
        opened(forged(data, arrays=lying(raw, **changes)))


def test_a_list_of_contents_without_end_is_refused_before_it_is_read(data: Files) -> None:
    raw = data[ARRAYS]
    with pytest.raises(AtlasFileError, match="without end"):
        opened(forged(data, arrays=(10**9).to_bytes(8, "little") + raw[8:]))


@pytest.mark.parametrize(
    ("text", "message"),
    [(b"x" * 100_000, "more than its 4 tokens"), (b"Oh,", "beyond their sentence")],
)
def test_a_first_sentence_that_its_tokens_do_not_have_is_refused(
    text: bytes, message: str, data: Files
) -> None:
    arrays = arrays_of(data)
    ends = arrays["texts.sentences.ends"]
    rest = arrays["texts.sentences"][ends[0] :].tobytes()
    arrays["texts.sentences"] = np.frombuffer(text + rest, np.uint8)
    arrays["texts.sentences.ends"] = ends - ends[0] + len(text)
    with pytest.raises(AtlasFileError, match=message):
        opened(forged(data, arrays=arrays))
