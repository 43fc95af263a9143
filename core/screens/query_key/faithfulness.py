"""How faithful each picture of a head is, and the proof that its attention stays the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import streamlit as st

from core.analysis.normalization import GridSearch
from core.analysis.pairs import attention_change
from core.analysis.projections.joint_embedding import Projection
from core.analysis.projections.umap_process import ProjectionError
from core.analysis.query_key.clouds import head_stages, stage_vectors
from core.analysis.query_key.faithfulness import (
    Baseline,
    Faithfulness,
    faithfulness,
    uniform_baseline,
)
from core.analysis.query_key.target import Target, head_target
from core.screens.query_key.choice import Choice, clouds_of, scaling_of, search_of
from core.screens.query_key.cloud_words import interval, judgement, percent, signed
from core.ui import python
from core.ui.words.messages import escape
from core.ui.words.scores import SCORES
from core.vocabulary import STAGES

if TYPE_CHECKING:
    import pandas as pd

    from core.model import Trace

_MAX_ROUNDING = 1e-5  # of an attention weight
_NAMES: dict[Projection, str] = {"UMAP": "umap", "t-SNE": "tsne"}  # under Share


class _Row(NamedTuple):
    name: str
    measured: Faithfulness
    sign: int = -1  # of a perfect correlation
    in_picture: bool = True


def show_faithfulness(trace: Trace, choice: Choice, *, slow: bool, searched: bool = True) -> None:
    """The table of faithfulness, what it says, and the proof.

    With `slow` UMAP and t-SNE are measured too; with `searched` the stage of the notebook's search.
    """
    target = python.shown("target", head_target, trace, choice.layer, choice.head, choice.target)
    search = search_of(choice) if searched else None
    baseline = python.shown("baseline", uniform_baseline, target.rows)
    rows = _measure(choice, target, search, slow=slow)
    st.table(_table(rows, baseline, choice))
    st.markdown(_conclusion(rows))
    left_out = len(trace.tokens) - target.rows.queries.size
    st.caption(
        f"Correlation: of distances with the {SCORES[choice.target]} over all"
        f" {target.rows.keys.size:,} permitted pairs of this {choice.key.modality}, −1 is perfect;"
        " for inner products +1. Beside it its 95% interval. Nearest key, three nearest: the share"
        " of each query's most attended keys that are also its nearest. A star marks the best"
        " picture of a column; the uniform baseline is what random points would reach."
        + f" Queries with one permitted key are left out ({left_out})."
        * bool(left_out)
    )
    _show_proof(trace, choice, search)


def _measure(
    choice: Choice, target: Target, search: GridSearch | None, *, slow: bool
) -> list[_Row]:
    clouds = clouds_of(choice, STAGES if search is None else head_stages(search))
    rows = [_Row(f"PCA, {cloud.stage}", cloud.in_picture) for cloud in clouds]
    biplots = clouds_of(choice, ("raw",), "biplot", name="biplots")
    biplot = python.item("biplot", biplots, 0)
    by_distance = python.shown("by_distance", faithfulness, target, biplot.picture)
    rows.append(_Row("biplot, by inner product", biplot.in_picture, sign=1))
    rows.append(_Row("biplot, by distance", by_distance))
    for projection in _NAMES if slow else ():
        try:
            with st.spinner(f"{projection} …", show_time=True):
                (cloud,) = clouds_of(choice, ("normalized",), projection, name=_NAMES[projection])
        except ProjectionError as error:
            st.warning(escape(str(error)))
            st.button("Try again", key=f"again_{projection}")  # any run does
        else:
            rows.append(_Row(f"{projection}, normalized", cloud.in_picture))
    return rows + [
        _Row(f"full space, {cloud.stage}", cloud.in_full, in_picture=False) for cloud in clouds
    ]


def _table(rows: list[_Row], baseline: Baseline, choice: Choice) -> pd.DataFrame:
    import pandas as pd

    correlation = f"correlation with the {SCORES[choice.target]}"
    measured = [row.measured for row in rows]
    columns = {
        correlation: [*(signed(each.correlation) for each in measured), "0"],
        "95% interval": [*map(interval, measured), ""],
        "nearest key": [*(percent(each.top1) for each in measured), percent(baseline.top1)],
        "three nearest": [*(percent(each.top3) for each in measured), percent(baseline.top3)],
    }
    strengths = {  # full space is no picture and wins no star
        correlation: [row.sign * row.measured.correlation for row in rows if row.in_picture],
        "nearest key": [row.measured.top1 for row in rows if row.in_picture],
        "three nearest": [row.measured.top3 for row in rows if row.in_picture],
    }
    for column, values in strengths.items():
        if np.isfinite(values).any():
            columns[column][int(np.nanargmax(values))] += " ★"
    return pd.DataFrame(columns, index=[*(row.name for row in rows), "uniform baseline"])


def _conclusion(rows: list[_Row]) -> str:
    """Whether normalization helped this picture, and which is best (Markdown)."""
    raw, _, normalized = (row.measured for row in rows[: len(STAGES)])
    sentences = []
    if np.isfinite([raw.correlation, normalized.correlation]).all():
        sentences.append(
            f"In the PCA picture {judgement(raw, normalized)}: correlation"
            f" {signed(raw.correlation)} to {signed(normalized.correlation)}, nearest key"
            f" {percent(raw.top1)} to {percent(normalized.top1)} of the queries."
        )
    pictures = [row for row in rows if row.in_picture and np.isfinite(row.measured.top1)]
    if pictures:
        best = max(pictures, key=lambda row: row.measured.top1)
        sentences.append(
            f"**{best.name}** keeps the most attended key most often: it lies nearest for"
            f" {best.measured.top1:.0%} of the queries."
        )
    return " ".join(sentences) or "No query has a choice of keys here, so there is nothing to keep."


def _show_proof(trace: Trace, choice: Choice, search: GridSearch | None) -> None:
    st.header("Does attention stay the same?", anchor=False)
    scaling = scaling_of(trace, choice, choice.head)
    stages = stage_vectors(trace, choice.layer, choice.head, scaling, search)
    change = max(
        attention_change(trace, choice.layer, choice.head, *vectors) for vectors in stages.values()
    )
    rule = trace.layers[choice.layer]
    if change <= _MAX_ROUNDING:
        st.markdown(
            f"Yes. The attention of {choice.name()}, recomputed from the queries and keys of every"
            f" stage, differs from the model's by at most **{change:.0e}** in any weight: rounding."
        )
    else:
        cause = ""
        if rule.softcap is not None:
            cause += (
                f" This model soft-caps its scores at {rule.softcap:g}, and the cap does see what"
                " translation adds to a row."
            )
        if rule.sink is not None:
            cause += (
                " Its heads have a sink, whose score stays where it is when translation adds to the"
                " others of a row."
            )
        st.warning(f"No. The attention of {choice.name()} changes by up to {change:.2g}.{cause}")
    st.latex(
        r"\langle c\,q_i,\ (k_j + a)/c\rangle = \langle q_i, k_j\rangle +"
        r" \underbrace{\langle q_i, a\rangle}_{\text{the same for every } j}"
    )
