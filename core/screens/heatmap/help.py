"""What the heatmap page says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.attention_table import labels_of
from core.analysis.head_patterns.search import strongest_head
from core.analysis.layers import head_name
from core.analysis.strongest_link import strongest_link
from core.ui.messages import quote
from core.ui.presets import Preset
from core.ui.words.formulas import capped, rule_notes, softcap_of
from core.ui.words.inputs import special_tokens

if TYPE_CHECKING:
    from core.analysis.attention_table import AttentionTable, Head, Layer
    from core.model import Trace


def explain(trace: Trace, table: AttentionTable, layer: Layer, head: Head) -> str:
    """How to read the table, true for what is on the screen."""
    if table.kind == "attention":
        sentences = [
            _explain_rows(trace, table, layer, head),
            "Colours follow the square root of attention, so that weak links show too.",
        ]
    else:
        softcap = softcap_of(trace, layer if isinstance(layer, int) else None)
        bounded = "" if softcap is None else f", soft-capped at ±{softcap:g}"
        meaning = "Softmax turns each row, special tokens included, into attention."
        if not (isinstance(layer, int) and isinstance(head, int)):
            meaning = (
                "This is a summary of heads: its softmax is not the summary of their attention."
            )
        sentences = [f"Scores are the scaled dot products of queries and keys{bounded}.", meaning]
    if not table.permitted.all():
        sentences.append("A hatched cell is a pair the model does not permit.")
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
    merging = _MERGING if trace.patches is None else ""
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
a layer first, the mean over layers last. """
        f"""{merging}

Attention shows where information **may** flow; what happens to it depends on the values and all
that follows.
"""
    )


_MERGING = r"""Merging the pieces of two words $w$ and $v$ gives
$\frac{1}{|w|}\sum_{i \in w} \sum_{j \in v} a_{ij}$, which keeps rows at 1 (Clark et al. 2019,
4.1)."""


def examples(trace: Trace) -> list[Preset]:
    """Settings worth seeing on this text; heads are measured, not listed."""
    layers, heads = trace.shape[:2]
    middle, numbers = layers // 2, trace.numbers
    crosses = trace.source is not None  # no token of one text is before one of the other
    what = "words" if trace.patches is None else "patches"
    layer, head, mean = (0, 0, 0.0) if crosses else strongest_head(trace, "previous")
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
        query = quote(labels_of(trace.tokens)[link.query])
        key = quote(labels_of(trace.key_tokens)[link.key])
        which = "two words" if crosses else f"{what} that are not neighbours"
        presets.append(
            Preset(
                "One head of a middle layer",
                f"{head_name(trace, middle, link.head)} gives {link.weight:.2f} of {query}'s"
                f" attention to {key}: the strongest link in this layer between {which}.",
                _state(numbers[middle], link.head + 1),
            )
        )
    if len(trace.tokens) > 1 and not crosses:
        looks = f"{looks_back} {_looks_back(trace, mean)}"
        presets.append(
            Preset(
                "The token before" if trace.patches is None else "The patch to the left",
                f"{looks}: on average {mean:.2f} goes there. Watch the line beside the diagonal.",
                _state(numbers[layer], head + 1),
            )
        )
    if trace.patches is None or trace.patches.first:
        presets.append(_without_special(trace))
    return [
        *presets,
        Preset(
            "Before softmax",
            f"The raw scores of {looks_back}, which softmax turns into attention.",
            _state(numbers[layer], head + 1, values="scores"),
        ),
    ]


def _looks_back(trace: Trace, mean: float) -> str:
    """What the head that does it most does, and how clearly."""
    where = "back one token" if trace.patches is None else "one patch to the left"
    return f"looks {where}" if mean > 0.5 else f"comes closest to looking {where}"


def _without_special(trace: Trace) -> Preset:
    """What is left without the tokens where attention rests."""
    state = _state(trace.numbers[-1], "mean", hide=True, renorm=True)
    if trace.patches is not None:
        return Preset(
            "Only patches",
            f"The mean of the last layer without {special_tokens(trace)}, rows renormalised: what"
            " is left without the tokens where attention rests.",
            state,
        )
    return Preset(
        "Only words",
        "The mean of the last layer without special tokens, word pieces merged, rows renormalised:"
        " what is left without the tokens where attention rests.",
        state | {"words": True},
    )


def _state(layer: int, head: int | str, **changes: str | bool) -> dict[str, str | bool]:
    """The page's state, as it is at first except for layer, head (their numbers) and `changes`."""
    state: dict[str, str | bool] = {"layer": str(layer), "head": str(head), "values": "attention"}
    return state | {"hide": False, "renorm": False, "words": False} | changes
