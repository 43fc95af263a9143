"""The strongest link of a text is the one that was planted."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.strongest_link import find_link, strongest_link, strongest_links
from core.model import load, trace_text
from tests.analysis.pictures import confetti, with_attention
from tests.analysis.traces import plain_tokens, spelled, trace_with_attention

WORDS = plain_tokens("oh", "this", "book", "we", "enjoyed", "it")


def planted(layer: int, head: int, query: int, key: int, weight: float) -> np.ndarray:
    """(2, 3, 6, 6), uniform but for one row."""
    weights = np.full((2, 3, 6, 6), 1 / 6, dtype=np.float32)
    weights[layer, head, query] = (1 - weight) / 5
    weights[layer, head, query, key] = weight
    return weights


def test_planted_links_are_found_with_their_heads_and_weights() -> None:
    weights = planted(0, 1, 4, 0, 0.9)
    weights[1, 2, 0] = 0.04
    weights[1, 2, 0, 5] = 0.8
    trace = trace_with_attention(weights, WORDS)
    links = strongest_links(trace)
    assert [len(row) for row in links] == [3, 3]
    for found, head, pair, weight in (
        (strongest_link(trace), (0, 1), (4, 0), 0.9),
        (strongest_link(trace, layers=(1,)), (1, 2), (0, 5), 0.8),
        (links[0][1], (0, 1), (4, 0), 0.9),
        (links[1][2], (1, 2), (0, 5), 0.8),
    ):
        assert found is not None
        assert ((found.layer, found.head), (found.query, found.key)) == (head, pair)
        assert found.weight == pytest.approx(weight, abs=1e-5)
    assert links[0][0].weight == pytest.approx(1 / 6, abs=1e-5)  # uniform: any pair that counts
    assert abs(links[0][0].query - links[0][0].key) > 1


def test_neighbours_punctuation_repeats_and_special_tokens_do_not_count() -> None:
    tokens = spelled("[CLS] it was , and it")
    for query, key in ((5, 0), (5, 4), (5, 3), (5, 1)):
        link = strongest_link(trace_with_attention(planted(0, 0, query, key, 0.9), tokens))
        assert link is not None
        assert (link.query, link.key) != (query, key)
        assert link.weight < 0.2


def test_one_word_or_two_neighbours_have_no_link() -> None:
    for size in (1, 2):
        weights = np.full((1, 2, size, size), 1 / size, np.float32)
        trace = trace_with_attention(weights, plain_tokens(*"ab"[:size]))
        assert strongest_link(trace) is None
        assert strongest_links(trace) == []


def test_of_an_image_the_strongest_link_joins_two_patches_that_do_not_touch() -> None:
    weights = np.full((1, 1, 17, 17), 0.01)
    weights[0, 0, 6, 2] = 0.9  # r2c2 to the patch above it
    weights[0, 0, 6, 11] = 0.8  # and to the one beside that below it
    weights[0, 0, 1, 12] = 0.5  # r1c1 to r3c4
    weights[0, 0, 0, 16] = 0.95  # CLS does not count
    link = strongest_link(with_attention(confetti(0, 4, 4), weights))
    assert link is not None
    assert (link.query, link.key) == (1, 12)


PLAIN = "[CLS] the cats chase brown mice under tall trees"
Cell = tuple[int, int, int, float]  # head, query, key, weight
SINK: list[Cell] = [(2, query, 4, 0.8) for query in (1, 2, 3, 5, 6, 7)]


@pytest.mark.parametrize(
    ("text", "cells", "expected"),
    [
        # All heads give 0.9 to one pair; to another a single head gives 0.6.
        (PLAIN, [*((head, 5, 2, 0.9) for head in range(3)), (1, 4, 2, 0.6)], (1, 4, 2, True)),
        # A stop word, neighbours and a sink
        (PLAIN, [(0, 5, 1, 0.9), (0, 3, 2, 0.9), *SINK, (1, 5, 2, 0.3)], (1, 5, 2, True)),
        # No two content words
        ("[CLS] leaves fall", [(2, 1, 2, 0.5)], (2, 1, 2, False)),
        ("[CLS] leaves", [], None),
    ],
)
def test_the_found_link_joins_content_words_and_is_lifted_over_its_layer(
    text: str, cells: list[Cell], expected: tuple[int, int, int, bool] | None
) -> None:
    tokens = spelled(text)
    weights = np.full((1, 3, len(tokens), len(tokens)), 0.01)
    for *place, weight in cells:
        weights[0, *place] = weight
    link = find_link(trace_with_attention(weights, tokens))
    found = None if link is None else (link.head, link.query, link.key, link.joins_words)
    assert found == expected


def test_the_default_sentence_joins_it_to_book() -> None:
    link = find_link(trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it."))
    assert link is not None
    assert (link.layer, link.head, link.query, link.key) == (3, 1, 10, 4)
    assert round(link.weight, 2) == 0.93
