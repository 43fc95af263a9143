"""Words of the atlas page: projections and stages, numbers, the mathematics."""

from __future__ import annotations

from functools import partial

import numpy as np

from core.analysis.projections.joint_embedding import Projection
from core.atlas import Atlas
from core.ui.words import numbers
from core.ui.words.prose import Prose
from core.vocabulary import Stage, head_name, percent

PROJECTIONS: tuple[Projection, ...] = ("PCA", "UMAP", "t-SNE")
number = partial(numbers.number, missing="—")
_words = Prose(__file__)
NOT_MEASURED = _words("not_measured")
POINT_HINTS = {  # by whether the atlas is of texts
    True: _words("points_of_texts"),
    False: _words("points_of_images"),
}


def whole(atlas: Atlas, count: int = 2) -> str:
    """What tokens are parts of: "sentences" or "images", "sentence" or "image" for one."""
    return ("sentence" if atlas.images is None else "image") + "s" * (count != 1)


def faithfulness_note(atlas: Atlas, head: tuple[int, int], correlation: float, top1: float) -> str:
    """What the picture keeps of this head's attention, in a sentence."""
    baseline = float(atlas.measured.top1[head])
    if not np.isfinite(baseline):
        return f" {NOT_MEASURED}"
    note = _words(
        "faithfulness_of_head",
        r=number(correlation),
        top1=percent(top1),
        baseline=percent(baseline),
    )
    return f" {note}"


def headline(atlas: Atlas, stage: Stage, head: tuple[int, int] | None) -> str:
    """How often the nearest key in the plane is the most attended one, of a head or of all.

    Markdown; empty where nothing is measured.
    """
    shares, uniform = atlas.faithfulness[stage].top1, atlas.measured.top1
    if not np.isfinite(shares).any():
        return ""
    best = divmod(int(np.nanargmax(shares)), shares.shape[1])
    return _words(
        "headline",
        head="" if head is None else head_name(atlas, *head),
        share=float(np.nanmean(shares) if head is None else shares[head]),
        uniform=float(np.nanmean(uniform) if head is None else uniform[head]),
        best=head_name(atlas, *best) if head is None else "",
        most=float(shares[best]),
        stage=stage,
        tokens=atlas.measured.tokens,
    )


MATHEMATICS = _words("mathematics")
