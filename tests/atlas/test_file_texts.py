"""Texts in an atlas's file: long ones are cut when they are written, and what is cut opens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.atlas import build_atlas
from core.atlas.data import CorpusTokens
from core.atlas.files.texts import MAX_TEXT, check_sentences, storable_sentences
from tests.atlas.files import opened, trace, written

if TYPE_CHECKING:
    from core.atlas import Atlas

WORD = "ก" * 900  # as Thai has it: no blank in a whole line, and no entry in a vocabulary
TEXTS = (f"from {WORD} to", "short and sweet", f"{WORD} {WORD}")


def an_atlas(labels: tuple[str, ...] = ()) -> Atlas:
    traces = [trace(text, seed, causal=False) for seed, text in enumerate(TEXTS)]
    return build_atlas(traces, TEXTS, labels)


def test_tokens_that_are_long_are_cut_to_200_characters_and_open_again() -> None:
    found = opened(written(an_atlas()))
    lengths = [len(shown) for shown in (*found.tokens.texts, *found.tokens.displays)]
    assert max(lengths) == MAX_TEXT == 200
    assert found.tokens.displays[2] == WORD[:199] + "…"
    assert found.tokens.displays[:2] == ("[CLS]", "from")


def test_a_sentence_is_cut_where_its_tokens_are_and_the_spans_move_along() -> None:
    """Each word as long as 200 characters allow, and what is short stays."""
    found = opened(written(an_atlas()))
    cut = WORD[:200]
    assert found.sentences == (f"from {cut} to", "short and sweet", f"{cut} {cut}")
    chunks = [
        found.sentences[sentence][start:end]
        for sentence, (start, end) in zip(found.tokens.sentence, found.tokens.spans, strict=True)
    ]
    assert chunks == ["", "from", cut, "to", "", "short", "and", "sweet", "", cut, cut]


def test_labels_that_are_long_are_cut_and_those_that_are_not_stay() -> None:
    found = opened(written(an_atlas(("x" * 300, "y" * 200, ""))))
    assert found.labels == ("x" * 199 + "…", "y" * 200, "")


@pytest.mark.slow
def test_what_is_cut_opens_though_tokens_of_four_bytes_fill_the_file() -> None:
    """Every token different and as long as it may be: no other text takes as many bytes."""
    texts = [" ".join(chr(0x20000 + 40 * i + j) * 300 for j in range(40)) for i in range(100)]
    atlas = build_atlas([trace(t, seed, causal=False) for seed, t in enumerate(texts)], texts)
    found = opened(written(atlas))
    assert len(found.tokens) == 4100
    assert sum(len(set(shown)) == 2 for shown in found.tokens.displays) == 4000


def test_spans_of_other_texts_end_where_the_sentence_does() -> None:
    atlas = an_atlas()
    other = replace(atlas, sentences=("fro", *atlas.sentences[1:]))
    assert opened(written(other)).tokens.spans[:4].max() == 3


def test_no_sentence_is_longer_than_its_tokens_and_the_gaps_around_them() -> None:
    """A token of a letter between two gaps: 200 characters, 1, 200."""
    tokens = CorpusTokens(
        ("a",),
        ("a",),
        sentence=np.array([0], np.int32),
        position=np.array([0], np.int32),
        word=np.array([0], np.int32),
        special=np.array([False]),
        spans=np.array([[5000, 5001]], np.int32),
    )
    sentences, spans = storable_sentences([" " * 5000 + "a" + " " * 5000], tokens)
    assert sentences == (" " * 200 + "a" + " " * 200,)
    assert spans.tolist() == [[200, 201]]
    check_sentences(sentences, replace(tokens, spans=spans))
