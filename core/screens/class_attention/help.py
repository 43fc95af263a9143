"""What the page says: how to read the maps, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.images import cls_table
from core.analysis.images.cls.maps import TOP_SHARE
from core.analysis.images.cls.region import middle_region
from core.ui.presets import Preset

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.images import ClsMaps
    from core.components.cls_maps import View

_START: dict[str, str | int] = {
    "part": "maps",
    "share": round(100 * TOP_SHARE),
    "region": "",
    "only_patches": False,
}


def explain(maps: ClsMaps, view: View) -> str:
    """How to read the maps, true for what is on the screen."""
    sentences = [_whose(maps, view)]
    if view.only_patches:
        sentences.append("Numbers under the pointer are divided by the map's sum over the patches.")
    sentences.append(
        "Outlines and shares on a region are of a map's mass on the patches. Mean and max are over"
        " the heads of a layer. Rollout follows attention through all layers, halved with the"
        " identity in each; by norms, it follows the lengths of what tokens hand over, |a f(v)|."
    )
    if not maps.exact:
        sentences.append("W_O of this model is not known, so |v| stands in for |f(v)|.")
    return " ".join(sentences)


def _whose(maps: ClsMaps, view: View) -> str:
    """Whose attention is shown, and what does not go to patches."""
    number, heads = maps.numbers[view.layer], maps.heads
    name = f"L{number} H{view.column + 1}" if view.column < heads else f"The mean of layer {number}"
    if maps.source != "CLS":
        return (
            "This model has no CLS token: each map is the mean over what the patches themselves"
            " give to each patch."
        )
    if view.column > heads:
        return f"The maximum over the heads of layer {number} does not add up to 1."
    patches = float(maps.on_patches[view.layer, view.column])
    cls = float(maps.on_cls[view.layer, view.column])
    rest = max(0.0, 1 - patches - cls)
    others = f", {rest:.3f} to other tokens that are no patches" if rest > 5e-4 else ""
    gives = f"CLS gives {patches:.3f} of its attention to patches, {cls:.3f} to itself"
    return f"{name}: {gives}{others}."


def examples(maps: ClsMaps) -> list[Preset]:
    """Settings worth trying, found on this image."""
    rows, columns = maps.by_head.shape[2:]
    middle = middle_region(rows, columns)
    table = cls_table(maps, TOP_SHARE, middle)
    heads = table[table["head"].str.isdecimal()]
    sharpest = heads.iloc[int(np.argmin(heads["top_patches"]))]
    last = str(maps.numbers[-1])
    found = [
        Preset(
            "The sharpest head",
            f"{_name(sharpest)} has {round(100 * TOP_SHARE)} % of its mass on"
            f" {sharpest['top_patches']} of {rows * columns} patches, fewer than any other head"
            " needs.",
            _START | _place(sharpest),
        ),
        Preset(
            "The last layer",
            "The mean over the heads of the last layer, from which the model's answer is made.",
            _START | {"layer": last, "head": "mean"},
        ),
    ]
    if heads["region_share"].notna().any():
        central = heads.iloc[int(np.nanargmax(heads["region_share"]))]
        found.append(
            Preset(
                "What is in the middle?",
                f"The middle is marked: {_name(central)} has {central['region_share']:.3f} of its"
                f" mass there, on {central['region_area']:.3f} of the area. Drag the region"
                " elsewhere.",
                _START | _place(central) | {"region": middle.name},
            )
        )
    return [
        *found,
        Preset(
            "How far do heads look?",
            "The mean distance, in pixels, from a patch to the patches that it attends to.",
            {"part": "distance", "over": "image"},
        ),
    ]


def _name(row: pd.Series) -> str:
    return f"L{row['layer']} H{row['head']}"


def _place(row: pd.Series) -> dict[str, str | int]:
    return {"layer": str(row["layer"]), "head": str(row["head"])}


def mathematics() -> str:
    """The definitions behind the maps, the outlines, the shares and the distances."""
    return r"""
**A map** is the row of CLS in a head's attention, $m_p = a_{\mathrm{CLS},\,p}$ for each patch $p$.
In a model without CLS it is the mean over patch queries, $m_p = \frac{1}{n} \sum_i a_{ip}$.

**The outline** is the smallest set $S$ of patches with $\sum_{p \in S} m_p \ge s \sum_p m_p$, equal
patches in reading order; at $s = 0.6$ it is how Caron et al. (2021) show the maps of DINO. **The
share on a region** $R$ is $\sum_{p \in R} m_p / \sum_p m_p$; uniform attention would give the
region's share of the area.

**Rollout** (Abnar and Zuidema, 2020) multiplies the layers' mean attention, half of each layer
being the identity for the residual connection, and shows the row of CLS:

$$
\tilde A = \hat A_L \cdots \hat A_2 \hat A_1, \qquad
\hat A_l = \tfrac12 \Bigl(\tfrac1H \sum_h A_{l,h} + I\Bigr).
$$

**By norms**, each layer's weights are what tokens contribute (Kobayashi et al., 2020), summed over
the heads and divided by the row's sum: $\sum_h a_{ij}\,\lVert f_h(v_j) \rVert$ with
$f_h(v) = v\,W_O^h$. Where $W_O$ is not known, $\lVert v_j \rVert$ stands in. Both are paths along
attention: neither sees what the feed-forward layers do.

**Mean attention distance** of a head (Dosovitskiy et al., 2021) is

$$
\frac1n \sum_i \frac{\sum_j a_{ij}\, d_{ij}}{\sum_j a_{ij}},
$$

where $i$ and $j$ are patches and $d_{ij}$ is the distance of their centres in pixels. The uniform
baseline is the mean of all $d_{ij}$, a patch with itself included.
"""
