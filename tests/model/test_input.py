"""What a trace says of its input, against tables and slices made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.model.trace import Patches, Trace
from tests.analysis.pictures import image_trace, picture
from tests.analysis.traces import plain_tokens, random_trace, spelled


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


def test_distance_is_counted_in_words_or_in_rows_or_columns_whichever_are_more() -> None:
    """Tokens of two texts are no neighbours, and infinitely far apart."""
    assert not cross().input.beside(-1).any()
    assert not cross().input.beside(0).any()
    np.testing.assert_array_equal(cross().input.apart(), np.full((2, 3), np.inf))
    apart = pair().input.apart()
    assert apart[1].tolist()[1:3] == [0, 0]  # pieces of one word
    assert (apart[1, 4], apart[4, 2]) == (1, 1)
    assert text("a", "b", "c").input.apart().tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    apart = image("[CLS]").input.apart()[1:, 1:]
    assert apart[0].tolist() == [0, 1, 2, 1, 1, 2]
    assert apart[4].tolist() == [1, 1, 1, 1, 0, 1]


TEXT, CROSS = "the first token", "the first token of your text"
DECODER = "what the decoder reads"


@pytest.mark.parametrize(
    ("trace", "kind", "first", "specials", "read"),
    [
        (pair(), "text", TEXT, "special tokens", "your text"),
        (replace(pair(), attention_type="decoder"), "text", TEXT, "special tokens", DECODER),
        (cross(), "cross", CROSS, "special tokens", DECODER),
        (image("[CLS]"), "image", "CLS", "CLS", "this image"),
        (image("[CLS]", "[REG1]"), "image", "CLS", "CLS and registers", "this image"),
        (image(), "image", "the first patch", "", "this image"),
    ],
)
def test_what_pages_call_it(trace: Trace, kind: str, first: str, specials: str, read: str) -> None:
    seen = trace.input
    assert (seen.kind, seen.modality) == (kind, "image" if kind == "image" else "text")
    assert (seen.first, seen.specials, seen.read) == (first, specials, read)
    parts = [range(9)[part] for part in seen.key_parts]  # by whose sum attention may be divided
    assert parts == [range(9), *([range(9)[trace.patches.tokens]] if trace.patches else [])]
    assert seen.queries == ("query tokens" if kind == "cross" else "tokens")


def test_patches_are_read_row_by_row_after_what_stands_before_them() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (4 * 2, 4 * 3, 3)).astype(np.uint8)
    patches = Patches(pixels, rows=2, columns=3, size=4, first=5, given=(80, 120))
    assert patches.tokens == slice(5, 11)
    by_hand = [pixels[y : y + 4, x : x + 4] for y in (0, 4) for x in (0, 4, 8)]
    np.testing.assert_array_equal(patches.cells, by_hand)
    means = [cell.mean((0, 1)) / 255 for cell in by_hand]
    np.testing.assert_allclose(patches.colours, means, rtol=1e-6)
    with pytest.raises(ValueError, match="read-only"):
        patches.pixels[0, 0] = 0
