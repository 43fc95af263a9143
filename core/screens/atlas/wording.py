"""Words of the atlas page: projections and stages, what to try, the mathematics."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from core.ui.presets import Preset
from core.ui.words import numbers

if TYPE_CHECKING:
    from core.analysis.projections.joint_embedding import Projection
    from core.analysis.query_key.clouds import Stage

PROJECTIONS: tuple[Projection, ...] = ("PCA", "UMAP", "t-SNE")
STAGES: dict[Stage, str] = {
    "raw": "as in the model",
    "translated": "keys moved so that the centroids meet",
    "normalized": "keys moved, both scaled by the head's c",
}
number = partial(numbers.number, missing="—")
NOT_MEASURED = (
    "This file has no measure of faithfulness: an older version wrote it, which compared distance"
    " with something else. Build the atlas again to see it."
)


EXAMPLES = [
    Preset(
        "Positions make stripes",
        "Coloured by position, heads that look at **where** a token is form bands or spirals.",
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
        "Where **[CLS]** keys lie far from everything else, they take much attention that has"
        " nowhere better to go.",
        {"part": "heads", "colour": "special", "find": ""},
    ),
    Preset(
        "From a verb to its subject",
        "Heads that attend from “was” back to “it”, with sentences in which they do.",
        {"part": "words", "first": "was", "second": "it"},
    ),
    Preset(
        "Does normalization help?",
        "The map shows in which heads it brings distance closer to attention, and in which not.",
        {"part": "trust", "stage": "normalized", "measure": "correlation"},
    ),
]
EXAMPLE_WITH_LABELS = Preset(
    "Coloured by label",
    "The labels of the corpus: topics of the sample, or the column you chose.",
    {"part": "heads", "colour": "label", "find": ""},
)
MATHEMATICS = r"""
For every head, the queries $q$ and keys $k$ of **all tokens of the corpus** form one cloud of $2n$
points, as in AttentionViz (Yeh et al. 2023). The principal components are exact: they come from the
joint covariance of queries and keys, which for each stage follows from the separate covariances
$S_q, S_k$,

$$
S = \tfrac12\bigl(c^2 S_q + S_k / c^2\bigr) + \delta\delta^\top,\qquad
\delta = \tfrac12\bigl(c\,\bar q - (\bar k + a)/c\bigr),
$$

with $a = 0, c = 1$ for raw, $a = \bar q - \bar k$ for translated, and the head's own $c$ for
normalized: the one that brings the correlation of distance with row-centred scores closest to $-1$
(Pearson, Euclidean) over pairs within a sentence (a sample of 16,384 if there are more), as on the
page *Queries and keys*. Attention is the same at all stages, unless a model soft-caps its scores.

**Faithfulness** is measured over the permitted pairs within each sentence: the correlation of
distance with the scores, each minus its row's mean, since softmax ignores what is added to a row;
and the share of queries whose most attended key is also the nearest. The target is the same at
every stage, for both distances, in the plane and in full space. All sentences are pooled; the
interval leaves out one sentence at a time (jackknife on Fisher's $z$). The uniform baseline, which
random points reach, is the mean of $1/m$ over queries with $m$ permitted keys, by each head's mask.

**Dispersion** of a search: the mean distance of the matches to the nearest of three k-means centres
(or to their mean, for fewer than six), divided by the same for as many random tokens (mean of three
draws); for queries and keys separately, then averaged. Of more than 150 matches, 150 are drawn.

**Where two words meet**: $\operatorname{mean}_{i \in A} \sum_{j \in B} \alpha_{ij}$ over the tokens
of both words, averaged over sentences.

**Attention lines** in one head: from each query $i$ of the chosen token's sentence to the two keys
with the largest $\alpha_{ij}$, which the model computes again for that sentence.

**Colours** other than by type have one hue per meaning, darker for queries and lighter for keys,
each with a contrast of at least 3 : 1 to the page, light or dark (in 3-D, far points fade).
**Sizes** grow from the 2nd to the 98th percentile of the head's norms.

**Map of heads**: the Jensen-Shannon distance between two heads' attention rows (square root of the
divergence in bits), averaged over tokens, then metric multidimensional scaling.
"""
