"""Corpora that people bring: odd encodings, odd tables, files of any size, and what is none."""

from __future__ import annotations

import codecs
import gzip
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpus import files as module
from core.corpus.decoding import MAX_BYTES, CorpusFileError, decode
from core.corpus.files import open_corpus
from core.corpus.reading import Texts, choose_columns, read_lines, read_table
from core.corpus.rows import MAX_COLUMNS, MAX_ROWS, CorpusTable
from core.corpus.sample import sample_corpus

UMLAUTS = "Die Straße ist für Fußgänger gesperrt.\nÜber München hängt Nebel."


def rows_of(table: CorpusTable) -> list[tuple[str, ...]]:
    return list(zip(*table.cells, strict=True))


def texts_of(data: bytes, name: str = "corpus.txt") -> tuple[str, ...]:
    table = read_table(data, name)
    return choose_columns(table, table.text_column).texts


def refusal(data: bytes, name: str) -> str:
    with pytest.raises(CorpusFileError) as caught:
        read_table(data, name)
    message = str(caught.value)
    assert len(message) < 300
    assert "\n" not in message
    return message


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    [UMLAUTS, "今天天气很好。\nשלום עולם\nمرحبا بالعالم", "A rocket 🚀 and a family 👩‍👩‍👧\nplain"],
)
def test_utf8_and_utf16_with_a_mark_are_read_without_a_guess(codec: str, text: str) -> None:
    mark = codecs.BOM_UTF16_BE if codec == "utf-16-be" else b""
    table = read_table(mark + text.encode(codec), "a.txt")
    assert table.cells == (tuple(text.split("\n")),)
    assert table.notes == ()


@pytest.mark.parametrize(
    ("codec", "named", "text"),
    [
        ("cp1252", "Windows-1252", "Grüße"),
        ("cp1252", "Windows-1252", "“It’s fine,” she said — and left. 5 € or £4…"),
        ("cp1251", "Windows-1251", "Вчера мы ходили в магазин за хлебом."),
        ("cp1250", "Windows-1250", "Wczoraj poszliśmy do sklepu, żeby kupić pieczywo."),
        ("cp1253", "Windows-1253", "Τα παιδιά παίζουν στον κήπο."),
        ("shift_jis", "Shift JIS", "今日は良い天気です。\n子供たちは庭で遊んでいます。"),
        ("gb18030", "GB 18030", "今天天气很好。\n孩子们在花园里玩耍。"),
    ],
)
def test_older_encodings_are_guessed_and_the_guess_is_told(
    codec: str, named: str, text: str
) -> None:
    table = read_table(text.encode(codec), "a.txt")
    assert "\n".join(table.cells[0]) == text
    assert [f"{named} is a guess" in note and "UTF-8" in note for note in table.notes] == [True]


def test_a_broken_letter_among_many_of_utf8_is_no_other_encoding() -> None:
    """Though what stands before it in a large file was one."""
    data = UMLAUTS.encode() + b"\xfc"
    for codec in ("", "cp1252"):
        found = decode(data, "a.txt", codec)
        assert found.text == f"{UMLAUTS}\ufffd"
        assert found.notes == ("1 character could not be read and shows as �.",)


def test_marks_inside_a_text_and_few_nuls_are_left_out() -> None:
    table = read_table(f"one\0 {'two ' * 200}\n\ufeffthree four".encode(), "a.txt")
    assert table.cells[0][1] == "three four"
    assert table.cells[0][0].startswith("one two two")
    assert table.notes == ("1 NUL character was left out.",)


NOISE = np.random.default_rng(3).bytes(5000)
NO_TEXTS = {
    "png": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "gzip": gzip.compress(b"text " * 50),
    "pdf": b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\n",
    "pickle": pickle.dumps({"text": ["one", "two"], "n": 3}),
    "random": NOISE,
    "bom": codecs.BOM_UTF16_LE + NOISE,
    "utf16": "without a mark".encode("utf-16-le"),
    "utf32": "with one".encode("utf-32"),
    "nuls": bytes(64),
}


@pytest.mark.parametrize("kind", NO_TEXTS)
@pytest.mark.parametrize("ending", ["txt", "jsonl"])
def test_what_is_no_text_is_refused_with_what_to_save_it_as(kind: str, ending: str) -> None:
    message = refusal(NO_TEXTS[kind], f"mine.{ending}")
    assert message.startswith(f"mine.{ending} cannot be read as text")
    assert "save it as UTF-8" in message


def test_empty_large_and_unknown_files_are_refused_with_what_was_found() -> None:
    assert "is empty" in refusal(b"", "a.txt")
    assert "only blank lines" in refusal(b"\r\n  \n\t\n\n", "a.txt")
    assert "only blank lines" in refusal(b"\n\n", "a.csv")
    assert "34 MB; the limit is 20 MB" in refusal(bytes(34 * 2**20), "a.txt")
    assert "20.1 MB; the limit is 20 MB" in refusal(b"a" * (MAX_BYTES + 1), "a.txt")
    for name in ("thesis.docx", "no_ending"):
        assert ".jsonl" in refusal(b"text", name)
    assert len(refusal(b"", "x" * 9999 + ".txt")) < 200


@pytest.mark.slow
def test_many_lines_are_all_read_and_too_many_are_told() -> None:
    lines = [f"Sentence {i}." for i in range(200_000)]
    assert texts_of("\n".join(lines).encode()) == tuple(lines)
    table = read_table(b"a\n" * MAX_ROWS, "a.txt")
    assert (len(table.cells[0]), table.notes) == (MAX_ROWS, ())
    table = read_table(b"a\n" * (MAX_ROWS + 2), "a.txt")
    assert len(table.cells[0]) == MAX_ROWS
    assert table.notes == (
        "The file has more than 500,000 lines: only the first 500,000 are used.",
    )
    table = read_table(b"x,y\n" + b"1,a\n" * (MAX_ROWS + 1), "a.csv")
    assert len(table.cells[0]) == MAX_ROWS
    assert "more than 500,000 rows" in table.notes[0]


def test_pasted_lines_are_trimmed_and_empty_ones_told() -> None:
    assert read_lines(" one \r\n\r\ntwo\ud800\n \u00a0\n") == Texts(
        ("one", "two�"),
        (),
        (
            "2 empty lines were left out.",
            "1 half of a character (a lone surrogate) was replaced by �.",
        ),
    )
    with pytest.raises(CorpusFileError, match="No text was pasted"):
        read_lines(" \n\n")
    with pytest.raises(CorpusFileError, match="limit is 20 MB"):
        read_lines("ü" * (MAX_BYTES // 2 + 1))


@given(st.binary(max_size=300), st.sampled_from(["txt", "csv", "tsv", "jsonl"]))
def test_any_bytes_are_a_table_or_a_refusal(data: bytes, ending: str) -> None:
    try:
        table = read_table(data, f"a.{ending}")
    except CorpusFileError:
        return
    assert len(set(table.columns)) == len(table.columns) == len(table.cells)
    assert all(table.columns)
    assert {len(column) for column in table.cells} == {len(table.cells[0])}
    assert table.text_column in table.columns
    assert "\0" not in "".join(map("".join, table.cells))
    "".join(map("".join, table.cells)).encode()  # no surrogate is left


def test_ragged_rows_are_filled_or_widened_and_told() -> None:
    table = read_table(b"text,label\none\ntwo,b\n\nthree,c,d,e\n", "a.csv")
    assert table.columns == ("text", "label", "column 3", "column 4")
    assert rows_of(table) == [("one", "", "", ""), ("two", "b", "", ""), ("three", "c", "d", "e")]
    assert [note.split(":")[0] for note in table.notes] == [
        "1 row is shorter than the header",
        "1 row is longer than the header",
    ]


@pytest.mark.parametrize("data", [b"text,label\n", b"text,label", b"text,label\r\n\r\n", b"text"])
def test_a_header_without_rows_is_refused(data: bytes) -> None:
    assert "no row below it" in refusal(data, "a.csv")
    assert "text" in refusal(data, "a.csv")


def test_a_table_that_is_mostly_nothing_is_refused() -> None:
    assert f"limit is {MAX_COLUMNS:,}" in refusal(b"," * 5000 + b"\n1\n", "a.csv")
    wide = ",".join(f"c{i}" for i in range(900)).encode()
    assert "mostly empty" in refusal(wide + b"\n" + b"a\n" * 30_000, "a.csv")


def test_fields_are_columns_and_numbers_stay_as_written() -> None:
    lines = [
        '{"text": "One.", "score": 1.50, "big": 12345678901234567890}',
        '{"text": "Two.\\n2", "meta": {"a": [1, "é"]}, "score": null, "ok": true}',
        '"A bare string."',
    ]
    table = read_table("\n".join(lines).encode(), "a.jsonl")
    assert table.columns == ("text", "score", "big", "meta", "ok")
    assert rows_of(table) == [
        ("One.", "1.50", "12345678901234567890", "", ""),
        ("Two.\n2", "", "", '{"a": [1, "é"]}', "true"),
        ("A bare string.", "", "", "", ""),
    ]
    assert table.notes == ()


def test_bad_lines_are_left_out_and_counted() -> None:
    bad = ["{", "[1, 2]", "3", "NaN", "null", "1" * 5000, "[" * 100_000, '{"a": 1}}']
    table = read_table("\n".join(['{"text": "ok"}', *bad, "", '"fine"']).encode(), "a.jsonl")
    assert table.cells == (("ok", "fine"),)
    assert table.notes == ("8 lines that are not JSON objects or strings were left out.",)
    assert "(it has 8)" in refusal("\n".join(bad).encode(), "a.jsonl")
    assert "No line" in refusal(b'[{"text": "an array"}]', "a.jsonl")
    assert "No line" in refusal(b"{}", "a.jsonl")


def test_lone_surrogates_and_nuls_in_escapes_are_mended() -> None:
    data = b'{"text": "a\\ud800b \\ud83d\\ude00\\u0000", "l\\udc00": "x"}\n{"text": "\\u2028"}'
    table = read_table(data, "a.jsonl")
    assert table.columns == ("text", "l�")
    assert rows_of(table) == [("a�b 😀", "x"), ("\u2028", "")]
    assert table.notes == ("2 halves of characters (lone surrogates) were replaced by �.",)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("id,TEXT,notes", "TEXT"),
        ("id,Content,notes", "Content"),
        ("sentence,text,notes", "text"),
        ("id,b,notes", "notes"),
        ("text,other,notes\n", "notes"),
    ],
)
def test_the_column_of_texts_is_told_by_its_name_else_by_length(header: str, expected: str) -> None:
    row = ",x" if header.endswith("\n") else "1,short"
    table = read_table(f"{header}\n{row},a much longer remark\n".encode(), "a.csv")
    assert table.text_column == expected


def test_topics_of_the_sample_corpus_have_forty_sentences_or_more_of_what_they_are_called() -> None:
    by_topic: dict[str, list[str]] = {}
    for sentence in sample_corpus():
        by_topic.setdefault(str(sentence.label), []).append(sentence.text)
    sizes = [len(texts) for texts in by_topic.values()]
    assert (len(sizes), min(sizes) >= 40, sum(sizes)) == (8, True, 392)
    assert all(text.endswith("?") for text in by_topic["questions"])
    assert sum(bool(re.search(r'["“]', text)) for text in by_topic["quotation"]) >= 40
    assert sum(bool(re.search(r"\d", text)) for text in by_topic["numbers"]) >= 30
    assert sum(text.count(",") >= 2 for text in by_topic["lists"]) >= 30


LINES = [f"Line {n} has {'many ' * (n % 7)}words, naïve ones too." for n in range(300)]
PORTION = 1000


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is read from disk, some kilobytes count as large, and are read by the kilobyte."""
    monkeypatch.setattr(module, "MAX_BYTES", 4 * PORTION)
    monkeypatch.setattr(module, "_PORTION", PORTION)


def sentences_of(path: Path, text: str | None = None, said: list[str] | None = None) -> list[str]:
    """And what is `said` of them."""
    corpus = open_corpus(str(path), text, None)
    return [each.text for each in corpus.sentences((said if said is not None else []).append)]


@pytest.mark.parametrize(
    ("codec", "end"), [("utf-8", "\n"), ("utf-8", "\r\n"), ("utf-16", "\n"), ("cp1252", "\n")]
)
def test_a_large_file_of_lines_is_read_as_a_small_one(tmp_path: Path, codec: str, end: str) -> None:
    """Portions cut no line and no letter in two; blank lines are left out.

    An encoding is guessed once, where it is first needed: one stretch alone says little.
    """
    path, said = tmp_path / "lines.txt", list[str]()
    lines = [*LINES[:200:7], "", "  ", *["plain"] * 700, "“naïve” – ü"]
    path.write_bytes((end.join(lines) + end * (codec == "utf-8")).encode(codec))
    assert path.stat().st_size > 4 * PORTION
    assert sentences_of(path, said=said) == [line for line in lines if line.strip()]
    assert sum("guess" in note for note in said) == (codec == "cp1252")


def test_rows_of_a_large_jsonl_keep_their_labels(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"id": n, "review": text, "stars": n % 5} for n, text in enumerate(LINES)]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    corpus = open_corpus(str(path), None, "stars")
    assert list(corpus.sentences()) == [(text, str(n % 5)) for n, text in enumerate(LINES)]
    assert sentences_of(path, "id") == [str(n) for n in range(len(LINES))]
    with pytest.raises(CorpusFileError, match="no column called “mood”"):
        sentences_of(path, "mood")


def test_a_stretch_without_a_row_ends_no_reading(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [json.dumps({"text": text}) for text in LINES]
    path.write_text("\n".join([*rows[:100], *["[1, 2]"] * 600, *rows[100:]]), "utf-8")
    said: list[str] = []
    assert sentences_of(path, said=said) == LINES
    assert sum(int(note.split()[0]) for note in said) == 600
    path.write_text("[1, 2]\n" * 800)
    with pytest.raises(CorpusFileError, match=r"No line of rows.jsonl .* \(it has 800\)"):
        sentences_of(path)


def test_what_cannot_be_read_in_portions_is_refused(tmp_path: Path) -> None:
    table, line, noise = (tmp_path / name for name in ("table.csv", "line.txt", "noise.txt"))
    table.write_text("text\n" + "\n".join(LINES))
    line.write_text("x" * 20 * PORTION)
    with pytest.raises(CorpusFileError, match=r"table.csv has .* read as .parquet, or as .jsonl"):
        open_corpus(str(table), None, None)
    with pytest.raises(CorpusFileError, match="a line of more than"):
        sentences_of(line)
    noise.write_bytes(codecs.BOM_UTF16_LE + NOISE)
    with pytest.raises(CorpusFileError, match=r"noise\.txt cannot be read as text"):
        sentences_of(noise)


def test_notes_on_a_large_file_are_few_and_a_blank_one_has_no_sentence(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("\n\n".join(LINES), "utf-8")
    said: list[str] = []
    assert sentences_of(path, said=said) == LINES
    assert len(said) == 5
    assert all("without text" in note for note in said)
    path.write_text("\n" * 10 * PORTION)
    assert sentences_of(path) == []


def test_a_folder_is_read_by_the_names_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("second\nthird\n")
    (tmp_path / "a.jsonl").write_text('{"text": "first"}\n')
    (tmp_path / "c.csv").write_text("n,sentence\n1,fourth\n")
    (tmp_path / "notes.md").write_text("not read")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "a.txt").write_text("fifth")
    assert sentences_of(tmp_path) == ["first", "second", "third", "fourth", "fifth"]
    said: list[str] = []
    (tmp_path / "b.txt").write_text("second\n\nthird\n")
    sentences_of(tmp_path, said=said)
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
        sentences_of(table, "mood")
    table.write_bytes(b"secret words")
    with pytest.raises(CorpusFileError, match=r"^rows\.parquet cannot be read") as caught:
        sentences_of(table)
    assert "secret" not in str(caught.value)


def test_what_is_no_corpus_is_told(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path, "has no file of texts"),
        (tmp_path / "nowhere.txt", "There is nothing at"),
        ("nowhere://bucket/a.txt", "cannot be read"),
    ):
        with pytest.raises(CorpusFileError, match=message):
            open_corpus(str(path), None, None)
