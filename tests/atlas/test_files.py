"""An atlas's file: exact to the bit, tables to others, read as if a stranger wrote it."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator
from safetensors.numpy import load, save

from core.atlas.files import AtlasFileError, read_atlas, write_atlas
from core.atlas.files.description import SCHEMA
from tests.atlas.files import (
    ARRAYS,
    HEADS,
    JSON,
    LAYERS,
    POINTS,
    STAGES,
    TEXTS,
    TOKENS,
    an_atlas,
    arrays_of,
    as_stored,
    assert_same,
    description_of,
    forged,
    members_of,
    opened,
    stored_table,
    table_of,
    with_column,
    written,
    zipped,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.atlas.files import Change


@pytest.fixture(scope="module")
def data() -> bytes:
    return written(an_atlas())


@pytest.mark.parametrize(("labelled", "causal"), [(True, False), (False, True)])
def test_an_atlas_comes_back_exact_to_the_bit(labelled: bool, causal: bool) -> None:
    atlas = an_atlas(labelled=labelled, causal=causal)
    odd = atlas.faithfulness["raw"].correlation
    odd[0, 0], odd[0, 1], odd[1, 2] = np.nan, -0.0, 5e-324
    atlas.points["raw"][0, 0, 0] = np.array([-0.0, 1e-45, 3e38], dtype=np.float32)
    data = written(atlas)
    found = opened(data)
    assert found.vectors is None
    assert_same(found, as_stored(atlas))


def test_it_is_written_to_a_path_and_replaces_what_was_there_only_when_whole(
    tmp_path: Path,
) -> None:
    path = tmp_path / "small.atlas.zip"
    atlas = an_atlas()
    write_atlas(atlas, path)
    whole = path.read_bytes()
    assert whole == written(atlas)
    assert_same(read_atlas(path), as_stored(atlas))
    atlas.points["raw"][1, 2, 0, 0] = np.nan
    with pytest.raises(AtlasFileError, match="L2 H3"):
        write_atlas(atlas, str(path))
    assert path.read_bytes() == whole
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_hybrid_s_layers_keep_their_numbers_in_description_and_table() -> None:
    hybrid = replace(an_atlas(), layer_numbers=(3, 6), depth=8)
    data = written(hybrid)
    assert_same(opened(data), as_stored(hybrid))
    description = description_of(data)
    assert (description["layer_numbers"], description["depth"]) == ([3, 6], 8)
    assert table_of(data, POINTS).column("layer").unique().to_pylist() == [3, 6]


def test_pandas_reads_the_points_as_one_row_a_head_and_token(data: bytes) -> None:
    atlas = an_atlas()
    table = pd.read_parquet(io.BytesIO(members_of(data)[POINTS]))
    size = len(atlas.tokens)
    assert len(table) == LAYERS * HEADS * size
    assert list(table.columns[:4]) == ["layer", "head", "sentence", "position"]
    assert sorted(table.columns[4:]) == sorted(
        ["query_norm", "key_norm"]
        + ["_".join(each) for each in product(("query", "key"), STAGES, "xyz")]
    )
    one = table[(table["layer"] == 2) & (table["head"] == 3)].reset_index(drop=True)
    assert (one["sentence"] == atlas.tokens.sentence).all()
    assert (one["position"] == atlas.tokens.position).all()
    for stage in STAGES:
        points = atlas.points[stage][1, 2]
        assert (one[f"query_{stage}_y"] == points[:size, 1]).all()
        assert (one[f"key_{stage}_z"] == points[size:, 2]).all()
    assert (one["key_norm"] == atlas.norms[1, 2, size:]).all()


def test_pandas_reads_the_texts(data: bytes) -> None:
    atlas = as_stored(an_atlas())
    members = members_of(data)
    tokens = pd.read_parquet(io.BytesIO(members[TOKENS]))
    assert tuple(tokens["token"]) == atlas.tokens.texts
    assert tuple(tokens["display"]) == atlas.tokens.displays
    assert tokens["special"].tolist() == [text == "[CLS]" for text in tokens["display"]]
    sentences = pd.read_parquet(io.BytesIO(members[TEXTS]))
    assert tuple(sentences["text"]) == atlas.sentences
    assert tuple(sentences["label"]) == atlas.labels
    for row in tokens[~tokens["special"]].to_dict("records"):
        chunk = str(sentences["text"][row["sentence"]])[row["start"] : row["end"]]
        assert chunk.replace("\ufffd", "?") == row["display"]


def test_the_description_tells_others_what_it_is(data: bytes) -> None:
    description = description_of(data)
    Draft202012Validator.check_schema(SCHEMA)
    assert (description["format"], description["version"]) == ("headscope-atlas", 2)
    assert (description["model"], description["causal"]) == ("by hand", False)
    assert description["settings"] == {"tokens_cut": 3, "corpus": "a “file”.csv"}
    assert (description["layers"], description["heads"]) == (LAYERS, HEADS)
    assert (load(members_of(data)[ARRAYS])["c"] == an_atlas().c).all()


def plain_table() -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame({"x": [1]}).to_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not a zip file"),
        (b"PK\5\6" + bytes(18), "0 members"),
        (b"sentence one\nsentence two\n", "not a zip file"),
        (zipped({"readme.txt": b"x"}), "1 members"),
        (zipped({str(i): b"x" for i in range(5)}), "whose members are"),
        (plain_table(), "not a zip file"),
    ],
    ids=["nothing", "an empty zip file", "text", "another zip file", "other names", "a table"],
)
def test_what_is_no_atlas_is_refused_with_what_was_found(raw: bytes, message: str) -> None:
    with pytest.raises(AtlasFileError, match=message) as found:
        opened(raw)
    assert "\n" not in str(found.value)
    assert str(found.value).endswith(".")


def test_a_damaged_file_is_refused_or_gives_what_was_written(data: bytes) -> None:
    """Any byte may be wrong: members have checksums, and what is around them is checked."""
    expected = opened(data)
    refused = 0
    for at in range(4, len(data), max(1, len(data) // 200)):
        broken = bytearray(data)
        broken[at] ^= 0xFF
        try:
            found = opened(bytes(broken))
        except AtlasFileError:
            refused += 1
        else:  # in what nobody reads, such as the date of a member
            assert_same(found, expected)
    assert refused > 190
    for size in range(0, len(data), len(data) // 20):
        with pytest.raises(AtlasFileError):
            opened(data[:size])


def test_more_rows_than_the_limit_are_refused_before_they_take_memory(data: bytes) -> None:
    rows = LAYERS * HEADS * len(an_atlas().tokens)
    assert_same(opened(data, max_rows=rows).norms, an_atlas().norms)
    with pytest.raises(AtlasFileError, match=f"{rows} rows"):
        opened(data, max_rows=rows - 1)


Fields = dict[str, Any]
DESCRIPTIONS: dict[str, tuple[Callable[[Fields], object], str]] = {
    "another format": (lambda d: d.update(format="zip"), "as an atlas"),
    "another version": (lambda d: d.update(version=1), "version '1'"),
    "a version that is true": (lambda d: d.update(version=True), "version 'True'"),
    "no model": (lambda d: d.pop("model"), "“model”"),
    "causal as a number": (lambda d: d.update(causal=1), "“causal”"),
    "no layers": (lambda d: d.update(layers=0), "“layers”"),
    "huge": (lambda d: d.update(tokens=10**12, parts=[[0, 10**12, 4]]), "too large"),
    "many heads": (lambda d: d.update(layers=2000, heads=2000), "4,000,000 heads"),
    "other heads": (
        lambda d: d.update(layers=3, heads=2, layer_numbers=[1, 2, 3], depth=3),
        "shape",
    ),
    "more tokens": (lambda d: d.update(tokens=99, parts=[[0, 99, 4]]), "shape"),
    "a sentence less": (lambda d: d.update(sentences=3), "more tokens than there are"),
    "no sentence": (lambda d: d.update(parts=[[0, 9, 0]]), "“parts”"),
    "two parts": (lambda d: d.update(parts=[[0, 5, 1], [1, 5, 1]]), "folder of parts"),
    "another part": (lambda d: d["parts"][0].__setitem__(0, 7), "folder of parts"),
    "parts back to front": (lambda d: d.update(parts=[[1, 2, 1], [0, 2, 1]]), "not in order"),
    "half a sentence": (lambda d: d["parts"][0].__setitem__(2, 0.5), "“parts”"),
    "half of a number": (lambda d: d.update(dtype="float16"), "folder of parts"),
    "labels that are not there": (lambda d: d.update(labelled="yes"), "“labelled”"),
    "no labels": (lambda d: d.update(labelled=False), "arrays that no atlas has"),
    "settings in settings": (lambda d: d["settings"].update(a={"b": 1}), "settings"),
    "a name of a book": (lambda d: d.update(model="x" * 200_000), "name has 200,000"),
    "no name": (lambda d: d.update(model=""), "does not name the model"),
    "a name with half of a character": (lambda d: d.update(model="\ud83d"), "does not name"),
    "tokens cut below zero": (lambda d: d["settings"].update(tokens_cut=-1), "tokens_cut"),
    "a number beyond counting": (lambda d: d["settings"].update(a=10**30), "settings"),
    "a setting of a book": (lambda d: d["settings"].update(a="x" * 10_000), "too long"),
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
    "numbers that the table does not have": (lambda d: numbers(d, [3, 6]), "not in order at L3"),
    "pixels of nothing": (lambda d: d.update(images=[4, 4, 2, 1]), "images"),
}


def numbers(description: Fields, layers: list[Any], depth: int | None = 8) -> None:
    """Say which layers these are."""
    description.update(layer_numbers=layers, depth=depth)


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_description_that_is_not_as_it_should_be_is_refused(name: str, data: bytes) -> None:
    change, message = DESCRIPTIONS[name]
    description = description_of(data)
    opened(forged(data, description))  # as it was, it opens
    change(description)
    with pytest.raises(AtlasFileError, match=message) as refused:
        opened(forged(data, description))
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b"9" * 10_000, b"1e9"])
def test_a_description_that_is_no_json_object_is_refused(raw: bytes, data: bytes) -> None:
    with pytest.raises(AtlasFileError, match=r"describe itself|description of itself"):
        opened(forged(data, raw))


NUMBERS = [  # the array, what fills it, and what is said of it
    ("shares.raw", 2, "shares.raw"),
    ("plane.raw", 7, "plane.raw.correlation"),
    ("measured.top1", 2, "measured.top1"),
    ("c", np.inf, "“c”"),
    ("texts.token", 99, "a text that is not in it"),
    ("texts.display", -1, "a text that is not in it"),
    ("texts.sentences.ends", -1, "end before they begin"),
    ("texts.vocabulary.ends", 2**62, "end before they begin"),
    ("texts.vocabulary", 255, "not text"),
    ("texts.labels.ends", 0, "end before they begin"),
]


@pytest.mark.parametrize(("name", "number", "message"), NUMBERS)
def test_an_array_of_impossible_numbers_is_refused(
    name: str, number: float, message: str, data: bytes
) -> None:
    arrays = arrays_of(data)
    assert_same(opened(forged(data, arrays=arrays)), opened(data))  # as it was, it opens
    arrays[name][...] = number
    with pytest.raises(AtlasFileError, match=message):
        opened(forged(data, arrays=arrays))


Arrays = dict[str, "NDArray[Any]"]
LISTS: dict[str, tuple[Callable[[Arrays], object], str]] = {
    "no array": (lambda a: a.pop("shares.raw"), "shares.raw"),
    "an array more": (lambda a: a.update(more=np.zeros(3)), "no atlas has"),
    "another type": (lambda a: a.update(c=a["c"].astype("f4")), "“c”"),
    "another shape": (lambda a: a.update(c=a["c"].ravel()), "“c”"),
    "a vocabulary of air": (
        lambda a: a.update({"texts.vocabulary.ends": np.zeros(10**6, np.int64)}),
        "end before they begin|more different texts",
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_other_arrays_than_those_of_an_atlas_are_refused(name: str, data: bytes) -> None:
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
        ({"dtype": "BF16", "shape": [2, 12]}, "damaged|another shape or type"),
        ({"shape": "x"}, "damaged"),
    ],
)
def test_safetensors_that_lie_are_refused(
    changes: dict[str, Any], message: str, data: bytes
) -> None:
    raw = members_of(data)[ARRAYS]
    with pytest.raises(AtlasFileError, match=message):
        opened(forged(data, arrays=lying(raw, **changes)))


def test_a_list_of_contents_without_end_is_refused_before_it_is_read(data: bytes) -> None:
    raw = members_of(data)[ARRAYS]
    with pytest.raises(AtlasFileError, match="without end"):
        opened(forged(data, arrays=(10**9).to_bytes(8, "little") + raw[8:]))
    long = save({str(i): np.zeros(1) for i in range(10_000)})
    with pytest.raises(AtlasFileError, match="without end"):
        opened(forged(data, arrays=long))


def sentence(text: str) -> Callable[[Arrays], None]:
    """Another first sentence."""

    def change(arrays: Arrays) -> None:
        raw, ends = text.encode(), arrays["texts.sentences.ends"]
        rest = arrays["texts.sentences"][ends[0] :].tobytes()
        arrays["texts.sentences"] = np.frombuffer(raw + rest, np.uint8)
        arrays["texts.sentences.ends"] = ends - ends[0] + len(raw)

    return change


@pytest.mark.parametrize(
    ("text", "message"),
    [("x" * 100_000, "more than its 4 tokens"), ("Oh,", "beyond their sentence")],
)
def test_a_sentence_that_its_tokens_do_not_have_is_refused(
    text: str, message: str, data: bytes
) -> None:
    arrays = arrays_of(data)
    sentence(text)(arrays)
    with pytest.raises(AtlasFileError, match=message):
        opened(forged(data, arrays=arrays))


CHANGES: dict[str, tuple[str, Change, str]] = {
    "no norms": (POINTS, lambda t: t.drop_columns(["key_norm"]), "key_norm"),
    "no spans": (TOKENS, lambda t: t.drop_columns(["end"]), "end"),
    "a row less": (POINTS, lambda t: t.slice(1), "65 rows|rows for 6 heads"),
    "a token less": (TOKENS, lambda t: t.slice(1), "tokens of the file are"),
    "points that are no number": (POINTS, with_column("key_raw_y", np.nan, 50), "key_raw_y"),
    "points without end": (POINTS, with_column("query_norm", np.inf, 20), "query_norm"),
    "lengths below zero": (POINTS, with_column("query_norm", -1.0, 20), "below zero"),
    "a length as text": (POINTS, lambda t: as_type(t, "key_norm", pa.string()), "key_norm"),
    "a length as double": (POINTS, lambda t: as_type(t, "key_norm", pa.float64()), "key_norm"),
    "another layer": (POINTS, with_column("layer", 2), "L1 H1"),
    "heads out of order": (POINTS, with_column("head", 1, -1), "L2 H3"),
    "sentences out of order": (TOKENS, with_column("sentence", 2), "order"),
    "a sentence of minus one": (TOKENS, with_column("sentence", -1), "order"),
    "positions out of order": (TOKENS, with_column("position", 7), "order"),
    "a word too many": (TOKENS, with_column("word", 99), "“word”"),
    "a word before the first": (TOKENS, with_column("word", -2), "“word”"),
    "spans backwards": (TOKENS, with_column("start", 10, 1), "end before"),
    "spans before the text": (TOKENS, with_column("start", -1, 1), "end before"),
    "spans beyond it": (TOKENS, with_column("end", 1000, 1), "beyond their sentence"),
}


def as_type(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    at = table.schema.get_field_index(name)
    return table.set_column(at, name, table.column(name).cast(kind))


@pytest.mark.parametrize("name", CHANGES)
def test_a_table_that_does_not_fit_its_description_is_refused(name: str, data: bytes) -> None:
    member, change, message = CHANGES[name]
    assert_same(opened(forged(data, tables={member: lambda t: t})), opened(data))
    with pytest.raises(AtlasFileError, match=message):
        opened(forged(data, tables={member: change}))


@pytest.mark.parametrize("name", [POINTS, TOKENS])
def test_packed_columns_and_columns_with_gaps_are_refused(name: str, data: bytes) -> None:
    members, table = members_of(data), table_of(data, name)
    for codec in ("zstd", "snappy", "gzip"):
        packed = zipped(members | {name: stored_table(table, compression=codec)})
        with pytest.raises(AtlasFileError, match="packed"):
            opened(packed)
    loose = pa.schema([field.with_nullable(nullable=True) for field in table.schema])
    with pytest.raises(AtlasFileError, match="gaps"):
        opened(zipped(members | {name: stored_table(table.cast(loose))}))
    with pytest.raises(AtlasFileError, match=r"groups of rows|a description of"):
        opened(zipped(members | {name: stored_table(table, row_group_size=1)}))


def test_texts_in_tables_are_not_read(data: bytes) -> None:
    """They could unpack to anything: what is opened has its texts from the arrays."""
    lies = {TOKENS: with_column("display", "x" * 10**6), TEXTS: with_column("text", "y" * 10**6)}
    assert_same(opened(forged(data, tables=lies)), opened(data))


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_packed_members_are_refused(compression: int, data: bytes) -> None:
    with pytest.raises(AtlasFileError, match="packed or locked"):
        opened(zipped(members_of(data), compression))


@pytest.mark.parametrize(
    "name", ["../atlas.json", "/atlas.json", "a/atlas.json", "ATLAS.JSON", "atlas.jsom"]
)
def test_members_by_another_name_are_refused(name: str, data: bytes) -> None:
    members = members_of(data)
    members[name] = members.pop(JSON)
    with pytest.raises(AtlasFileError):
        opened(zipped(members))


def test_members_twice_or_too_many_are_refused(data: bytes) -> None:
    members = members_of(data)
    with pytest.raises(AtlasFileError, match="6 members"):
        opened(zipped(members | {"more": b""}))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in (JSON, ARRAYS, POINTS, TOKENS):
            file.writestr(name, members[name])
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr(JSON, members[JSON])
    with pytest.raises(AtlasFileError, match="whose members are"):
        opened(buffer.getvalue())


def directory_of(data: bytes) -> tuple[int, dict[str, int]]:
    """Where the directory begins, and where each member's entry in it."""
    start = struct.unpack("<L", data[-6:-2])[0]
    at, entries = start, {}
    while data[at : at + 4] == b"PK\1\2":
        name, extra, comment = struct.unpack("<3H", data[at + 28 : at + 34])
        entries[data[at + 46 : at + 46 + name].decode()] = at
        at += 46 + name + extra + comment
    return start, entries


def with_bytes(data: bytes, at: int, content: bytes) -> bytes:
    return data[:at] + content + data[at + len(content) :]


def test_members_over_each_other_are_refused(data: bytes) -> None:
    """Two entries for one place: with names that fit, their sizes must, too."""
    _, entries = directory_of(data)
    size = struct.unpack("<L", data[entries[POINTS] + 20 : entries[POINTS] + 24])[0]
    for more in (100, 2**31):
        longer = struct.pack("<2L", size + more, size + more)
        with pytest.raises(AtlasFileError, match=r"over each other|over its directory|damaged"):
            opened(with_bytes(data, entries[POINTS] + 20, longer))


def test_a_member_that_is_elsewhere_is_refused(data: bytes) -> None:
    _, entries = directory_of(data)
    for place in (0, 7, len(data) - 10, 2**32 - 1):
        moved = with_bytes(data, entries[TOKENS] + 42, struct.pack("<L", place))
        with pytest.raises(AtlasFileError):
            opened(moved)


def test_a_name_that_is_not_utf_8_as_its_flag_says_is_refused(data: bytes) -> None:
    start, _ = directory_of(data)
    flagged = with_bytes(data, start + 8, (0x800).to_bytes(2, "little"))
    with pytest.raises(AtlasFileError, match="damaged zip file"):
        opened(with_bytes(flagged, start + 46, b"\xff"))


def test_a_directory_of_another_kind_is_refused(data: bytes) -> None:
    end = len(data) - 22
    many = with_bytes(data, end + 8, struct.pack("<2H", 65535, 65535))
    for odd in (data + b"x", b"x" + data, data[:-2] + b"\5\0hello", many):
        with pytest.raises(AtlasFileError):
            opened(odd)
    locator = b"PK\6\7" + struct.pack("<LQL", 0, 0, 1)
    start, _ = directory_of(data)
    size = struct.pack("<L", end - start + len(locator))
    zip64 = with_bytes(data[:end] + locator + data[end:], end + len(locator) + 12, size)
    with pytest.raises(AtlasFileError, match="another kind"):
        opened(zip64)
