"""Which heads are odd, how odd, and why: rules on a head's measures, and robust z-scores.

A rule raises its flag in two cases: the measure lies beyond a threshold whatever other heads do, or
it lies beyond a lower mark and the head is also unlike the model's other heads (|z| of at least
`OUTLIER`). The first finds what is odd in itself, also where every head does it; the second finds
the one head that is not like the rest. The lower mark keeps small differences between heads that
are nearly equal from being called odd.

Attention determines some measures: its own weights, their entropy, the values they carry. Others
are of the queries and keys that make it, and these are not determined: keys + a give the same
attention, and so do c q with k / c. Flags say which they are of (`KINDS`).

Below `MIN_TOKENS` no flag is raised for what a text shows. Measured on untrained heads, in networks
of the shape of bundled/minilm and bundled/gpt2-novels with weights as training begins (standard
deviations of 0.02 and 0.05; 8 networks, 2 texts each): the share of heads with such a flag is

    tokens      6     8    10    12    16    48
    as minilm  2.2   1.6   0.9   0.3   0.0   0.0  %
    as gpt2    2.0   0.4   2.0   2.3   1.2   1.2  %, nearly all of them "clouds apart"

Larger random weights make heads that do look at few keys: with 0.3 the flags name 75 to 87 % in the
first shape, whatever the length, and 19 to 43 % in the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.analysis.head_patterns.naming import THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Measures = Mapping[str, Floats]

OUTLIER = 3.5  # of |z|; Iglewicz and Hoaglin 1993, "How to Detect and Handle Outliers"
_MAD_TO_SD = 0.6745  # the median absolute deviation of a normal distribution, in its own sd
_MEAN_TO_SD = 1.253314  # its sd over its mean absolute deviation
_CHANCE = 2.0  # a column counts as a sink from twice what an even head would give it

Kind = Literal["attention", "space", "weights"]
KINDS: Mapping[Kind, str] = {
    "attention": "Attention and values",
    "space": "Queries and keys",
    "weights": "Weights",
}


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
    kind : what it is of.
    cause : flags with one cause count once in the severity, by the strongest.
    source : who described it.
    """

    flag: str
    measure: str
    side: Literal["above", "below", "both"]
    threshold: float
    outlier_from: float
    ordinary: float
    kind: Kind
    cause: str
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


_CONCENTRATION, _LENGTHS, _VALUES = "concentration", "lengths", "values"
RULES: tuple[Rule, ...] = (
    Rule(
        *("first-token sink", "first_attention", "above", 0.5, 0.3, 0.0),
        *("attention", _CONCENTRATION, "Vig and Belinkov 2019; Xiao et al. 2024"),
    ),
    Rule(
        *("column sink", "sink_attention", "above", 0.5, 0.3, 0.0),
        *("attention", _CONCENTRATION, "Clark et al. 2019"),
    ),
    Rule(
        *("entropy collapse", "entropy", "below", 0.1, 0.2, 1.0),
        *("attention", _CONCENTRATION, "Zhai et al. 2023"),
    ),
    Rule(
        *("null attention", "null_attention", "above", 0.5, 0.25, 0.0),
        *("attention", _VALUES, "Vig and Belinkov 2019; Kobayashi et al. 2020, section 4"),
    ),
    Rule(
        *("empty value", "first_value", "below", 0.05, 0.05, 1.0),
        *("attention", _VALUES, "Kobayashi et al. 2020"),
    ),
    # Queries longer than keys are a cloud around another: both flags say it.
    Rule(
        *("norm disparity", "norm_log_ratio", "both", 2.0, 1.0, 0.0),
        *("space", _LENGTHS, "Yeh et al. 2023 (AttentionViz), section 5.1.1"),
    ),
    Rule(
        *("clouds apart", "separability", "above", 0.95, 0.9, 0.5),
        *("space", _LENGTHS, "Yeh et al. 2023 (AttentionViz)"),
    ),
    Rule(
        *("alike weights", "weight_similarity", "both", 0.5, 0.3, 0.0),
        *("weights", "weights", "Yeh et al. 2023 (AttentionViz)"),
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


def severities(measures: Measures) -> dict[Kind, Floats]:
    """How far each head's flagged measures lie from ordinary, by kind, (layer, head) each.

    Of flags with one cause the strongest counts: a sink and the low entropy that it makes are one.
    """
    by_cause: dict[tuple[Kind, str], Floats] = {}
    for each in RULES:
        flagged = raised(each, measures)
        strength = np.where(flagged, each.strength(measures[each.measure]), 0.0)
        cause = each.kind, each.cause
        by_cause[cause] = np.maximum(by_cause.get(cause, np.zeros(strength.shape)), strength)
    return {
        kind: np.sum([values for (of, _), values in by_cause.items() if of == kind], axis=0)
        for kind in KINDS
    }


def _applies(each: Rule, measures: Measures) -> NDArray[np.bool_]:
    """Where a rule can say anything, and no other says it better, (layer, head)."""
    shape = measures[each.measure].shape
    if each.kind == "weights":
        return np.ones(shape, dtype=np.bool_)
    enough = np.broadcast_to(measures["tokens"] >= MIN_TOKENS, shape)
    if each.flag == "first-token sink":
        return enough & (measures["first_attention"] >= _CHANCE * measures["first_uniform"])
    if each.flag == "column sink":
        above = measures["sink_attention"] >= _CHANCE * measures["sink_uniform"]
        return enough & (measures["sink"] != 1) & above
    if each.flag == "entropy collapse":
        # Previous, next and self are patterns: one key each is how they work.
        return enough & (measures["offset_attention"] <= THRESHOLDS["previous"])
    if each.flag == "empty value":
        return enough & ~raised(rule("null attention"), measures)
    return enough


def reason(each: Rule, one: Mapping[str, float]) -> str:
    """Why a head has this flag, in words; `one` holds its measures."""
    value = one[each.measure]
    if each.flag == "norm disparity":
        longer, shorter = ("query", "key") if value > 0 else ("key", "query")
        return f"the median {longer} is {2 ** abs(value):.1f} times as long as the median {shorter}"
    if each.flag in {"first-token sink", "column sink"}:
        return _sink(each.measure.removesuffix("_attention"), one)
    if each.flag == "null attention":
        return null_attention_in_words(one)
    return _REASONS[each.flag].format(value).replace("-", "−")


def _sink(column: str, one: Mapping[str, float]) -> str:
    """What the first token or the strongest column takes; a corpus has names, not positions."""
    which = "the first token" if column == "first" else str(one["sink_token"])
    if column != "first" and np.isfinite(one["sink"]):
        which = f"token {one['sink']:.0f}"
    even, carried = one[f"{column}_uniform"], one[f"{column}_contribution"]
    return (
        f"{one[f'{column}_attention']:.2f} of its attention rests on {which} (an even head:"
        f" {even:.2f}), which carries {carried:.2f} of what is moved"
    )


def null_attention_in_words(one: Mapping[str, float]) -> str:
    """How short the values are that a head's attention rests on; nothing more is said of it.

    That attention "moves next to nothing" is said of values under a tenth of the median only.
    """
    short = (
        f"the values that it attends to average {1 - one['null_attention']:.2f} of the head's"
        " median length (longer ones count as the median)"
    )
    empty = f"{one['empty_attention']:.2f}"
    if empty == "0.00":
        return short
    return (
        f"{short}, and {empty} of its attention moves next to nothing: values under a tenth of that"
    )


_REASONS = {
    "clouds apart": "after translation {:.2f} of queries and keys are named right (guessing: 0.5)",
    "empty value": "the first token's value has {:.2f} of the median length",
    "entropy collapse": "the entropy of its rows is {:.2f} of the maximum (0: one key each)",
    "alike weights": "the weights of queries and keys correlate at {:+.2f}",
}
