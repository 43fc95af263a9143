"""Which pattern a head follows: where its attention goes, as numbers and as a name."""

from typing import TYPE_CHECKING

from core import imported_late

if TYPE_CHECKING:
    from core.analysis.head_patterns.table import pattern_table

__all__ = ["pattern_table"]

__getattr__ = imported_late(__name__, {"table": "pattern_table"})
