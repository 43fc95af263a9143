"""Records: nothing is lost in a file, and one that is no record is refused in a sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save

from core.model import Trace, load, trace_image, trace_text
from core.model.sample_images import open_sample_image
from core.records import RecordError, Shape, read_field, read_record, write_record
from tests.atlas.files import assert_same, packed, unpacked
from tests.conftest import ModelOf
from tests.model.bundled import loaded
from tests.server import ROOT

TEXT, PAIR = "The cat saw the dog.", "It ran away."


@dataclass(frozen=True, eq=False)
class Point:
    """Of everything that a record can have."""

    place: Annotated[NDArray[np.float32], Shape("point 2", 0, 10)]
    share: Annotated[NDArray[np.float64], Shape("point", -1, 1, nan=True)]
    halves: Annotated[NDArray[np.int32], Shape("2*point")]
    names: Annotated[tuple[str, ...], Shape("point")]
    kind: Literal["near", "far"]
    settings: Mapping[str, str | int]
    masks: Mapping[int, tuple[NDArray[np.bool_], ...]]
    inner: Point | None = None
    scale: float = 1.0


SAME = np.eye(3, dtype=bool)
POINT = Point(
    np.array([[0, 1], [2, 3], [-0.0, 1e-45]], np.float32),
    np.array([0.5, np.nan, -1]),
    np.arange(6, dtype=np.int32),
    ("", "naïve \0 🧑‍🚀", "$x$"),
    "far",
    {"cut": 3, "file": "a “b”.csv"},
    {7: (SAME, ~SAME), 2: (SAME.copy(), SAME)},
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "record.safetensors"
    write_record(replace(POINT, inner=replace(POINT, scale=2.5)), path)
    return path


def test_a_record_comes_back_exact_to_the_bit_and_its_file_is_always_the_same(path: Path) -> None:
    written = path.read_bytes()
    found = read_record(Point, path)
    assert_same(found, replace(POINT, inner=replace(POINT, scale=2.5)))
    write_record(found, path)
    assert path.read_bytes() == written
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert sum(name.startswith("masks") for name in load_file(path)) == 2  # each mask once


def test_a_field_is_read_alone_and_halves_of_characters_are_replaced(path: Path) -> None:
    assert read_field(Point, path, "inner.names") == POINT.names
    assert read_field(Point, path, "inner.inner.names") is None
    arrays, about = unpacked(path.read_bytes())
    arrays["place"][:] = np.nan  # which is not looked at
    path.write_bytes(packed(arrays, about))
    assert read_field(Point, path, "settings") == POINT.settings
    write_record(replace(POINT, names=("\ud83d", "", ""), settings={"a": "\ud83d"}), path)
    found = read_record(Point, path)
    assert (found.names[0], found.settings) == ("\ufffd", {"a": "\ufffd"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"place": np.full((3, 2), np.inf, np.float32)}, "“place” .* finite"),
        ({"place": np.full((3, 2), 11, np.float32)}, "“place” .* 10"),
        ({"share": np.zeros(4)}, "“share” has another shape"),
        ({"halves": np.zeros(5, np.int32)}, "“halves” has another shape"),
        ({"names": ("a", "b")}, "“names” has another shape"),
        ({"settings": {"a": "x" * 5_000_000}}, "too much text"),
    ],
)
def test_what_no_reader_would_take_is_not_written(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match=message):
        write_record(replace(POINT, **changes), tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


Arrays = dict[str, NDArray[Any]]


def put(name: str, place: Any, value: float) -> Callable[[Arrays, dict[str, Any]], object]:
    return lambda arrays, _: arrays[name].__setitem__(place, value)


ATTACKS: dict[str, tuple[Callable[[Arrays, dict[str, Any]], object], str]] = {
    "an array more": (lambda a, _: a.update(extra=np.zeros(3)), "“extra” that no such record"),
    "an array less": (lambda a, _: a.pop("share"), "“share”"),
    "another type": (lambda a, _: a.update(place=a["place"].astype("f8")), "“place”"),
    "another shape": (lambda a, _: a.update(place=a["place"].ravel()), "“place” has another"),
    "another size": (lambda a, _: a.update(share=a["share"][1:]), "“share” has another shape"),
    "no number": (put("place", 0, np.nan), "“place” has numbers that are not finite"),
    "no number where one may be undefined": (put("share", 0, np.inf), "“share” .* finite"),
    "a number too small": (put("share", 0, -1.5), "“share” has numbers that are out of bounds"),
    "a name that is no array": (lambda _, c: c.update(place="nothing"), "“place”"),
    "a list for a text": (lambda _, c: c.update(kind=["far"]), "“kind”"),
    "a kind that there is not": (lambda _, c: c.update(kind="sideways"), "“kind”"),
    "a text for a number": (lambda _, c: c["inner"].update(scale="7"), "“inner.scale”"),
    "a truth for a number": (lambda _, c: c["settings"].update(cut=True), "“settings.cut”"),
    "a number beyond counting": (lambda _, c: c["settings"].update(cut=10**30), "“settings.cut”"),
    "settings in settings": (lambda _, c: c["settings"].update(a={"b": 1}), "“settings.a”"),
    "a key that is no number": (lambda _, c: c["masks"].update(x=[]), "“masks”"),
    "a field more": (lambda _, c: c.update(surprise=1), "lacks “a record”"),
    "a field less": (lambda _, c: c.pop("masks"), "“masks”"),
    "half of a character": (lambda _, c: c["settings"].update(file="\ud800"), "“settings.file”"),
    "texts that end before they begin": (put("names.ends", 0, -1), "end before they begin"),
    "texts beyond their end": (put("names.ends", -1, 2**62), "end before they begin"),
    "bytes that are no text": (put("names", 0, 255), "not text"),
}


def changing(change: Callable[[Arrays, dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """A file with other arrays, or another description of them."""

    def forge(raw: bytes) -> bytes:
        arrays, about = unpacked(raw)
        change(arrays, about["content"])
        return packed(arrays, about)

    return forge


def lying(**changes: Any) -> Callable[[bytes], bytes]:
    """A file whose list of contents says something else of an array."""

    def change(raw: bytes) -> bytes:
        size = int.from_bytes(raw[:8], "little")
        listed = json.loads(raw[8 : 8 + size])
        listed["share"].update(changes)
        return of_header(json.dumps(listed)) + raw[8 + size :]

    return change


def of_header(text: str) -> bytes:
    return len(text.encode()).to_bytes(8, "little") + text.encode()


def saying(record: str) -> Callable[[bytes], bytes]:
    """A file with this description of what it holds."""
    return lambda _: packed({"x": np.zeros(2)}, record)


FORGERIES: list[tuple[Callable[[bytes], bytes], str]] = [
    *((changing(change), message) for change, message in ATTACKS.values()),
    (lying(data_offsets=[0, 2**40]), "damaged"),
    (lying(data_offsets=[8, 0]), "damaged"),
    (lying(shape=[2, 10**9]), "damaged"),
    (lying(dtype="I8"), "damaged"),
    (lying(dtype="U64"), "“share”"),
    (lying(shape="x"), "damaged"),
    (saying("[]"), "does not describe itself"),
    (saying("{"), "damaged"),
    (saying("[" * 100_000), "damaged"),
    (saying('{"format": "zip"}'), "does not describe itself"),
    (saying('{"format": "headscope", "version": 1}'), "version '1'.*build it again"),
    (saying('{"format": "headscope", "version": true}'), "version 'True'"),
    (saying('{"format": "headscope", "version": 4}'), "lacks “a record”"),
    (lambda _: save({"x": np.zeros(2)}), "does not describe itself"),
    (lambda raw: raw[:-100], "damaged"),
    (lambda _: (10**12).to_bytes(8, "little") + b"{}", "header claims"),
]


@pytest.mark.parametrize(("change", "message"), FORGERIES)
def test_what_is_no_record_is_refused_in_a_sentence(
    change: Callable[[bytes], bytes], message: str, path: Path
) -> None:
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(RecordError, match=message) as refused:
        read_record(Point, path)
    assert str(refused.value).endswith(".")


def test_what_is_no_file_or_too_large_is_refused_before_it_is_read(path: Path) -> None:
    """A sparse file takes no disk, and declares as many bytes as it likes."""
    for other in (path.parent, Path("/dev/zero")):
        with pytest.raises(RecordError, match="not a regular file"):
            read_record(Point, other)
    with pytest.raises(FileNotFoundError):
        read_record(Point, path.with_name("missing"))
    header = {"x": {"dtype": "F32", "shape": [2**31], "data_offsets": [0, 2**33]}}
    with path.open("wb") as sparse:
        sparse.write(of_header(json.dumps(header)))
        sparse.truncate(2**33)
    with pytest.raises(RecordError, match="8,590 MB, and the limit is 4,295 MB"):
        read_record(Point, path)


def trace_of(kind: str, model_of: ModelOf, bart: Path) -> Trace:
    if kind == "image":
        return trace_image(loaded("bundled/vit-scenes"), open_sample_image("three-shapes"))
    if kind == "pair":
        return trace_text(loaded("bundled/minilm"), TEXT, PAIR)
    return trace_text(load(str(bart)) if kind == "cross" else model_of(kind), TEXT)


@pytest.mark.parametrize(
    "kind", ["bert", "gpt2", "llama", "gemma2", "bloom", "gpt_oss", "t5", "pair", "cross", "image"]
)
def test_a_trace_comes_back_from_its_file_as_it_was(
    kind: str, model_of: ModelOf, answering_bart: Path, path: Path
) -> None:
    """Masks, soft caps, sinks, shared keys, biases, patches, and the decoder's traces."""
    trace = trace_of(kind, model_of, answering_bart)
    write_record(trace, path)
    again = read_record(Trace, path)
    assert_same(again, trace)
    for each, other in zip((trace, *trace.others), (again, *again.others), strict=True):
        assert np.array_equal(each.attention(), other.attention())
    assert not again.queries.flags.writeable
    assert (again.patches is None) == (kind != "image")
    if kind == "cross":
        assert again.of_type("cross").source == again.tokens


def test_a_trace_is_opened_without_torch(path: Path) -> None:
    write_record(trace_text(loaded("bundled/gpt2-novels"), TEXT), path)
    program = (
        "import sys; from pathlib import Path; from core.model import Trace;"
        "from core.records import read_record;"
        f"trace = read_record(Trace, Path({str(path)!r})); trace.attention();"
        "print([name for name in ('torch', 'transformers', 'pandas') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout == b"[]\n"
