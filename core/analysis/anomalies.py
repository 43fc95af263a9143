"""What is odd about each head, as a table: a row a head, its measures, z-scores, and flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from core.analysis.contribution import columns, null_score, relative_norm
from core.analysis.head_flags import RULES, raised, reason, robust_z
from core.analysis.norms import norm_disparity, separability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.analysis.contribution import Columns
    from core.analysis.head_flags import Measures
    from core.model.trace import Array, Trace

    Floats = NDArray[np.float64]

Row = dict[str, Any]  # one head of the table, by column
# The measures that have a rule, and so a z-score.
SCORED = tuple(dict.fromkeys(each.measure for each in RULES))


def anomaly_table(
    trace: Trace, transformed: Array | None = None, similarity: Array | None = None
) -> pd.DataFrame:
    """What is odd about each head on this text, a row a head, in the order of layers and heads.

    Parameters
    ----------
    transformed : |f(v)|, (layer, head, token), from
        ``core.model.output_projection.transformed_norms``. Without it values count by their own
        length |v|; ``table.attrs["values"]`` says which.
    similarity : of W_Q and W_K, (layer, head), from
        ``core.model.query_key_weights.weight_similarity``. Without it the column is not a number.

    Returns
    -------
    One column each for ``layer`` and ``head`` (from 1), the measures of :func:`measure_heads`,
    ``sink_token``, a robust z-score over all heads for each measure that has a rule
    (``z_`` and its name), ``severity``, ``flags`` (names, joined by ", "; empty when nothing is
    odd) and ``reasons`` (in words, joined by "; "). Severity is the sum over a head's flags of how
    far the measure lies from where it ordinarily is, in units of the threshold's distance: a head
    that is on one threshold has 1.
    """
    measures = measure_heads(trace, transformed, similarity)
    names = [token.display for token in trace.tokens]
    return _table(measures, names, exact=transformed is not None)


def corpus_table(texts: Sequence[Measures], *, exact: bool) -> pd.DataFrame:
    """The table of many texts, each measured by :func:`measure_heads`, as of one.

    A measure is its mean over the texts that have it, longer texts counting for more, token by
    token; the sink is the position that is one in most texts. ``sink_token`` is that position in
    words, as texts have different tokens there. `exact`: values counted by |f(v)|.

    Raises
    ------
    ValueError
        When there is no text.
    """
    if not texts:
        raise ValueError("there is no text")
    weights = np.stack([text["tokens"] for text in texts])
    merged: dict[str, Floats] = {}
    for name in texts[0]:
        values = np.stack([text[name] for text in texts])  # (text, layer, head)
        known = np.isfinite(values)
        total = np.where(known, weights, 0).sum(axis=0)
        summed = np.where(known, values * weights, 0).sum(axis=0)
        merged[name] = np.divide(summed, total, out=np.full(total.shape, np.nan), where=total > 0)
    sinks = np.stack([text["sink"] for text in texts])
    positions = np.arange(1, int(sinks.max()) + 1)
    counts = (sinks[None] == positions[:, None, None, None]).sum(axis=1)
    merged["sink"] = counts.argmax(axis=0) + 1.0
    return _table(merged, [f"position {position}" for position in positions], exact=exact)


def _table(measures: Measures, names: Sequence[str], *, exact: bool) -> pd.DataFrame:
    """Measures with z-scores and flags; `names` are those of the positions a sink can have."""
    layers, heads = measures["sink"].shape
    layer, head = np.divmod(np.arange(layers * heads), heads)
    flat = {name: values.ravel() for name, values in measures.items()}
    table = pd.DataFrame({"layer": layer + 1, "head": head + 1, **flat})
    table["sink"] = table["sink"].astype(int)
    table = table.drop(columns="tokens")
    where = table.columns.get_loc("sink")
    sinks = [names[position - 1] for position in table["sink"]]
    table.insert(int(where) + 1, "sink_token", sinks)  # type: ignore[arg-type]
    for name in SCORED:
        table[f"z_{name}"] = robust_z(measures[name]).ravel()
    table = pd.concat([table, _flags(measures, table)], axis=1)
    table.attrs["values"] = "|f(v)|" if exact else "|v|"
    return table


def measure_heads(
    trace: Trace, transformed: Array | None = None, similarity: Array | None = None
) -> dict[str, Floats]:
    """Every measure of every head, float64 (layer, head) by name; only permitted pairs count.

    - ``query_norm``, ``key_norm``: mean length; ``norm_difference`` of the two; ``norm_log_ratio``,
      log2 of median |q| over median |k|.
    - ``centroid_distance``, ``centroid_distance_after``: before and after key translation.
    - ``separability``: share of queries and keys named right after translation
      (:func:`core.analysis.norms.separability`).
    - ``first_attention``, ``first_uniform``: mean attention to the first token, and what an even
      head would give it (1 / n, or the mean of 1 / (i + 1) in a causal model).
    - ``first_contribution``: the first token's share of what is moved, the sum over i of
      a_ij |f(v_j)| over that of all tokens (after Kobayashi et al. 2020).
    - ``first_value``: the first token's value norm over the head's median.
    - ``sink``: position from 1 of the column with the most attention; ``sink_attention``,
      ``sink_uniform``, ``sink_contribution``, ``sink_value``: the same for it.
    - ``null_attention``: attention that moves nothing, by
      :func:`core.analysis.contribution.null_score`.
    - ``entropy``: H(row) / ln(permitted keys), mean over rows.
    - ``rank``: stable rank of the attention matrix, 1 to the number of tokens.
    - ``weight_similarity``: correlation of W_Q and W_K.
    - ``tokens``: how many there are.
    """
    norms, found = norm_disparity(trace), columns(trace, transformed)
    shape = trace.shape[:2]
    unknown = np.full(shape, np.nan)
    sink = found.attention.argmax(axis=-1)
    return {
        "query_norm": norms.query,
        "key_norm": norms.key,
        "norm_difference": norms.difference,
        "norm_log_ratio": norms.log_ratio,
        "centroid_distance": norms.apart,
        "centroid_distance_after": norms.apart_after,
        "separability": separability(trace),
        **_column("first", found, np.zeros(shape, dtype=np.intp)),
        "sink": sink + 1.0,
        **_column("sink", found, sink),
        "null_attention": null_score(found.attention, found.norms),
        "entropy": found.entropy,
        "rank": found.rank,
        "weight_similarity": unknown if similarity is None else similarity.astype(np.float64),
        "tokens": np.full(shape, float(trace.shape[2])),
    }


def flagged(table: pd.DataFrame) -> pd.DataFrame:
    """The heads with a flag, the most severe first."""
    odd = table[table["flags"] != ""]
    return odd.sort_values(["severity", "layer", "head"], ascending=[False, True, True])


def having(table: pd.DataFrame, flag: str) -> pd.DataFrame:
    """The heads with this flag, in the table's order."""
    return table[[flag in names.split(", ") for names in table["flags"]]]


def head_of(table: pd.DataFrame, layer: int, head: int) -> Row:
    """The row of one head, from 1."""
    here = (table["layer"] == layer) & (table["head"] == head)
    return rows_of(table[here])[0]


def with_most(table: pd.DataFrame, column: str) -> Row:
    """The row of the head with the largest magnitude in a column; some must be known."""
    index = int(np.nanargmax(table[column].abs().to_numpy()))
    return rows_of(table.iloc[[index]])[0]


def hollow_head(table: pd.DataFrame) -> Row:
    """The head whose first token gets most attention beyond its share of what is moved."""
    return max(rows_of(table), key=lambda one: one["first_attention"] - one["first_contribution"])


def rows_of(table: pd.DataFrame) -> list[Row]:
    """The rows as dictionaries by column."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def as_map(table: pd.DataFrame, column: str) -> Floats:
    """One column of the table as float64 (layer, head)."""
    shape = int(table["layer"].max()), int(table["head"].max())
    return table[column].to_numpy(dtype=np.float64).reshape(shape)


def _column(name: str, found: Columns, position: NDArray[np.intp]) -> dict[str, Floats]:
    """Attention, contribution and value of one position a head; `position` is (layer, head)."""

    def at(values: Floats) -> Floats:
        return np.asarray(np.take_along_axis(values, position[..., None], axis=-1)[..., 0])

    return {
        f"{name}_attention": at(found.attention),
        f"{name}_uniform": at(found.uniform),
        f"{name}_contribution": at(found.contribution),
        f"{name}_value": relative_norm(found.norms, position),
    }


def _flags(measures: Measures, table: pd.DataFrame) -> pd.DataFrame:
    """Severity, names and reasons of every head's flags, in the table's order."""
    names: list[list[str]] = [[] for _ in range(len(table))]
    reasons: list[list[str]] = [[] for _ in range(len(table))]
    severity = np.zeros(len(table))
    rows = rows_of(table)
    for each in RULES:
        strength = each.strength(measures[each.measure]).ravel()
        for index in np.flatnonzero(raised(each, measures)).tolist():
            names[index].append(each.flag)
            reasons[index].append(reason(each, rows[index]))
            severity[index] += strength[index]
    return pd.DataFrame(
        {
            "severity": severity,
            "flags": [", ".join(each) for each in names],
            "reasons": ["; ".join(each) for each in reasons],
        }
    )
