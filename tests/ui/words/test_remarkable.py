"""The sentence that joins what pages say of one head."""

from __future__ import annotations

import pytest

from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.naming import NONE
from core.model import load, trace_text
from core.ui.words.pattern_words import PATTERN_NAMES
from core.ui.words.remarkable import looks_and_need


@pytest.mark.parametrize("model", ["bundled/minilm", "bundled/gpt2-novels"])
def test_every_head_follows_the_pattern_that_the_table_of_all_heads_names(model: str) -> None:
    trace = trace_text(load(model), "The cat slept on the mat because it was tired of the rain.")
    rows = pattern_table(trace).to_dict("records")
    names = {row["class"] for row in rows}
    assert NONE in names
    assert len(names) > 1
    for row in rows:
        place = trace.layer_labels.index(row["layer"]), row["head"] - 1
        pattern, sentence = row["class"], looks_and_need(trace, *place)
        if pattern == NONE:
            assert "follows no head pattern on this text." in sentence
        else:
            assert f"follows “{PATTERN_NAMES[pattern]}” on this text." in sentence
        assert pattern == NONE or "no head pattern" not in sentence


def test_a_short_text_names_no_pattern_of_a_head() -> None:
    trace = trace_text(load("bundled/minilm"), "The cat sat on it.")
    sentence = looks_and_need(trace, 0, 2)
    assert sentence.startswith("This text is too short to name a pattern of L1 H3. That a head")
