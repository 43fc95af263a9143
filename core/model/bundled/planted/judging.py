"""How methods judge the heads of planted models, whose truth is known."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.model.bundled.planted import HEADS, LAYERS, Example, Method, PlantedModel
from core.model.interventions.attribution import attributed_effects
from core.model.interventions.direct import direct_parts
from core.model.interventions.heads import effects
from core.model.interventions.measures import Measure
from core.model.interventions.written import written_norms
from core.model.loading import load
from core.model.running.loaded import LoadedModel
from core.model.running.tracing import trace_text

Doubles = NDArray[np.float64]
MEASURE: Measure = "logit_difference"
JUDGES: tuple[Method, ...] = (
    *("attention", "norm", "direct", "zero", "mean", "resample", "attribution"),
)


@cache
def judged(planted: PlantedModel) -> dict[str, Doubles]:
    """What each method says of each head, (layer, head), in parts of what it says of the largest.

    The mean over the examples. Effects are on the lead of the likeliest word, by size; the mean is
    over all examples of the model, and another text is the example's own contrast. "attention" is
    the largest weight in the row of the last token, and is not divided.
    """
    model = load(planted.name)
    known = tuple(text for each in planted.examples for text in (each.text, each.contrast))
    found: dict[str, Doubles] = {}
    for method in JUDGES:
        scores = [_scores(model, method, example, known) for example in planted.examples]
        mean = np.abs(np.mean(scores, axis=0))
        found[method] = mean if method == "attention" else mean / mean.max()
    return found


def _scores(
    model: LoadedModel, method: Method, example: Example, known: tuple[str, ...]
) -> Doubles:
    text = example.text
    if method == "attention":
        return trace_text(model, text).attention()[:, :, -1].max(axis=-1).astype(float)
    if method == "norm":
        norms = written_norms(model, text)
        return np.zeros((LAYERS, HEADS)) if norms is None else norms
    if method == "direct":
        return direct_parts(model, text, MEASURE).heads
    if method == "attribution":
        return attributed_effects(model, text, "mean", MEASURE, reference=known)
    given = (example.contrast,) if method == "resample" else known
    return effects(model, text, method, MEASURE, reference=given, draws=0).values
