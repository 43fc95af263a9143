"""Which texts are run when a budget does not allow for all of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.model import choose_texts, estimate_texts
from core.model.running import budget
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from core.model import LoadedModel
    from tests.conftest import ModelOf, OracleOf

steady = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def tokenized(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The texts that were tokenized, in order; each is as long as it has characters."""
    seen: list[str] = []

    def lengths(model: object, texts: Sequence[str], limit: int | None) -> list[int]:
        seen.extend(texts)
        return [min(len(text), limit or len(text)) for text in texts]

    monkeypatch.setattr(budget, "token_lengths", lengths)
    yield seen
    seen.clear()


def by_characters(texts: Sequence[str], most: int, limit: int | None = None) -> budget.Chosen:
    # nothing but its tokenizer is asked for, and how much of a text it may see
    model: LoadedModel = SimpleNamespace(max_tokens=10_000)  # type: ignore[assignment]
    return choose_texts(model, texts, most, limit)


@pytest.mark.parametrize("limit", [None, 7, 1000])
def test_texts_that_the_model_would_cut_count_as_they_are_cut(
    limit: int | None, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    model = model_of("gpt2")
    texts = [SENTENCES[0], " ".join(SENTENCES)]
    whole = [len(oracle_of("gpt2").tokenizer.encode(text).ids) for text in texts]
    assert whole[1] > model.max_tokens > whole[0] > 7
    expected = tuple(min(length, model.max_tokens, limit or 10_000) for length in whole)
    assert choose_texts(model, texts, 10_000, limit).lengths == expected


@steady
@given(
    texts=st.lists(st.text("ab", min_size=1, max_size=12), min_size=1, max_size=40),
    most=st.integers(0, 120),
    limit=st.none() | st.integers(1, 8),
)
def test_a_choice_keeps_to_its_budget_and_is_as_large_as_its_order_allows(
    texts: list[str], most: int, limit: int | None, tokenized: list[str]
) -> None:
    tokenized.clear()
    chosen = by_characters(texts, most, limit)
    assert chosen.corpus_size == len(texts)
    assert list(chosen.places) == sorted(set(chosen.places))
    assert set(chosen.places) <= set(range(len(texts)))
    lengths = [min(len(text), limit or 99) for text in texts]
    assert chosen.lengths == tuple(lengths[place] for place in chosen.places)
    assert chosen.tokens == sum(chosen.lengths)
    assert len(chosen.places) >= 1
    assert chosen.tokens <= most or len(chosen.places) == 1
    if sum(lengths) <= most:
        assert len(chosen.places) == len(texts)
    again = by_characters(texts, most, limit)
    assert again == chosen
    larger = by_characters(texts, most + 5, limit)  # the same order: nothing is given up for it
    assert set(chosen.places) <= set(larger.places)


def test_texts_without_a_token_count_too_so_that_their_number_is_bounded(
    tokenized: list[str],
) -> None:
    chosen = by_characters([""] * 5_000, 100)
    assert (len(chosen.places), chosen.tokens) == (100, 0)
    assert len(tokenized) <= 256


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_an_estimate_needs_no_tokenizer_and_keeps_to_the_budget(
    name: str, model_of: ModelOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(name)
    monkeypatch.setattr(budget, "token_lengths", None)
    whole = estimate_texts(model, SENTENCES, 10_000)
    assert (whole.texts, whole.characters) == (len(SENTENCES), sum(map(len, SENTENCES)))
    assert whole.whole
    some = estimate_texts(model, SENTENCES, whole.tokens - 1)
    assert (some.tokens, some.whole) == (whole.tokens - 1, False)
    long = estimate_texts(model, ["word and " * 10**6], 10_000)
    assert long.tokens == model.max_tokens  # as it will be cut
