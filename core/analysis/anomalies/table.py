"""What is odd about each head, as a table: a row per head, its measures, z-scores and flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.anomalies.flags import FLAGS, distances
from core.analysis.anomalies.measures import Measures, measure_heads
from core.analysis.arrays import mean_of_finite
from core.analysis.head_patterns.naming import too_short
from core.analysis.statistics import OUTLIER, robust_z
from core.model.trace import Array, Trace

if TYPE_CHECKING:
    import pandas as pd


def anomaly_table(
    trace: Trace, transformed: Array | None = None, similarity: Array | None = None
) -> pd.DataFrame:
    """What is odd about each head on this text, a row per head, ordered by layer and head.

    `transformed` is |f(v)|, (layer, head, key token), from
    ``core.model.weights.output_projection.transformed_norms``; without it values are measured by
    their length, |v|; ``table.attrs["values"]`` says which. `similarity` of W_Q and W_K is (layer,
    head), from ``core.model.weights.query_key.weight_similarity``; without it the column is nan.

    Columns ``layer`` and ``head`` (from 1, layers by the model's own number), the measures of
    :func:`measure_heads`, ``sink_token``, a robust z-score over all heads of each measure with a
    flag (``z_`` and its name), ``flags`` (names, joined by ", ") and ``reasons`` (in words, joined
    by "; "). ``unusual`` is the largest of `flags.distances`, in robust standard deviations, and
    ``unusual_by`` names the flags where it is `flags.OUTLIER` or more, the largest first.
    In cross attention the first token and the sink are key tokens, and ``offset_attention`` is nan.
    ``table.attrs["tokens"]`` is how many query tokens there are (of a corpus, the mean),
    ``"too_short"`` whether that is too few for some flags.
    """
    measures = measure_heads(trace, transformed, similarity)
    sinks = [trace.key_tokens[position] for position in measures["sink"].ravel().astype(int) - 1]
    names = list(map(trace.input.name, sinks))
    table = _table(measures, names, trace.layer_labels, exact=transformed is not None)
    table["sink"], table["sink_token"] = table["sink"].astype(int), [each.display for each in sinks]
    return table


def corpus_table(
    texts: Sequence[Measures], layer_labels: Sequence[int], *, exact: bool
) -> pd.DataFrame:
    """The table for many texts, each measured by :func:`measure_heads`, as if they were one.

    A measure is its mean over the texts that have it, weighted by their tokens. A position means
    nothing across texts, so every column about the sink is nan. `layer_labels` are the layers'
    numbers; `exact` says that values are measured by |f(v)|. Raises `ValueError` if there are none.
    """
    if not texts:
        raise ValueError("there is no text")
    tokens = np.stack([text["tokens"] for text in texts])
    merged = {
        name: mean_of_finite(np.stack([text[name] for text in texts]), tokens) for name in texts[0]
    }
    sinks = {name: np.full_like(merged[name], np.nan) for name in merged if "sink" in name}
    return _table(merged | sinks, [""] * merged["sink"].size, layer_labels, exact=exact)


def _table(
    measures: Measures, sink_names: Sequence[str], layer_labels: Sequence[int], *, exact: bool
) -> pd.DataFrame:
    """Measures with z-scores and flags; the reasons name each head's sink token."""
    import pandas as pd

    layers, heads = measures["sink"].shape
    layer, head = np.divmod(np.arange(layers * heads), heads)
    data: dict[str, Any] = {"layer": np.array(layer_labels)[layer], "head": head + 1}
    for name, values in measures.items():
        data[name] = values.ravel()
        if name == "sink":
            data["sink_token"] = sink_names
    tokens = float(data.pop("tokens")[0])
    for name in dict.fromkeys(flag.measure for flag in FLAGS.values()):
        data[f"z_{name}"] = robust_z(measures[name]).ravel()
    table = pd.DataFrame(data)
    raised = {name: flag.raised(measures).ravel() for name, flag in FLAGS.items()}
    flags = [[name for name in FLAGS if raised[name][index]] for index in table.index]
    reasons = [
        "; ".join(FLAGS[name].explain(row | {"sink_name": sink}) for name in names)
        for row, names, sink in zip(table.to_dict("records"), flags, sink_names, strict=True)
    ]
    table["flags"], table["reasons"] = [", ".join(names) for names in flags], reasons
    far = np.stack([heads.ravel() for heads in distances(measures).values()], axis=1)
    table["unusual"], names = far.max(axis=1), list(FLAGS)
    table["unusual_by"] = [
        ", ".join(names[at] for at in np.argsort(-row, kind="stable") if row[at] >= OUTLIER)
        for row in far
    ]
    table.attrs["values"] = "|f(v)|" if exact else "|v|"
    table.attrs["tokens"] = tokens
    table.attrs["too_short"] = too_short(tokens)
    return table


def flagged(table: pd.DataFrame) -> pd.DataFrame:
    """The heads with a flag, the most unusual first."""
    odd = table[table["flags"] != ""]
    return odd.sort_values(["unusual", "layer", "head"], ascending=[False, True, True])


def with_flag(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The heads with this flag, in the table's order."""
    return table[[name in names.split(", ") for names in table["flags"]]]
