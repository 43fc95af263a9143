"""Settings of the page that are worth seeing, and its mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.screens.patch_space.options import ALL_STAGES
from core.ui.presets import Preset

if TYPE_CHECKING:
    import pandas as pd

MATHEMATICS = r"""
**Points.** A head compares the query of patch $i$ with the key of patch $j$ by
$s_{ij} = \langle q_i, k_j\rangle / \sqrt{d}$. Softmax ignores a vector $a$ added to every key, and
$c$ that multiplies all queries and divides all keys. So the two clouds are drawn **raw**;
**translated** by $a = \bar q - \bar k$, which brings their middles together; and **normalized**
with the $c$ at which distance and score correlate most (AttentionViz, Yeh et al. 2023).
"Faithful?" says how much of the attention is left in each picture, by the same measures as
"Queries and keys".

**What a head follows.** Let $y_{ij} = s_{ij} - \bar s_i$ be its scores between patches less the
mean of their row, which softmax ignores, over all pairs $i \ne j$. Closeness of two patches is

- in **hue**: $\cos(h_i - h_j)$, $h$ the hue of the mean colour in OKLab (Ottosson 2020), each pair
  weighted by the product of the chromas, so that grey patches do not count;
- in **brightness**: $-|L_i - L_j|$, $L$ the lightness of OKLab;
- in **position**: in the same row (1 or 0), in the same column, and minus the distance in patches.

Nearby patches look alike, so what decides is the **partial correlation**: of $y$ with closeness in
one of these, beyond what the others explain, each also less the mean of its row. The other features
of position are not taken from those of position, nor brightness from brightness.

**Chance.** For hue and brightness the image is moved over its grid: shifted around the edges,
mirrored, turned. That keeps neighbours together; a free permutation would tear them apart and call
any head with an order in space a follower of colours. For position the patches are shuffled.
$p = (1 + \#\{r^{*} \ge r\}) / (1 + \#\text{moves})$, and the **adjusted** $p$ is that of any false
alarm among all heads and features of a family (step-down maxima, Westfall and Young 1993). There
are two families, looks and places, so each is held to half of 0.05.
"""
_PICTURE = {"part": "points", "stage": "normalized", "projection": "PCA"}


def examples(table: pd.DataFrame | None) -> list[Preset]:
    """Settings worth seeing; heads by name once `table` says what they follow in this image."""
    if table is None:
        return [
            Preset(
                "What do heads follow?",
                "Measures every head on this image, once; then the strongest of each kind stand"
                " here.",
                {"part": "follow", "map": "class", "on": "image"},
            ),
            *_others(),
        ]
    return [
        *_strongest(table, "hue", "hue", "Do patches of one hue lie together, queries by keys?"),
        *_strongest(table, "brightness", "brightness", "Do patches lie from dark to bright?"),
        *_strongest(table, "distance", "place", "Do neighbours in the image lie together?"),
        *_others(),
    ]


def _others() -> list[Preset]:
    return [
        Preset(
            "Raw, translated, normalized",
            "The same head at all three stages: its attention is the same in each.",
            {"part": "points", "stage": ALL_STAGES, "projection": "PCA", "dims": "2-D"},
        ),
        Preset(
            "In space",
            "Three components instead of two; drag to turn.",
            {**_PICTURE, "dims": "3-D"},
        ),
        Preset(
            "How faithful is it?",
            "Every projection beside full space and a uniform baseline.",
            {"part": "faithful"},
        ),
    ]


def _strongest(table: pd.DataFrame, feature: str, colour: str, question: str) -> list[Preset]:
    """The head with the highest correlation beyond the rest; none where nothing is defined."""
    values = table[f"{feature}_beyond"].to_numpy(np.float64)
    if not np.isfinite(values).any():
        return []
    row = table.iloc[int(np.nanargmax(values))]
    name = {"hue": "Most by hue", "brightness": "Most by brightness", "distance": "Most by place"}
    head = f"L{row['layer']} H{row['head']}"
    return [
        Preset(
            f"{name[feature]}: {head}",
            f"{head} has the highest correlation with it beyond the rest,"
            f" {row[f'{feature}_beyond']:.2f} (adjusted p = {row[f'{feature}_p_adjusted']:.3f})."
            f" {question}",
            {
                **_PICTURE,
                "layer": str(row["layer"]),
                "head": str(row["head"]),
                "colour": colour,
                "dims": "2-D",
            },
        )
    ]
