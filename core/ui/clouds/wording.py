"""What figures of queries and keys as points are called, and what those of a head mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.query_key.scaling import MIN_RELIABLE, few_pairs

if TYPE_CHECKING:
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.clouds import Cloud
    from core.analysis.query_key.faithfulness import Faithfulness
    from core.analysis.query_key.scaling import Criterion, HeadScaling
    from core.analysis.query_key.target import TargetKind
    from core.ui.clouds.choice import Choice

    Change = Literal["better", "worse", "the same"]

CRITERIA: dict[Criterion, str] = {
    "pearson": "Pearson, all pairs",
    "spearman": "Spearman, all pairs",
    "weighted": "weighted (AttentionViz)",
    "balanced": "balanced norms",
}
DISTANCES: dict[Metric, str] = {"euclidean": "Euclidean", "cosine": "cosine"}
TARGETS: dict[TargetKind, str] = {"centred": "row-centred", "raw": "raw"}
SCORES: dict[TargetKind, str] = {"centred": "row-centred scores", "raw": "raw scores"}
_MIN_CHANGE = 0.02  # of a correlation; less is called the same
_MIN_QUERIES = 0.005  # share of queries; less is rounding, as one query is more in any text shown


def number(value: float, form: str = "+.2f") -> str:
    """A number with a true minus sign, or "not defined"."""
    return format(value, form).replace("-", "−") if np.isfinite(value) else "not defined"


def percent(share: float) -> str:
    """A share of queries, or "not defined"."""
    return f"{share:.0%}" if np.isfinite(share) else "not defined"


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


def verdict(scaling: HeadScaling, choice: Choice) -> str:
    """What translation and scaling did to this head, by both measures (Markdown)."""
    raw, _, normalized = stages = scaling.faithfulness
    if not all(np.isfinite(stage.correlation) for stage in stages):
        return f"{choice.name()}: there is no correlation, as scores or distances do not vary."
    r = [number(stage.correlation) for stage in stages]
    first, second, third = (percent(stage.top1) for stage in stages)
    pairs = f"All {raw.pairs:,} permitted pairs of this {choice.key.reads}"
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
    longer = "a longer text, or " if choice.key.reads == "text" else ""
    undefined = criterion == "weighted" and not np.isfinite(scaling.curve).any()
    warnings = {
        "Balanced norms need no correlation: c = √(median |k| / median |q|), with queries times c"
        " and keys over c.": criterion == "balanced",
        "With cosine distance c changes nothing: the curve is flat, and c stays 1.": cosine,
        f"The best c, {scaling.c:.3g}, lies at the edge of the range tried: the criterion has no"
        " optimum of its own here.": scaling.on_edge,
        f"Only {scaling.weighted_pairs} of {used:,} pairs carry weight, too few for a correlation:"
        f" c stays 1. Take {longer}another criterion.": undefined,
        f"Only {scaling.weighted_pairs} pairs carry weight (fewer than {MIN_RELIABLE}): the"
        " criterion is mostly noise.": few_pairs(scaling, criterion) and not undefined,
        f"c is chosen on a random {used:,} of {counted:,} pairs (fixed seed); faithfulness is"
        " measured on all of them.": used < counted,
    }
    return [text for text, applies in warnings.items() if applies]
