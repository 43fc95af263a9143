"""What is odd about a model's heads: measures, flags and their reasons, a table a text."""

from core.analysis.anomalies.table import (
    Row,
    anomaly_table,
    as_map,
    corpus_table,
    flagged,
    having,
    head_of,
    hollow_head,
    measure_heads,
    rows_of,
    with_most,
)

__all__ = [
    "Row",
    "anomaly_table",
    "as_map",
    "corpus_table",
    "flagged",
    "having",
    "head_of",
    "hollow_head",
    "measure_heads",
    "rows_of",
    "with_most",
]
