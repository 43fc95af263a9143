"""What a trace says of its input, against tables and slices made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.model.trace import Patches, Trace
from tests.analysis.pictures import image_trace, picture
from tests.analysis.traces import plain_tokens, random_trace, spelled

INF = np.inf


def text(*words: str) -> Trace:
    return replace(random_trace(0, 1, 1, len(words), 2), tokens=plain_tokens(*words))


def pair() -> Trace:
    tokens = spelled("[CLS] cap ##y [SEP] it [SEP]")
    return replace(random_trace(0, 1, 1, len(tokens), 2), tokens=tokens)


def cross() -> Trace:
    """Two tokens of a decoder attend to three of a text."""
    source = plain_tokens("a", "b", "c")
    return replace(text("x", "y"), source=source, attention_type="cross")


def image(*specials: str) -> Trace:
    """Two rows of three patches, after these special tokens."""
    vectors = np.zeros((1, 1, 6 + len(specials), 2))
    return image_trace(picture(np.zeros((2, 3, 3))), vectors, vectors, specials=specials)


def ones(shape: tuple[int, int], *pairs: tuple[int, int]) -> np.ndarray:
    expected = np.zeros(shape, dtype=bool)
    for query, key in pairs:
        expected[query, key] = True
    return expected


def test_neighbours_in_an_image_are_patches_of_one_row() -> None:
    left = ones((8, 8), (3, 2), (4, 3), (6, 5), (7, 6))  # after CLS and a register
    seen = image("[CLS]", "[REG1]").input
    np.testing.assert_array_equal(seen.beside(-1), left)
    np.testing.assert_array_equal(seen.beside(1), left.T)
    np.testing.assert_array_equal(seen.beside(-2), ones((8, 8), (4, 2), (7, 5)))
    np.testing.assert_array_equal(seen.beside(0), np.eye(8, dtype=bool))


def test_tokens_of_two_texts_are_no_neighbours_and_infinitely_far_apart() -> None:
    assert not cross().input.beside(-1).any()
    assert not cross().input.beside(0).any()
    np.testing.assert_array_equal(cross().input.apart(), np.full((2, 3), INF))


def test_distance_in_a_text_is_counted_in_words() -> None:
    apart = pair().input.apart()
    assert apart[1].tolist()[1:3] == [0, 0]  # pieces of one word
    assert (apart[1, 4], apart[4, 2]) == (1, 1)
    assert text("a", "b", "c").input.apart().tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_distance_in_an_image_is_counted_in_rows_or_columns_whichever_are_more() -> None:
    apart = image("[CLS]").input.apart()[1:, 1:]
    assert apart[0].tolist() == [0, 1, 2, 1, 1, 2]
    assert apart[4].tolist() == [1, 1, 1, 1, 0, 1]


@pytest.mark.parametrize(
    ("trace", "kind", "modality", "first", "specials", "read", "queries"),
    [
        (pair(), "text", "text", "the first token", "special tokens", "your text", "tokens"),
        (
            replace(pair(), attention_type="decoder"),
            *("text", "text", "the first token", "special tokens"),
            *("what the decoder reads", "tokens"),
        ),
        (
            cross(),
            *("cross", "text", "the first token of your text", "special tokens"),
            *("what the decoder reads", "query tokens"),
        ),
        (image("[CLS]"), "image", "image", "CLS", "CLS", "this image", "tokens"),
        (
            image("[CLS]", "[REG1]"),
            *("image", "image", "CLS", "CLS and registers", "this image", "tokens"),
        ),
        (image(), "image", "image", "the first patch", "", "this image", "tokens"),
    ],
)
def test_what_pages_call_it(
    trace: Trace, kind: str, modality: str, first: str, specials: str, read: str, queries: str
) -> None:
    seen = trace.input
    assert (seen.kind, seen.modality) == (kind, modality)
    assert (seen.first, seen.specials) == (first, specials)
    assert (seen.read, seen.queries) == (read, queries)


def test_attention_to_an_image_can_be_divided_by_its_sum_over_the_patches() -> None:
    rows = np.arange(8)
    assert [rows[part].tolist() for part in image("[CLS]", "[REG1]").input.key_parts] == [
        rows.tolist(),
        [2, 3, 4, 5, 6, 7],
    ]
    assert [rows[part].tolist() for part in pair().input.key_parts] == [rows.tolist()]


@pytest.fixture
def patches() -> Patches:
    pixels = np.random.default_rng(0).integers(0, 256, (4 * 2, 4 * 3, 3)).astype(np.uint8)
    return Patches(pixels, rows=2, columns=3, size=4, first=5, given=(80, 120))


def test_patches_are_read_row_by_row(patches: Patches) -> None:
    assert patches.cells.shape == (6, 4, 4, 3)
    np.testing.assert_array_equal(patches.cells[1 * 3 + 2], patches.pixels[4:8, 8:12])


def test_colours_are_means_from_0_to_1(patches: Patches) -> None:
    by_hand = [
        patches.pixels[4 * row : 4 * row + 4, 4 * column : 4 * column + 4].mean((0, 1)) / 255
        for row in range(2)
        for column in range(3)
    ]
    np.testing.assert_allclose(patches.colours, by_hand, rtol=1e-6)


def test_the_places_of_patches_come_after_what_stands_before_them(patches: Patches) -> None:
    assert patches.tokens == slice(5, 11)
    with pytest.raises(ValueError, match="read-only"):
        patches.pixels[0, 0] = 0
