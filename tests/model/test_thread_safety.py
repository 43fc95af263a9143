"""Pages of several people run one model at once; nobody may see another's text or vectors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, TypeAlias

import pytest

from core.model import load, trace_corpus, trace_text
from core.model.trace import Trace
from tests.model.families import PAIR, SENTENCES
from tests.model.test_corpora import assert_same

if TYPE_CHECKING:
    from tests.conftest import FolderOf, ModelOf

THREADS = 8
ROUNDS = 12
LONG = "The cat said that it was not money, " * 12  # is cut; its neighbours must not be

Work: TypeAlias = Callable[[], list[Trace]]


@pytest.fixture(autouse=True)
def _threads_take_turns_often() -> Iterator[None]:
    """Switch threads a thousand times as often as usual, so that races show."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 1000)
    yield
    sys.setswitchinterval(usual)


def assert_threads_do_not_disturb(works: list[Work]) -> None:
    """Every result in eight threads, each at work many times, is the one the work gives alone."""
    alone = [work() for work in works]
    begin = Barrier(THREADS)

    def run(thread: int) -> None:
        begin.wait()
        for _ in range(ROUNDS):
            traces = works[thread % len(works)]()
            for actual, expected in zip(traces, alone[thread % len(works)], strict=True):
                assert_same(actual, expected)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(run, range(THREADS)))


@pytest.mark.parametrize("name", ["bert", "albert", "gpt2 padded left"])
def test_short_long_paired_and_padded_texts_do_not_disturb_each_other(
    name: str, model_of: ModelOf
) -> None:
    """A fast tokenizer keeps its padding and truncation in itself, and threads share it."""
    model = model_of(name)
    assert_threads_do_not_disturb(
        [
            lambda: [trace_text(model, SENTENCES[2])],
            lambda: [trace_text(model, LONG)],
            lambda: [trace_text(model, *PAIR)],
            lambda: list(trace_corpus(model, list(SENTENCES), batch_size=3)),
        ]
    )


def test_networks_that_are_watched_and_others_do_not_disturb_each_other(model_of: ModelOf) -> None:
    """What one thread multiplies is none of another thread's attention."""
    assert_threads_do_not_disturb(
        [
            lambda name=name: [trace_text(model_of(name), SENTENCES[1])]  # type: ignore[misc]
            for name in ("bloom", "deberta-v2", "bert", "gpt_oss")
        ]
    )


def test_a_model_may_be_loaded_while_another_is_traced(
    model_of: ModelOf, folder_of: FolderOf
) -> None:
    bert = model_of("bert")
    assert_threads_do_not_disturb(
        [
            lambda: [trace_text(bert, SENTENCES[1])],
            lambda: [trace_text(bert, SENTENCES[3])],
            lambda: [trace_text(bert, SENTENCES[4])],
            lambda: [trace_text(load(str(folder_of("gpt2"))), SENTENCES[1])],
        ]
    )
