"""A very long text is cut before any tokenizer sees it, and what was not read is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from core.model import trace_by_length, trace_corpus, trace_text
from core.model.text.inputs import CHARACTERS_PER_TOKEN, token_lengths
from tests.model.bundled import loaded

if TYPE_CHECKING:
    from core.model import LoadedModel
    from tests.conftest import ModelOf

FAMILIES = ["bert", "gpt2", "roberta"]
WORDS = "The cat sat on the mat and it was glad. "


def most_characters(model: LoadedModel) -> int:
    return model.max_tokens * CHARACTERS_PER_TOKEN


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How long each text was that a tokenizer got."""
    lengths: list[int] = []
    kind = type(loaded("bundled/minilm").tokenizer)
    call = kind.__call__

    def counted(self: object, *texts: Any, **settings: Any) -> Any:
        lengths.extend(len(text) for text in texts if text is not None)
        return call(self, *texts, **settings)

    monkeypatch.setattr(kind, "__call__", counted)
    return lengths


def test_no_tokenizer_sees_more_than_can_be_used(seen: list[int]) -> None:
    model = loaded("bundled/minilm")
    text = WORDS * 5_000
    trace_text(model, text)
    trace_text(model, text, text)
    list(trace_corpus(model, [text]))
    list(trace_by_length(model, [text, "short"]))
    token_lengths(model, [text], None)
    assert len(seen) > 8
    assert max(seen) == most_characters(model) < len(text)
    seen.clear()
    trace_text(model, text, max_tokens=10)
    assert max(seen) == 10 * CHARACTERS_PER_TOKEN


@pytest.mark.parametrize("name", FAMILIES)
def test_the_tokens_are_those_of_the_whole_text(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    text = WORDS * (2 * most_characters(model) // len(WORDS))
    shorter = text[: most_characters(model)]
    long, usual = trace_text(model, text), trace_text(model, shorter)
    assert long.tokens == usual.tokens
    assert len(long.tokens) == model.max_tokens
    assert long.dropped == usual.dropped > 0
    assert (long.cut_characters, usual.cut_characters) == (len(text) - len(shorter), 0)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("piece", ["😀", "👩\u200d👩\u200d👧", "e\u0301", "\ud83d\ude00", "🇩🇪"])
def test_a_cut_within_a_character_that_people_see_is_harmless(
    name: str, piece: str, model_of: ModelOf
) -> None:
    model = model_of(name)
    for start in range(len(piece) + 1):
        text = "a" * start + piece * most_characters(model)
        trace = trace_text(model, text)
        assert trace.cut_characters == len(text) - most_characters(model)
        assert all(token.span[1] <= most_characters(model) for token in trace.tokens)


def test_what_is_longer_than_language_ends_before_the_limit_and_that_is_told() -> None:
    """WordPiece takes a word of a thousand letters for one unknown token."""
    model = loaded("bundled/minilm")
    trace = trace_text(model, "a" * 10**6 + " tail")
    assert len(trace.tokens) == 3
    assert trace.dropped == 0
    assert trace.cut_characters == 10**6 + 5 - most_characters(model)
