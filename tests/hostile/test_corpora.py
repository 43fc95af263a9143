"""Files and pasted texts that are as large, or as odd, as a stranger may bring them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from core.atlas import build_atlas, search_tokens
from core.atlas.source import MAX_QUERY
from core.corpus.decoding import CorpusFileError
from core.corpus.reading import Texts, choose_columns, read_lines, read_table
from core.corpus.rows import CorpusTable
from core.corpus.sample import sample_sentences
from core.model import choose_texts, estimate_texts, trace_by_length, trace_text
from tests.atlas.files import read_words, trace_of
from tests.hostile import little_memory
from tests.model.bundled import loaded

MEGABYTE = 2**20
FILE = 19 * MEGABYTE  # the server takes 20
PASTED = 5 * MEGABYTE
WORDS = b"word and "
BUDGET, MAX_TOKENS = 5_000, 1_024


@pytest.fixture
def _little_memory() -> Iterator[None]:
    """Beside what a server has: the model, a first run of it, and all that decodes."""
    trace_text(loaded("bundled/minilm"), "word and " * 400)
    read_table("Grüße an alle".encode("latin-1"), "a.txt")
    with little_memory():
        yield


pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_little_memory")]


def test_all_that_is_one_text() -> None:
    """A line in an encoding to be guessed, one word, a pair, pasted."""
    model, word = loaded("bundled/minilm"), "λέξη και ".encode("cp1253")
    assert len(read_and_run(word * (FILE // len(word)), "line.txt").cells[0]) == 1
    letters = read_table(b"a" * FILE, "word.txt").cells[0][0]
    assert trace_text(model, letters).cut_characters > 0.99 * FILE
    text = filled(WORDS).decode()
    assert len(trace_text(model, text, text).tokens) == model.max_tokens
    run(read_lines(filled(WORDS, PASTED).decode()))


def test_texts_of_a_character_and_of_no_token_which_count_against_the_budget_too() -> None:
    run(read_lines("a\n" * (PASTED // 2)))
    table = read_table(filled("\u200b\n".encode(), PASTED), "nothing.txt")
    assert len(table.cells[0]) > BUDGET
    choose_and_count(choose_columns(table, table.text_column))


def test_tables_of_one_giant_cell_of_an_open_quote_and_of_numbers_without_end() -> None:
    assert_refused(b'text,label\n"' + filled(WORDS) + b'",x\n', "cell.csv")
    read_and_run(b'text,label\n"' + filled(b"word and,x\n"), "quote.csv")
    tiny = b"text" + b",a" * 49 + b"\n" + filled(b"11," * 49 + b"22\n")
    assert "more than 1,500,000 cells" in " ".join(read_and_run(tiny, "n.csv").notes)


def nested(depth: int) -> bytes:
    return b'{"a":' + b"[" * depth + b"]" * depth + b"}\n"


def test_json_of_tiny_objects_giant_strings_and_lists_and_brackets_in_brackets() -> None:
    """Smaller ones are read."""
    read_and_run(filled(b'{"a":11,"b":22,"c":33,"d":44}\n'), "n.jsonl")
    assert_refused(b'{"text": "' + filled(WORDS) + b'"}\n', "string.jsonl")
    read_and_run(b'{"text": "' + filled(WORDS, 9 * MEGABYTE) + b'"}\n', "string.jsonl")
    assert_refused(b'{"text":[' + b"1," * (5 * MEGABYTE) + b"1]}\n", "list.jsonl")
    read_and_run(b'{"text":[' + b"1," * (2 * MEGABYTE - 10) + b"1]}\n", "list.jsonl")
    for deep in (nested(FILE // 2 - 10), filled(nested(5000)), nested(6 * MEGABYTE - 10)):
        assert_refused(deep, "deep.jsonl")


def test_nobody_waits_for_a_large_file() -> None:
    """Another thread waits for little of this process's own work at once, while 19 MB are read."""
    pauses: list[float] = []
    over = threading.Event()

    def watch() -> None:
        last = time.process_time()
        while not over.wait(0.005):
            now = time.process_time()
            pauses.append(now - last)
            last = now

    watcher = threading.Thread(target=watch)
    watcher.start()
    read_and_run(filled(WORDS), "line.txt")
    tiny = b"a\n" * (FILE // 2)  # ten million lines, of which half a million is read
    assert "only the first 500,000" in read_and_run(tiny, "tiny.txt").notes[0]
    over.set()
    watcher.join()
    assert max(pauses) < 2.0, max(pauses)  # 0.5 s
    assert len(pauses) > 20


def test_phrases_that_almost_match_over_and_over_in_an_atlas_of_the_sample() -> None:
    # Thirty characters a token: the longest texts
    texts = [*sample_sentences(), "wordwordwordwordwordwordword " * 1_000]
    shape: dict[str, Any] = {"layers": 1, "heads": 1, "kv_heads": 1, "dim": 1}
    atlas = build_atlas([trace_of(read_words(text), 0, **shape) for text in texts], texts)
    search_tokens(atlas, "she", "phrase")
    with little_memory(60):
        for query in ("word " * 40, "w" * MAX_QUERY, "a " * 99, "((" * 99, "\\" * 99, "(a+)+$"):
            search_tokens(atlas, query[:MAX_QUERY], "phrase")


def filled(chunk: bytes, size: int = FILE) -> bytes:
    """The piece again and again, to at most so many bytes."""
    return chunk * (size // len(chunk))


def assert_refused(data: bytes, name: str) -> None:
    with pytest.raises(CorpusFileError) as refused:
        read_table(data, name)
    assert len(str(refused.value)) < 300
    del refused  # it holds this frame, and with it the file, until Python searches for garbage


def read_and_run(data: bytes, name: str) -> CorpusTable:
    table = read_table(data, name)
    run(choose_columns(table, table.text_column))
    return table


def run(texts: Texts) -> None:
    """As the page does it, but for the first few texts only."""
    chosen = [texts.texts[place] for place in choose_and_count(texts)[:2]]
    assert list(trace_by_length(loaded("bundled/minilm"), chosen, max_tokens=MAX_TOKENS))


def choose_and_count(texts: Texts) -> tuple[int, ...]:
    """The places of the texts that the budget is enough for."""
    model = loaded("bundled/minilm")
    assert 0 < estimate_texts(model, texts.texts, BUDGET, MAX_TOKENS).tokens <= BUDGET
    steps: list[int] = []
    chosen = choose_texts(model, texts.texts, BUDGET, MAX_TOKENS, lambda *at: steps.append(at[0]))
    assert steps
    assert 0 < chosen.tokens <= BUDGET
    assert 0 < len(chosen.places) <= BUDGET
    return tuple(chosen.places)
