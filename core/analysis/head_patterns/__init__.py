"""Which pattern a head follows: where its attention goes, as numbers and a name."""

from typing import TYPE_CHECKING

from core import imported_late
from core.analysis.head_patterns.measure import head_scores
from core.analysis.head_patterns.pairs import OTHER_END, SAME_START

if TYPE_CHECKING:
    from core.analysis.head_patterns.table import pattern_table

__all__ = ["OTHER_END", "SAME_START", "head_scores", "pattern_table"]

__getattr__ = imported_late(
    __name__,
    {
        "table": "pattern_table",
    },
)
