"""Words for head patterns: every pattern that is shown has its own."""

from __future__ import annotations

from core.analysis.head_patterns.naming import NAMING
from core.analysis.head_patterns.registry import PATTERNS
from core.ui.words.pattern_words import HIGHLIGHT_NAMES, PATTERN_NAMES, SCORE_NAMES, WORDS, Words


def test_every_pattern_that_is_shown_has_words_and_no_other() -> None:
    shown = {
        each.name
        for each in PATTERNS
        if each.in_table or each.in_head_view or each.naming or each.highlight is not None
    }
    assert set(WORDS) == shown


def test_no_two_patterns_share_a_name_a_column_a_link_or_a_title() -> None:
    for values in (
        [each.name for each in PATTERNS],
        [each.score for each in PATTERNS],
        [each.link for each in PATTERNS],
        list(PATTERN_NAMES.values()),
        list(SCORE_NAMES.values()),
        list(HIGHLIGHT_NAMES.values()),
    ):
        assert len(set(values)) == len(values)


def test_the_most_specific_pattern_names_a_head_first_and_broad_last() -> None:
    assert list(NAMING)[:3] == ["previous", "next", "induction"]
    assert list(NAMING)[-1] == "broad"
    assert list(NAMING).index("same_token") < list(NAMING).index("self")


def test_what_is_not_said_of_a_pattern_follows_from_where_its_attention_goes() -> None:
    words = Words("third token", where="the third token")
    assert words.short == words.highlight == words.score == "third token"
    assert words.gives == "gives {} of its attention to the third token"
    assert words.rule == "more than {} of attention on the third token"
    assert words.note == "Mean attention to the third token"
