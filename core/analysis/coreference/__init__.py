"""Which noun a pronoun attends to most, and how sure that is."""

from core.analysis.coreference.table import (
    BestHead,
    Resolved,
    best_head,
    coreference_table,
    pool,
    resolve,
)

__all__ = [
    "BestHead",
    "Resolved",
    "best_head",
    "coreference_table",
    "pool",
    "resolve",
]
