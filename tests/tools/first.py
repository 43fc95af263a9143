"""Writes what comes with the app of pages' first inputs: ``python -m tests.tools.first``."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.analysis.effect import leading_heads
from core.analysis.head_patterns.induction import induction_scores
from core.atlas import build_atlas
from core.components.packing import quantise_points
from core.model import (
    LoadedModel,
    Trace,
    choose_texts,
    classify,
    effects,
    load,
    trace_by_length,
    trace_image,
    trace_repeated,
    trace_text,
)
from core.model.bundled.first import FILES, IMAGE, PICTURE, SENTENCE, TEXT, FirstInput
from core.model.interventions.heads import FRESH_DRAWS, FRESH_SEED
from core.model.sample_images import open_sample_image
from core.model.weights.output_projection import transformed_norms
from core.model.weights.query_key import weight_similarity
from core.records import write_record
from core.screens.atlas.corpus.building import BATCH_TOKENS
from core.screens.atlas.corpus.source import DEFAULT_TOKENS, corpus_of
from core.screens.atlas.first import FILE, FirstAtlas
from core.screens.atlas.layouts import tile_points, tile_tokens
from core.ui.cache import MAX_TOKENS


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
    model, image = load(IMAGE, modality="image"), open_sample_image(PICTURE)
    common, classes = _common(model, trace_image(model, image)), tuple(classify(model, image))
    return FirstInput(**common, classes=classes)


def _common(model: LoadedModel, trace: Trace) -> dict[str, Any]:
    similarity = weight_similarity(model)
    return {"trace": trace, "norms": transformed_norms(model, trace), "similarity": similarity}


def compute_atlas() -> FirstAtlas:
    """What the atlas page begins with, from the model itself."""
    model, corpus = load(TEXT), corpus_of("sample")
    plan = choose_texts(model, corpus.texts, DEFAULT_TOKENS, MAX_TOKENS)
    own = [corpus.texts[place] for place in plan.places]
    run = trace_by_length(model, own, batch_tokens=BATCH_TOKENS, max_tokens=MAX_TOKENS)
    traces = ((plan.places[index], trace) for index, trace in run)
    atlas = build_atlas(traces, corpus.texts, corpus.labels)
    steps, frames = quantise_points(tile_points(atlas, "raw", tile_tokens(atlas, None)))
    return FirstAtlas(
        plan=plan,
        tokens=atlas.tokens,
        steps=steps,
        frames=frames,
        shares=atlas.shares["raw"],
        c=atlas.c,
        faithfulness=atlas.faithfulness["raw"],
        measured=atlas.measured,
    )


if __name__ == "__main__":
    for each, file in FILES.items():
        write_record(compute(each), file)
    write_record(compute_atlas(), FILE)
