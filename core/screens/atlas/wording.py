"""Words of the atlas page: projections and stages, what to try, the mathematics."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from core.ui.words import numbers

if TYPE_CHECKING:
    from core.analysis.atlas import Atlas
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

POINT_HINTS = {  # by whether the atlas is of texts
    True: "**Click a point** to see its token in its sentence, and what this head attends to there,"
    " as lines in the cloud too. **Lasso** a cluster, or switch on **Regions** and choose one, to"
    " see its tokens.",
    False: "**Click a point** to see its patch in its image, and what this head attends to there,"
    " as lines in the cloud too. **Lasso** a cluster to see its patches.",
}


def whole(atlas: Atlas, count: int = 2) -> str:
    """What tokens are parts of: "sentences" or "images", "sentence" or "image" for one."""
    return ("sentence" if atlas.images is None else "image") + "s" * (count != 1)


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

**Regions** are the leaves of HDBSCAN's tree over distances in the picture (a density by 10
neighbours; at least 1 % of the points and 20). A word is surprising in a region by the
hypergeometric tail $-\log P(X \ge k)$, $X$ the points of the word among as many drawn at random
without replacement. Its $p$ is measured: the words are shuffled over the tokens 999 times, a query
and its key keep one word, and each time the largest value of all words and regions counts, so that
words without any order name a region in at most one picture of twenty.

**Dossier**: the strength of a context is $\max_j \alpha_{ij}$ over keys $j \ne i$ that are not
special, nor the first token of a causal model. Contexts are drawn at random from every tenth of the
strengths, since the strongest alone mislead about what a head does most of the time.

**Colours** other than by type have one hue per meaning, darker for queries and lighter for keys,
each with a contrast of at least 3 : 1 to the page, light or dark (in 3-D, far points fade).
**Sizes** grow from the 2nd to the 98th percentile of the head's norms.

**Similar heads**: the Jensen-Shannon distance between two heads' attention rows (square root of the
divergence in bits), averaged over tokens, then metric multidimensional scaling.
"""
