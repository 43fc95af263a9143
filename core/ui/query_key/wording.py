"""What the query-key page says: titles, notes, how to read it, examples, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import streamlit as st

from core.analysis.scaling import few_pairs
from core.analysis.strongest_link import strongest_link
from core.ui.messages import quote
from core.ui.presets import Preset, show

if TYPE_CHECKING:
    from core.analysis.clouds import Cloud
    from core.analysis.faithfulness import Faithfulness
    from core.analysis.scaling import Criterion, HeadScaling
    from core.analysis.target import TargetKind
    from core.model import Trace
    from core.ui.query_key.choice import Choice

    Judged = Literal["better", "worse", "the same"]

CRITERIA: dict[Criterion, str] = {
    "pearson": "Pearson, all pairs",
    "spearman": "Spearman, all pairs",
    "weighted": "weighted (AttentionViz)",
    "balanced": "balanced norms",
}
DISTANCES = {"euclidean": "Euclidean", "cosine": "cosine"}
TARGETS: dict[TargetKind, str] = {"centred": "row-centred", "raw": "raw"}
SCORES: dict[TargetKind, str] = {"centred": "row-centred scores", "raw": "raw scores"}
_MUCH = 0.02  # of a correlation: what differs less is called the same
_FEW_QUERIES = 0.005  # of them: less is rounding, as a query is more in any text shown


def number(value: float, form: str = "+.2f") -> str:
    """A number with a true minus sign, or the words for one that is not defined."""
    return format(value, form).replace("-", "−") if np.isfinite(value) else "not defined"


def percent(share: float) -> str:
    """A share of queries, or the words for one that is not defined."""
    return f"{share:.0%}" if np.isfinite(share) else "not defined"


def title_of(cloud: Cloud, projection: str, choice: Choice, *, head: int) -> str:
    """The head and the stage of a panel."""
    name = f"L{choice.layer + 1} H{head + 1}"
    return f"{name} · {'biplot' if projection == 'biplot' else cloud.stage}"


def notes_of(cloud: Cloud, projection: str, choice: Choice, *, short: bool = False) -> list[str]:
    """The panel's own numbers."""
    here, full = cloud.in_picture, cloud.in_full
    r, r_full = number(here.correlation), number(full.correlation)
    scores = SCORES[choice.target]
    if projection == "biplot":
        kept = f"Keeps {cloud.picture.kept or 0:.0%} of the squared row-centred scores"
        return [kept, f"Correlation of inner products with the {scores}: {r}"]
    if short:
        return [f"with the scores {r} here, {r_full} in full space"]
    apart = f"{cloud.apart_in_picture:.2f} apart here, {cloud.apart_in_full:.2f} in full space"
    nearest = f"{percent(here.top1)} here, {percent(full.top1)} in full space"
    return [
        f"Strongest pairs: {apart}",
        f"Correlation with the {scores}: {r} here, {r_full} in full space",
        f"Nearest key is the most attended: {nearest}",
        *(
            []
            if cloud.picture.kept is None
            else [f"Keeps {cloud.picture.kept:.0%} of the variance"]
        ),
    ]


def caption_of(
    projection: str, choice: Choice, *, grid: bool, seed: int, softcap: float | None = None
) -> str:
    """How to read the clouds, true for what is drawn; `softcap` is that of the layer's scores."""
    if projection == "biplot":
        return (
            "Circles are queries, diamonds keys. In a biplot not distances but inner"
            " products count: a key far out in a query's direction is attended to. It is the best"
            " that two dimensions can do for the scores, and translation and scaling do not change"
            " it."
        )
    same = (
        "Attention is the same in all three panels: only the picture changes."
        if softcap is None
        else "Lines are the model's own attention in all three panels. Its scores are soft-capped"
        f" at {softcap:g}, so translated keys would change it: see “Can it be trusted?”."
    )
    stages = (
        "All heads have the same scale unless each has its own."
        if grid
        else f"{same} Each panel is turned to match the one before."
    )
    how = {
        "PCA": "PCA of queries and keys together, at unit length since cosine was chosen."
        if choice.distance == "cosine"
        else "PCA of queries and keys together.",
        "UMAP": f"UMAP, 15 neighbours, seed {seed}: distances between far groups mean little.",
        "t-SNE": f"t-SNE, perplexity up to 30, seed {seed}: distances between groups mean little.",
    }[projection]
    return (
        "Circles are queries, diamonds keys; each line joins a query to a key it attends"
        f" to. {how} {stages} A good picture has correlations near −1: what is near is attended to."
        f" {_target_words(choice)}"
    )


def _target_words(choice: Choice) -> str:
    if choice.target == "raw":
        return (
            "Correlations are with the model's own scores at every stage; softmax does not see"
            " what they have in common within a row."
        )
    return (
        "Correlations are within rows, at every stage: scores and distances each lose the mean of"
        " their row, which softmax cannot see. A query with a single permitted key is left out."
    )


def verdict(scaling: HeadScaling, choice: Choice) -> str:
    """What translation and scaling did to this head, by both measures (Markdown)."""
    kept = scaling.kept
    if not all(np.isfinite(stage.correlation) for stage in kept):
        return f"{choice.name}: there is no correlation, as scores or distances do not vary."
    raw, translated, normalized = (number(stage.correlation) for stage in kept)
    first, second, third = (percent(stage.top1) for stage in kept)
    return (
        f"{choice.name}: {DISTANCES[choice.distance]} distance and {SCORES[choice.target]}"
        f" correlate {raw} raw, {translated} translated, {normalized} normalized with"
        f" c = {scaling.c:.3g}; the nearest key is the most attended one for {first}, {second} and"
        f" {third} of the queries: {judgement(kept.raw, kept.normalized)}. In full space; −1 and"
        f" 100% would be perfect. {_evidence(scaling, choice)}"
    )


def _evidence(scaling: HeadScaling, choice: Choice) -> str:
    """Pairs and sampling error."""
    kept = scaling.kept
    pairs = f"All {kept.raw.pairs:,} permitted pairs of this text"
    if not np.isfinite([kept.raw.low, kept.normalized.low]).all():
        return f"{pairs}."
    raw, normalized = (
        f"{number(stage.low)} to {number(stage.high)}" for stage in (kept.raw, kept.normalized)
    )
    pooled = "" if choice.target == "raw" else ", pooled within rows"
    return (
        f"{pairs}{pooled}; 95% intervals {raw} raw, {normalized} normalized (jackknife over its"
        " queries)."
    )


def judgement(raw: Faithfulness, normalized: Faithfulness) -> str:
    """Whether normalization helped, and by which measure where they disagree (Markdown)."""
    by_correlation = _judged(raw.correlation - normalized.correlation, _MUCH)
    by_key = _judged(normalized.top1 - raw.top1, _FEW_QUERIES)
    if by_correlation == by_key == "the same":
        return "normalization left it as it was"
    if by_correlation == by_key:
        return f"**normalization made it {by_correlation}**"
    correlation = (
        "left its correlation as it was"
        if by_correlation == "the same"
        else f"**made its correlation {by_correlation}**"
    )
    nearest = (
        "left its nearest keys as they were"
        if by_key == "the same"
        else f"**made its nearest keys {by_key}**"
    )
    return f"normalization {correlation} and {nearest}"


def _judged(gain: float, least: float) -> Judged:
    if abs(gain) < least:
        return "the same"
    return "better" if gain > 0 else "worse"


def warnings_of(scaling: HeadScaling, criterion: Criterion) -> list[str]:
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
    used, there = scaling.pairs
    if criterion == "weighted" and not np.isfinite(scaling.curve).any():
        found.append(
            f"Only {scaling.carrying} of {used:,} pairs carry weight, too few for a correlation: c"
            " stays 1. Take a longer text, or another criterion."
        )
    elif few_pairs(scaling, criterion):
        found.append(
            f"Only {scaling.carrying} pairs carry weight (fewer than 30): the criterion is mostly"
            " chance."
        )
    if used < there:
        found.append(
            f"c is chosen on a random {used:,} of {there:,} pairs (fixed seed); what each stage"
            " keeps is measured on all of them."
        )
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
            "A biplot of the scores: compare its correlation with the other projections.",
            {**picture, "projection": "biplot"},
        ),
        Preset(
            "The notebook's search",
            "Which a and c does the search find, and does c matter?",
            {"part": "search", "layer": "1"},
        ),
        Preset(
            "Can it be trusted?",
            "Every projection beside full space and a uniform guess.",
            {"part": "trust"},
        ),
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
so that the centroids meet. With a **soft cap** (Gemma 2) softmax does see $a$: there, and only
there, translated vectors would attend a little differently.

**Correlation.** Since softmax does not see what is added to a row, distance is compared with the
**row-centred scores** $y_{ij}$ of the permitted pairs, which no stage changes, and distances lose
the mean of their row as well: how far a query lies from all keys says nothing of which it attends
to. With sums over all permitted pairs,

$$
r = \frac{\sum (D_{ij} - \bar D_{i})\, y_{ij}}
{\sqrt{\sum (D_{ij} - \bar D_{i})^2 \, \sum y_{ij}^2}},
\qquad y_{ij} = s_{ij} - \bar s_{i},
$$

the correlation within subjects of Bland and Altman (1995), each query a subject. Queries with one
permitted key tell nothing and are left out. The interval comes from a jackknife that leaves out one
query at a time, on Fisher's $z$, since pairs of one query depend on each other.

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
over the pairs of a query and the key of the same token, with raw products and cosine distance.
There $c$ cancels from both sides. And a large $|a|$ makes all keys alike: then $r$ tends to minus
the correlation of $\sum_d q_{id}$ with the same over $|q_i|$, which is near $-1$ wherever queries
have similar lengths. The search rewards a large $a$, and so ends on the edge of its range.

**Raw scores**, as a choice: the scores as softmax gets them, at every stage, with distances as they
are. The **biplot** is the rank-2 singular value decomposition of the dot products after each row's
mean is taken (Gabriel 1971).
"""
        )
