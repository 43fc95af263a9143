"""What the query-key page says: titles, notes, how to read it, what a head's figures mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.projections.joint_embedding import SEED
from core.analysis.query_key.scaling import MIN_RELIABLE, few_pairs
from core.screens.query_key.controls import STAGE_NAMES
from core.ui.words.formulas import BIAS

if TYPE_CHECKING:
    from core.analysis.normalization import GridSearch
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.clouds import Cloud, HeadStage
    from core.analysis.query_key.faithfulness import Faithfulness
    from core.analysis.query_key.scaling import Criterion, HeadScaling
    from core.analysis.query_key.target import TargetKind
    from core.model import Trace
    from core.model.trace import Layer
    from core.screens.query_key.controls import Choice

    Change = Literal["better", "worse", "the same"]

CRITERIA: dict[Criterion, str] = {
    "pearson": "Pearson, all pairs",
    "spearman": "Spearman, all pairs",
    "weighted": "weighted (AttentionViz)",
    "balanced": "balanced norms",
}
_BESIDE: dict[HeadStage, str] = {"raw": "default", "searched": "searched"}
DISTANCES: dict[Metric, str] = {"euclidean": "Euclidean", "cosine": "cosine"}
TARGETS: dict[TargetKind, str] = {"centred": "row-centred", "raw": "raw"}
SCORES: dict[TargetKind, str] = {"centred": "row-centred scores", "raw": "raw scores"}
MEAN_DISTANCE = (
    "“Default” shows the raw vectors, “searched” those with the a and c of the search. The mean"
    " distance is from each query to the key it attends to most, in this plane."
)
_MARKS = "Circles are queries, diamonds keys"
_MIN_CHANGE = 0.02  # of a correlation; less is called the same
_MIN_QUERIES = 0.005  # share of queries; less is rounding, as one query is more in any text shown


def number(value: float, form: str = "+.2f") -> str:
    """A number with a true minus sign, or "not defined"."""
    return format(value, form).replace("-", "−") if np.isfinite(value) else "not defined"


def percent(share: float) -> str:
    """A share of queries, or "not defined"."""
    return f"{share:.0%}" if np.isfinite(share) else "not defined"


def title_of(
    cloud: Cloud, projection: str, choice: Choice, *, head: int, beside: bool = False
) -> str:
    """The head and the stage of a panel; `beside` another stage also its mean distance."""
    name = choice.name(head)
    if projection == "biplot":
        return f"{name} · biplot"
    if beside:
        stage = _BESIDE.get(cloud.stage, cloud.stage)
        return f"{name} {stage}: mean distance {cloud.apart_in_picture:.2f}"
    return f"{name} · {STAGE_NAMES[cloud.stage]}"


def notes_of(cloud: Cloud, projection: str, choice: Choice, *, short: bool = False) -> list[str]:
    """The panel's own numbers."""
    plane, full, share = cloud.in_picture, cloud.in_full, cloud.picture.share
    r, r_full = number(plane.correlation), number(full.correlation)
    scores = SCORES[choice.target]
    if projection == "biplot":
        return [
            f"Keeps {share or 0:.0%} of the squared row-centred scores",
            f"Correlation of inner products with the {scores}: {r}",
        ]
    if short:
        return [f"with the scores {r} here, {r_full} in full space"]
    apart = f"{cloud.apart_in_picture:.2f} apart here, {cloud.apart_in_full:.2f} in full space"
    nearest = f"{percent(plane.top1)} here, {percent(full.top1)} in full space"
    notes = [
        f"Strongest pairs: {apart}",
        f"Correlation with the {scores}: {r} here, {r_full} in full space",
        f"Nearest key is the most attended: {nearest}",
    ]
    return notes if share is None else [*notes, f"Keeps {share:.0%} of the variance"]


def caption_of(
    projection: str,
    choice: Choice,
    *,
    grid: bool,
    rule: Layer,
    beside: bool = False,
) -> str:
    """How to read the clouds, true for what is drawn and for the layer's `rule`."""
    if projection == "biplot":
        return (
            f"{_MARKS}. A biplot shows inner products, not distances: a key far out in a query's"
            " direction is attended to. No two dimensions keep more of the scores, and no a or c"
            " changes it."
        )
    how = {
        "PCA": "PCA of queries and keys together"
        + (", at unit length because cosine was chosen." if choice.distance == "cosine" else "."),
        "UMAP": f"UMAP, 15 neighbours, seed {SEED}: distances between far groups mean little.",
        "t-SNE": f"t-SNE, perplexity up to 30, seed {SEED}: distances between groups mean little.",
    }[projection]
    if beside:
        stages = f"Both panels of a head share a scale, unless each has its own. {MEAN_DISTANCE}"
    elif grid:
        stages = "All heads share a scale, unless each has its own."
    else:
        special = (
            [] if rule.softcap is None else [f"its scores are soft-capped at {rule.softcap:g}"]
        )
        special += [] if rule.sink is None else ["its heads have a sink"]
        same = (
            "Lines are the model's own attention in every panel. As"
            f" {' and '.join(special)}, translated keys would change it: see “How faithful is it?”."
            if special
            else "Attention is the same in every panel: only the picture changes."
        )
        stages = f"{same} Each panel is turned to match the one before."
    target = (
        "Correlations are with the model's own scores at every stage; softmax ignores what they"
        " have in common within a row."
        if choice.target == "raw"
        else "Correlations are within rows, at every stage: scores and distances each lose the mean"
        " of their row, which softmax ignores. Queries with one permitted key are left out."
    )
    return (
        f"{_MARKS}; each line joins a query to a key it attends to, blue to the strongest, red from"
        f" the chosen sources to the chosen targets. {how} {stages} In a good picture near means"
        f" attended, with correlations near −1. {target}{f' {BIAS}' if rule.biased else ''}"
    )


def verdict(scaling: HeadScaling, choice: Choice) -> str:
    """What translation and scaling did to this head, by both measures (Markdown)."""
    raw, _, normalized = stages = scaling.faithfulness
    if not all(np.isfinite(stage.correlation) for stage in stages):
        return f"{choice.name()}: there is no correlation, as scores or distances do not vary."
    r = [number(stage.correlation) for stage in stages]
    first, second, third = (percent(stage.top1) for stage in stages)
    pairs = f"All {raw.pairs:,} permitted pairs of this text"
    if np.isfinite([raw.low, normalized.low]).all():
        pooled = "" if choice.target == "raw" else ", pooled within rows"
        pairs += (
            f"{pooled}; 95% intervals {interval(raw)} raw, {interval(normalized)} normalized"
            " (jackknife over its queries)"
        )
    return (
        f"{choice.name()}: {DISTANCES[choice.distance]} distance and {SCORES[choice.target]}"
        f" correlate {r[0]} raw, {r[1]} translated, {r[2]} normalized with c = {scaling.c:.3g}; the"
        f" nearest key is the most attended one for {first}, {second} and {third} of the queries:"
        f" {judgement(raw, normalized)}. In full space; −1 and 100% would be perfect. {pairs}."
    )


def interval(measured: Faithfulness) -> str:
    """Both ends of a 95% interval, or nothing where it is not defined."""
    if not np.isfinite(measured.low):
        return ""
    return f"{number(measured.low)} to {number(measured.high)}"


def judgement(raw: Faithfulness, normalized: Faithfulness) -> str:
    """Whether normalization helped, and by which measure where they disagree (Markdown)."""
    by_correlation = _change(raw.correlation - normalized.correlation, _MIN_CHANGE)
    by_key = _change(normalized.top1 - raw.top1, _MIN_QUERIES)
    if by_correlation == by_key:
        made = f"**normalization made it {by_correlation}**"
        return "normalization changed little" if by_key == "the same" else made
    correlation, keys = (
        f"barely changed its {what}" if change == "the same" else f"**made its {what} {change}**"
        for what, change in (("correlation", by_correlation), ("nearest keys", by_key))
    )
    return f"normalization {correlation} and {keys}"


def _change(gain: float, min_gain: float) -> Change:
    if abs(gain) < min_gain:
        return "the same"
    return "better" if gain > 0 else "worse"


def warnings_of(scaling: HeadScaling, choice: Choice) -> list[str]:
    """What to keep in mind about this head's c."""
    used, counted = scaling.pairs
    criterion, cosine = choice.criterion, choice.distance == "cosine"
    undefined = criterion == "weighted" and not np.isfinite(scaling.curve).any()
    warnings = {
        "Balanced norms need no correlation: c = √(median |k| / median |q|), with queries times c"
        " and keys over c.": criterion == "balanced",
        "With cosine distance c changes nothing: the curve is flat, and c stays 1.": cosine,
        f"The best c, {scaling.c:.3g}, lies at the edge of the range tried: the criterion has no"
        " optimum of its own here.": scaling.on_edge,
        f"Only {scaling.weighted_pairs} of {used:,} pairs carry weight, too few for a correlation:"
        " c stays 1. Take a longer text, or another criterion.": undefined,
        f"Only {scaling.weighted_pairs} pairs carry weight (fewer than {MIN_RELIABLE}): the"
        " criterion is mostly noise.": few_pairs(scaling, criterion) and not undefined,
        f"c is chosen on a random {used:,} of {counted:,} pairs (fixed seed); faithfulness is"
        " measured on all of them.": used < counted,
    }
    return [text for text, applies in warnings.items() if applies]


def edge_of(search: GridSearch) -> str:
    """Whether the best a is an optimum."""
    return "on the edge of its range" if search.a_on_edge else "inside its range"


def regression_title(layer: int, search: GridSearch) -> str:
    """The layer (its number), its a and c, and how strong the regression is."""
    a, c = number(search.a, ".3g"), number(search.c, ".3g")
    return f"Layer {layer}: a = {a}, c = {c}, |r| = {abs(search.correlation):.5f}"


def why_undefined(trace: Trace) -> str:
    """Why the search finds nothing, as a clause."""
    if trace.source is not None:
        return (
            "the search compares the query and the key of one token, and in cross attention no"
            " token has both"
        )
    return "the products or the distances of its same-token pairs do not vary"


def search_words(trace: Trace, search: GridSearch, choice: Choice) -> str:
    """The a and c of the search, and how much they mean (Markdown)."""
    layer = choice.number
    if not search.defined:
        longer = "" if trace.source is not None else " Try a longer text."
        return f"The search finds no a and c for layer {layer}: {why_undefined(trace)}.{longer}"
    a, c = number(search.a, ".3g"), number(search.c, ".3g")
    limits = f"(−{choice.ranges.a:g} to {choice.ranges.a:g})"
    edge = f"{limits}: a wider one may do better" if search.a_on_edge else limits
    place = f"**{edge_of(search)}**" if search.a_on_edge else edge_of(search)
    lengths = (
        ""
        if choice.distance == "cosine"
        else ", but lengths in these pictures do: compare which keys are nearest, not how far they"
        " are"
    )
    return (
        f"The search of layer {layer} ends at **a = {a}**, **c = {c}**. This a lies {place} {edge}."
        " This c is merely the first tried: the search's cosine distance does not depend on c"
        f"{lengths}."
    )
