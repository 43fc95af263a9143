"""What is unusual about a model's heads: measures, flags with reasons, and a table per text."""

from core.analysis.anomalies.flags import FLAGS, HeadRow
from core.analysis.anomalies.measures import MEASURES, HeadMeasure, measure_heads
from core.analysis.anomalies.table import (
    anomaly_table,
    corpus_table,
    flagged,
    with_flag,
)

__all__ = [
    "FLAGS",
    "MEASURES",
    "HeadMeasure",
    "HeadRow",
    "anomaly_table",
    "corpus_table",
    "flagged",
    "measure_heads",
    "with_flag",
]
