"""Settings of the query-key page that are worth seeing, and its mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.attention_table import labels_of
from core.analysis.strongest_link import strongest_link
from core.screens.query_key.controls import ALL_HEADS, BOTH, ONE_HEAD
from core.ui.messages import quote
from core.ui.presets import Preset

if TYPE_CHECKING:
    from core.model import Trace

MATHEMATICS = r"""
Softmax ignores a constant added to a row. Adding a vector $a$ to every key adds
$\langle q_i, a\rangle$ to all of row $i$; and $c$ cancels from $\langle c\,q_i, k_j / c\rangle$:

$$
\operatorname{softmax}_j \bigl(s\,\langle c\,q_i,\ (k_j + a)/c \rangle\bigr)
= \operatorname{softmax}_j \bigl(s\,\langle q_i, k_j\rangle + s\,\langle q_i, a\rangle\bigr)
= \operatorname{softmax}_j \bigl(s\,\langle q_i, k_j\rangle\bigr).
$$

**Translation** (AttentionViz, Yeh et al. 2023, section 5.1.1): $a = \bar q - \bar k$ for each head,
so that the centroids meet. With a **soft cap** (Gemma 2) or a **sink** (gpt-oss), and only there,
softmax does see $a$: translated vectors would attend a little differently.

**Correlation.** Distance is compared with the **row-centred scores** $y_{ij}$ of the permitted
pairs, which no stage changes, and distances lose the mean of their row as well: how far a query
lies from all keys says nothing about which it attends to. Over all permitted pairs,

$$
r = \frac{\sum (D_{ij} - \bar D_{i})\, y_{ij}}
{\sqrt{\sum (D_{ij} - \bar D_{i})^2 \, \sum y_{ij}^2}},
\qquad y_{ij} = s_{ij} - \bar s_{i},
$$

the correlation within subjects of Bland and Altman (1995), each query a subject. Queries with one
permitted key are left out. Pairs of one query depend on each other, so the interval comes from a
jackknife that leaves out one query at a time, on Fisher's $z$.

**Scaling**: $c$ for each head, chosen so that distance and $y$ correlate nearest to $-1$; the
published grid is 0.2, 0.4, 0.8, 1, 1.25, 2.5, 5. Here distances keep the means of their rows: one
scale for all queries. Without them $r$ tends to $-1$ as $c \to \infty$ in every head, because
$D^2$ tends to $c^2 |q|^2 - 2\langle q, k\rangle$. The weighted correlation uses weights
$w_i = (d - d_i)^2$ for pairs nearer than $d$, the 0.5th percentile of the distances, and 0 for all
others:

$$
r_w = \frac{\operatorname{cov}(y, D; w)}
{\sqrt{\operatorname{cov}(y, y; w)\operatorname{cov}(D, D; w)}} .
$$

For **squared Euclidean** distance, $D^2 = u\,|q|^2 + |k|^2/u - 2\langle q, k\rangle$ with
$u = c^2$: its covariance with $y$ is
$u \operatorname{cov}(|q|^2, y) + \operatorname{cov}(|k|^2, y)/u - 2\operatorname{cov}(\langle q,
k\rangle, y)$, so the correlation is a ratio of polynomials in $u$, and its extremes are roots of
one. No grid is needed.

**The notebook** searches a scalar $a$, added to every dimension of every key, and a signed $c$,
over the pairs of a query and its own token's key, with raw products and cosine distance. There $c$
cancels from both sides. And a large $|a|$ makes all keys nearly equal: then $r$ tends to minus the
correlation of $\sum_d q_{id}$ with the same over $|q_i|$, which is near $-1$ wherever queries have
similar lengths. So the search rewards a large $a$ and ends on the edge of its range.

**a and c of the search** are one $a$ and one $c$ for all heads of the layer, with which
$q' = c\,q$ and $k' = (k + a)/c$. Attention stays; Euclidean distances change with $|c|$, though no
correlation chose it.

**Raw scores** are a choice: the scores before softmax, at every stage, with distances unchanged.
The **biplot** is the rank-2 singular value decomposition of the dot products less the mean of each
row (Gabriel 1971).
"""


def examples(trace: Trace) -> list[Preset]:
    """Settings worth seeing on this text."""
    first, last = str(trace.numbers[0]), str(trace.numbers[-1])
    picture = {"part": "picture", "projection": "PCA", "dims": "2-D", "span": ONE_HEAD}
    crosses = trace.source is not None  # there the search finds nothing
    searched = [
        Preset(
            "Before and after the search",
            "Every head of the first layer before and after the notebook's a and c: do queries move"
            " nearer to the keys they attend to?",
            {**picture, "span": BOTH, "layer": first},
        ),
        Preset(
            "The notebook's search",
            "Which a and c does the search find, and does c matter?",
            {"part": "search", "layer": first},
        ),
    ]
    presets = [
        Preset(
            "A whole layer",
            "All heads of the last layer side by side, normalized.",
            {**picture, "span": ALL_HEADS, "stage": "normalized", "layer": last},
        ),
        Preset(
            "The best two dimensions can do",
            "A biplot of the scores: compare its correlation with the other projections.",
            {**picture, "projection": "biplot"},
        ),
        *([] if crosses else searched),
        Preset(
            "Distance against dot product",
            "A point for every pair of a head, beside the map of all heads: click one to see it.",
            {"part": "heads", "stage": "normalized" if crosses else "searched"},
        ),
        Preset(
            "How faithful is it?",
            "Every projection beside full space and a uniform baseline.",
            {"part": "trust"},
        ),
    ]
    link = strongest_link(trace)
    if link is None:
        return presets
    query = quote(labels_of(trace.tokens)[link.query])
    key = quote(labels_of(trace.key_tokens)[link.key])
    layer, head = str(trace.numbers[link.layer]), str(link.head + 1)
    strongest = Preset(
        "The strongest link",
        f"In L{layer} H{head} {query} gives {link.weight:.2f} of its attention to {key}. How near"
        " are they before and after normalization?",
        {**picture, "layer": layer, "head": head},
    )
    return [strongest, *presets]
