"""What is odd about a model's heads: measures, flags and their reasons, a table for a text."""

from core.analysis.anomalies.flags import FLAGS, Row
from core.analysis.anomalies.measures import MEASURES, HeadMeasure, measure_heads
from core.analysis.anomalies.table import (
    anomaly_table,
    as_map,
    corpus_table,
    flagged,
    head_row,
    max_row,
    with_flag,
)

__all__ = [
    "FLAGS",
    "MEASURES",
    "HeadMeasure",
    "Row",
    "anomaly_table",
    "as_map",
    "corpus_table",
    "flagged",
    "head_row",
    "max_row",
    "measure_heads",
    "with_flag",
]
