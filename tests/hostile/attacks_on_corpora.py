"""Files and pasted texts that are as large, or as odd, as a stranger may bring them."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from core.analysis.corpus import CorpusFileError, choose, read_lines, read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.analysis.corpus import Texts
    from core.model import LoadedModel

MEGABYTE = 2**20
FILE = 19 * MEGABYTE  # the server takes 20
PASTED = 5 * MEGABYTE
WORDS = b"word and "
BUDGET, MAX_TOKENS = 5_000, 1_024
_MODEL: list[LoadedModel] = []


def prepare() -> None:
    """What a server has in memory: the model, and a first run of it."""
    from core.model import load, trace_text

    _MODEL[:] = [load("bundled/minilm")]
    trace_text(_MODEL[0], "word and " * 400)
    read_table("Grüße an alle".encode("latin-1"), "a.txt")


def one_long_line_in_greek() -> None:
    """19 MB in one line, in an encoding that has to be guessed: read, estimated, tokenized, run."""
    word = "λέξη και ".encode("cp1253")
    assert len(_read_and_run(word * (FILE // len(word)), "line.txt").texts) == 1


def one_word() -> None:
    """19 MB of one letter: no blank to part it at."""
    from core.model import trace_text

    texts = read_table(b"a" * FILE, "word.txt").cells[0]
    trace = trace_text(_MODEL[0], texts[0])
    assert trace.cut_characters > 0.99 * FILE


def a_pair_of_long_lines() -> None:
    """Both texts of a pair are bounded."""
    from core.model import trace_text

    text = (WORDS * (FILE // len(WORDS))).decode()
    trace = trace_text(_MODEL[0], text, text)
    assert len(trace.tokens) == _MODEL[0].max_tokens


def pasted() -> None:
    """5 MB in one line."""
    _run(read_lines((WORDS * (PASTED // len(WORDS))).decode()))


def pasted_tiny_lines() -> None:
    """5 MB of lines with a character each."""
    _run(read_lines("a\n" * (PASTED // 2)))


def lines_without_a_token() -> None:
    """A text of nothing still counts against the budget."""
    chosen = _read_and_run("\u200b\n".encode() * (PASTED // 4), "nothing.txt", run=False)
    assert len(chosen.texts) > BUDGET


def one_cell() -> None:
    """A CSV of one giant cell."""
    _refused(b'text,label\n"' + WORDS * (FILE // len(WORDS)) + b'",x\n', "cell.csv")


def a_quote_that_is_never_closed() -> None:
    """What follows is not one cell."""
    data = b'text,label\n"' + b"word and,x\n" * (FILE // 11)
    _read_and_run(data, "quote.csv")


def tiny_cells() -> None:
    """A CSV that is all numbers of two digits."""
    table = read_table(
        b"text" + b",a" * 49 + b"\n" + (b"11," * 49 + b"22\n") * (FILE // 150), "n.csv"
    )
    assert "more than 1,500,000 cells" in " ".join(table.notes)
    _run(choose(table, table.text_column))


def tiny_json() -> None:
    """As many objects as there is room for."""
    _read_and_run(b'{"a":11,"b":22,"c":33,"d":44}\n' * (FILE // 30), "n.jsonl")


def one_json_string() -> None:
    """A JSON string of 19 MB, and one of 9 MB, which is read."""
    _refused(b'{"text": "' + WORDS * (FILE // len(WORDS)) + b'"}\n', "string.jsonl")
    _read_and_run(b'{"text": "' + WORDS * (MEGABYTE) + b'"}\n', "string.jsonl")


def one_json_list() -> None:
    """A list of millions of numbers in one line, and a list that is small enough to be read."""
    _refused(b'{"text":[' + b"1," * (5 * MEGABYTE) + b"1]}\n", "list.jsonl")
    _read_and_run(b'{"text":[' + b"1," * (2 * MEGABYTE - 10) + b"1]}\n", "list.jsonl")


def deep_nesting() -> None:
    """Brackets in brackets: a line of nothing else, and lines that are deep."""
    half = FILE // 2 - 10
    _refused(b'{"a":' + b"[" * half + b"]" * half + b"}\n", "deep.jsonl")
    _refused((b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}\n") * (FILE // 10_010), "deep.jsonl")
    half = 6 * MEGABYTE - 10
    _refused(b'{"a":' + b"[" * half + b"]" * half + b"}\n", "deep.jsonl")


def nobody_waits_for_a_large_file() -> None:
    """Another thread is never kept waiting for long while 19 MB are read."""
    pauses: list[float] = []
    over = threading.Event()

    def watch() -> None:
        last = time.perf_counter()
        while not over.wait(0.005):
            now = time.perf_counter()
            pauses.append(now - last)
            last = now

    watcher = threading.Thread(target=watch)
    watcher.start()
    _read_and_run(WORDS * (FILE // len(WORDS)), "line.txt")
    tiny = b"a\n" * (FILE // 2)  # ten million lines, of which half a million is read
    _read_and_run(tiny, "tiny.txt")
    assert "only the first 500,000" in read_table(tiny, "tiny.txt").notes[0]
    over.set()
    watcher.join()
    assert max(pauses) < 5.0, max(pauses)  # 0.5 s on two processors of one's own; CI has less
    assert len(pauses) > 20


def _refused(data: bytes, name: str) -> None:
    with pytest.raises(CorpusFileError) as refused:
        read_table(data, name)
    assert len(str(refused.value)) < 300


def _read_and_run(data: bytes, name: str, *, run: bool = True) -> Texts:
    table = read_table(data, name)
    texts = choose(table, table.text_column)
    _run(texts, run=run)
    return texts


def _run(texts: Texts, *, run: bool = True) -> None:
    """As the page does it, but for the first few texts only."""
    from core.model import choose_texts, estimate_texts, trace_by_length

    model = _MODEL[0]
    estimate = estimate_texts(model, texts.texts, BUDGET, MAX_TOKENS)
    assert 0 < estimate.tokens <= BUDGET
    steps: list[int] = []
    chosen = choose_texts(model, texts.texts, BUDGET, MAX_TOKENS, lambda *at: steps.append(at[0]))
    assert steps
    assert 0 < chosen.tokens <= BUDGET
    assert len(chosen.places) <= BUDGET
    places = chosen.places[:8]
    traces: Callable[[], object] = lambda: list(
        trace_by_length(model, [texts.texts[place] for place in places], max_tokens=MAX_TOKENS)
    )
    if run:
        assert traces()


ATTACKS = (
    one_long_line_in_greek,
    one_word,
    a_pair_of_long_lines,
    pasted,
    pasted_tiny_lines,
    lines_without_a_token,
    one_cell,
    a_quote_that_is_never_closed,
    tiny_cells,
    tiny_json,
    one_json_string,
    one_json_list,
    deep_nesting,
    nobody_waits_for_a_large_file,
)
