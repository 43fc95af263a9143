"""What the heatmap page says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.search import strongest_head
from core.analysis.layers import head_name
from core.analysis.strongest_link import strongest_link
from core.ui.messages import quote
from core.ui.presets import Preset
from core.ui.words.formulas import capped, rule_notes, softcap_of

if TYPE_CHECKING:
    from core.analysis.attention_table import AttentionTable, Head, Layer
    from core.model import Trace


def explain(trace: Trace, table: AttentionTable, layer: Layer, head: Head, view: str) -> str:
    """How to read the table, true for what is on the screen."""
    if table.kind == "attention":
        sentences = [_explain_rows(trace, table, layer, head)]
    else:
        softcap = softcap_of(trace, layer if isinstance(layer, int) else None)
        bounded = "" if softcap is None else f", soft-capped at ±{softcap:g}"
        meaning = "Softmax turns each row, special tokens included, into attention."
        if not (isinstance(layer, int) and isinstance(head, int)):
            meaning = (
                "This is a summary of heads: its softmax is not the summary of their attention."
            )
        sentences = [f"Scores are the scaled dot products of queries and keys{bounded}.", meaning]
        if not np.isfinite(table.values).all():
            empty = "A dash" if view == "table" else "An empty cell"
            sentences.append(f"{empty} is a pair the model does not permit.")
    if table.hidden:
        tokens = "token is" if table.hidden == 1 else "tokens are"
        sentences.append(f"{table.hidden} special {tokens} hidden.")
    return " ".join(sentences)


def _explain_rows(trace: Trace, table: AttentionTable, layer: Layer, head: Head) -> str:
    meaning = "a column shows how much attention a token gets."
    sums = f"{table.row_sums.min():.2f} to {table.row_sums.max():.2f}"
    if table.rows_sum_to_one:
        return f"Rows add up to 1, columns do not: {meaning}"
    if head == "max":
        averaged = ", averaged over layers" if layer == "mean" else ""
        return (
            f"Each cell is the largest value of any head{averaged}, so rows add up to {sums};"
            f" {meaning}"
        )
    takers = ["to hidden tokens"] if table.hidden_columns else []
    if any(rule.sink is not None for rule in trace.layers):
        takers.append("to each head's sink, a key without a token")
    return f"Rows add up to {sums}: the rest went {' and '.join(takers)}; {meaning}"


def mathematics(trace: Trace) -> str:
    """The definitions behind the table, as this model has them."""
    softcap = softcap_of(trace)
    product = capped(r"s \, \langle q_i, k_j \rangle", softcap)
    return (
        rf"""
With queries $q_i$ and keys $k_j$ of one head ($d$ numbers each), a scaling $s$ (usually
$1/\sqrt{{d}}$) and a mask $m$, the **score** and the **attention** of token $i$ to token $j$ are

$$
z_{{ij}} = {product} + m_{{ij}},
\qquad
a_{{ij}} = \frac{{e^{{z_{{ij}}}}}}{{\sum_{{j'}} e^{{z_{{ij'}}}}}},
\qquad
\sum_j a_{{ij}} = 1 .
$$

{rule_notes(trace.layers)}
"""
        r"""
Rows attend (query), columns are attended to (key). *Mean* and *maximum* are taken over the heads of
a layer first, the mean over layers last. Merging the pieces of two words $w$ and $v$ gives
$\frac{1}{|w|}\sum_{i \in w} \sum_{j \in v} a_{ij}$, which keeps rows at 1 (Clark et al. 2019, 4.1).

Attention shows where information **may** flow; what happens to it depends on the values and all
that follows.
"""
    )


def examples(trace: Trace) -> list[Preset]:
    """Settings worth seeing on this text; heads are measured, not listed."""
    layers, heads = trace.shape[:2]
    middle, numbers = layers // 2, trace.numbers
    layer, head, mean = strongest_head(trace, "previous")
    looks_back = head_name(trace, layer, head)
    presets = [
        Preset(
            "Mean of the last layer",
            f"What layer {numbers[-1]} attends to on average over its {heads} heads. An average"
            " hides specialists: compare it with a single head.",
            _state(numbers[-1], "mean"),
        )
    ]
    if (link := strongest_link(trace, layers=(middle,))) is not None:
        query, key = (quote(trace.tokens[i].display) for i in (link.query, link.key))
        presets.append(
            Preset(
                "One head of a middle layer",
                f"{head_name(trace, middle, link.head)} gives {link.weight:.2f} of {query}'s"
                f" attention to {key}: the strongest link in this layer between words that are not"
                " neighbours.",
                _state(numbers[middle], link.head + 1),
            )
        )
    if len(trace.tokens) > 1:
        looks = "looks back one token" if mean > 0.5 else "comes closest to looking back one token"
        presets.append(
            Preset(
                "The token before",
                f"{looks_back} {looks}: on average {mean:.2f} goes to the previous token. Watch the"
                " line beside the diagonal.",
                _state(numbers[layer], head + 1),
            )
        )
    return [
        *presets,
        Preset(
            "Only words",
            "The mean of the last layer without special tokens, word pieces merged, rows"
            " renormalised: what is left without the tokens where attention rests.",
            _state(numbers[-1], "mean", hide=True, renorm=True, words=True),
        ),
        Preset(
            "Before softmax",
            f"The raw scores of {looks_back}, which softmax turns into attention.",
            _state(numbers[layer], head + 1, values="scores"),
        ),
    ]


def _state(layer: int, head: int | str, **changes: str | bool) -> dict[str, str | bool]:
    """The page's state, as it is at first except for layer, head (their numbers) and `changes`."""
    state: dict[str, str | bool] = {"layer": str(layer), "head": str(head), "values": "attention"}
    return state | {"hide": False, "renorm": False, "words": False} | changes
