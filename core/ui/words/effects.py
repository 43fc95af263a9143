"""What is measured when a head is replaced, and what it is replaced by, as pages call them."""

from __future__ import annotations

from core.model.interventions.heads import Replace
from core.model.interventions.measures import Measure

MEASURED: dict[Measure, str] = {
    "kl": "next-word distribution",
    "logit_difference": "lead of the likeliest word",
    "loss": "loss",
    "sentence": "sentence vector",
    "class": "class",
}


def replacements_of(modality: str) -> dict[Replace, str]:
    """What a head can be replaced by, in words: of a text or of an image."""
    return {"mean": "its mean", "zero": "zero", "resample": f"another {modality}'s"}
