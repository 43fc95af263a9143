"""Which pattern a head follows: where its attention goes, as numbers and a name."""

from core.analysis.head_patterns.scores import (
    OTHER_END,
    SAME_START,
    are_forms,
    attention_at_offset,
    head_scores,
    pattern_table,
    uniform_scores,
    word_pairs,
)

__all__ = [
    "OTHER_END",
    "SAME_START",
    "are_forms",
    "attention_at_offset",
    "head_scores",
    "pattern_table",
    "uniform_scores",
    "word_pairs",
]
