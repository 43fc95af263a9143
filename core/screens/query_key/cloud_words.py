"""What figures of queries and keys as points are called, and what those of a head mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.query_key.clouds import Cloud
from core.analysis.query_key.faithfulness import MIN_CHANGE, Faithfulness
from core.analysis.query_key.scaling import MIN_RELIABLE, HeadScaling, few_pairs
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.ui.words.scores import DISTANCES, SCORES

if TYPE_CHECKING:
    from core.screens.query_key.choice import Choice

    Change = Literal["better", "worse", "the same"]

_words = Prose(__file__)
MEAN_DISTANCE = "The mean distance is from each query to its strongest key, in this picture."
_MIN_QUERIES = 0.005  # share of queries; less is rounding, as one query is more in any text shown


def signed(value: float) -> str:
    """A correlation with its sign, or "not defined"."""
    return number(value, "+.2f")


def percent(share: float) -> str:
    """A share of queries, or "not defined"."""
    return f"{share:.0%}" if np.isfinite(share) else "not defined"


def title_of(
    cloud: Cloud, projection: str, choice: Choice, *, head: int | None = None, beside: bool = False
) -> str:
    """The head, the stage and the mean distance of a panel; `beside` another stage shortly.

    A biplot shows no distances.
    """
    name = choice.name(head)
    if projection == "biplot":
        return f"{name} · biplot"
    stage = f" {cloud.stage}" if beside else f" · {cloud.stage}"
    return f"{name}{stage}: mean distance {cloud.apart_in_picture:.2f}"


def axes_of(projection: str, dimensions: int, *, turned: bool = False) -> list[str]:
    """What the axes of a panel show; one that is `turned` onto another mixes its components."""
    name = {"PCA": "PC", "biplot": "component"}.get(projection, projection)
    mixed = ", turned" if turned else ""
    return [f"{name} {number}{mixed}" for number in range(1, dimensions + 1)]


def notes_of(cloud: Cloud, projection: str, choice: Choice, *, short: bool = False) -> list[str]:
    """The panel's own numbers."""
    plane, full, share = cloud.in_picture, cloud.in_full, cloud.picture.share
    r, r_full = signed(plane.correlation), signed(full.correlation)
    scores = SCORES[choice.target]
    if projection == "biplot":
        return [
            f"Keeps {share or 0:.0%} of the squared row-centred scores",
            f"Correlation of inner products with the {scores}: {r}",
        ]
    if short:
        return [f"Correlation with the scores: {r} here, {r_full} in full space"]
    nearest = f"{percent(plane.top1)} here, {percent(full.top1)} in full space"
    notes = [
        f"Mean distance in full space: {cloud.apart_in_full:.2f}",
        f"Correlation with the {scores}: {r} here, {r_full} in full space",
        f"Nearest key is the most attended: {nearest}",
    ]
    return notes if share is None else [*notes, f"Keeps {share:.0%} of the variance"]


def verdict(scaling: HeadScaling, choice: Choice) -> str:
    """What translation and scaling did to this head, by both measures (Markdown)."""
    raw, _, normalized = stages = scaling.faithfulness
    if not all(np.isfinite(stage.correlation) for stage in stages):
        return _words("no_correlation", head=choice.name())
    measured = np.isfinite([raw.low, normalized.low]).all()
    return _words(
        "verdict",
        head=choice.name(),
        distance=DISTANCES[choice.distance],
        scores=SCORES[choice.target],
        r=[signed(stage.correlation) for stage in stages],
        c=scaling.c,
        top=[percent(stage.top1) for stage in stages],
        judgement=judgement(raw, normalized),
        pairs=raw.pairs,
        modality=choice.key.modality,
        pooled=choice.target != "raw",
        intervals=[interval(raw), interval(normalized)] if measured else [],
    )


def interval(measured: Faithfulness) -> str:
    """Both ends of a 95% interval, or nothing where it is not defined."""
    if not np.isfinite(measured.low):
        return ""
    return f"{signed(measured.low)} to {signed(measured.high)}"


def judgement(raw: Faithfulness, normalized: Faithfulness) -> str:
    """Whether normalization helped, and by which measure where they disagree (Markdown)."""
    by_correlation = _change(raw.correlation - normalized.correlation, MIN_CHANGE)
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
    criterion, weighted = choice.criterion, scaling.weighted_pairs
    undefined = criterion == "weighted" and not np.isfinite(scaling.curve).any()
    of_text = choice.key.modality == "text"  # an image cannot be longer
    warnings = {
        _words("balanced"): criterion == "balanced",
        _words("flat"): choice.distance == "cosine",
        _words("on_edge", c=scaling.c): scaling.on_edge,
        _words("too_few", weighted=weighted, used=used, of_text=of_text): undefined,
        _words("few", weighted=weighted, needed=MIN_RELIABLE): few_pairs(scaling, criterion)
        and not undefined,
        _words("some_pairs", used=used, counted=counted): used < counted,
    }
    return [text for text, applies in warnings.items() if applies]
