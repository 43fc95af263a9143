"""What is odd about heads, and which heads are unusual: one record per flag, robust z-scores.

A flag is raised where the measure passes a threshold, whatever other heads do; or where it passes a
lower mark and the head is an outlier among the model's heads (|z| of at least `OUTLIER`). The mark
keeps small differences between nearly equal heads from being flagged. A head is unusual if it is an
outlier in a flagged measure: what most heads do is flagged too, but makes none of them unusual.

Below `MIN_TOKENS` only flags about weights are raised. Measured on untrained heads, in networks of
the shape of bundled/minilm with freshly initialised weights (standard deviations of 0.02 and 0.05;
8 networks, 2 texts each), at most this share of heads has another flag:

    tokens      6     8    10    12    16    48
               2.2   1.6   0.9   0.3   0.0   0.0  %

Larger random weights make heads that really do look at few keys: with 0.3, 75 to 87 % of heads in
that shape are flagged, whatever the length, and 19 to 43 % in that of bundled/gpt2-novels.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from core.analysis.anomalies.measures import MEASURES, HeadMeasure, Measures
from core.analysis.arrays import Bools, Floats
from core.analysis.head_patterns.naming import MIN_TOKENS, THRESHOLDS
from core.analysis.statistics import OUTLIER, robust_z
from core.vocabulary import percent

HeadRow = Mapping[Any, Any]  # the measures of one head, by name

# At most this many heads with random weights are unusual on a text. Measured on BERT, GPT-2 and
# LLaMA of 32 heads: up to 0.1 % with a standard deviation of 0.02, 1.8 to 3.8 % with 0.2; none of
# 4,800 is unusual by its weights, and none has null attention.
RANDOM_SHARE = 0.05

FlagKind = Literal["attention", "space", "weights"]
# Attention determines its own weights, their entropy and the values they carry. It does not
# determine queries and keys: keys k + a give the same attention, and so do c q with k / c.
FLAG_KINDS: Mapping[FlagKind, str] = {
    "attention": "Attention and values",
    "space": "Queries and keys",
    "weights": "Weights",
}


class Limits(NamedTuple):
    """Where a measure counts as odd."""

    side: Literal["above", "below", "both"]  # of the marks; both: of ± the mark
    threshold: float  # odd beyond it, whatever other heads do
    outlier: float  # odd beyond it if the head is an outlier

    def passed(self, values: Floats, mark: float) -> Bools:
        """Where the values are at a mark or on its odd side; never where they are nan."""
        if self.side == "below":
            return values <= mark
        return (np.abs(values) if self.side == "both" else values) >= mark


@dataclass(frozen=True)
class Flag:
    """When a measure is odd, and what to say about it: a record of ``flags.toml``."""

    name: str  # also in links and in the table's column ``flags``
    measure: str  # of :func:`core.analysis.anomalies.measure_heads`
    limits: Limits
    kind: FlagKind  # what the measure depends on
    source: str  # who described it
    definition: str  # of the measure (Markdown), for people
    reason: str | Callable[[HeadRow], str]  # from its measures, or with a placeholder for the value
    applies: Callable[[Measures], Bools] | None  # what else must be true
    condition: str  # the same in words

    @property
    def record(self) -> HeadMeasure:
        """The record of its measure."""
        return MEASURES[self.measure]

    def explain(self, row: HeadRow) -> str:
        """Why a head with these measures has the flag, in words."""
        if not isinstance(self.reason, str):
            return self.reason(row)
        return self.reason.format(row[self.measure]).replace("-", "−")

    def raised(self, measures: Measures) -> Bools:
        """Which heads have this flag, (layer, head)."""
        values, limits = measures[self.measure], self.limits
        odd = limits.passed(values, limits.threshold)
        odd |= limits.passed(values, limits.outlier) & (self.distance(values) >= OUTLIER)
        if self.kind != "weights":
            odd &= measures["tokens"] >= MIN_TOKENS
        return odd if self.applies is None else odd & self.applies(measures)

    def distance(self, values: Floats) -> Floats:
        """Robust z over all heads: positive on the odd side, else at most 0; (layer, head)."""
        z = robust_z(values)
        return {"above": z, "below": -z, "both": np.abs(z)}[self.limits.side]


def _exceeds_uniform(measures: Measures, column: str) -> Bools:
    """Where a column gets at least twice its uniform baseline."""
    return measures[f"{column}_attention"] >= 2 * measures[f"{column}_uniform"]


def _sink_reason(row: HeadRow, column: str, token: str) -> str:
    uniform, contribution = row[f"{column}_uniform"], row[f"{column}_contribution"]
    return (
        f"{row[f'{column}_attention']:.2f} of its attention rests on {token} (uniform baseline:"
        f" {uniform:.2f}), which accounts for {contribution:.2f} of what the head moves"
    )


def _disparity_reason(row: HeadRow) -> str:
    value = row["norm_log_ratio"]
    longer, shorter = ("query", "key") if value > 0 else ("key", "query")
    return f"the median {longer} is {2 ** abs(value):.1f} times as long as the median {shorter}"


# What the file cannot say of a flag: a reason that uses several measures, or a further condition.
_REASONS: dict[str, Callable[[HeadRow], str]] = {
    "first-token sink": lambda row: _sink_reason(row, "first", "the first token"),
    "column sink": lambda row: _sink_reason(row, "sink", row["sink_name"]),
    "null attention": lambda row: (
        f"{percent(row['null_attention'])} of its attention goes to values that are nearly zero"
        " (under a tenth of the head's median length)"
    ),
    "norm disparity": _disparity_reason,
}
_APPLIES: dict[str, Callable[[Measures], Bools]] = {
    "first-token sink": lambda measures: _exceeds_uniform(measures, "first"),
    "column sink": lambda measures: (measures["sink"] != 1) & _exceeds_uniform(measures, "sink"),
    # nan in cross attention, where no token is previous or next
    "entropy collapse": lambda measures: ~(measures["offset_attention"] > THRESHOLDS["previous"]),
    "empty value": lambda measures: ~FLAGS["null attention"].raised(measures),
}


def _read() -> Iterator[Flag]:
    """The flags in the file next to this module."""
    text = Path(__file__).with_name("flags.toml").read_text("utf-8")
    for name, each in tomllib.loads(text).items():
        facts = {"reason": _REASONS.get(name), "applies": _APPLIES.get(name), **each}
        facts["limits"] = Limits(**each["limits"])
        facts["condition"] = each.get("condition", "").format(**THRESHOLDS)
        yield Flag(name, **facts)


FLAGS: dict[str, Flag] = {flag.name: flag for flag in _read()}


def distances(measures: Measures) -> dict[str, Floats]:
    """By flag, how far each head's measure lies from the median head's, (layer, head).

    In robust standard deviations; 0 where the flag is not raised. At `OUTLIER` or more, the flag
    makes the head unusual.
    """
    return {
        name: np.where(flag.raised(measures), flag.distance(measures[flag.measure]), 0).clip(0)
        for name, flag in FLAGS.items()
    }
