"""The strongest link of a text is the one that was planted."""

from __future__ import annotations

import numpy as np

from core.analysis.strongest_link import arcs_around, strongest_link
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


def test_arcs_of_a_long_text_still_show_both_ends_of_the_link() -> None:
    size = 60
    weights = np.full((1, 1, size, size), 1 / size, dtype=np.float32)
    weights[0, 0, 58] = 0.2 / (size - 1)
    weights[0, 0, 58, 1] = 0.8
    weights[0, 0, 58] /= weights[0, 0, 58].sum()
    trace = trace_with_attention(weights, plain_tokens(*(f"w{i}x" for i in range(size))))
    link = strongest_link(trace)
    assert link is not None
    arcs = arcs_around(trace, link, max_tokens=20)
    assert len(arcs.words) == 20
    assert arcs.words[arcs.strongest] == "w58x"
    target = arcs.targets[arcs.strongest]
    assert target is not None
    assert arcs.words[target] == "w1x"
    assert arcs.gap == 9
    assert arcs.left_out == 40


def test_a_token_that_attends_to_no_other_has_no_arc() -> None:
    weights = np.zeros((1, 1, 3, 3), dtype=np.float32)
    weights[0, 0] = np.array([[1, 0, 0], [0.2, 0.8, 0], [0.6, 0.2, 0.2]])
    trace = trace_with_attention(weights, plain_tokens("one", "two", "three"))
    link = strongest_link(trace)
    assert link is not None
    arcs = arcs_around(trace, link)
    assert arcs.targets[1:] == (0, 0)
    assert float(arcs.values[0, 1:].max()) < 1e-30


def test_of_an_image_the_strongest_link_joins_two_patches_that_do_not_touch() -> None:
    weights = np.full((1, 1, 17, 17), 0.01)
    weights[0, 0, 6, 2] = 0.9  # r2c2 to the patch above it
    weights[0, 0, 6, 11] = 0.8  # and to the one beside that below it
    weights[0, 0, 1, 12] = 0.5  # r1c1 to r3c4
    weights[0, 0, 0, 16] = 0.95  # CLS does not count
    link = strongest_link(with_attention(confetti(0, 4, 4), weights))
    assert link is not None
    assert (link.query, link.key) == (1, 12)
