"""What the query-key page says: titles, notes, how to read it, what a head's figures mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.query_key.scaling import few_pairs
from core.screens.query_key.choice import head_name

if TYPE_CHECKING:
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.clouds import Cloud, HeadStage
    from core.analysis.query_key.faithfulness import Faithfulness
    from core.analysis.query_key.scaling import Criterion, HeadScaling
    from core.analysis.query_key.target import TargetKind
    from core.screens.query_key.choice import Choice

    Judged = Literal["better", "worse", "the same"]

CRITERIA: dict[Criterion, str] = {
    "pearson": "Pearson, all pairs",
    "spearman": "Spearman, all pairs",
    "weighted": "weighted (AttentionViz)",
    "balanced": "balanced norms",
}
STAGE_NAMES: dict[HeadStage, str] = {
    "raw": "raw",
    "translated": "translated",
    "normalized": "normalized",
    "searched": "a and c of the search",
}
_BESIDE: dict[HeadStage, str] = {"raw": "default", "searched": "searched"}
DISTANCES: dict[Metric, str] = {"euclidean": "Euclidean", "cosine": "cosine"}
TARGETS: dict[TargetKind, str] = {"centred": "row-centred", "raw": "raw"}
SCORES: dict[TargetKind, str] = {"centred": "row-centred scores", "raw": "raw scores"}
MEAN_DISTANCE = (
    "“Default” are the vectors as they are, “searched” those with the a and c of the search. The"
    " mean distance is that of each query to the key it attends to most, in this plane."
)
_MARKS = "Circles are queries, diamonds keys"
_MUCH = 0.02  # of a correlation: what differs less is called the same
_FEW_QUERIES = 0.005  # of them: less is rounding, as a query is more in any text shown


def number(value: float, form: str = "+.2f") -> str:
    """A number with a true minus sign, or the words for one that is not defined."""
    return format(value, form).replace("-", "−") if np.isfinite(value) else "not defined"


def percent(share: float) -> str:
    """A share of queries, or the words for one that is not defined."""
    return f"{share:.0%}" if np.isfinite(share) else "not defined"


def title_of(
    cloud: Cloud, projection: str, choice: Choice, *, head: int, beside: bool = False
) -> str:
    """The head and the stage of a panel; `beside` another stage also its mean distance."""
    name = head_name(choice.layer, head)
    if projection == "biplot":
        return f"{name} · biplot"
    if beside:
        stage = _BESIDE.get(cloud.stage, cloud.stage)
        return f"{name} {stage}: mean distance {cloud.apart_in_picture:.2f}"
    return f"{name} · {STAGE_NAMES[cloud.stage]}"


def notes_of(cloud: Cloud, projection: str, choice: Choice, *, short: bool = False) -> list[str]:
    """The panel's own numbers."""
    here, full = cloud.in_picture, cloud.in_full
    r, r_full = number(here.correlation), number(full.correlation)
    scores = SCORES[choice.target]
    if projection == "biplot":
        kept = f"Keeps {cloud.picture.share or 0:.0%} of the squared row-centred scores"
        return [kept, f"Correlation of inner products with the {scores}: {r}"]
    if short:
        return [f"with the scores {r} here, {r_full} in full space"]
    apart = f"{cloud.apart_in_picture:.2f} apart here, {cloud.apart_in_full:.2f} in full space"
    nearest = f"{percent(here.top1)} here, {percent(full.top1)} in full space"
    return [
        f"Strongest pairs: {apart}",
        f"Correlation with the {scores}: {r} here, {r_full} in full space",
        f"Nearest key is the most attended: {nearest}",
        *(
            []
            if cloud.picture.share is None
            else [f"Keeps {cloud.picture.share:.0%} of the variance"]
        ),
    ]


def caption_of(
    projection: str,
    choice: Choice,
    *,
    grid: bool,
    seed: int,
    softcap: float | None = None,
    beside: bool = False,
) -> str:
    """How to read the clouds, true for what is drawn; `softcap` is that of the layer's scores."""
    if projection == "biplot":
        return (
            f"{_MARKS}. In a biplot not distances but inner"
            " products count: a key far out in a query's direction is attended to. It is the best"
            " that two dimensions can do for the scores, and no a and no c changes it."
        )
    how = {
        "PCA": "PCA of queries and keys together, at unit length since cosine was chosen."
        if choice.distance == "cosine"
        else "PCA of queries and keys together.",
        "UMAP": f"UMAP, 15 neighbours, seed {seed}: distances between far groups mean little.",
        "t-SNE": f"t-SNE, perplexity up to 30, seed {seed}: distances between groups mean little.",
    }[projection]
    stages = (
        "Both panels of a head have one scale, unless each has its own."
        if beside
        else "All heads have the same scale unless each has its own."
        if grid
        else f"{_same_attention(softcap)} Each panel is turned to match the one before."
    )
    mean = f" {MEAN_DISTANCE}" * beside
    return (
        f"{_MARKS}; each line joins a query to a key it attends to, blue the strongest of each"
        f" query, red from the chosen sources to the chosen targets. {how} {stages}{mean} A good"
        f" picture has correlations near −1: what is near is attended to. {_target_words(choice)}"
    )


def _same_attention(softcap: float | None) -> str:
    if softcap is None:
        return "Attention is the same in every panel: only the picture changes."
    return (
        "Lines are the model's own attention in every panel. Its scores are soft-capped at"
        f" {softcap:g}, so translated keys would change it: see “Can it be trusted?”."
    )


def _target_words(choice: Choice) -> str:
    if choice.target == "raw":
        return (
            "Correlations are with the model's own scores at every stage; softmax does not see"
            " what they have in common within a row."
        )
    return (
        "Correlations are within rows, at every stage: scores and distances each lose the mean of"
        " their row, which softmax cannot see. A query with a single permitted key is left out."
    )


def verdict(scaling: HeadScaling, choice: Choice) -> str:
    """What translation and scaling did to this head, by both measures (Markdown)."""
    kept = scaling.faithfulness
    if not all(np.isfinite(stage.correlation) for stage in kept):
        return f"{choice.name}: there is no correlation, as scores or distances do not vary."
    raw, translated, normalized = (number(stage.correlation) for stage in kept)
    first, second, third = (percent(stage.top1) for stage in kept)
    return (
        f"{choice.name}: {DISTANCES[choice.distance]} distance and {SCORES[choice.target]}"
        f" correlate {raw} raw, {translated} translated, {normalized} normalized with"
        f" c = {scaling.c:.3g}; the nearest key is the most attended one for {first}, {second} and"
        f" {third} of the queries: {judgement(kept.raw, kept.normalized)}. In full space; −1 and"
        f" 100% would be perfect. {_evidence(scaling, choice)}"
    )


def _evidence(scaling: HeadScaling, choice: Choice) -> str:
    """Pairs and sampling error."""
    kept = scaling.faithfulness
    pairs = f"All {kept.raw.pairs:,} permitted pairs of this text"
    if not np.isfinite([kept.raw.low, kept.normalized.low]).all():
        return f"{pairs}."
    raw, normalized = (
        f"{number(stage.low)} to {number(stage.high)}" for stage in (kept.raw, kept.normalized)
    )
    pooled = "" if choice.target == "raw" else ", pooled within rows"
    return (
        f"{pairs}{pooled}; 95% intervals {raw} raw, {normalized} normalized (jackknife over its"
        " queries)."
    )


def judgement(raw: Faithfulness, normalized: Faithfulness) -> str:
    """Whether normalization helped, and by which measure where they disagree (Markdown)."""
    by_correlation = _judged(raw.correlation - normalized.correlation, _MUCH)
    by_key = _judged(normalized.top1 - raw.top1, _FEW_QUERIES)
    if by_correlation == by_key == "the same":
        return "normalization left it as it was"
    if by_correlation == by_key:
        return f"**normalization made it {by_correlation}**"
    correlation = (
        "left its correlation as it was"
        if by_correlation == "the same"
        else f"**made its correlation {by_correlation}**"
    )
    nearest = (
        "left its nearest keys as they were"
        if by_key == "the same"
        else f"**made its nearest keys {by_key}**"
    )
    return f"normalization {correlation} and {nearest}"


def _judged(gain: float, least: float) -> Judged:
    if abs(gain) < least:
        return "the same"
    return "better" if gain > 0 else "worse"


def warnings_of(scaling: HeadScaling, criterion: Criterion) -> list[str]:
    """What to keep in mind about this head's c."""
    found = []
    if criterion == "balanced":
        found.append(
            "Balanced norms ask no correlation: c = √(median |k| / median |q|), with queries times"
            " c and keys over c."
        )
    if scaling.flat:
        found.append("Cosine distance does not depend on c: the curve is flat, and c stays 1.")
    if scaling.on_edge:
        found.append(
            f"The best c, {scaling.c:.3g}, lies at the edge of what was tried: the criterion has no"
            " optimum of its own here."
        )
    used, there = scaling.pairs
    if criterion == "weighted" and not np.isfinite(scaling.curve).any():
        found.append(
            f"Only {scaling.carrying} of {used:,} pairs carry weight, too few for a correlation: c"
            " stays 1. Take a longer text, or another criterion."
        )
    elif few_pairs(scaling, criterion):
        found.append(
            f"Only {scaling.carrying} pairs carry weight (fewer than 30): the criterion is mostly"
            " chance."
        )
    if used < there:
        found.append(
            f"c is chosen on a random {used:,} of {there:,} pairs (fixed seed); what each stage"
            " keeps is measured on all of them."
        )
    return found
