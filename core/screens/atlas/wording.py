"""Words of the atlas page: projections and stages, numbers, the mathematics."""

from __future__ import annotations

from functools import partial

import numpy as np

from core.analysis.projections.joint_embedding import Projection
from core.atlas import Atlas
from core.ui.words import numbers
from core.ui.words.prose import Prose
from core.vocabulary import percent

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


MATHEMATICS = _words("mathematics")
