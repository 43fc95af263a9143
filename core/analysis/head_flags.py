"""Which heads are odd, how odd, and why: rules on a head's measures, and robust z-scores.

A rule raises its flag in two cases: the measure lies beyond a threshold whatever other heads do, or
it lies beyond a lower mark and the head is also unlike the model's other heads (|z| of at least
`OUTLIER`). The first finds what is odd in itself, also where every head does it; the second finds
the one head that is not like the rest. The lower mark keeps small differences between heads that
are nearly equal from being called odd.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Measures = Mapping[str, Floats]

OUTLIER = 3.5  # of |z|; Iglewicz and Hoaglin 1993, "How to Detect and Handle Outliers"
_MAD_TO_SD = 0.6745  # the median absolute deviation of a normal distribution, in its own sd
_MEAN_TO_SD = 1.253314  # its sd over its mean absolute deviation
_CHANCE = 2.0  # a column counts as a sink from twice what an even head would give it
LEAST_TOKENS = 8  # below, two clouds can be told apart and rows are narrow mostly by luck


@dataclass(frozen=True)
class Rule:
    """When a measure is odd.

    Attributes
    ----------
    flag : its name, in words.
    measure : the measure's name.
    side : which side is odd: above, below, or both (of 0).
    threshold : beyond it the flag is raised whatever other heads do.
    outlier_from : beyond it the flag is raised for a head that is unlike the others.
    ordinary : where the measure stands when nothing is odd; severity is counted from here.
    source : who described it.
    """

    flag: str
    measure: str
    side: Literal["above", "below", "both"]
    threshold: float
    outlier_from: float
    ordinary: float
    source: str

    def beyond(self, values: Floats, mark: float) -> NDArray[np.bool_]:
        """Where the values lie on the odd side of a mark, or on it; nowhere unknown ones do."""
        with np.errstate(invalid="ignore"):
            if self.side == "below":
                return values <= mark
            return (np.abs(values) if self.side == "both" else values) >= mark

    def strength(self, values: Floats) -> Floats:
        """How far from ordinary, in units of the threshold's distance from it; 1 is on it."""
        return np.abs(values - self.ordinary) / abs(self.threshold - self.ordinary)


RULES: tuple[Rule, ...] = (
    Rule(
        *("norm disparity", "norm_log_ratio", "both", 2.0, 1.0, 0.0),
        "Yeh et al. 2023 (AttentionViz), section 5.1.1",
    ),
    Rule(
        *("clouds apart", "separability", "above", 0.95, 0.9, 0.5),
        "Yeh et al. 2023 (AttentionViz)",
    ),
    Rule(
        *("first-token sink", "first_attention", "above", 0.5, 0.3, 0.0),
        "Vig and Belinkov 2019; Xiao et al. 2024",
    ),
    Rule(*("column sink", "sink_attention", "above", 0.5, 0.3, 0.0), "Clark et al. 2019"),
    Rule(
        *("null attention", "null_attention", "above", 0.5, 0.25, 0.0),
        "Vig and Belinkov 2019; Kobayashi et al. 2020, section 4",
    ),
    Rule(*("empty value", "first_value", "below", 0.05, 0.05, 1.0), "Kobayashi et al. 2020"),
    Rule(*("entropy collapse", "entropy", "below", 0.1, 0.2, 1.0), "Zhai et al. 2023"),
    Rule(
        *("alike weights", "weight_similarity", "both", 0.5, 0.3, 0.0),
        "Yeh et al. 2023 (AttentionViz)",
    ),
)


def rule(flag: str) -> Rule:
    """The rule of that flag. Raises KeyError for a name that is none."""
    return {each.flag: each for each in RULES}[flag]


def robust_z(values: Floats) -> Floats:
    """(x - median) / MAD over all heads, in units of a normal distribution's sd; same shape.

    Where more than half of the heads are equal the MAD is 0, and the mean absolute deviation takes
    its place (Iglewicz and Hoaglin 1993); where all are equal, z is 0. What is not a number does
    not count and stays so.
    """
    known = np.isfinite(values)
    if not known.any():
        return np.full(values.shape, np.nan)
    from_median = values - np.median(values[known])
    sizes = np.abs(from_median[known])
    unit = np.median(sizes) / _MAD_TO_SD or sizes.mean() * _MEAN_TO_SD or np.inf
    return np.where(known, from_median / unit, np.nan)


def raised(each: Rule, measures: Measures) -> NDArray[np.bool_]:
    """Which heads raise this flag, (layer, head)."""
    values = measures[each.measure]
    z = robust_z(values)
    with np.errstate(invalid="ignore"):
        unlike = {"above": z >= OUTLIER, "below": z <= -OUTLIER, "both": np.abs(z) >= OUTLIER}
    odd = each.beyond(values, each.threshold)
    odd |= each.beyond(values, each.outlier_from) & unlike[each.side]
    return odd & _applies(each, measures)


def _applies(each: Rule, measures: Measures) -> NDArray[np.bool_]:
    """Where a rule can say anything that no other rule says better, (layer, head)."""
    if each.flag == "first-token sink":
        return measures["first_attention"] >= _CHANCE * measures["first_uniform"]
    if each.flag == "column sink":
        elsewhere = measures["sink"] != 1
        return elsewhere & (measures["sink_attention"] >= _CHANCE * measures["sink_uniform"])
    if each.flag in {"clouds apart", "entropy collapse"}:
        return measures["tokens"] >= LEAST_TOKENS
    if each.flag == "empty value":
        return ~raised(rule("null attention"), measures)
    return np.ones(measures[each.measure].shape, dtype=np.bool_)


def reason(each: Rule, one: Mapping[str, float]) -> str:
    """Why a head has this flag, in words; `one` holds its measures."""
    value = one[each.measure]
    if each.flag == "norm disparity":
        longer, shorter = ("queries", "keys") if value > 0 else ("keys", "queries")
        return f"{longer} are {2 ** abs(value):.1f} times as long as {shorter}"
    if each.flag in {"first-token sink", "column sink"}:
        column = each.measure.removesuffix("_attention")
        which = "the first token" if column == "first" else f"token {one['sink']:.0f}"
        even, carried = one[f"{column}_uniform"], one[f"{column}_contribution"]
        return (
            f"{value:.2f} of its attention rests on {which} (an even head: {even:.2f}), which"
            f" carries {carried:.2f} of what is moved"
        )
    return _REASONS[each.flag].format(value).replace("-", "−")


_REASONS = {
    "clouds apart": "after translation {:.2f} of queries and keys can still be told apart",
    "null attention": "{:.2f} of its attention moves next to nothing",
    "empty value": "the first token's value is {:.2f} of the median: what it gets is not moved",
    "entropy collapse": "each token looks at almost one key: entropy {:.2f} of the maximum",
    "alike weights": "the weights of queries and keys correlate at {:+.2f}",
}
