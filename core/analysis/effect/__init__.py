"""Whether heads matter: effects and their controls, as a table, and a verdict in words."""

from core.analysis.effect.table import (
    effect_table,
    largest_effect,
    leading_heads,
    leading_table,
    parts_table,
)

__all__ = [
    "effect_table",
    "largest_effect",
    "leading_heads",
    "leading_table",
    "parts_table",
]
