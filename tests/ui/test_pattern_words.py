"""Words for head patterns: every pattern that is shown has its own."""

from __future__ import annotations

import re

import numpy as np

from core.analysis.head_patterns.registry import PATTERNS
from core.ui.words.pattern_words import (
    PATTERN_NAMES,
    PATTERN_WORDS,
    has_meaning,
    highlight_names,
    score_names,
    words_for,
)
from tests.analysis.pictures import confetti, with_attention
from tests.analysis.traces import plain_tokens, trace_with_attention


def test_every_pattern_has_words_and_no_two_share_a_name_a_column_a_link_or_a_title() -> None:
    text = trace_with_attention(np.full((1, 1, 3, 3), 1 / 3), plain_tokens("one", "two", "three"))
    assert set(PATTERN_WORDS) == {each.name for each in PATTERNS}
    for values in (
        [each.name for each in PATTERNS],
        [each.score for each in PATTERNS],
        [each.link for each in PATTERNS],
        list(PATTERN_NAMES.values()),
        list(score_names(text).values()),
        list(highlight_names(text).values()),
    ):
        assert len(set(values)) == len(values)


def test_nothing_that_is_said_of_an_image_speaks_of_words_sentences_or_texts() -> None:
    trace = with_attention(confetti(0, 2, 2), np.full((1, 1, 5, 5), 1 / 5), ("[CLS]",))
    for pattern in PATTERNS:
        if has_meaning(trace, pattern) and pattern.name in words_for(trace):
            said = " ".join(vars(words_for(trace)[pattern.name]).values()).casefold()
            assert not {"text", "sentence", "word", "comma"} & set(re.findall(r"[a-z]+", said))
