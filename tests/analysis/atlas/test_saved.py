"""An atlas's file: exact to the bit, a table to others, read as if a stranger wrote it."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from dataclasses import fields, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.analysis.atlas.saved.file import AtlasFileError, read_atlas, write_atlas
from core.analysis.atlas.saved.metadata import check_pages
from tests.analysis.atlas.files import (
    HEADS,
    LAYERS,
    STAGES,
    an_atlas,
    as_stored,
    assert_same,
    bomb,
    bytes_of,
    forged,
    header_of,
    opened,
    unzipped,
    with_column,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from core.analysis.atlas import Atlas


@pytest.mark.parametrize(("labelled", "causal"), [(True, False), (False, True)])
def test_an_atlas_comes_back_exact_to_the_bit(labelled: bool, causal: bool) -> None:
    atlas = an_atlas(labelled=labelled, causal=causal)
    odd = atlas.faithfulness["raw"].correlation
    odd[0, 0], odd[0, 1], odd[1, 2] = np.nan, -0.0, 5e-324
    atlas.points["raw"][0, 0, 0] = np.array([-0.0, 1e-45, 3e38], dtype=np.float32)
    found = opened(written(atlas))
    assert found.vectors is None
    assert_same(found, as_stored(atlas))


def test_it_is_written_to_a_path_and_replaces_what_was_there_only_when_whole(
    tmp_path: Path,
) -> None:
    path = tmp_path / "atlas.parquet"
    atlas = an_atlas()
    write_atlas(atlas, path)
    whole = path.read_bytes()
    assert whole == written(atlas)
    assert_same(read_atlas(path), as_stored(atlas))
    atlas.points["raw"][1, 2, 0, 0] = np.nan
    with pytest.raises(AtlasFileError, match="L2 H3"):
        write_atlas(atlas, str(path))
    assert path.read_bytes() == whole
    assert [each.name for each in tmp_path.iterdir()] == ["atlas.parquet"]


def test_a_hybrid_s_layers_keep_their_numbers_in_the_header_and_in_the_table() -> None:
    hybrid = replace(an_atlas(), layer_numbers=(3, 6), depth=8)
    data = written(hybrid)
    assert_same(opened(data), as_stored(hybrid))
    assert (header_of(data)["layer_numbers"], header_of(data)["depth"]) == ([3, 6], 8)
    layers = pd.read_parquet(io.BytesIO(data))["layer"]
    assert layers.unique().tolist() == [3, 6]


def test_files_of_other_models_have_no_numbers_and_count_their_layers() -> None:
    data = written(an_atlas())
    assert "layer_numbers" not in header_of(data)
    assert (opened(data).numbers, opened(data).depth) == ((1, 2), 2)


def test_pandas_reads_it_as_one_row_a_head_and_token() -> None:
    atlas = an_atlas()
    table = pd.read_parquet(io.BytesIO(written(atlas)))
    size = len(atlas.tokens)
    assert len(table) == LAYERS * HEADS * size
    assert list(table.columns[:8]) == [
        *("layer", "head", "sentence", "position", "token", "display", "special", "label")
    ]
    assert sorted(table.columns[8:]) == sorted(
        ["query_norm", "key_norm"]
        + ["_".join(each) for each in product(("query", "key"), STAGES, "xyz")]
    )
    one = table[(table["layer"] == 2) & (table["head"] == 3)].reset_index(drop=True)
    assert tuple(one["token"]) == atlas.tokens.texts
    assert tuple(one["display"]) == atlas.tokens.displays
    assert one["label"][0] == "good"
    assert one["special"].tolist() == [text == "[CLS]" for text in one["display"]]
    assert (one["sentence"] == atlas.tokens.sentence).all()
    for stage in STAGES:
        points = atlas.points[stage][1, 2]
        assert (one[f"query_{stage}_y"] == points[:size, 1]).all()
        assert (one[f"key_{stage}_z"] == points[size:, 2]).all()
    assert (one["key_norm"] == atlas.norms[1, 2, size:]).all()


def test_a_head_can_be_read_alone() -> None:
    atlas = an_atlas()
    file = pq.ParquetFile(io.BytesIO(written(atlas)))
    assert file.num_row_groups == LAYERS * HEADS
    group = file.read_row_group(1 * HEADS + 0).to_pandas()
    assert set(group["layer"]) == {2}
    assert set(group["head"]) == {1}
    assert (group["query_raw_x"] == atlas.points["raw"][1, 0, : len(atlas.tokens), 0]).all()


def test_a_file_saved_under_the_project_s_first_name_opens(data: bytes) -> None:
    bare = lambda table, _: table.replace_schema_metadata()
    old = forged(data, header_of(data), bare, key=b"attention_atlas")
    assert b"headscope" not in pq.read_metadata(io.BytesIO(old)).metadata
    assert opened(old).sentences == opened(data).sentences


def test_the_header_tells_others_what_it_is() -> None:
    atlas = an_atlas()
    header = header_of(written(atlas))
    assert header["format"] == 2
    assert header["model"] == "by hand"
    assert header["settings"] == {"tokens_cut": 3, "corpus": "a “file”.csv"}
    listed = json.dumps(list(as_stored(atlas).sentences)).encode()
    assert header["corpus_sha256"] == hashlib.sha256(listed).hexdigest()
    stored = header["arrays"]["scaling.c"]
    raw = base64.b64decode(stored["bytes"]) if "bytes" in stored else unzipped(stored["zlib"])
    found = np.frombuffer(raw, "<f8").reshape(stored["shape"])
    assert (found == atlas.scaling.c).all()


def plain_table() -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame({"x": [1]}).to_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"PAR1", "empty"),
        (b"sentence one\nsentence two\n", "not in the Parquet format"),
        (b"PAR1" + b"\0" * 100 + b"PAR1", "damaged"),
        (b"PAR1" + b"\0" * 96 + b"\xff\xff\xff\x7fPAR1", "damaged"),
        (plain_table(), "not an atlas"),
    ],
    ids=["nothing", "only a mark", "text", "zeros", "a footer of 2 GB", "another table"],
)
def test_what_is_no_atlas_is_refused_with_what_was_found(data: bytes, message: str) -> None:
    with pytest.raises(AtlasFileError, match=message) as found:
        opened(data)
    assert "\n" not in str(found.value)
    assert str(found.value).endswith(".")


def test_a_damaged_file_is_refused_or_gives_what_was_written() -> None:
    """Any byte may be wrong: pages have checksums, and the rest is checked."""
    atlas = an_atlas()
    data = written(atlas)
    expected = replace(atlas, vectors=None)
    refused = 0
    for at in range(4, len(data), max(1, len(data) // 200)):
        broken = bytearray(data)
        broken[at] ^= 0xFF
        try:
            found = opened(bytes(broken))
        except AtlasFileError:
            refused += 1
        else:  # in what nobody reads, such as the statistics of a column
            assert_same(found.points, expected.points)
    assert refused > 150
    for size in range(0, len(data), len(data) // 20):
        with pytest.raises(AtlasFileError):
            opened(data[:size])


def test_more_rows_than_the_limit_are_refused_before_they_take_memory() -> None:
    atlas = an_atlas()
    rows = LAYERS * HEADS * len(atlas.tokens)
    data = written(atlas)
    assert_same(opened(data, max_rows=rows).norms, atlas.norms)
    with pytest.raises(AtlasFileError, match=f"{rows} rows"):
        opened(data, max_rows=rows - 1)


HEADERS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another format": (lambda h: h.update(format=3), "format '3'"),
    "no format": (lambda h: h.pop("format"), "format"),
    "no model": (lambda h: h.pop("model"), "model"),
    "causal as a number": (lambda h: h.update(causal=1), "causal"),
    "no shape": (lambda h: h.update(shape=[2, 3]), "layers, heads and tokens"),
    "huge": (lambda h: h.update(shape=[2, 3, 10**12]), "too large"),
    "other heads": (lambda h: h.update(shape=[3, 2, h["shape"][2]]), "shape"),
    "a sentence less": (lambda h: h["sentences"].pop(), "contradicts itself"),
    "another sentence": (lambda h: h["sentences"].__setitem__(0, "x"), "checksum"),
    "a label less": (lambda h: h["labels"].pop(), "contradicts itself"),
    "settings in settings": (lambda h: h["settings"].update(a={"b": 1}), "settings"),
    "no array": (lambda h: h["arrays"].pop("shares.raw"), "shares.raw"),
    "array of another type": (lambda h: h["arrays"]["word"].update(type="|O"), "word"),
    "no base64": (lambda h: h["arrays"]["word"].update(zlib="$$$"), "word"),
    "zlib of 50 MB": (lambda h: h["arrays"]["word"].update(zlib=bomb(50_000_000)), "as many"),
    "no bool": (lambda h: bytes_of(h, "scaling.few", b"\7" * 6), "neither true"),
    "spans backwards": (lambda h: bytes_of(h, "spans", b"\1\0\0\0\0\0\0\0"), "end before"),
    "positions of another size": (
        lambda h: h["arrays"]["positions.counts"].update(shape=[10**9, 10**9]),
        "positions",
    ),
    "a name of megabytes": (lambda h: h.update(model="x" * 2_000_000), "name has 2,000,000"),
    "no name": (lambda h: h.update(model=""), "does not name the model"),
    "a name with half of a character": (lambda h: h.update(model="\ud83d"), "does not name"),
    "half of a character": (lambda h: sentence(h, "Oh, this \ud83d"), "lone surrogate"),
    "a label of a book": (lambda h: label(h, "x" * 100_000), "longer than any token or label"),
    "a sentence of a book": (lambda h: sentence(h, "x" * 100_000), "more than its 4 tokens"),
    "a sentence cut off": (lambda h: sentence(h, "Oh,"), "beyond their sentence"),
    "distances there and not back": (
        lambda h: bytes_of(h, "distances.sums", np.triu(np.ones((6, 6)), 1).tobytes()),
        "same both ways",
    ),
    "compared on nothing": (lambda h: h.update(compared=[0, 9]), "no token"),
    "compared on more than all": (lambda h: h.update(compared=[9, 3]), "more tokens"),
    "tokens cut below zero": (lambda h: h["settings"].update(tokens_cut=-1), "tokens_cut"),
    "a number beyond counting": (lambda h: h["settings"].update(a=10**30), "settings"),
    "a setting of a book": (lambda h: h["settings"].update(a="x" * 10_000), "too long"),
    "many settings": (lambda h: h["settings"].update({str(i): i for i in range(200)}), "200|202"),
    "measured on more than all": (lambda h: h.update(measured=[10**6, 1]), "more tokens"),
    "lists in lists": (lambda h: h.update(more=[[]] * 300), "lists"),
    "many values": (lambda h: h.update(more=[0] * 3000), "values"),
    "many texts": (lambda h: h.update(more=[""] * 3000), "texts"),
    "measured once": (lambda h: h.update(measured=[5]), "measured"),
    "a format that is true": (lambda h: h.update(format=True), "formats 1 to 2"),
    "numbers of other layers": (lambda h: numbers(h, [2, 4, 6]), "layer_numbers"),
    "layers that go back": (lambda h: numbers(h, [4, 2]), "layer_numbers"),
    "layers before the first": (lambda h: numbers(h, [0, 1]), "layer_numbers"),
    "layers beyond the last": (lambda h: numbers(h, [3, 9]), "layer_numbers"),
    "a model of a million layers": (lambda h: numbers(h, [1, 2], 10**6), "layer_numbers"),
    "a layer that is no number": (lambda h: numbers(h, [1, "2"]), "layer_numbers"),
    "numbers without a depth": (lambda h: numbers(h, [3, 6], None), "depth"),
    "numbers that the table does not have": (lambda h: numbers(h, [3, 6]), "not in order at L3"),
}


def numbers(header: dict[str, Any], layers: list[Any], depth: int | None = 8) -> None:
    """Say which layers these are."""
    header.update(layer_numbers=layers, depth=depth)


NUMBERS = [  # the array, what fills it, and what is said of it
    ("distances.sums", np.float64(np.inf), "distances"),
    ("word", np.int32(99), "“word”"),
    ("word", np.int32(-2), "“word”"),
    ("distances.sums", np.float64(-1), "distances"),
    ("distances.sums", np.float64(1), "same both ways"),
    ("positions.sums", np.float64(-0.1), "attention"),
    ("positions.sums", np.float64(np.nan), "attention"),
    ("positions.sums", np.float64(100), "attention"),
    ("positions.counts", np.float64(99), "sentences"),
    ("shares.raw", np.float64(2), "shares.raw"),
    ("trust.raw", np.float64(7), "trust.raw.correlation"),
    ("full.cosine.raw", np.float64(-np.inf), "full.cosine.raw.correlation"),
    ("measured.top1", np.float64(2), "measured.top1"),
    ("measured.pairs", np.int64(-1), "measured.pairs"),
    ("scaling.c", np.float64(np.inf), "scaling.c"),
]


def sentence(header: dict[str, Any], text: str) -> None:
    """Another first sentence, with its checksum."""
    header["sentences"][0] = text
    listed = json.dumps(header["sentences"]).encode("ascii")
    header["corpus_sha256"] = hashlib.sha256(listed).hexdigest()


def label(header: dict[str, Any], text: str) -> None:
    header["labels"][0] = text


@pytest.fixture(scope="module")
def data() -> bytes:
    return written(an_atlas())


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_is_not_as_it_should_be_is_refused(name: str, data: bytes) -> None:
    change, message = HEADERS[name]
    header = header_of(data)
    change(header)
    with pytest.raises(AtlasFileError, match=message):
        opened(forged(data, header))


@pytest.mark.parametrize(("name", "number", "message"), NUMBERS)
def test_an_array_of_impossible_numbers_is_refused(
    name: str, number: np.generic, message: str, data: bytes
) -> None:
    header = header_of(data)
    opened(forged(data, header))  # as it was, it opens
    bytes_of(header, name, number.tobytes())
    with pytest.raises(AtlasFileError, match=message):
        opened(forged(data, header))


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b"9" * 10_000])
def test_a_header_that_is_no_json_object_is_refused(raw: bytes) -> None:
    with pytest.raises(AtlasFileError, match="description of itself"):
        opened(forged(written(an_atlas()), raw))


TABLES: dict[str, tuple[Callable[[pa.Table, int], pa.Table], str]] = {
    "no norms": (lambda t, _: t.drop_columns(["key_norm"]), "key_norm"),
    "no tokens": (lambda t, _: t.drop_columns(["token"]), "token"),
    "no labels": (lambda t, _: t.drop_columns(["label"]), "label"),
    "a head less": (lambda t, g: t if g else t.slice(0, 3), "Head 1 has 3 rows"),
    "points that are no number": (with_column("key_raw_y", np.nan, {4}), "key_raw_y"),
    "lengths below zero": (with_column("query_norm", -1.0, {5}), "below zero"),
    "a token of a book": (with_column("token", "x" * 100_000, {0}), "longer than any token"),
    "points without end": (with_column("query_norm", np.inf, {5}), "query_norm"),
    "sentences out of order": (with_column("sentence", 2), "order"),
    "a sentence of minus one": (with_column("sentence", -1), "order"),
    "positions out of order": (with_column("position", 7), "order"),
    "another layer": (with_column("layer", 2, {0}), "L1 H1"),
    "heads out of order": (with_column("head", 1, {2}), "L1 H3"),
    "text for a number": (
        lambda t, _: t.set_column(2, "sentence", pa.array(["x"] * len(t))),
        "sentence",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_does_not_fit_its_header_is_refused(name: str, data: bytes) -> None:
    change, message = TABLES[name]
    with pytest.raises(AtlasFileError, match=message):
        opened(forged(data, header_of(data), change))


def test_gaps_are_refused(data: bytes) -> None:

    def holed(table: pa.Table, _: int) -> pa.Table:
        fields = [field.with_nullable(nullable=True) for field in table.schema]
        loose = table.cast(pa.schema(fields))
        at = loose.schema.get_field_index("display")
        gaps = pa.array([None] * len(table), loose.schema.field("display").type)
        return loose.set_column(at, loose.schema.field("display"), gaps)

    with pytest.raises(AtlasFileError, match="display"):
        opened(forged(data, header_of(data), holed))


@pytest.mark.parametrize("name", ["token", "display"])
def test_texts_that_unpack_to_much_are_refused_before_they_do(name: str, data: bytes) -> None:
    large = forged(data, header_of(data), with_column(name, "a" * 40_000_000, {0}))
    with pytest.raises(AtlasFileError, match="more memory than its tokens can"):
        opened(large)


def in_pages(values: int, **options: Any) -> tuple[io.BytesIO, pq.FileMetaData]:
    """A column of zeros, which pack to nearly nothing."""
    buffer = io.BytesIO()
    column = pa.array(np.zeros(values, dtype=np.float32))
    pq.write_table(pa.table({"x": column, "y": column}), buffer, compression="zstd", **options)
    return buffer, pq.read_metadata(buffer)


def test_a_page_is_as_large_as_its_own_header_says() -> None:
    """4 bytes a value, without gaps or a dictionary: the page is the values and nothing else."""
    options = {"use_dictionary": False, "data_page_size": 2**30, "max_rows_per_page": 10**8}
    buffer, metadata = in_pages(1_000_000, **options)
    assert len(buffer.getvalue()) < 10_000
    exact = metadata.row_group(0).column(0).total_uncompressed_size
    check_pages(buffer, metadata, exact)
    with pytest.raises(AtlasFileError, match="4 MB"):
        check_pages(buffer, metadata, 3_999_999)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_all_pages_of_all_columns_are_looked_at(version: str) -> None:
    buffer, metadata = in_pages(
        100_000, data_page_version=version, max_rows_per_page=700, row_group_size=30_000
    )
    check_pages(buffer, metadata, 3_000)
    last = metadata.row_group(3).column(1)
    raw = bytearray(buffer.getvalue())
    raw[last.data_page_offset] = 0  # a header that ends before it begins
    with pytest.raises(AtlasFileError, match="no size"):
        check_pages(io.BytesIO(bytes(raw)), metadata, 3_000)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_texts_written_as_differences_are_refused(version: str) -> None:
    """A long text would be written once, and stand for itself in every row."""
    buffer = io.BytesIO()
    table = pa.table({"x": ["a" * 100_000] * 1000})
    options = {"use_dictionary": False, "column_encoding": {"x": "DELTA_BYTE_ARRAY"}}
    pq.write_table(table, buffer, compression="zstd", data_page_version=version, **options)
    assert len(buffer.getvalue()) < 10_000
    with pytest.raises(AtlasFileError, match="encoding"):
        check_pages(buffer, pq.read_metadata(buffer), 10**9)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"\x15\x00\x15\xfe\xff\xff\xff\x0f\x15\x02\x00", "2,147 MB"),
        (b"\x15\x00\x15\x02\x15\x02\x05\x04\xfe\xff\xff\xff\x0f\x00", "out of order"),
        (b"\x15\x00\x15\x01\x15\x02\x00", "no size"),
        (b"\x15\x00\x15\x02\x15\x02" + b"\x1c" * 1000, "no end"),
        (b"\x15\x00\x15\x02\x15\x02\x1b\xff\xff", "no end"),
        (b"\x15" * 4096, "no end|out of order"),
        (b"\xff" * 50, "no end|out of order"),
    ],
    ids=["2 GB", "a size twice", "negative", "deep", "a map", "endless", "ones"],
)
def test_a_forged_page_header_is_refused(header: bytes, message: str) -> None:
    buffer, metadata = in_pages(100_000)
    column = metadata.row_group(0).column(0)
    at = column.dictionary_page_offset or column.data_page_offset
    raw = bytearray(buffer.getvalue() + bytes(4096))
    raw[at : at + len(header)] = header
    with pytest.raises(AtlasFileError, match=message):
        check_pages(io.BytesIO(bytes(raw)), metadata, 10_000)


def as_format_1(atlas: Atlas) -> bytes:
    """The same atlas as the first format has it: other figures, and products that moved along."""
    data = written(atlas)
    header = header_of(data)
    arrays = header["arrays"]
    pattern = arrays["scaling.c"] | {"bytes": base64.b64encode(b"\0" * 8 * LAYERS * HEADS).decode()}
    pattern.pop("zlib", None)
    for name in [name for name in arrays if name.startswith(("trust", "full", "measured"))]:
        arrays.pop(name)
    for stage in STAGES:
        arrays[f"scaling.{stage}"] = pattern
        for figure in ("correlation", "top1", "top3"):
            arrays[f"trust.{stage}.{figure}"] = pattern
    header.pop("measured")
    return forged(data, header | {"format": 1, "chance": [0.2, 0.5], "trusted_tokens": 5})


def test_a_file_of_the_first_format_opens_without_what_it_measured_differently() -> None:
    atlas = an_atlas()
    found = opened(written(opened(as_format_1(atlas))))  # saved again, too
    assert (found.scaling.c == atlas.scaling.c).all()
    assert (found.points["normalized"] == atlas.points["normalized"]).all()
    assert (found.measured.tokens, found.measured.sentences) == (0, 0)
    figures = [found.measured.top1, found.measured.top3, found.scaling.raw]
    for kept in (found.faithfulness, *found.full.values()):
        figures += [getattr(kept[s], each.name) for s in STAGES for each in fields(kept[s])]
    assert all(np.isnan(each).all() for each in figures)
    assert all(each.shape == (LAYERS, HEADS) for each in figures)
