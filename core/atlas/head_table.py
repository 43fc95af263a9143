"""What the pictures of an atlas keep of attention, a row for every head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.query_key.target import TARGET_NAMES, TargetKind
from core.atlas.data import Atlas, ModelFaithfulness
from core.vocabulary import STAGES, Stage

if TYPE_CHECKING:
    import pandas as pd


def pictures_of(atlas: Atlas, target: TargetKind) -> dict[str, Mapping[Stage, ModelFaithfulness]]:
    """The figures of each picture by stage, by what people call it."""
    kept = atlas.kept(target)
    return {
        "PCA plane": kept.plane,
        "full space": kept.full["euclidean"],
        "full, cosine": kept.full["cosine"],
    }


def head_table(atlas: Atlas, measure: str, target: TargetKind = "centred") -> pd.DataFrame:
    """The measure of every head, a row each, and a column per picture and stage.

    `measure` is a field of :class:`core.atlas.data.ModelFaithfulness`.
    """
    import pandas as pd

    layers, heads = atlas.shape[:2]
    columns = {
        f"{picture}, {stage}": getattr(by_stage[stage], measure).ravel()
        for picture, by_stage in pictures_of(atlas, target).items()
        for stage in STAGES
    }
    return pd.DataFrame(
        {
            "layer": np.repeat(atlas.layer_labels, heads),
            "head": np.tile(np.arange(1, heads + 1), layers),
            "scores": TARGET_NAMES[target],
            **columns,
        }
    )
