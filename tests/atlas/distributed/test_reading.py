"""A corpus is read in the same order, whatever it is saved as and however it is spread."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.analysis.corpus import CorpusFileError
from core.atlas.distributed.reading import files_of, read_rows, rows_of_text

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [f"Sentence {number}, it rains." for number in range(3_000)]
LABELS = [f"{number % 7}.50" for number in range(3_000)]
SPLITS = ((0, 2_900), (2_900, 2_950), (2_950, 2_999), (2_999, 3_000))


def write(path: Path, texts: list[str], labels: list[str]) -> None:
    rows = list(zip(texts, labels, strict=True))
    if path.suffix == ".txt":
        path.write_bytes("\r\n\r\n".join(texts).encode("utf-8-sig"))
    elif path.suffix == ".jsonl":
        lines = (json.dumps({"text": text, "mood": label}) for text, label in rows)
        path.write_text("\n".join(lines), "utf-8")
    elif path.suffix == ".parquet":
        pq.write_table(pa.table({"mood": labels, "text": texts}), path, row_group_size=100)
    else:
        comma = "\t" if path.suffix == ".tsv" else ","
        lines = (f'"{text}"{comma}{label}' for text, label in rows)
        path.write_text("\n".join([f"text{comma}mood", *lines]), "utf-8")


@pytest.mark.parametrize("ending", ["txt", "jsonl", "csv", "tsv", "parquet"])
def test_rows_come_by_file_and_line(ending: str, tmp_path: Path) -> None:
    for index, (start, end) in enumerate(SPLITS):
        write(tmp_path / f"{index}.{ending}", TEXTS[start:end], LABELS[start:end])
    labelled = ending != "txt"
    rows = list(read_rows(files_of(str(tmp_path)), "text", "mood" if labelled else None))
    assert [row.text for row in rows] == TEXTS
    assert [row.label for row in rows] == (LABELS if labelled else ["—"] * len(TEXTS))


def test_a_file_that_is_no_text_is_named_and_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("It rains.")
    (tmp_path / "worse.txt").write_bytes(b"secret \xff\xfe words")
    with pytest.raises(CorpusFileError, match=r"^worse\.txt cannot be read") as caught:
        list(read_rows(files_of(str(tmp_path))))
    assert "secret" not in str(caught.value)


def test_a_line_ends_where_a_line_ends_and_nowhere_else() -> None:
    text = "one\u2028still one\ntwo\rthree\r\n\x0cfour"
    assert [row for row, _ in rows_of_text(StringIO(text, newline=None), "txt", "text", None)] == [
        "one\u2028still one\n",
        "two\n",
        "three\n",
        "\x0cfour",
    ]


def test_json_lines_that_have_no_text_give_none() -> None:
    lines = [
        '"It rains."',
        '{"text": null}',
        '{"other": 1}',
        "[1, 2]",
        "{broken",
        "7",
        '{"text": 7.50}',
    ]
    rows = list(rows_of_text(StringIO("\n".join(lines)), "jsonl", "text", "mood"))
    assert rows == [("It rains.", ""), *[("", "")] * 5, ("7.50", "")]


def test_half_of_a_character_cannot_get_into_an_atlas() -> None:
    assert list(
        rows_of_text(StringIO(r'{"text": "a\ud800b \ud83d\ude00"}'), "jsonl", "text", None)
    ) == [("a\N{REPLACEMENT CHARACTER}b \N{GRINNING FACE}", "")]


def test_a_cell_may_have_line_ends_in_it() -> None:
    text = 'mood,text\ngood,"It rains,\nand pours."\nbad,No.\n'
    assert list(rows_of_text(StringIO(text, newline=None), "csv", "text", "mood")) == [
        ("It rains,\nand pours.", "good"),
        ("No.", "bad"),
    ]


def test_a_folder_is_read_through_and_other_files_are_left(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    for name in ("b.txt", "inside/a.txt", "README.md", "a.txt"):
        (tmp_path / name).write_text("It rains.")
    names = [path.removeprefix(f"{tmp_path}/") for path in files_of(str(tmp_path)).paths]
    assert names == ["a.txt", "b.txt", "inside/a.txt"]


def test_a_corpus_is_of_one_kind_and_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusFileError, match="there is no corpus"):
        files_of(str(tmp_path))
    for name in ("a.txt", "b.jsonl"):
        (tmp_path / name).write_text('"It rains."')
    with pytest.raises(CorpusFileError, match=r"several kinds \(jsonl, txt\)"):
        files_of(str(tmp_path))
    (tmp_path / "words.doc").write_text("It rains.")
    with pytest.raises(CorpusFileError, match="there is no corpus"):
        files_of(str(tmp_path / "words.doc"))
    with pytest.raises(CorpusFileError, match="cannot be read"):
        files_of("nowhere://bucket/a.txt")
