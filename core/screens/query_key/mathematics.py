"""The mathematics of the query-key page, and where it comes from."""

from __future__ import annotations

import streamlit as st

_FREEDOMS = r"""
Softmax ignores a constant added to a row. Adding a vector $a$ to every key adds
$\langle q_i, a\rangle$ to all of row $i$; and $c$ cancels from $\langle c\,q_i, k_j / c\rangle$:

$$
\operatorname{softmax}_j \bigl(s\,\langle c\,q_i,\ (k_j + a)/c \rangle\bigr)
= \operatorname{softmax}_j \bigl(s\,\langle q_i, k_j\rangle + s\,\langle q_i, a\rangle\bigr)
= \operatorname{softmax}_j \bigl(s\,\langle q_i, k_j\rangle\bigr).
$$

**Translation** (AttentionViz, Yeh et al. 2023, section 5.1.1): $a = \bar q - \bar k$ for each head,
so that the centroids meet. With a **soft cap** (Gemma 2), and only there, softmax does see $a$:
translated vectors would attend a little differently.

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
"""

_SCALING = r"""
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
"""

_NOTEBOOK = r"""
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


def show_mathematics() -> None:
    """The definitions, and where they come from."""
    with st.expander("The mathematics"):
        for text in (_FREEDOMS, _SCALING, _NOTEBOOK):
            st.markdown(text)
