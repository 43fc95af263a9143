"""Words for head patterns: every pattern that is shown has its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.naming import NAMING
from core.analysis.head_patterns.registry import PATTERNS
from core.ui.words.pattern_words import (
    PATTERN_NAMES,
    WORDS,
    has_meaning,
    highlight_names,
    score_names,
    words_for,
)
from tests.analysis.pictures import confetti, with_attention
from tests.analysis.traces import plain_tokens, trace_with_attention

if TYPE_CHECKING:
    from core.model import Trace


def text() -> Trace:
    return trace_with_attention(np.full((1, 1, 3, 3), 1 / 3), plain_tokens("one", "two", "three"))


def image(*specials: str) -> Trace:
    patches = confetti(0, 2, 2)
    size = patches.count + len(specials)
    return with_attention(patches, np.full((1, 1, size, size), 1 / size), specials)


def test_every_pattern_that_is_shown_has_words_and_no_other() -> None:
    assert set(WORDS) == {each.name for each in PATTERNS}


def test_no_two_patterns_share_a_name_a_column_a_link_or_a_title() -> None:
    for values in (
        [each.name for each in PATTERNS],
        [each.score for each in PATTERNS],
        [each.link for each in PATTERNS],
        list(PATTERN_NAMES.values()),
        list(score_names(text()).values()),
        list(highlight_names(text()).values()),
    ):
        assert len(set(values)) == len(values)


def test_the_most_specific_pattern_names_a_head_first_and_broad_last() -> None:
    assert list(NAMING)[:3] == ["previous", "next", "induction"]
    assert list(NAMING)[-1] == "broad"
    assert list(NAMING).index("same_token") < list(NAMING).index("self")


def test_nothing_that_is_said_of_an_image_speaks_of_words_sentences_or_texts() -> None:
    trace = image("[CLS]")
    for pattern in PATTERNS:
        if has_meaning(trace, pattern) and pattern.name in words_for(trace):
            said = " ".join(vars(words_for(trace)[pattern.name]).values()).casefold()
            assert not {"text", "sentence", "word", "comma"} & set(re.findall(r"[a-z]+", said))
