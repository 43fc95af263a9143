"""Files and pasted texts that are as large, or as odd, as a stranger may bring them."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from core.corpus.decoding import CorpusFileError
from core.corpus.reading import choose, read_lines, read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.corpus.reading import Texts
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


def long_texts() -> None:
    """All that is one text: a line in an encoding to be guessed, one word, a pair, pasted."""
    from core.model import trace_text

    word = "λέξη και ".encode("cp1253")
    assert len(_read_and_run(word * (FILE // len(word)), "line.txt").texts) == 1
    letters = read_table(b"a" * FILE, "word.txt").cells[0][0]
    assert trace_text(_MODEL[0], letters).cut_characters > 0.99 * FILE
    text = _filled(WORDS).decode()
    assert len(trace_text(_MODEL[0], text, text).tokens) == _MODEL[0].max_tokens
    _run(read_lines(_filled(WORDS, PASTED).decode()))


def tiny_texts() -> None:
    """Lines of a character each, and lines without a token, which count against the budget too."""
    _run(read_lines("a\n" * (PASTED // 2)))
    nothing = _filled("\u200b\n".encode(), PASTED)
    assert len(_read_and_run(nothing, "nothing.txt", run=False).texts) > BUDGET


def tables() -> None:
    """One giant cell, a quote that is never closed, and numbers of two digits without end."""
    _refused(b'text,label\n"' + _filled(WORDS) + b'",x\n', "cell.csv")
    _read_and_run(b'text,label\n"' + _filled(b"word and,x\n"), "quote.csv")
    tiny = b"text" + b",a" * 49 + b"\n" + _filled(b"11," * 49 + b"22\n")
    table = read_table(tiny, "n.csv")
    assert "more than 1,500,000 cells" in " ".join(table.notes)
    _run(choose(table, table.text_column))


def json_lines() -> None:
    """Tiny objects, giant strings and lists, brackets in brackets; smaller ones are read."""
    _read_and_run(_filled(b'{"a":11,"b":22,"c":33,"d":44}\n'), "n.jsonl")
    _refused(b'{"text": "' + _filled(WORDS) + b'"}\n', "string.jsonl")
    _read_and_run(b'{"text": "' + _filled(WORDS, 9 * MEGABYTE) + b'"}\n', "string.jsonl")
    _refused(b'{"text":[' + b"1," * (5 * MEGABYTE) + b"1]}\n", "list.jsonl")
    _read_and_run(b'{"text":[' + b"1," * (2 * MEGABYTE - 10) + b"1]}\n", "list.jsonl")
    _refused(_nested(FILE // 2 - 10), "deep.jsonl")
    _refused(_filled(_nested(5000)), "deep.jsonl")
    _refused(_nested(6 * MEGABYTE - 10), "deep.jsonl")


def nobody_waits_for_a_large_file() -> None:
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
    _read_and_run(_filled(WORDS), "line.txt")
    tiny = b"a\n" * (FILE // 2)  # ten million lines, of which half a million is read
    _read_and_run(tiny, "tiny.txt")
    assert "only the first 500,000" in read_table(tiny, "tiny.txt").notes[0]
    over.set()
    watcher.join()
    assert max(pauses) < 2.0, max(pauses)  # 0.5 s
    assert len(pauses) > 20


def _filled(chunk: bytes, size: int = FILE) -> bytes:
    """The piece again and again, to at most so many bytes."""
    return chunk * (size // len(chunk))


def _nested(depth: int) -> bytes:
    return b'{"a":' + b"[" * depth + b"]" * depth + b"}\n"


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
    places = chosen.places[:2]
    traces: Callable[[], object] = lambda: list(
        trace_by_length(model, [texts.texts[place] for place in places], max_tokens=MAX_TOKENS)
    )
    if run:
        assert traces()


ATTACKS = (long_texts, tiny_texts, tables, json_lines, nobody_waits_for_a_large_file)
