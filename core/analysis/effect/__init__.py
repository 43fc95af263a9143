"""Whether heads matter: effects beside their controls, as a table, and a verdict in words."""

from core.analysis.effect.table import (
    FALSE_DISCOVERY,
    INACTIVE,
    LEADERS,
    LEVEL,
    LITTLE,
    NEGLIGIBLE,
    effect_table,
    largest_effect,
    leading_heads,
    leading_table,
    parts_table,
)

__all__ = [
    "FALSE_DISCOVERY",
    "INACTIVE",
    "LEADERS",
    "LEVEL",
    "LITTLE",
    "NEGLIGIBLE",
    "effect_table",
    "largest_effect",
    "leading_heads",
    "leading_table",
    "parts_table",
]
