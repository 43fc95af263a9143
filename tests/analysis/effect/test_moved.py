"""What moved, on attention that is made by hand."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from core.analysis.effect.moved import moved_table
from core.model import Token, Trace


class _Stub:
    """A trace with given weights, (layer, head, token, token)."""

    def __init__(self, weights: object, words: str) -> None:
        self.weights = np.array(weights, dtype=np.float32)
        self.tokens = tuple(
            Token(word, word, 0, special=False, segment=0, position=place, word=place)
            for place, word in enumerate(words.split())
        )
        self.layer_labels = tuple(range(2, 2 + len(self.weights)))  # a hybrid's

    def attention(self, layer: int) -> np.ndarray:
        own: np.ndarray = self.weights[layer]
        return own


def _trace(weights: object, words: str) -> Trace:
    return cast("Trace", _Stub(weights, words))


BEFORE = _trace([[[[1, 0], [0.25, 0.75]], [[1, 0], [0, 1]]]], "it it")


def test_a_head_moved_as_much_of_its_attention_as_went_elsewhere() -> None:
    after = _trace([[[[1, 0], [0.75, 0.25]], [[1, 0], [0, 1]]]], "it it")
    table = moved_table(BEFORE, after)
    assert list(table["layer"]) == [2, 2]
    assert list(table["head"]) == [1, 2]
    assert table["moved"].tolist() == pytest.approx([0.25, 0])  # half of a row's half, of two rows
    assert abs(table["largest"][0]) == pytest.approx(0.5)
    assert (table["query"][0], table["key"][0]) == ("it₂", "it")
    assert table["largest"][1] == 0
