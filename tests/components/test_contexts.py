"""Contexts of a head: what the view is sent, and its file."""

from __future__ import annotations

import numpy as np
import pytest

from core.components.contexts import Context, ContextGroup, _packed, shown_places
from tests.components.received import received


def group(*tokens: str, title: str = "Decile 10") -> ContextGroup:
    weights = np.linspace(0, 1, len(tokens))
    return ContextGroup(title, [Context(tokens, weights, 0, len(tokens) - 1, 4)])


def test_weights_of_all_contexts_arrive_one_after_the_other() -> None:
    sent = received(_packed([group("a", "b"), group("c", "d", "e", title="Decile 9")]))
    assert sent["weights"].tolist() == [0, 1, 0, 0.5, 1]
    assert [each["title"] for each in sent["groups"]] == ["Decile 10", "Decile 9"]
    assert sent["groups"][1]["contexts"] == [
        {"tokens": ["c", "d", "e"], "shown": [0, 1, 2], "query": 0, "key": 2, "number": 4}
    ]
    assert received(_packed([]))["weights"].size == 0
    with pytest.raises(ValueError, match="2 tokens have 3 weights"):
        _packed([ContextGroup("t", [Context(["a", "b"], np.zeros(3), 0, 1, 1)])])


@pytest.mark.parametrize(
    ("size", "query", "key", "shown"),
    [
        (60, 5, 50, [*range(60)]),
        (200, 100, 102, [*range(86, 117)]),
        (200, 0, 199, [*range(15), *range(185, 200)]),
        (61, 30, 29, [*range(15, 45)]),
    ],
)
def test_a_long_sentence_is_cut_around_its_query_token_and_its_key(
    size: int, query: int, key: int, shown: list[int]
) -> None:
    assert shown_places(Context(["t"] * size, np.zeros(size), query, key, 1)) == shown
