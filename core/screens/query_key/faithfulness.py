"""What pictures of the head on screen keep of its attention, and the proof that this stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.pairs import attention_change
from core.analysis.projections.error import ProjectionError
from core.analysis.query_key.clouds import STAGES, head_stages, stage_vectors
from core.analysis.query_key.faithfulness import (
    Baseline,
    Faithfulness,
    faithfulness,
    uniform_baseline,
)
from core.analysis.query_key.target import head_target
from core.screens.query_key.choice import clouds_of, scaling_of, search_of
from core.screens.query_key.wording import SCORES, STAGE_NAMES, judgement, number, percent
from core.ui import controls
from core.ui.messages import escape

if TYPE_CHECKING:
    from core.model import Trace
    from core.screens.query_key.choice import Choice

_SAME_ATTENTION = 1e-5  # largest change that is rounding


class _Row(NamedTuple):
    name: str
    kept: Faithfulness
    in_picture: bool = True


def show_faithfulness(trace: Trace, choice: Choice) -> None:
    """The faithfulness table, what it says, and the proof."""
    st.subheader(f"What does each picture of {choice.name} keep?", anchor=False)
    slow = controls.flag(
        "slow",
        "Add UMAP and t-SNE",
        help="Both are slow: UMAP takes about ten seconds to start.",
    )
    rows = _measure(trace, choice, slow=slow)
    compared = head_target(trace, choice.layer, choice.head, choice.target).rows
    st.table(_table(rows, uniform_baseline(compared), choice))
    st.markdown(_conclusion(rows))
    left_out = len(trace.tokens) - compared.queries.size
    st.caption(
        f"Correlation: of distances with the {SCORES[choice.target]} over all"
        f" {compared.keys.size:,} permitted pairs of this text, −1 is perfect; for inner products"
        " +1. Beside it the interval of 95%. Nearest key, three nearest: the share of each query's"
        " most attended keys that are also its nearest. A star marks the best picture of a column;"
        " the uniform baseline is what guessing keeps."
        + f" Queries with a single permitted key are left out ({left_out})."
        * bool(left_out)
    )
    _show_proof(trace, choice)


def _measure(trace: Trace, choice: Choice, *, slow: bool) -> list[_Row]:
    clouds = clouds_of(choice, head_stages(search_of(choice)))
    rows = [_Row(f"PCA, {STAGE_NAMES[cloud.stage]}", cloud.in_picture) for cloud in clouds]
    (biplot,) = clouds_of(choice, ("raw",), "biplot")
    goal = head_target(trace, choice.layer, choice.head, choice.target)
    rows.append(_Row("biplot, by inner product", biplot.in_picture))
    rows.append(_Row("biplot, by distance", faithfulness(goal, biplot.picture)))
    if slow:
        for projection in ("UMAP", "t-SNE"):
            try:
                with st.spinner(f"{projection} …", show_time=True):
                    (cloud,) = clouds_of(choice, ("normalized",), projection)
            except ProjectionError as error:
                st.warning(escape(str(error)))
                st.button("Try again", key=f"again_{projection}")  # any run does
                continue
            rows.append(_Row(f"{projection}, normalized", cloud.in_picture))
    rows += [
        _Row(f"full space, {STAGE_NAMES[cloud.stage]}", cloud.in_full, in_picture=False)
        for cloud in clouds
    ]
    return rows


def _table(rows: list[_Row], baseline: Baseline, choice: Choice) -> pd.DataFrame:
    # (row, column), larger is better; full space is no picture and wins no star
    strengths = np.array([_strength(row) for row in rows if row.in_picture])
    texts = [
        [number(row.kept.correlation), percent(row.kept.top1), percent(row.kept.top3)]
        for row in rows
    ]
    for column in range(strengths.shape[1]):
        known = np.nan_to_num(strengths[:, column], nan=-np.inf)
        if np.isfinite(known).any():
            best = [row for row, each in enumerate(rows) if each.in_picture][int(known.argmax())]
            texts[best][column] += " ★"
    for text, row in zip(texts, rows, strict=True):
        text.insert(1, _interval(row.kept))
    texts.append(["0", "", percent(baseline.top1), percent(baseline.top3)])
    return pd.DataFrame(
        texts,
        index=[*(row.name for row in rows), "uniform baseline"],
        columns=[
            f"correlation with the {SCORES[choice.target]}",
            "95% interval",
            "nearest key",
            "three nearest",
        ],
    )


def _interval(kept: Faithfulness) -> str:
    if not np.isfinite(kept.low):
        return ""
    return f"{number(kept.low)} to {number(kept.high)}"


def _strength(row: _Row) -> tuple[float, float, float]:
    sign = 1 if row.name.endswith("inner product") else -1
    return sign * row.kept.correlation, row.kept.top1, row.kept.top3


def _conclusion(rows: list[_Row]) -> str:
    """Whether normalization helped this picture, and which is best (Markdown)."""
    raw, _, normalized = (row.kept for row in rows[: len(STAGES)])
    sentences = []
    if np.isfinite([raw.correlation, normalized.correlation]).all():
        sentences.append(
            f"In the PCA picture {judgement(raw, normalized)}: correlation"
            f" {number(raw.correlation)} to {number(normalized.correlation)}, nearest key"
            f" {percent(raw.top1)} to {percent(normalized.top1)} of the queries."
        )
    pictures = [row for row in rows if row.in_picture and np.isfinite(row.kept.top1)]
    if pictures:
        best = max(pictures, key=lambda row: row.kept.top1)
        sentences.append(
            f"The most attended key is kept most often by **{best.name}**: it lies nearest for"
            f" {best.kept.top1:.0%} of the queries."
        )
    return " ".join(sentences) or "No query has a choice of keys here: there is nothing to keep."


def _show_proof(trace: Trace, choice: Choice) -> None:
    st.subheader("Does attention stay the same?", anchor=False)
    scaling, search = scaling_of(trace, choice), search_of(choice)
    stages = stage_vectors(trace, choice.layer, choice.head, scaling, search)
    change = max(
        attention_change(trace, choice.layer, choice.head, moved.queries, moved.keys)
        for moved in stages.values()
    )
    softcap = trace.layers[choice.layer].softcap
    if change <= _SAME_ATTENTION:
        st.markdown(
            f"Yes. The attention of {choice.name}, recomputed from the queries and keys of every"
            f" stage, differs from the model's by at most **{change:.0e}** in any weight: rounding."
        )
    else:
        cause = (
            f" This model caps its scores softly at {softcap:g}, and the cap does see what"
            " translation adds to a row."
            if softcap is not None
            else ""
        )
        st.warning(f"No. The attention of {choice.name} changes by up to {change:.2g}.{cause}")
    st.latex(
        r"\langle c\,q_i,\ (k_j + a)/c\rangle = \langle q_i, k_j\rangle +"
        r" \underbrace{\langle q_i, a\rangle}_{\text{the same for every } j}"
    )
