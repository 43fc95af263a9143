"""What distances, scores and criteria are called, and what was published of them."""

from __future__ import annotations

from core.analysis.projections.joint_embedding import Metric
from core.analysis.query_key.scaling import Criterion
from core.analysis.query_key.target import TARGET_NAMES, TargetKind
from core.ui.words.numbers import number

CRITERIA: dict[Criterion, str] = {
    "pearson": "Pearson, all pairs",
    "spearman": "Spearman, all pairs",
    "weighted": "weighted (AttentionViz)",
    "balanced": "balanced norms",
}
DISTANCES: dict[Metric, str] = {"euclidean": "Euclidean", "cosine": "cosine"}
TARGETS: dict[TargetKind, str] = {"centred": "row-centred", "raw": "raw"}
SCORES: dict[TargetKind, str] = TARGET_NAMES
# After normalization on Wiki-Auto, as published (AttentionViz, section 5.1.1); the authors'
# notebooks measure it with cosine distance, so only cosine is compared with it.
PUBLISHED_BERT, PUBLISHED_GPT2 = -0.938, -0.792


def published() -> str:
    """What AttentionViz reports, and for which distance; without a full stop."""
    return (
        f"Published for cosine distance, normalized: {number(PUBLISHED_BERT, '.3f')} (BERT) and"
        f" {number(PUBLISHED_GPT2, '.3f')} (GPT-2)"
    )
