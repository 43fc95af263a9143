"""Which pattern a head follows: where its attention goes, as numbers and a name."""

from core.analysis.head_patterns.measure import head_scores
from core.analysis.head_patterns.pairs import OTHER_END, SAME_START
from core.analysis.head_patterns.table import pattern_table

__all__ = ["OTHER_END", "SAME_START", "head_scores", "pattern_table"]
