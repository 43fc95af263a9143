"""Guesses: where they are made, for how much of the text, and what is said of their tokens."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from tokenizers import processors

from core.model import load, trace_text
from core.model.errors import EmptyTextError, UnsupportedModelError
from core.model.language import Guess, masked_words, next_words
from tests.model.families import SENTENCES
from tests.model.language.checkpoints import build_with_head

if TYPE_CHECKING:
    from pathlib import Path

    from core.model import LoadedModel


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = tmp_path_factory.mktemp("bert")
    build_with_head("bert", "BertForMaskedLM", folder, stir=0.3)
    return load(str(folder))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = tmp_path_factory.mktemp("gpt2")
    build_with_head("gpt2", "GPT2LMHeadModel", folder, stir=0.3)
    return load(str(folder))


def _close(ours: tuple[Guess, ...], theirs: tuple[Guess, ...]) -> bool:
    same = [guess.id for guess in ours] == [guess.id for guess in theirs]
    pairs = zip(ours, theirs, strict=True)
    return same and all(abs(a.probability - b.probability) < 1e-5 for a, b in pairs)


def test_a_long_text_is_continued_where_it_is_cut(gpt2: LoadedModel) -> None:
    """The model takes 64 tokens: what follows them changes nothing."""
    long = "The cat sat. " * 40
    trace = trace_text(gpt2, long)
    assert trace.dropped > 0
    cut = long[: trace.tokens[-1].span[1]]
    assert _close(next_words(gpt2, long), next_words(gpt2, cut))
    assert _close(next_words(gpt2, long), next_words(gpt2, long + "Where?"))
    few = next_words(gpt2, long, max_tokens=10)
    assert _close(few, next_words(gpt2, long[: trace.tokens[9].span[1]]))
    assert not _close(few, next_words(gpt2, long))


def test_what_a_tokenizer_puts_after_a_text_is_not_continued(
    tmp_path: Path, gpt2: LoadedModel
) -> None:
    """Only the end mark of the template is left out: one that was typed is the text's own."""
    build_with_head("gpt2", "GPT2LMHeadModel", tmp_path, stir=0.3)
    ending = load(str(tmp_path))
    end = "<|endoftext|>"
    ending.tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {end}", pair=f"$A {end} $B {end}", special_tokens=[(end, 0)]
    )
    assert trace_text(ending, SENTENCES[0]).tokens[-1].special
    plain = next_words(gpt2, SENTENCES[0])
    assert _close(next_words(ending, SENTENCES[0]), plain)
    typed = next_words(ending, SENTENCES[0] + end)
    assert _close(typed, next_words(gpt2, SENTENCES[0] + end))
    assert not _close(typed, plain)


def test_each_task_needs_its_own_head(bert: LoadedModel, gpt2: LoadedModel) -> None:
    with pytest.raises(UnsupportedModelError, match="no language-model head for the next word"):
        next_words(bert, SENTENCES[0])
    with pytest.raises(UnsupportedModelError, match="head for words behind a mask"):
        masked_words(gpt2, SENTENCES[0])
    with pytest.raises(EmptyTextError):
        next_words(gpt2, "")


def test_threads_that_ask_at_once_get_their_own_answers(bert: LoadedModel) -> None:
    texts = [f"[MASK] {text}" for text in SENTENCES] + [f"{text} [MASK]" for text in SENTENCES]
    expected = [masked_words(bert, text) for text in texts]
    traces = [trace_text(bert, text).attention() for text in texts]
    wrong: list[str] = []

    def ask(place: int) -> None:
        for _ in range(10):
            ((position, guesses),) = [
                (e.position, e.guesses) for e in masked_words(bert, texts[place])
            ]
            same = position == expected[place][0].position
            if not same or not _close(guesses, expected[place][0].guesses):
                wrong.append(texts[place])
            if abs(trace_text(bert, texts[place]).attention() - traces[place]).max() > 1e-5:
                wrong.append("trace")

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
