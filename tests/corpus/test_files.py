"""Corpora of any size in files: the same sentences as a page reads, some at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.corpus import files as module
from core.corpus.decoding import CorpusFileError
from core.corpus.files import open_corpus
from core.corpus.reading import choose, read_table

if TYPE_CHECKING:
    from pathlib import Path

LINES = [f"Line {n} has {'many ' * (n % 7)}words, naïve ones too." for n in range(300)]
PORTION = 1000


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of some kilobytes counts as large, and is read by the kilobyte."""
    monkeypatch.setattr(module, "MAX_BYTES", 4 * PORTION)
    monkeypatch.setattr(module, "_PORTION", PORTION)


def texts_of(path: Path, text: str | None = None, said: list[str] | None = None) -> list[str]:
    """And what is `said` of them."""
    corpus = open_corpus(str(path), text, None)
    return [each.text for each in corpus.sentences((said if said is not None else []).append)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "the end"])
def test_a_large_file_of_lines_is_read_as_a_small_one(tmp_path: Path, end: str, last: str) -> None:
    """Portions cut no line and no letter in two; blank lines are left out."""
    path = tmp_path / "lines.txt"
    data = (end.join([*LINES[:150], "", "  ", *LINES[150:], last])).encode()
    path.write_bytes(data)
    expected = choose(read_table(data, path.name), "text").texts
    assert len(data) > 4 * PORTION
    assert texts_of(path) == list(expected)


def test_rows_of_a_large_jsonl_keep_their_labels(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"id": n, "review": text, "stars": n % 5} for n, text in enumerate(LINES)]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    corpus = open_corpus(str(path), None, "stars")
    assert list(corpus.sentences()) == [(text, str(n % 5)) for n, text in enumerate(LINES)]
    assert texts_of(path, "id") == [str(n) for n in range(len(LINES))]
    with pytest.raises(CorpusFileError, match="no column called “mood”"):
        texts_of(path, "mood")


@pytest.mark.parametrize("codec", ["utf-16", "cp1252"])
def test_a_large_file_of_another_encoding_is_read_as_a_small_one(
    tmp_path: Path, codec: str
) -> None:
    """An encoding is guessed once, where it is first needed: one stretch alone says little."""
    path, lines = tmp_path / "lines.txt", [*LINES[:200:7], *["plain"] * 700, "“naïve” – ü"]
    path.write_bytes("\n".join(lines).encode(codec))
    said: list[str] = []
    assert path.stat().st_size > 4 * PORTION
    assert texts_of(path, said=said) == lines
    assert [note for note in said if "guess" in note] == said[: codec == "cp1252"]


def test_a_stretch_without_a_row_ends_no_reading(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [json.dumps({"text": text}) for text in LINES]
    path.write_text("\n".join([*rows[:100], *["[1, 2]"] * 600, *rows[100:]]), "utf-8")
    said: list[str] = []
    assert texts_of(path, said=said) == LINES
    assert sum(int(note.split()[0]) for note in said) == 600
    path.write_text("[1, 2]\n" * 800)
    with pytest.raises(CorpusFileError, match=r"No line of rows.jsonl .* \(it has 800\)"):
        texts_of(path)


def test_what_cannot_be_read_in_portions_is_refused(tmp_path: Path) -> None:
    table, line = tmp_path / "table.csv", tmp_path / "line.txt"
    table.write_text("text\n" + "\n".join(LINES))
    line.write_text("x" * 20 * PORTION)
    with pytest.raises(CorpusFileError, match=r"table.csv has .* read as .parquet, or as .jsonl"):
        open_corpus(str(table), None, None)
    with pytest.raises(CorpusFileError, match="a line of more than"):
        texts_of(line)


def test_notes_on_a_large_file_are_few_and_a_blank_one_has_no_sentence(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("\n\n".join(LINES), "utf-8")
    said: list[str] = []
    assert texts_of(path, said=said) == LINES
    assert len(said) == 5
    assert all("without text" in note for note in said)
    path.write_text("\n" * 10 * PORTION)
    assert texts_of(path) == []


def test_a_folder_is_read_by_the_names_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("second\nthird\n")
    (tmp_path / "a.jsonl").write_text('{"text": "first"}\n')
    (tmp_path / "c.csv").write_text("n,sentence\n1,fourth\n")
    (tmp_path / "notes.md").write_text("not read")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "a.txt").write_text("fifth")
    assert texts_of(tmp_path) == ["first", "second", "third", "fourth", "fifth"]
    said: list[str] = []
    (tmp_path / "b.txt").write_text("second\n\nthird\n")
    texts_of(tmp_path, said=said)
    assert said == ["b.txt: 1 row without text was left out."]


def test_rows_of_parquet_are_those_of_the_same_table_as_lines(tmp_path: Path) -> None:
    """Values that are no texts are written as JSON has them, and gaps are blank."""
    texts = [*LINES[:150], None, *LINES[150:], "half \0 of it"]
    marks = [None if text is None else n / 2 for n, text in enumerate(texts)]
    table, lines = tmp_path / "rows.parquet", tmp_path / "rows.jsonl"
    pq.write_table(pa.table({"mark": marks, "text": texts}), table, row_group_size=100)
    rows = [{"mark": mark, "text": text} for mark, text in zip(marks, texts, strict=True)]
    lines.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    for columns in ((None, None), ("text", "mark"), ("mark", None)):
        both = [list(open_corpus(str(path), *columns).sentences()) for path in (table, lines)]
        assert both[0] == both[1]
        assert len(both[0]) == len(LINES) + 1
    with pytest.raises(CorpusFileError, match="no column called “mood”"):
        texts_of(table, "mood")
    table.write_bytes(b"secret words")
    with pytest.raises(CorpusFileError, match=r"^rows\.parquet cannot be read") as caught:
        texts_of(table)
    assert "secret" not in str(caught.value)


def test_what_is_no_corpus_is_told(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path, "has no file of texts"),
        (tmp_path / "nowhere.txt", "There is nothing at"),
        ("nowhere://bucket/a.txt", "cannot be read"),
    ):
        with pytest.raises(CorpusFileError, match=message):
            open_corpus(str(path), None, None)
