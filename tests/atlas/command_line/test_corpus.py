"""Corpora of any size on the command line: the same sentences as a page reads, some at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.analysis.corpus import CorpusFileError, choose, read_table
from core.atlas.command_line import corpus as module
from core.atlas.command_line.corpus import open_corpus
from core.atlas.command_line.plan import plan_corpus
from core.model import trace_text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import ModelOf

LINES = [f"Line {n} has {'many ' * (n % 7)}words, naïve ones too." for n in range(300)]
PORTION = 1000


@pytest.fixture
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of some kilobytes counts as large, and is read by the kilobyte."""
    monkeypatch.setattr(module, "MAX_BYTES", 4 * PORTION)
    monkeypatch.setattr(module, "_PORTION", PORTION)


def texts_of(path: Path, text: str | None = None, label: str | None = None) -> list[str]:
    return [each.text for each in open_corpus(str(path), text, label).sentences()]


@pytest.mark.usefixtures("_small_limits")
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


@pytest.mark.usefixtures("_small_limits")
def test_rows_of_a_large_jsonl_keep_their_labels(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"id": n, "review": text, "stars": n % 5} for n, text in enumerate(LINES)]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    corpus = open_corpus(str(path), None, "stars")
    assert list(corpus.sentences()) == [(text, str(n % 5)) for n, text in enumerate(LINES)]
    assert texts_of(path, "id") == [str(n) for n in range(len(LINES))]
    with pytest.raises(CorpusFileError, match="no column called “mood”"):
        texts_of(path, "mood")


@pytest.mark.usefixtures("_small_limits")
def test_what_cannot_be_read_in_portions_is_refused(tmp_path: Path) -> None:
    table, line = tmp_path / "table.csv", tmp_path / "line.txt"
    table.write_text("text\n" + "\n".join(LINES))
    line.write_text("x" * 20 * PORTION)
    with pytest.raises(CorpusFileError, match=r"table.csv has .* read as .parquet, or as .jsonl"):
        open_corpus(str(table), None, None)
    with pytest.raises(CorpusFileError, match="a line of more than"):
        texts_of(line)


@pytest.mark.usefixtures("_small_limits")
def test_notes_on_a_large_file_are_few_and_a_blank_one_has_no_sentence(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("\n\n".join(LINES), "utf-8")
    said: list[str] = []
    assert len(list(open_corpus(str(path), None, None).sentences(said.append))) == len(LINES)
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
    list(open_corpus(str(tmp_path), None, None).sentences(said.append))
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


def test_a_plan_counts_the_tokens_that_are_run_and_reads_the_same_rows_again(
    tmp_path: Path, model_of: ModelOf
) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(LINES), "utf-8")
    model, corpus = model_of("bert"), open_corpus(str(path), None, None)
    whole = plan_corpus(model, corpus, None, print)
    lengths = [len(trace_text(model, text).tokens) for text in LINES[:20]]
    assert whole.lengths[:20].tolist() == lengths
    assert whole.corpus_size == whole.numbers.size == len(LINES)
    assert not whole.labelled
    rows = list(whole.rows(corpus))
    assert [(row.number, row.text) for row in rows] == list(enumerate(LINES))
    assert [row.tokens for row in rows] == whole.lengths.tolist()


def test_a_budget_draws_sentences_that_a_larger_one_draws_too(
    tmp_path: Path, model_of: ModelOf
) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(LINES), "utf-8")
    model, corpus = model_of("bert"), open_corpus(str(path), None, None)
    small, large = (plan_corpus(model, corpus, budget, print) for budget in (200, 1000))
    assert 100 < small.tokens <= 200
    assert 900 < large.tokens <= 1000
    assert set(small.numbers.tolist()) < set(large.numbers.tolist())
    assert small.corpus_size == len(LINES)
    assert small.digest == large.digest
    rows = list(small.rows(corpus))
    assert [row.text for row in rows] == [LINES[number] for number in small.numbers]
    assert np.ptp(small.numbers) > 100  # from all over the corpus


def test_repeated_texts_are_told_and_kept(tmp_path: Path, model_of: ModelOf) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("It rains.\nIt pours.\nIt rains.\nIt rains.\n")
    said: list[str] = []
    plan = plan_corpus(model_of("bert"), open_corpus(str(path), None, None), None, said.append)
    assert said == ["2 texts repeat earlier ones, and are kept."]
    assert plan.corpus_size == 4


def test_another_label_or_text_is_another_digest(tmp_path: Path, model_of: ModelOf) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "It rains.", "a": 1, "b": 2}\n')
    digests = [
        plan_corpus(model_of("bert"), open_corpus(str(path), "text", label), None, print).digest
        for label in (None, "a", "b", "a")
    ]
    assert len(set(digests)) == 3
    assert digests[1] == digests[3]
