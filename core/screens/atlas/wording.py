"""Words of the atlas page: names of colours and stages, the mathematics, what to try."""

from __future__ import annotations

import streamlit as st

from core.ui import presets
from core.ui.presets import Preset

COLOURINGS = {
    "type": "query or key",
    "position": "position in the sentence",
    "mod5": "position mod 5",
    "frequency": "frequency in the corpus",
    "norm": "length of the vector",
    "token_length": "letters of the token",
    "sentence_length": "length of the sentence",
    "punctuation": "punctuation",
    "special": "special tokens",
    "label": "label",
}
STAGE_WORDS = {
    "raw": "as the model has them",
    "translated": "keys moved so that the centroids meet",
    "normalized": "keys moved, both scaled by the head's c",
}


NOT_MEASURED = (
    "Faithfulness is not measured in this file, which an older version made: it compared distance"
    " with something else. Build the atlas again to see it."
)


def number(value: float, form: str = ".2f") -> str:
    """A number as people write it, with a real minus."""
    return f"{value:{form}}".replace("-", "−") if value == value else "—"  # noqa: PLR0124 - nan


def show_presets(labelled: bool) -> None:
    """Buttons that set the controls."""
    presets.show("atlas", lambda: _presets(labelled))


def _presets(labelled: bool) -> list[Preset]:
    found = [
        Preset(
            "Positions make stripes",
            "Coloured by position, heads that look at **where** a token stands fall into bands or"
            " spirals.",
            {"part": "heads", "colour": "position", "find": "", "projection": "PCA"},
        ),
        Preset(
            "One word in all heads",
            "Every “she” is drawn large: together where a head looks at **what** a token is,"
            " scattered where it does not.",
            {"part": "heads", "colour": "type", "find": "she", "kind": "token"},
        ),
        Preset(
            "The first token alone",
            "Where **[CLS]** keys lie far from everything, much attention that has nowhere else"
            " to go ends there.",
            {"part": "heads", "colour": "special", "find": ""},
        ),
        Preset(
            "From a verb to its subject",
            "Heads that attend from “was” back to “it”, with sentences in which they do.",
            {"part": "words", "first": "was", "second": "it"},
        ),
        Preset(
            "Does normalization help?",
            "The map says in which heads distance comes nearer to attention, and in which it does"
            " not.",
            {"part": "trust", "stage": "normalized", "measure": "correlation"},
        ),
    ]
    if labelled:
        found.append(
            Preset(
                "Coloured by label",
                "The labels of the corpus: topics of the sample, or the column you chose.",
                {"part": "heads", "colour": "label", "find": ""},
            )
        )
    return found


def show_mathematics() -> None:
    """The definitions, and where they come from."""
    with st.expander("The mathematics"):
        st.markdown(
            r"""
For every head, queries $q$ and keys $k$ of **all tokens of the corpus** are one cloud of $2n$
points, as in AttentionViz (Yeh et al. 2023). Their principal components are exact: of the
covariance of queries and keys together, which for the three stages follows from the covariances
$S_q, S_k$ of each apart,

$$
S = \tfrac12\bigl(c^2 S_q + S_k / c^2\bigr) + \delta\delta^\top,\qquad
\delta = \tfrac12\bigl(c\,\bar q - (\bar k + a)/c\bigr),
$$

with $a = 0, c = 1$ raw, $a = \bar q - \bar k$ translated, and the head's own $c$ normalized:
chosen so that distance and row-centred scores correlate nearest to $-1$ (Pearson, Euclidean) over
pairs of the same sentence (16,384 of them where there are more), as on the page *Queries and keys*.
Attention is the same at all stages, except where a model soft-caps its scores.

**Faithfulness**: over permitted pairs of a sentence, the correlation of distance with the scores,
both less the mean of their row, since softmax does not see what is added to a row; and the share of
queries whose most attended key is also the nearest one. The target is the same at every stage, for
both distances, in the plane and in full space. All sentences are pooled, and the interval leaves
out one sentence at a time (jackknife on Fisher's $z$). The uniform baseline, what random points
reach, is the mean of $1/m$ for $m$ permitted keys, for each head by its own mask.

**Dispersion** of a search: mean distance of the matches to the nearest of three k-means centres, or
to their middle where there are fewer than six, divided by the same for as many random tokens (mean
of three draws), for queries and keys apart, then averaged; of more than 150 matches 150 are drawn.

**Where two words meet**: $\operatorname{mean}_{i \in A} \sum_{j \in B} \alpha_{ij}$ over the tokens
of both words, averaged over sentences.

**Attention lines** in one head: from each query $i$ of the picked token's sentence to the two keys
with the largest $\alpha_{ij}$, which the model gives again for that sentence.

**Colours** other than by type have one hue for what they stand for, darker for queries and lighter
for keys: each has a contrast of at least 3 : 1 with the page, light or dark (in space, far points
fade). **Sizes** grow from the 2nd to the 98th percentile of the head's norms.

**Map of heads**: the Jensen-Shannon distance of two heads' attention rows (square root of the
divergence in bits), averaged over tokens, then metric multidimensional scaling.
"""
        )
