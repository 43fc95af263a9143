"""Guesses: where they are made, for how much of the text, and what is said of their tokens."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
import torch
from tokenizers import processors

from core.model import load, trace_text
from core.model.errors import EmptyTextError, UnsupportedModelError
from core.model.language import MAX_MASKS, Guess, masked_words, next_words
from tests.model.families import SENTENCES, VOCABULARY
from tests.model.language.checkpoints import build_with_head

if TYPE_CHECKING:
    from collections.abc import Callable
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


def test_probabilities_of_the_whole_vocabulary_add_up_to_one(gpt2: LoadedModel) -> None:
    guesses = next_words(gpt2, SENTENCES[0], count=10**6)
    assert sorted(guess.id for guess in guesses) == list(range(VOCABULARY))
    assert sum(guess.probability for guess in guesses) == pytest.approx(1, abs=1e-5)


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


def test_at_most_so_many_masks_are_filled_the_first_ones(bert: LoadedModel) -> None:
    text = "[MASK] it " * (MAX_MASKS + 3)
    words = masked_words(bert, text)
    assert [each.position for each in words] == list(range(1, 2 * MAX_MASKS, 2))
    assert {len(each.guesses) for each in words} == {5}


def test_a_mask_in_the_second_text_is_filled_too(bert: LoadedModel) -> None:
    (alone,) = masked_words(bert, "Where is [MASK]?", "It is here.")
    (second,) = masked_words(bert, "Where is it?", "It is [MASK].")
    assert (alone.position, second.position) == (3, 8)


def test_a_text_without_a_mask_has_nothing_to_fill(bert: LoadedModel) -> None:
    assert masked_words(bert, SENTENCES[0]) == ()


def test_each_task_needs_its_own_head(bert: LoadedModel, gpt2: LoadedModel) -> None:
    with pytest.raises(UnsupportedModelError, match="no language-model head for the next word"):
        next_words(bert, SENTENCES[0])
    with pytest.raises(UnsupportedModelError, match="head for words behind a mask"):
        masked_words(gpt2, SENTENCES[0])
    with pytest.raises(EmptyTextError):
        next_words(gpt2, "")


def test_the_head_computes_only_what_is_asked_for(bert: LoadedModel, gpt2: LoadedModel) -> None:
    """A row of the vocabulary for each of 500 tokens would take half a gigabyte."""
    asked: list[tuple[Callable[[], object], LoadedModel, int]] = [
        (lambda: next_words(gpt2, SENTENCES[1]), gpt2, 1),
        (lambda: masked_words(bert, f"[MASK] {SENTENCES[1]} [MASK]"), bert, 2),
    ]
    for ask, model, rows in asked:
        assert model.language_model is not None
        shapes: list[torch.Size] = []
        watch = model.language_model.get_output_embeddings().register_forward_hook(
            lambda _module, _given, made, shapes=shapes: shapes.append(made.shape)
        )
        ask()
        watch.remove()
        assert shapes == [torch.Size([1, rows, VOCABULARY])]
        assert any(part is model.network for part in model.language_model.children())


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


def test_a_piece_that_continues_a_word_says_so(
    bert: LoadedModel, gpt2: LoadedModel, tmp_path: Path
) -> None:
    """By ## in WordPiece; elsewhere by lacking the blank that begins a word."""
    build_with_head("xlm-roberta", "XLMRobertaForMaskedLM", tmp_path, stir=0.3)
    unigram = load(str(tmp_path))
    everything = {
        "bert": masked_words(bert, "[MASK] it", count=VOCABULARY)[0].guesses,
        "gpt2": next_words(gpt2, "it", count=VOCABULARY),
        "unigram": masked_words(unigram, "it <mask>", count=VOCABULARY)[0].guesses,
    }
    named = {
        name: {guess.text: guess.continues for guess in guesses if guess.text}
        for name, guesses in everything.items()
    }
    assert (named["bert"]["##a"], named["bert"]["a"], named["bert"]["."]) == (True, False, False)
    assert (named["gpt2"]["a"], named["gpt2"]["Ġit"], named["gpt2"]["."]) == (True, False, False)
    assert (named["unigram"]["a"], named["unigram"]["▁"]) == (True, False)
    assert named["unigram"]["<mask>"] is False


def test_rows_without_a_token_have_no_name(bert: LoadedModel) -> None:
    guesses = masked_words(bert, "[MASK] it", count=VOCABULARY)[0].guesses
    unused = {guess.id for guess in guesses if not guess.text}
    assert unused == set(range(len(bert.tokenizer), VOCABULARY))
