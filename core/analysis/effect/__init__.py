"""Whether heads matter: effects beside their controls, as a table, and a verdict in words."""

from core.analysis.effect.table import (
    INACTIVE,
    LITTLE,
    NEGLIGIBLE,
    HeadEffects,
    effect_table,
    expected_by_chance,
    largest_effect,
    loudest_within,
    parts_table,
)

__all__ = [
    "INACTIVE",
    "LITTLE",
    "NEGLIGIBLE",
    "HeadEffects",
    "effect_table",
    "expected_by_chance",
    "largest_effect",
    "loudest_within",
    "parts_table",
]
