"""What is odd about each head, as a table: a row a head, its measures, z-scores, and flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from core.analysis.anomalies.contribution import columns, empty_attention, null_score, relative_norm
from core.analysis.anomalies.flags import KINDS, RULES, raised, reason, robust_z, severities
from core.analysis.anomalies.norms import norm_disparity, separability
from core.analysis.anomalies.sinks import FIRST, ROLES, corpus_sink, role_measures, without_roles
from core.analysis.head_patterns.minimum_evidence import too_short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from core.analysis.anomalies.contribution import Columns
    from core.analysis.anomalies.flags import Measures
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
        ``core.model.weights.output_projection.transformed_norms``. Without it values count by their
        own length |v|; ``table.attrs["values"]`` says which.
    similarity : of W_Q and W_K, (layer, head), from
        ``core.model.weights.query_key.weight_similarity``. Without it the column is not a number.

    Returns
    -------
    One column each for ``layer`` and ``head`` (from 1), the measures of :func:`measure_heads`,
    ``sink_token``, a robust z-score over all heads for each measure that has a rule
    (``z_`` and its name), ``severity``, the same of each kind of flag (``severity_`` and one of
    `core.analysis.anomalies.flags.KINDS`), ``flags`` (names, joined by ", "; empty when nothing is
    odd) and ``reasons`` (in words, joined by "; "). Severity is how far a head's flagged measures
    lie from where they ordinarily are, in units of the threshold's distance: a head that is on one
    threshold has 1. It is added up over causes; of flags with one cause the strongest counts.
    ``table.attrs["tokens"]`` is how many tokens the text has (of a corpus, a mean), and
    ``"too_short"`` whether these are too few for the flags that depend on it.
    """
    measures = measure_heads(trace, transformed, similarity)
    names = [token.display for token in trace.tokens]
    sinks = [names[position - 1] for position in measures["sink"].ravel().astype(int)]
    return _table(measures, sinks, exact=transformed is not None)


def corpus_table(
    texts: Sequence[Measures], *, exact: bool, separators: Iterable[str] = ()
) -> pd.DataFrame:
    """The table of many texts, each measured by :func:`measure_heads`, as of one.

    A measure is its mean over the texts that have it, longer texts counting for more, token by
    token. Texts have different tokens at one position, so the sink is a role: the first token, the
    separators, the last token, or full stops and commas (:mod:`core.analysis.anomalies.sinks`);
    ``sink_token`` names it, and there is no column ``sink``.

    Parameters
    ----------
    exact : values counted by |f(v)|.
    separators : the separators of these texts as people read them; named where there is one.

    Raises
    ------
    ValueError
        When there is no text.
    """
    if not texts:
        raise ValueError("there is no text")
    merged = {name: _mean_over_texts(texts, name) for name in texts[0] if name != "sink"}
    at_sink, roles = corpus_sink(merged, texts)
    names = {FIRST: "the first token", **ROLES}
    if len(only := set(separators)) == 1:
        names["separator"] = only.pop()
    sinks = [names[role] for role in roles.ravel().tolist()]
    elsewhere = np.where(roles == FIRST, 1.0, np.nan)
    measures = {**merged, **at_sink, "sink": elsewhere}
    return _table(measures, sinks, exact=exact).drop(columns="sink")


def _mean_over_texts(texts: Sequence[Measures], name: str) -> Floats:
    """Mean of one measure over the texts that have it, by their tokens, (layer, head)."""
    values = np.stack([text[name] for text in texts])  # (text, layer, head)
    weights = np.where(np.isfinite(values), np.stack([text["tokens"] for text in texts]), 0)
    total = weights.sum(axis=0)
    summed = np.where(weights > 0, values * weights, 0).sum(axis=0)
    return np.divide(summed, total, out=np.full(total.shape, np.nan), where=total > 0)


def _table(measures: Measures, sinks: Sequence[str], *, exact: bool) -> pd.DataFrame:
    """Measures with z-scores and flags; `sinks` names what each head's sink is."""
    layers, heads = measures["sink"].shape
    layer, head = np.divmod(np.arange(layers * heads), heads)
    flat = {name: values.ravel() for name, values in without_roles(measures).items()}
    table = pd.DataFrame({"layer": layer + 1, "head": head + 1, **flat})
    if np.isfinite(flat["sink"]).all():
        table["sink"] = table["sink"].astype(int)
    table = table.drop(columns="tokens")
    where = table.columns.get_loc("sink")
    table.insert(int(where) + 1, "sink_token", sinks)  # type: ignore[arg-type]
    for name in SCORED:
        table[f"z_{name}"] = robust_z(measures[name]).ravel()
    table = pd.concat([table, _flags(measures, table)], axis=1)
    table.attrs["values"] = "|f(v)|" if exact else "|v|"
    table.attrs["tokens"] = float(measures["tokens"].flat[0])
    table.attrs["too_short"] = too_short(table.attrs["tokens"])
    return table


def measure_heads(
    trace: Trace, transformed: Array | None = None, similarity: Array | None = None
) -> dict[str, Floats]:
    """Every measure of every head, float64 (layer, head) by name; only permitted pairs count.

    - ``query_norm``, ``key_norm``: mean length; ``norm_difference`` of the two; ``norm_log_ratio``,
      log2 of median |q| over median |k|.
    - ``centroid_distance``, ``centroid_distance_after``: before and after key translation.
    - ``separability``: share of queries and keys named right after translation
      (:func:`core.analysis.anomalies.norms.separability`).
    - ``first_attention``, ``first_uniform``: mean attention to the first token, and what an even
      head would give it (1 / n, or the mean of 1 / (i + 1) in a causal model).
    - ``first_contribution``: the first token's share of what is moved, the sum over i of
      a_ij |f(v_j)| over that of all tokens (after Kobayashi et al. 2020).
    - ``first_value``: the first token's value norm over the head's median.
    - ``sink``: position from 1 of the column with the most attention; ``sink_attention``,
      ``sink_uniform``, ``sink_contribution``, ``sink_value``: the same for it.
    - ``null_attention``: attention to values shorter than the head's median, by how much they are
      (:func:`core.analysis.anomalies.contribution.null_score`); ``empty_attention``: attention to
      values under a tenth of the median.
    - ``entropy``: H(row) / ln(permitted keys), mean over rows.
    - ``offset_attention``: mean attention to the previous token, to the token itself or to the
      next one, whichever is largest.
    - ``rank``: stable rank of the attention matrix, 1 to the number of tokens.
    - ``weight_similarity``: correlation of W_Q and W_K.
    - ``tokens``: how many there are.
    - the attention to the separators, the last token and punctuation, by which texts of a corpus
      are aligned (:func:`core.analysis.anomalies.sinks.role_measures`).
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
        "empty_attention": empty_attention(found.attention, found.norms),
        "entropy": found.entropy,
        "offset_attention": found.offset,
        "rank": found.rank,
        "weight_similarity": unknown if similarity is None else similarity.astype(np.float64),
        "tokens": np.full(shape, float(trace.shape[2])),
        **role_measures(trace.tokens, found),
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
    """Severities, names and reasons of every head's flags, in the table's order."""
    names: list[list[str]] = [[] for _ in range(len(table))]
    reasons: list[list[str]] = [[] for _ in range(len(table))]
    rows = rows_of(table)
    for each in RULES:
        for index in np.flatnonzero(raised(each, measures)).tolist():
            names[index].append(each.flag)
            reasons[index].append(reason(each, rows[index]))
    by_kind = {kind: values.ravel() for kind, values in severities(measures).items()}
    return pd.DataFrame(
        {
            "severity": sum(by_kind.values()),
            **{f"severity_{kind}": by_kind[kind] for kind in KINDS},
            "flags": [", ".join(each) for each in names],
            "reasons": ["; ".join(each) for each in reasons],
        }
    )
