"""Measures of heads: one record each, and one function from a trace to (layer, head).

To add a measure, add a record to `MEASURES` and its function. The map, the card, the scatter, the
table, its file and the run over a corpus pick it up from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.analysis.anomalies.contribution import Columns, columns, null_attention, over_median
from core.analysis.arrays import Floats, Indices
from core.model.trace import Array, Trace

Measures = Mapping[str, Floats]  # (layer, head) by name
_PARTS = ("attention", "uniform", "contribution", "value")  # of the first token and of the sink


@dataclass(frozen=True)
class HeadMeasure:
    """A measure of heads.

    Attributes
    ----------
    title : in words.
    unit : shown above the map's colours.
    bounds : of the map's colours; None for 0 to the largest size, from minus it if `side` is both.
    side : which of its values are remarkable.
    needs : one typed text (a corpus has none), the output projection, or a run with heads replaced
        and its control.
    function : from a trace to float64 (layer, head), averaged over tokens for a corpus; None if
        :func:`measure_heads` computes it along with others, or it belongs to another table.
    """

    title: str
    unit: str = "attention"
    bounds: tuple[float, float] | None = (0.0, 1.0)
    side: Literal["above", "below", "both"] = "above"
    needs: tuple[Literal["text", "W_O", "control"], ...] = ()
    function: Callable[[Trace], Floats] | None = None

    @property
    def look(self) -> dict[str, Any]:
        """How a map shows it: arguments for :func:`core.figures.heads.head_map`."""
        options = {"bounds": self.bounds, "signed": self.side == "both" or None}
        look = {name: value for name, value in options.items() if value is not None}
        return {"title": self.unit, "reverse": self.side == "below"} | look


# In the order in which pages list them; pattern scores come first there.
MEASURES: dict[str, HeadMeasure] = {
    "first_attention": HeadMeasure("attention to the first token"),
    "first_value": HeadMeasure("the first token's value over the median", "× median", side="below"),
    "sink_attention": HeadMeasure("attention to the strongest column", needs=("text",)),
    "null_attention": HeadMeasure("null attention"),
    "entropy": HeadMeasure("relative entropy", "H / ln n", side="below"),
    "offset_attention": HeadMeasure("attention to the previous, own or next token"),
    "norm_log_ratio": HeadMeasure("log2 of |q| over |k|", "log2", None, "both"),
    "weight_similarity": HeadMeasure("correlation of W_Q and W_K", "r", (-1.0, 1.0), "both"),
    "unusual": HeadMeasure("robust z", "robust z", None),
    "effect": HeadMeasure("effect", "effect", None, needs=("control",)),
    "share": HeadMeasure("what it writes", "× layer's mean", None, needs=("control", "W_O")),
    "direct": HeadMeasure("effect alone", "effect", None, "both", needs=("control", "W_O")),
}


def measure_heads(
    trace: Trace, transformed: Array | None = None, similarity: Array | None = None
) -> dict[str, Floats]:
    """Every measure of every head, float64 (layer, head) by name; only permitted pairs count.

    - the measures of :func:`norm_disparity`.
    - ``first_attention``, ``first_uniform``: mean attention to the first key token, and its uniform
      baseline (1 / n, or the mean of 1 / (i + 1) in a causal model).
    - ``first_contribution``: the first token's share of what the head moves: the sum over i of
      a_ij |f(v_j)|, divided by that of all tokens (after Kobayashi et al. 2020).
    - ``first_value``: the first token's value norm over the head's median.
    - ``sink``: position (from 1) of the column with the most attention; ``sink_attention``,
      ``sink_uniform``, ``sink_contribution``, ``sink_value``: the same measures for it.
    - ``null_attention``: to values that are nearly zero (`contribution.null_attention`).
    - ``entropy``: H(row) / ln(permitted keys), mean over rows.
    - ``offset_attention``: the largest mean attention to the previous token, itself or the next.
    - the `MEASURES` that have a function of their own.
    - ``weight_similarity``: correlation of W_Q and W_K; ``tokens``: how many query tokens.
    """
    totals = columns(trace, transformed)
    shape = trace.shape[:2]
    sink = totals.attention.argmax(axis=-1)
    return {
        **norm_disparity(trace),
        **_column("first", totals, np.zeros(shape, dtype=np.intp)),
        "sink": sink + 1.0,
        **_column("sink", totals, sink),
        "null_attention": null_attention(totals.attention, totals.norms),
        "entropy": totals.entropy,
        "offset_attention": totals.offset,
        "weight_similarity": np.full(shape, np.nan if similarity is None else similarity, float),
        "tokens": np.full(shape, float(trace.shape[2])),
        **{name: each.function(trace) for name, each in MEASURES.items() if each.function},
    }


def _column(name: str, totals: Columns, position: Indices) -> dict[str, Floats]:
    """Attention, uniform baseline, contribution and value of one position per head."""
    values = (totals.attention, totals.uniform, totals.contribution, over_median(totals.norms))
    return {
        f"{name}_{part}": np.take_along_axis(value, position[..., None], axis=-1)[..., 0]
        for part, value in zip(_PARTS, values, strict=True)
    }


def norm_disparity(trace: Trace) -> dict[str, Floats]:
    """Lengths of queries and keys of every head, (layer, head) each, in the model's own units.

    ``query_norm``, ``key_norm``: mean length; ``norm_difference``: mean |q| - mean |k|
    (AttentionViz, Yeh et al. 2023, section 5.1.1); ``norm_log_ratio``: log2 of median |q| over
    median |k|, nan where either is 0.
    """
    query, key = (
        np.linalg.norm(vectors, axis=-1).astype(np.float64)
        for vectors in (trace.queries, trace.kv_keys)
    )
    key = np.repeat(key, trace.group, axis=1)
    query_median, key_median = np.median(query, axis=-1), np.median(key, axis=-1)
    ratio = np.full(query_median.shape, np.nan)
    defined = (query_median > 0) & (key_median > 0)
    ratio[defined] = np.log2(query_median[defined] / key_median[defined])
    return {
        "query_norm": query.mean(axis=-1),
        "key_norm": key.mean(axis=-1),
        "norm_difference": query.mean(axis=-1) - key.mean(axis=-1),
        "norm_log_ratio": ratio,
    }
