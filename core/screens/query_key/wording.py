"""What the query-key page says: how to read it, and what a head's figures mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.normalization import GridSearch
from core.analysis.query_key.clouds import Cloud, Lines, best_stage
from core.analysis.query_key.correlation import Distance, Measure
from core.analysis.query_key.faithfulness import (
    MIN_CHANGE,
    Faithfulness,
    head_target,
    uniform_baseline,
)
from core.analysis.query_key.scaling import MIN_RELIABLE, HeadScaling, few_pairs
from core.screens.query_key.choice import Choice
from core.ui.words.messages import quote
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.vocabulary import STAGE_NAMES, STAGES, labels_of, percent

if TYPE_CHECKING:
    from core.model import Trace

    Change = Literal["better", "worse", "the same"]

_words = Prose(__file__)
CAPTION = _words("clouds")
CRITERIA: dict[Measure, str] = {
    "pearson": "Pearson, all pairs",
    "weighted": "weighted (AttentionViz)",
}
DISTANCES: dict[Distance, str] = {
    "euclidean": "Euclidean",
    "squared euclidean": "squared Euclidean",
    "cosine": "cosine",
}
MEAN_DISTANCE = "The mean distance is from each query to its strongest key, in this picture."
RED_RULE = (
    "A line is red, as in AttentionViz, where the strongest key of a chosen source is a chosen"
    " target"
)
DASHED = "Other chosen pairs are dashed."
_MIN_QUERIES = 0.005  # share of queries; less is rounding: one query is more in any text shown


def red_words(trace: Trace, choice: Choice, lines: Lines) -> str:
    """The rule for red lines, and which ones are red; "" without pairs."""
    if not (choice.sources and choice.targets):
        return ""
    labels, key_labels = labels_of(trace.tokens), labels_of(trace.key_tokens)
    red = lines.red(choice.sources, choice.targets)
    ends = zip(lines.queries[red], lines.keys[red], lines.weights[red], strict=True)
    pairs = [f"{quote(labels[i])} → {quote(key_labels[j])} {w:.3f}" for i, j, w in ends]
    return f"{RED_RULE}: here {', '.join(pairs) or 'none'}. {DASHED}"


def edge_of(search: GridSearch) -> str:
    """Whether the best a is an optimum or at the edge of the grid."""
    return "on the edge of its range" if search.a_on_edge else "inside its range"


def regression_title(layer: int, search: GridSearch) -> str:
    """The layer's number, its a and c, and the strength of the regression."""
    a, c = number(search.a, ".3g"), number(search.c, ".3g")
    return f"Layer {layer}: a = {a}, c = {c}, |r| = {abs(search.correlation):.5f}"


def why_undefined(trace: Trace) -> str:
    """Why the search is undefined, as a clause."""
    return _words("flat_search" if trace.source is None else "cross_search")


def signed(value: float) -> str:
    """A correlation with its sign, or "not defined"."""
    return number(value, "+.2f")


def title_of(cloud: Cloud, choice: Choice, head: int | None = None) -> str:
    """A panel's title: the head, the stage and the mean distance."""
    stage = STAGE_NAMES[cloud.stage]
    return f"{choice.name(head)} {stage}: mean distance {cloud.apart_in_picture:.2f}"


def axes_of(projection: str, dimensions: int, *, turned: bool = False) -> list[str]:
    """What a panel's axes show; a panel that is `turned` to match another mixes components."""
    name = "PC" if projection == "PCA" else projection
    mixed = ", turned" if turned else ""
    return [f"{name} {number}{mixed}" for number in range(1, dimensions + 1)]


def axes_note(projection: str, turned: bool) -> str:
    """What the axes of a panel in the plane show."""
    return "→ {} · ↑ {}".format(*axes_of(projection, 2, turned=turned))


def notes_of(cloud: Cloud, *, short: bool = False) -> list[str]:
    """Notes on the panel's numbers."""
    plane, full, share = cloud.in_picture, cloud.in_full, cloud.picture.share
    r, r_full = signed(plane.correlation), signed(full.correlation)
    if short:
        return [f"Correlation with the scores: {r} here, {r_full} in full space"]
    nearest = f"{percent(plane.top1)} here, {percent(full.top1)} in full space"
    notes = [
        f"Mean distance in full space: {cloud.apart_in_full:.2f}",
        f"Correlation with the row-centred scores: {r} here, {r_full} in full space",
        f"Nearest key is the most attended: {nearest}",
    ]
    return notes if share is None else [*notes, f"Keeps {percent(share)} of the variance"]


def verdict(scaling: HeadScaling, choice: Choice) -> str:
    """The effect of translation and scaling on this head, by both measures (Markdown)."""
    raw, _, normalized = stages = scaling.faithfulness
    if not all(np.isfinite(stage.correlation) for stage in stages):
        return _words("no_correlation", head=choice.name())
    measured = np.isfinite([raw.low, normalized.low]).all()
    return _words(
        "verdict",
        head=choice.name(),
        distance=DISTANCES[choice.distance],
        r=[signed(stage.correlation) for stage in stages],
        c=scaling.c,
        top=[percent(stage.top1) for stage in stages],
        judgement=judgement(raw, normalized),
        pairs=raw.pairs,
        modality=choice.key.modality,
        intervals=[interval(raw), interval(normalized)] if measured else [],
    )


def headline(trace: Trace, scaling: HeadScaling, choice: Choice, stage: str) -> str:
    """How often the nearest key is the most attended one, at the stage on screen (Markdown).

    At the best stage if several are shown, or in the search; empty where it is undefined.
    """
    best = best_stage(scaling)
    named = stage if stage in STAGES else best
    share = getattr(scaling.faithfulness, named).top1
    uniform = uniform_baseline(head_target(trace, choice.layer, choice.head).rows)
    return (
        ""
        if not np.isfinite(share + uniform)
        else _words(
            "headline",
            head=choice.name(),
            share=float(share),
            stage=STAGE_NAMES[named],
            best=named == best,
            uniform=uniform,
        )
    )


def interval(measured: Faithfulness) -> str:
    """Both ends of a 95 % interval, or empty if undefined."""
    if not np.isfinite(measured.low):
        return ""
    return f"{signed(measured.low)} to {signed(measured.high)}"


def judgement(raw: Faithfulness, normalized: Faithfulness) -> str:
    """Whether normalization helped, and by which measure if they disagree (Markdown)."""
    by_correlation = _change(raw.correlation - normalized.correlation, MIN_CHANGE)
    by_key = _change(normalized.top1 - raw.top1, _MIN_QUERIES)
    if by_correlation == by_key:
        sentence = f"**normalization made it {by_correlation}**"
        return "normalization changed little" if by_key == "the same" else sentence
    correlation, keys = (
        f"barely changed its {noun}" if change == "the same" else f"**made its {noun} {change}**"
        for noun, change in (("correlation", by_correlation), ("nearest keys", by_key))
    )
    return f"normalization {correlation} and {keys}"


def _change(gain: float, min_gain: float) -> Change:
    if abs(gain) < min_gain:
        return "the same"
    return "better" if gain > 0 else "worse"


def warnings_of(scaling: HeadScaling, choice: Choice) -> list[str]:
    """Caveats about this head's c."""
    used, total = scaling.pairs
    undefined = choice.criterion == "weighted" and not np.isfinite(scaling.curve).any()
    few = _words(
        "few",
        weighted=scaling.weighted_pairs,
        used=used,
        needed=MIN_RELIABLE,
        undefined=undefined,
    )
    warnings = {
        _words("flat"): choice.distance == "cosine",
        _words("on_edge", c=scaling.c): scaling.on_edge,
        few: undefined or few_pairs(scaling, choice.criterion),
        _words("some_pairs", used=used, counted=total): used < total,
    }
    return [text for text, applies in warnings.items() if applies]
