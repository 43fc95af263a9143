"""What the query-key page says: titles, notes, how to read it, examples, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.scaling import few_pairs
from core.analysis.strongest_link import strongest_link
from core.ui.messages import quote
from core.ui.presets import Preset, show

if TYPE_CHECKING:
    from core.analysis.clouds import Cloud
    from core.analysis.correlation import Distance
    from core.analysis.scaling import Criterion, HeadScaling
    from core.model import Trace
    from core.ui.query_key.picture import Choice

CRITERIA: dict[Criterion, str] = {
    "pearson": "Pearson, all pairs",
    "spearman": "Spearman, all pairs",
    "weighted": "weighted (AttentionViz)",
    "balanced": "balanced norms",
}
DISTANCES = {"euclidean": "Euclidean", "cosine": "cosine"}
_MUCH = 0.02  # of a correlation: what differs less is called the same


def number(value: float, form: str = "+.2f") -> str:
    """A number with a true minus sign, or the words for one that is not defined."""
    return format(value, form).replace("-", "−") if np.isfinite(value) else "not defined"


def title_of(cloud: Cloud, projection: str, choice: Choice, *, head: int) -> str:
    """The head and the stage of a panel."""
    name = f"L{choice.layer + 1} H{head + 1}"
    return f"{name} · {'biplot' if projection == 'biplot' else cloud.stage}"


def notes_of(cloud: Cloud, projection: str, *, short: bool = False) -> list[str]:
    """The panel's own numbers."""
    here, full = number(cloud.correlation_in_picture), number(cloud.correlation_in_full)
    if projection == "biplot":
        kept = f"Keeps {cloud.picture.kept or 0:.0%} of the squared centred logits"
        return [kept, f"Correlation of inner products with the logits {here}"]
    if short:
        return [f"with the logits {here} here, {full} in full space"]
    apart = f"{cloud.apart_in_picture:.2f} apart here, {cloud.apart_in_full:.2f} in full space"
    return [
        f"Strongest pairs: {apart}",
        f"Correlation with the logits: {here} here, {full} in full space",
        *(
            []
            if cloud.picture.kept is None
            else [f"Keeps {cloud.picture.kept:.0%} of the variance"]
        ),
    ]


def caption_of(projection: str, choice: Choice, *, grid: bool, seed: int) -> str:
    """How to read the clouds, true for what is drawn."""
    if projection == "biplot":
        return (
            "Green circles are queries, pink diamonds keys. In a biplot not distances but inner"
            " products count: a key far out in a query's direction is attended to. It is the best"
            " that two dimensions can do for the logits, and translation and scaling do not change"
            " it."
        )
    stages = (
        "All heads have the same scale unless each has its own."
        if grid
        else "Attention is the same in all three panels: only the picture changes. Each panel is"
        " turned to match the one before."
    )
    how = {
        "PCA": "PCA of queries and keys together, at unit length since cosine was chosen."
        if choice.distance == "cosine"
        else "PCA of queries and keys together.",
        "UMAP": f"UMAP, 15 neighbours, seed {seed}: distances between far groups mean little.",
        "t-SNE": f"t-SNE, perplexity up to 30, seed {seed}: distances between groups mean little.",
    }[projection]
    return (
        "Green circles are queries, pink diamonds keys; each line joins a query to a key it attends"
        f" to. {how} {stages} A good picture has correlations near −1: what is near attends."
    )


def verdict(scaling: HeadScaling, choice: Choice) -> str:
    """One sentence on what translation and scaling did to this head (Markdown)."""
    values = [scaling.raw, scaling.translated, scaling.normalized]
    if not np.isfinite(values).all():
        return _undefined(scaling, choice)
    raw, translated, normalized = (number(value) for value in values)
    name = f"L{choice.layer + 1} H{choice.head + 1}"
    change = scaling.normalized - scaling.raw
    judgement = (
        "normalization left it as it was"
        if abs(change) < _MUCH
        else "**normalization made it better**"
        if change < 0
        else "**normalization made it worse**"
    )
    return (
        f"{name}: {DISTANCES[choice.distance]} distance and logits correlate {raw} raw,"
        f" {translated} translated, {normalized} normalized with c = {scaling.c:.3g}: {judgement}"
        " (in full space; −1 would be perfect)."
    )


def _undefined(scaling: HeadScaling, choice: Choice) -> str:
    name = f"L{choice.layer + 1} H{choice.head + 1}"
    if choice.criterion == "weighted":
        return (
            f"{name}: only {scaling.carrying} of {scaling.pairs[0]:,} pairs carry weight, too few"
            " for a correlation. Take a longer text, or another criterion."
        )
    return f"{name}: there is no correlation, as logits or distances do not vary."


def warnings_of(scaling: HeadScaling, criterion: Criterion, distance: Distance) -> list[str]:
    """What to keep in mind about this head's c."""
    found = []
    if criterion == "balanced":
        found.append(
            "Balanced norms ask no correlation: c = √(median |k| / median |q|), with queries times"
            " c and keys over c."
        )
    if scaling.flat:
        found.append("Cosine distance does not depend on c: the curve is flat, and c stays 1.")
    if scaling.on_edge:
        found.append(
            f"The best c, {scaling.c:.3g}, lies at the edge of what was tried: the criterion has no"
            " optimum of its own here."
        )
    if few_pairs(scaling, criterion):
        found.append(
            f"Only {scaling.carrying} pairs carry weight (fewer than 30): the correlation is mostly"
            " chance."
        )
    used, there = scaling.pairs
    if used < there:
        found.append(f"Measured on a random {used:,} of {there:,} pairs (fixed seed).")
    if distance == "euclidean" and criterion == "balanced" and not np.isfinite(scaling.normalized):
        found.append("At this c the correlation is not defined.")
    return found


def show_presets(trace: Trace) -> None:
    """Settings worth seeing on this text."""
    show("query_key", lambda: _presets(trace))


def _presets(trace: Trace) -> list[Preset]:
    layers = trace.shape[0]
    picture = {"part": "picture", "projection": "PCA", "dims": "2-D", "span": "one head"}
    presets = []
    link = strongest_link(trace, layers=range(layers))
    if link is not None:
        query, key = trace.tokens[link.query].display, trace.tokens[link.key].display
        presets.append(
            Preset(
                "The strongest link",
                f"L{link.layer + 1} H{link.head + 1} gives {link.weight:.2f} of {quote(query)} to"
                f" {quote(key)}. How near do they lie before and after?",
                {**picture, "layer": str(link.layer + 1), "head": str(link.head + 1)},
            )
        )
    return [
        *presets,
        Preset(
            "A whole layer",
            "All heads of the last layer side by side, normalized.",
            {**picture, "span": "all heads", "stage": "normalized", "layer": str(layers)},
        ),
        Preset(
            "The best two dimensions can do",
            "A biplot of the logits: compare its correlation with the other projections.",
            {**picture, "projection": "biplot"},
        ),
        Preset(
            "The notebook's search",
            "Which a and c does the search find, and does c matter?",
            {"part": "search", "layer": "1"},
        ),
        Preset("Can it be trusted?", "Every projection beside random points.", {"part": "trust"}),
    ]


def show_mathematics() -> None:
    """The definitions, and where they come from."""
    with st.expander("The mathematics"):
        st.markdown(
            r"""
Softmax does not see a constant added to a row. Adding a vector $a$ to every key adds
$\langle q_i, a\rangle$ to all of row $i$; and $c$ cancels from $\langle c\,q_i, k_j / c\rangle$:

$$
\operatorname{softmax}_j \bigl(s\,\langle c\,q_i,\ (k_j + a)/c \rangle\bigr)
= \operatorname{softmax}_j \bigl(s\,\langle q_i, k_j\rangle + s\,\langle q_i, a\rangle\bigr)
= \operatorname{softmax}_j \bigl(s\,\langle q_i, k_j\rangle\bigr).
$$

**Translation** (AttentionViz, Yeh et al. 2023, section 5.1.1): $a = \bar q - \bar k$ for each head,
so that the centroids meet. **Scaling**: $c$ for each head, chosen so that distance and dot product
correlate nearest to $-1$ over the permitted pairs; the published grid is 0.2, 0.4, 0.8, 1, 1.25,
2.5, 5. The weighted correlation uses weights $w_i = (d - d_i)^2$ for pairs nearer than $d$, the
0.5th percentile of the distances, and 0 for all others:

$$
r_w = \frac{\operatorname{cov}(x, y; w)}
{\sqrt{\operatorname{cov}(x, x; w)\operatorname{cov}(y, y; w)}} .
$$

For **squared Euclidean** distance, $D^2 = u\,|q|^2 + |k|^2/u - 2\langle q, k\rangle$ with
$u = c^2$: its correlation with the dot product is a ratio of polynomials in $u$, made of six
covariances, and its extremes are roots of a quartic. No grid is needed.

**The notebook** searches a scalar $a$, added to every dimension of every key, and a signed $c$,
over the pairs of a query and the key of the same token, with cosine distance. There $c$ cancels
from both sides. And a large $|a|$ makes all keys alike: then $r$ tends to the correlation of
$\sum_d q_{id}$ with the same over $|q_i|$, which is near $\pm 1$ wherever queries have similar
lengths. The search rewards a large $a$, and so ends on the edge of its range.

The **logits** that correlations are taken with are the dot products of the vectors that are drawn.
After translation they differ from the model's own by a constant a row, which no attention weight
sees. The **biplot** is the rank-2 singular value decomposition of the dot products after each row's
mean is taken (Gabriel 1971).
"""
        )
