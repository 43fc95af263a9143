"""Settings worth seeing on the effect page, and its mathematics."""

from __future__ import annotations

from typing import Any

from core.analysis import statistics
from core.analysis.effect import (
    FALSE_DISCOVERY,
    INACTIVE,
    LEADERS,
    LEVEL,
    LITTLE,
    NEGLIGIBLE,
    largest_effect,
    loudest_within,
)
from core.analysis.paths import LINES
from core.model.interventions import samples
from core.model.interventions.heads import DRAWS, FRESH_DRAWS
from core.model.interventions.reference import TEXTS
from core.ui.head_tables import HeadTable
from core.ui.presets import Preset
from core.ui.words.prose import Prose
from core.vocabulary import percent

_words = Prose(__file__)


def examples(heads: HeadTable) -> list[Preset]:
    """Heads worth seeing of what was measured."""
    first, loud = largest_effect(heads.table), loudest_within(heads.table)
    presets: list[Preset] = []
    if first is not None:
        presets.append(Preset("Largest effect", _words("largest"), _place(first)))
    if loud is not None:
        presets.append(Preset("Loud, no dot", _words("loud"), _place(loud)))
    return presets


def _place(row: dict[str, Any]) -> dict[str, str]:
    return {"layer": str(row["layer"]), "head": str(row["head"])}


def mathematics(*, has_words: bool) -> tuple[str, ...]:
    """What is replaced by what, what is measured, the rule of the verdict; what else is taken away,
    and compared with; and of a text, where a token comes from.
    """
    of_heads = _words(
        "mathematics",
        texts=TEXTS,
        leaders=LEADERS,
        fresh=FRESH_DRAWS,
        level=percent(LEVEL),
        draws=DRAWS,
        rate=percent(FALSE_DISCOVERY),
        negligible=percent(NEGLIGIBLE),
        inactive=INACTIVE,
        little=LITTLE,
        resamples=f"{statistics.RESAMPLES:,}",
        corpus_draws=samples.DRAWS,
        compared=samples.COMPARED,
    )
    paths = [_words("mathematics_of_paths", lines=LINES)] if has_words else []
    return (of_heads, _words("away_mathematics"), *paths)
