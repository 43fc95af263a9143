"""What the anomaly page says: names, definitions with source and threshold, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies.flags import KINDS, OUTLIER, RULES, rule
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.analysis.head_patterns.naming import THRESHOLDS

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.anomalies import Row

DEFINITIONS = {
    "first-token sink": "mean attention to the first token, over all tokens. It often means that"
    " the head has nothing to say here: attention must go somewhere, as rows add up to 1.",
    "column sink": "mean attention to the column with the most, where that is not the first. In a"
    " corpus, where texts have different tokens at one position: to the separators, to the last"
    " token of the text, or to full stops and commas, whichever has the most.",
    "entropy collapse": "entropy of a token's attention over that of an even one, mean over tokens:"
    " 0 is one key each. Heads that look at the previous token, the next one or themselves are left"
    " out: one key each is how they work.",
    "null attention": "attention times how much shorter than the head's median the value there is,"
    " added up: Σ aⱼ · max(0, 1 − |f(vⱼ)| / median). 0.8 on a token whose value is zero is 0.8."
    " Only attention to values under a tenth of the median is said to move next to nothing.",
    "empty value": "length of the first token's value over the head's median, named where null"
    " attention is not: the head could rest there, and on this text does so little.",
    "norm disparity": "log2 of the ratio of median |q| to median |k|: 1 is queries twice as long as"
    " keys, −1 the reverse. Attention does not fix it: c q and k / c give the same weights.",
    "clouds apart": "share of queries and keys that are named right, once translation has brought"
    " their centroids together: each goes to the cloud nearer by energy distance, judged by the"
    " other tokens alone (0.5: one cloud). A straight cut would find spread and skew only, as the"
    " means agree. Queries longer than keys are enough for it, and lengths c may change.",
    "alike weights": "Pearson's correlation of the entries of W_Q and W_K: near 1, a score says how"
    " alike two tokens are in what the head reads of them, biases apart. Longer vectors score"
    " higher: a token need not attend to itself most. A property of the model, whatever the text.",
}
KIND_NOTES = {
    "attention": "what the model's attention itself determines",
    "space": "the constants a and c may change these without changing one attention weight",
    "weights": "whatever the text",
}
MEASURES = {
    "norm_log_ratio": "log2 of |q| over |k|",
    "separability": "separability",
    "first_attention": "attention to the first token",
    "sink_attention": "attention to the strongest column",
    "null_attention": "null attention",
    "first_value": "the first token's value, over the median,",
    "entropy": "entropy of the maximum",
    "weight_similarity": "correlation of W_Q and W_K",
}
SEVERITY = (
    "how far a head's flagged measures lie from where they ordinarily are, in units of the"
    " threshold's distance, added up: a head on one threshold has 1. Of flags with one cause (a"
    " sink and its low entropy, null attention and an empty value, unequal lengths and clouds"
    " apart) the strongest counts"
)


def head_name(one: Row) -> str:
    """The head of a row of the table, as people write it."""
    return f"L{one['layer']} H{one['head']}"


def threshold(flag: str) -> str:
    """When the flag is raised, in words."""
    each = rule(flag)
    mark, lower = f"{each.threshold:g}", f"{each.outlier_from:g}"
    side = {"above": "from", "below": "up to", "both": "from ±"}[each.side]
    gap = "" if side.endswith("±") else " "
    parts = [f"{side}{gap}{mark}"]
    if mark != lower:
        sign = {"above": "z ≥ ", "below": "z ≤ −", "both": "|z| ≥ "}[each.side]
        parts.append(
            f"or {side}{gap}{lower} if the head is unlike the model's others ({sign}{OUTLIER:g})"
        )
    if flag in {"first-token sink", "column sink"}:
        parts.append("and at least twice what an even head gives")
    if flag == "entropy collapse":
        parts.append(f"where previous, self and next token have at most {THRESHOLDS['previous']:g}")
    if each.kind != "weights":
        parts.append(f"on texts of {MIN_TOKENS} tokens or more")
    return ", ".join(parts)


def show_definition(definition: str, source: str, limit: str) -> None:
    """Definition, source and threshold of a view, in one small paragraph (Markdown)."""
    st.caption(f"**Definition:** {definition}  \n**Source:** {source}  \n**Threshold:** {limit}")


def show_flag_definition(flag: str) -> None:
    """The same for a flag, and what it is of."""
    each = rule(flag)
    show_definition(DEFINITIONS[flag], f"{each.source}.", f"flagged {threshold(flag)}.")
    st.caption(f"**{KINDS[each.kind]}:** {KIND_NOTES[each.kind]}.")


def too_short_note(table: pd.DataFrame) -> str:
    """Why nothing is said of heads on a short text (Markdown)."""
    return (
        f"**Too short to say.** On {table.attrs['tokens']:.0f} tokens a few keys decide every"
        f" measure: under {MIN_TOKENS}, no flag is raised for what a text shows. Its measures are"
        " below."
    )


def values_note(exact: bool) -> str:
    """How values are counted, for captions."""
    if exact:
        return (
            "Values count by |f(v)|, f(v) = v W_O: the length of each token's part in what the head"
            " adds. Parts may cancel: their lengths do not add up to that of the sum."
        )
    return (
        "Where this model keeps its output projection W_O is not known here: values count by their"
        " own length |v|, which is not quite that of their parts in what the head adds."
    )


def show_mathematics() -> None:
    """The definitions in formulas, and where they come from."""
    with st.expander("The mathematics"):
        st.markdown(
            r"""
**Norm disparity** of a head is $\overline{|q|} - \overline{|k|}$ (AttentionViz, Yeh et al. 2023,
section 5.1.1), and $\log_2 (\operatorname{med}|q| / \operatorname{med}|k|)$, which does not depend
on the model's units.

**What attention determines** is its own weights, their entropy, and the values they carry. Lengths
and clouds of queries and keys it does not: $\langle c\,q_i, k_j / c\rangle = \langle q_i,
k_j\rangle$ for every $c \neq 0$, so that the log ratio may be moved to any number.

**Key translation** adds $a = \bar q - \bar k$ to every key, which no attention weight sees; the
centroids then meet. What still tells the clouds apart is their spread and shape: **separability**
is the share of the $2n$ vectors $x$ for which

$$
\frac{1}{n-1}\sum_{y} |x - y| - \tfrac12\,\overline{|y - y'|}
$$

is smaller for the own cloud than for the other one, the token of $x$ left out of both clouds and of
$a$ (energy distance, Székely and Rizzo 2013).

**What is moved.** A head gives token $i$ the vector $\sum_j a_{ij} f(v_j)$, $f(v) = v W_O$. So
$|a_{ij} f(v_j)|$ says how much of it comes from $j$ (Kobayashi et al. 2020), and the share of token
$j$ in what the head moves is

$$
\frac{\sum_i |a_{ij} f(v_j)|}{\sum_{i,j'} |a_{ij'} f(v_{j'})|} .
$$

The matrix of what is moved is scaled to the same sum as attention, $n$.

**Null attention** is $\sum_j \bar a_j \max\bigl(0, 1 - |f(v_j)| / \operatorname{med}_{j'}
|f(v_{j'})|\bigr)$ with $\bar a_j$ the mean attention to $j$: a measure of ours for what Vig and
Belinkov (2019) and Kobayashi et al. (2020) describe. As $\sum_j \bar a_j = 1$, it is 1 less the
mean length of the values attended to, each counted up to the median and in units of it.

**An even head** gives the first of $n$ tokens $1/n$; in a causal model token $i$ (from 0) sees
$i + 1$ tokens, and the mean of $1/(i+1)$ is what is even.

**Entropy collapse**: the mean over $i$ of $H(a_i) / \ln n_i$, $n_i$ the keys that $i$ may see
(Zhai et al. 2023, of training; here it is a measure of one text). **Rank** is the stable rank
$\lVert A\rVert_F^2 / \lVert A\rVert_2^2$, the effective rank of $A^\top A$ (Vershynin 2018): 1
where all tokens attend alike, $n$ where each looks at a token of its own.

**Massive activations** (Sun et al. 2024): numbers of a hidden state beyond 100 that are about 1,000
times the median magnitude of their layer.

**Robust z** is $0.6745\,(x - \operatorname{med}) / \operatorname{MAD}$ over all heads of the model
(Iglewicz and Hoaglin 1993); where the MAD is 0, $(x - \operatorname{med})$ over 1.2533 times the
mean absolute deviation.
"""
        )


FLAGS = [each.flag for each in RULES]
