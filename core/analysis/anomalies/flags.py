"""Which heads are odd, how odd, and why: one record per flag, and robust z-scores.

A flag is raised where the measure passes a threshold, whatever other heads do; or where it passes a
lower mark and the head is an outlier among the model's heads (|z| of at least `OUTLIER`). The mark
keeps small differences between nearly equal heads from counting as odd.

Below `MIN_TOKENS` only flags of weights are raised. Measured on untrained heads, in networks of the
shape of bundled/minilm and bundled/gpt2-novels with weights as training begins (standard deviations
of 0.02 and 0.05; 8 networks, 2 texts each), the share of heads with another flag is

    tokens      6     8    10    12    16    48
    as minilm  2.2   1.6   0.9   0.3   0.0   0.0  %
    as gpt2    2.0   0.4   2.0   2.3   1.2   1.2  %, nearly all of them "clouds apart"

Larger random weights make heads that do look at few keys: with 0.3, flags name 75 to 87 % of heads
in the first shape, whatever the length, and 19 to 43 % in the second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from core.analysis.arrays import Bools, Floats
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.analysis.head_patterns.naming import THRESHOLDS

Measures = Mapping[str, Floats]  # (layer, head) by name
Row = Mapping[Any, Any]  # the measures of one head, by name

OUTLIER = 3.5  # of |z|; Iglewicz and Hoaglin 1993, "How to Detect and Handle Outliers"
_MAD_TO_SD = 0.6745  # the median absolute deviation of a normal distribution, in its own sd
_MEAN_TO_SD = 1.253314  # its sd over its mean absolute deviation

Kind = Literal["attention", "space", "weights"]
# Attention determines its own weights, their entropy and the values they carry. It does not
# determine queries and keys: keys + a give the same attention, and so do c q with k / c.
KINDS: Mapping[Kind, str] = {
    "attention": "Attention and values",
    "space": "Queries and keys",
    "weights": "Weights",
}


class Limits(NamedTuple):
    """Where a measure is odd."""

    side: Literal["above", "below", "both"]  # of the marks; both: of ± the mark
    threshold: float  # beyond it whatever other heads do
    outlier: float  # beyond it for an outlier among the heads
    ordinary: float  # when nothing is odd; severity is counted from here

    def passed(self, values: Floats, mark: float) -> Bools:
        """Where the values are at a mark or on its odd side; never where they are nan."""
        if self.side == "below":
            return values <= mark
        return (np.abs(values) if self.side == "both" else values) >= mark


@dataclass(frozen=True)
class Flag:
    """When a measure is odd, and what to say about it. One record is all that a flag takes."""

    name: str  # also in links and in the table's column ``flags``
    measure: str  # of :func:`core.analysis.anomalies.measure_heads`
    title: str  # of the measure, in words
    limits: Limits
    kind: Kind  # what the measure depends on
    source: str  # who described it
    definition: str  # of the measure (Markdown), for people
    reason: str | Callable[[Row], str]  # from its measures, or with a place for the one value
    cause: str = ""  # flags with one cause count once in the severity, by the strongest
    applies: Callable[[Measures], Bools] | None = None  # what else must hold
    condition: str = ""  # the same in words
    bounds: tuple[float, float] | None = (0.0, 1.0)  # of the map's colours; None: ± the largest
    unit: str = ""  # over the map's colours
    usual: bool = False  # whether many heads of most trained transformers have it

    def explain(self, row: Row) -> str:
        """Why a head with these measures has the flag, in words."""
        if not isinstance(self.reason, str):
            return self.reason(row)
        return self.reason.format(row[self.measure]).replace("-", "−")

    def raised(self, measures: Measures) -> Bools:
        """Which heads have this flag, (layer, head)."""
        values, limits = measures[self.measure], self.limits
        z_limit = -OUTLIER if limits.side == "below" else OUTLIER
        odd = limits.passed(values, limits.threshold)
        odd |= limits.passed(values, limits.outlier) & limits.passed(robust_z(values), z_limit)
        if self.kind != "weights":
            odd &= measures["tokens"] >= MIN_TOKENS
        return odd if self.applies is None else odd & self.applies(measures)

    def strength(self, values: Floats) -> Floats:
        """How far from ordinary, in units of the threshold's distance; 1 at the threshold."""
        _, threshold, _, ordinary = self.limits
        return np.abs(values - ordinary) / abs(threshold - ordinary)


def _exceeds_uniform(measures: Measures, column: str) -> Bools:
    """Where a column gets at least twice the uniform baseline."""
    return measures[f"{column}_attention"] >= 2 * measures[f"{column}_uniform"]


def _sink_reason(row: Row, column: str, token: str) -> str:
    uniform, contribution = row[f"{column}_uniform"], row[f"{column}_contribution"]
    return (
        f"{row[f'{column}_attention']:.2f} of its attention rests on {token} (uniform baseline:"
        f" {uniform:.2f}), which accounts for {contribution:.2f} of what the head moves"
    )


def _column_sink_reason(row: Row) -> str:
    """The token by its position; a corpus has roles instead of positions."""
    token = f"token {row['sink']:.0f}" if np.isfinite(row["sink"]) else row["sink_token"]
    return _sink_reason(row, "sink", token)


def _null_attention_reason(row: Row) -> str:
    """How short the attended values are; "almost no effect" only of those under a tenth."""
    mean = f"average {1 - row['null_attention']:.2f} of the head's median length"
    short = f"the values it attends to {mean} (longer ones count as the median)"
    percent = round(100 * row["empty_attention"])
    if percent == 0:
        return short
    return (
        f"{percent} % of its attention has almost no effect (values under a tenth of the head's"
        f" median length), and {short}"
    )


def _disparity_reason(row: Row) -> str:
    value = row["norm_log_ratio"]
    longer, shorter = ("query", "key") if value > 0 else ("key", "query")
    return f"the median {longer} is {2 ** abs(value):.1f} times as long as the median {shorter}"


_TWICE_UNIFORM = "and at least twice the uniform baseline"
FLAGS: dict[str, Flag] = {
    flag.name: flag
    for flag in (
        Flag(
            "first-token sink",
            "first_attention",
            "attention to the first token",
            Limits("above", 0.5, 0.3, ordinary=0.0),
            "attention",
            "Vig and Belinkov 2019; Xiao et al. 2024",
            definition="mean attention to the first token, over all tokens. It often means that the"
            " head has nothing to say here: attention must go somewhere, as rows sum to 1.",
            reason=lambda row: _sink_reason(row, "first", "the first token"),
            cause="concentration",
            usual=True,
            applies=lambda measures: _exceeds_uniform(measures, "first"),
            condition=_TWICE_UNIFORM,
        ),
        Flag(
            "column sink",
            "sink_attention",
            "attention to the strongest column",
            Limits("above", 0.5, 0.3, ordinary=0.0),
            "attention",
            "Clark et al. 2019",
            definition="mean attention to the column with the most, where that is not the first."
            " The texts of a corpus have different tokens at one position, so there it is the"
            " separators, the last token of the text, or full stops and commas, whichever get the"
            " most.",
            reason=_column_sink_reason,
            cause="concentration",
            applies=lambda measures: (measures["sink"] != 1) & _exceeds_uniform(measures, "sink"),
            condition=_TWICE_UNIFORM,
        ),
        Flag(
            "entropy collapse",
            "entropy",
            "relative entropy",
            Limits("below", 0.1, 0.2, ordinary=1.0),
            "attention",
            "Zhai et al. 2023",
            definition="entropy of a token's attention over that of uniform attention, mean over"
            " tokens: 0 is one key each. Heads that look at the previous token, the next one or"
            " themselves are left out: one key each is how they work.",
            reason="the entropy of its rows is {:.2f} of the maximum (0: one key each)",
            cause="concentration",
            # nan in cross attention, where no token is previous or next
            applies=lambda measures: ~(measures["offset_attention"] > THRESHOLDS["previous"]),
            condition="where previous, self and next token have at most"
            f" {THRESHOLDS['previous']:g}",
        ),
        Flag(
            "null attention",
            "null_attention",
            "null attention",
            Limits("above", 0.5, 0.25, ordinary=0.0),
            "attention",
            "Vig and Belinkov 2019; Kobayashi et al. 2020, section 4",
            definition="attention times how far the value falls short of the head's median, summed:"
            " Σ aⱼ · max(0, 1 − |f(vⱼ)| / median). With 0.8 of the attention on a token whose value"
            " is zero, it is 0.8. Only values under a tenth of the median are said to have almost"
            " no effect.",
            reason=_null_attention_reason,
            cause="values",
            usual=True,
        ),
        Flag(
            "empty value",
            "first_value",
            "the first token's value over the median",
            Limits("below", 0.05, 0.05, ordinary=1.0),
            "attention",
            "Kobayashi et al. 2020",
            definition="length of the first token's value over the head's median, flagged where"
            " null attention is not: the head could rest there, but here hardly does.",
            reason="the first token's value has {:.2f} of the median length",
            cause="values",
            usual=True,
            applies=lambda measures: ~FLAGS["null attention"].raised(measures),
        ),
        Flag(
            "norm disparity",
            "norm_log_ratio",
            "log2 of |q| over |k|",
            Limits("both", 2.0, 1.0, ordinary=0.0),
            "space",
            "Yeh et al. 2023 (AttentionViz), section 5.1.1",
            definition="log2 of the ratio of median |q| to median |k|: 1 is queries twice as long"
            " as keys, −1 the reverse. Attention does not fix it: c q and k / c give the same"
            " weights.",
            reason=_disparity_reason,
            cause="lengths",  # longer queries are a cloud around the keys: "clouds apart" sees it
            bounds=None,
            unit="log2",
        ),
        Flag(
            "clouds apart",
            "separability",
            "separability",
            Limits("above", 0.95, 0.9, ordinary=0.5),
            "space",
            "Yeh et al. 2023 (AttentionViz)",
            definition="share of queries and keys recognised as such once translation has brought"
            " their centroids together: each goes to the cloud that is nearer by energy distance,"
            " judged by the other tokens alone (0.5: one cloud). A straight cut would find spread"
            " and skew only, as the means agree. Queries longer than keys are enough to raise it,"
            " and c may change lengths.",
            reason="after translation {:.2f} of queries and keys are recognised (guessing: 0.5)",
            cause="lengths",
            bounds=(0.5, 1.0),
        ),
        Flag(
            "alike weights",
            "weight_similarity",
            "correlation of W_Q and W_K",
            Limits("both", 0.5, 0.3, ordinary=0.0),
            "weights",
            "Yeh et al. 2023 (AttentionViz)",
            definition="Pearson correlation of the entries of W_Q and W_K: near 1, a score says how"
            " similar two tokens are in what the head reads of them, biases aside. Longer vectors"
            " score higher, so a token need not attend to itself most. A property of the model,"
            " whatever it is shown.",
            reason="the weights of queries and keys correlate at {:+.2f}",
            bounds=(-1.0, 1.0),
        ),
    )
}


def robust_z(values: Floats) -> Floats:
    """(x - median) / MAD over all heads, in units of a normal distribution's sd; same shape.

    Where more than half of the heads are equal the MAD is 0, and the mean absolute deviation takes
    its place (Iglewicz and Hoaglin 1993); where all are equal, z is 0. nan is ignored and stays.
    """
    finite = values[np.isfinite(values)]
    if not finite.size:
        return np.full(values.shape, np.nan)
    deviations = np.abs(finite - np.median(finite))
    unit = np.median(deviations) / _MAD_TO_SD or deviations.mean() * _MEAN_TO_SD or np.inf
    return np.where(np.isfinite(values), (values - np.median(finite)) / unit, np.nan)


def severities(measures: Measures) -> dict[Kind, Floats]:
    """How far each head's flagged measures lie from ordinary, by kind, (layer, head) each.

    Of flags with one cause the strongest counts: a sink and the low entropy it makes are one.
    """
    by_cause: dict[tuple[Kind, str], Floats] = {}
    for flag in FLAGS.values():
        strength = np.where(flag.raised(measures), flag.strength(measures[flag.measure]), 0.0)
        cause = flag.kind, flag.cause or flag.name
        by_cause[cause] = np.maximum(by_cause.get(cause, 0.0), strength)
    return {
        kind: np.sum([values for cause, values in by_cause.items() if cause[0] == kind], axis=0)
        for kind in KINDS
    }
