"""Which noun a pronoun attends to most, and how sure that is."""

from core.analysis.coreference.table import (
    BestHead,
    Estimate,
    Resolved,
    best_head,
    coreference_table,
    resolve,
    resolve_texts,
)

__all__ = [
    "BestHead",
    "Estimate",
    "Resolved",
    "best_head",
    "coreference_table",
    "resolve",
    "resolve_texts",
]
