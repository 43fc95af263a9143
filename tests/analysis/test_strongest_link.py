"""The strongest link of a text is the one that was planted."""

from __future__ import annotations

import numpy as np

from core.analysis.strongest_link import find_link, strongest_link, strongest_links
from core.model import load, trace_text
from tests.analysis.images.pictures import confetti, with_attention
from tests.analysis.traces import plain_tokens, spelled, trace_with_attention

UNIFORM = np.full((2, 3, 6, 6), 1 / 6, dtype=np.float32)


def planted(layer: int, head: int, query: int, key: int, weight: float) -> np.ndarray:
    weights = UNIFORM.copy()
    weights[layer, head, query] = (1 - weight) / 5
    weights[layer, head, query, key] = weight
    return weights


def test_a_planted_link_is_found_with_its_head_and_weight() -> None:
    tokens = plain_tokens("oh", "this", "book", "we", "enjoyed", "it")
    link = strongest_link(trace_with_attention(planted(1, 2, 5, 2, 0.9), tokens))
    assert link is not None
    assert (link.layer, link.head, link.query, link.key) == (1, 2, 5, 2)
    assert abs(link.weight - 0.9) < 1e-5


def test_neighbours_punctuation_repeats_and_special_tokens_do_not_count() -> None:
    tokens = spelled("[CLS] it was , and it")
    for query, key in ((5, 0), (5, 4), (5, 3), (5, 1)):
        link = strongest_link(trace_with_attention(planted(0, 0, query, key, 0.9), tokens))
        assert link is not None
        assert (link.query, link.key) != (query, key)
        assert link.weight < 0.2


def test_a_text_of_one_word_has_no_link() -> None:
    trace = trace_with_attention(np.ones((1, 1, 1, 1), np.float32), plain_tokens("x"))
    assert strongest_link(trace) is None


def test_only_the_layers_asked_for_are_searched() -> None:
    tokens = plain_tokens("a", "b", "c", "d", "e", "f")
    link = strongest_link(trace_with_attention(planted(0, 1, 4, 0, 0.9), tokens), layers=(1,))
    assert link is not None
    assert link.layer == 1


def test_each_head_has_the_link_that_was_planted_in_it() -> None:
    tokens = plain_tokens("a", "b", "c", "d", "e", "f")
    weights = planted(0, 1, 4, 0, 0.9)
    weights[1, 2, 0] = 0.04
    weights[1, 2, 0, 5] = 0.8
    links = strongest_links(trace_with_attention(weights, tokens))
    assert [len(row) for row in links] == [3, 3]
    assert (links[0][1].query, links[0][1].key) == (4, 0)
    assert (links[1][2].query, links[1][2].key) == (0, 5)
    assert abs(links[1][2].weight - 0.8) < 1e-5
    assert abs(links[0][0].weight - 1 / 6) < 1e-5  # uniform: any pair that counts
    assert abs(links[0][0].query - links[0][0].key) > 1


def test_of_two_neighbours_no_head_has_a_link() -> None:
    trace = trace_with_attention(np.full((1, 2, 2, 2), 0.5, np.float32), plain_tokens("a", "b"))
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


def lifted(*cells: tuple[int, int, int, float], text: str) -> tuple[int, int, int, bool] | None:
    """Head, query, key of the link found where these cells, (head, query, key), have weights."""
    tokens = spelled(text)
    weights = np.full((1, 3, len(tokens), len(tokens)), 0.01)
    for head, query, key, weight in cells:
        weights[0, head, query, key] = weight
    link = find_link(trace_with_attention(weights, tokens))
    return None if link is None else (link.head, link.query, link.key, link.joins_words)


def test_the_found_link_is_lifted_over_its_layer() -> None:
    """All heads give 0.9 to one pair; to another a single head gives 0.6."""
    same = [(head, 4, 1, 0.9) for head in range(3)]
    text = "[CLS] cats chase brown mice under tall trees"
    assert lifted(*same, (1, 3, 1, 0.6), text=text) == (1, 3, 1, True)


def test_stop_words_neighbours_and_sinks_are_not_found() -> None:
    text = "[CLS] the cats chase brown mice under tall trees"
    others = [(0, 5, 1, 0.9), (0, 3, 2, 0.9), *((2, query, 4, 0.8) for query in (1, 2, 3, 5, 6, 7))]
    assert lifted(*others, (1, 5, 2, 0.3), text=text) == (1, 5, 2, True)


def test_a_text_without_two_content_words_shows_two_others() -> None:
    assert lifted((2, 1, 2, 0.5), text="[CLS] leaves fall") == (2, 1, 2, False)
    assert lifted(text="[CLS] leaves") is None


def test_the_default_sentence_joins_it_to_book() -> None:
    link = find_link(trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it."))
    assert link is not None
    assert (link.layer, link.head, link.query, link.key) == (3, 1, 10, 4)
    assert round(link.weight, 2) == 0.93
