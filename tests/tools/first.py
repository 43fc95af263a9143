"""Writes what comes with the app of pages' first inputs: ``python -m tests.tools.first``."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.analysis.effect import leading_heads
from core.analysis.head_patterns.induction import induction_scores
from core.model import (
    LoadedModel,
    Trace,
    classify,
    effects,
    load,
    trace_image,
    trace_repeated,
    trace_text,
)
from core.model.box import open_box
from core.model.bundled.first import FILES, IMAGE, PICTURE, SENTENCE, FirstInput
from core.model.interventions.heads import FRESH_DRAWS, FRESH_SEED
from core.model.trace.stored import write_record
from core.model.weights.output_projection import transformed_norms
from core.model.weights.query_key import weight_similarity


def compute(name: str) -> FirstInput:
    """The first input of a model, from the model itself."""
    if name == IMAGE:
        return _image()
    model = load(name)
    induction = induction_scores(trace_repeated(model))
    measured = effects(model, SENTENCE)
    leaders = leading_heads(measured.values)
    fresh = effects(model, SENTENCE, heads=leaders, draws=FRESH_DRAWS, seed=FRESH_SEED)
    return FirstInput(
        **_common(model, trace_text(model, SENTENCE)),
        induction=np.stack([induction.scores, induction.uniform]),
        effects=measured.values,
        directions=measured.draws,
        fresh=fresh.draws[:, *np.array(leaders).T],
    )


def _image() -> FirstInput:
    model, image = load(IMAGE, modality="image"), open_box(PICTURE)
    common, classes = _common(model, trace_image(model, image)), tuple(classify(model, image))
    return FirstInput(**common, classes=classes)


def _common(model: LoadedModel, trace: Trace) -> dict[str, Any]:
    similarity = weight_similarity(model)
    return {"trace": trace, "norms": transformed_norms(model, trace), "similarity": similarity}


if __name__ == "__main__":
    for each, file in FILES.items():
        write_record(compute(each), file)
