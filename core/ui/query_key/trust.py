"""How far a picture of the head on screen can be trusted, and the proof that attention stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.clouds import STAGES, Vectors, stage_vectors
from core.analysis.faithfulness import Faithfulness, chance, faithfulness
from core.analysis.pairs import attention_change, permitted
from core.analysis.projection_error import ProjectionError
from core.analysis.scaling import scale_head
from core.ui import address, cache
from core.ui.messages import escape
from core.ui.query_key.wording import number

if TYPE_CHECKING:
    from core.analysis.clouds import Cloud, Stage
    from core.analysis.faithfulness import Reading
    from core.analysis.joint_embedding import Projection
    from core.model import Trace
    from core.ui.query_key.picture import Choice

_SAME_ATTENTION = 1e-5  # largest change that is rounding


class _Row(NamedTuple):
    name: str
    found: Faithfulness


def show_trust(trace: Trace, choice: Choice) -> None:
    """The faithfulness table, what it says, and the proof."""
    address.restore_flag("slow")
    address.publish("part", "layer", "head", "distance", "criterion", "slow")
    name = f"L{choice.layer + 1} H{choice.head + 1}"
    st.subheader(f"What does each picture of {name} keep?", anchor=False)
    slow = st.toggle(
        "Add UMAP and t-SNE",
        key="slow",
        persist_state="session",
        help="Both are slow: UMAP takes about ten seconds to start.",
    )
    rows = _measure(trace, choice, slow=slow)
    allowed = permitted(trace, choice.layer, choice.head)
    random = chance(allowed)
    st.table(_table(rows, random))
    st.markdown(_conclusion(rows))
    st.caption(
        "Correlation: of distances in the picture (2-D) with the logits, −1 is perfect; for inner"
        " products +1. Top 1 and top 3: the share of each query's most-attended keys that are also"
        " its nearest in the picture. A star marks the best of a column."
    )
    _show_proof(trace, choice, name)


def _measure(trace: Trace, choice: Choice, *, slow: bool) -> list[_Row]:
    scaling = scale_head(trace, choice.layer, choice.head, choice.distance, choice.criterion)
    vectors = stage_vectors(trace, choice.layer, choice.head, scaling)
    allowed = permitted(trace, choice.layer, choice.head)

    def row(name: str, cloud: Cloud, own: Vectors, reading: Reading = "distance") -> _Row:
        logits = own.queries @ own.keys.T
        if name.startswith("biplot"):
            logits -= logits.mean(axis=1, keepdims=True)
        return _Row(name, faithfulness(logits, allowed, cloud.picture, reading))

    rows = [
        row(f"PCA, {cloud.stage}", cloud, vectors[cloud.stage])
        for cloud in _clouds(choice, STAGES, "PCA")
    ]
    (biplot,) = _clouds(choice, ("raw",), "biplot")
    rows.append(row("biplot, by inner product", biplot, vectors["raw"], "inner product"))
    rows.append(row("biplot, by distance", biplot, vectors["raw"]))
    if slow:
        for projection in ("UMAP", "t-SNE"):
            try:
                with st.spinner(f"{projection} …", show_time=True):
                    (cloud,) = _clouds(choice, ("normalized",), projection)
            except ProjectionError as error:
                st.warning(escape(str(error)))
                st.button("Try again", key=f"again_{projection}")  # any run does
                continue
            rows.append(row(f"{projection}, normalized", cloud, vectors["normalized"]))
    return rows


def _clouds(choice: Choice, stages: tuple[Stage, ...], projection: Projection) -> list[Cloud]:
    return cache.clouds(
        choice.key,
        choice.layer,
        choice.head,
        stages,
        projection,
        2,
        choice.distance,
        choice.criterion,
    )


def _table(rows: list[_Row], random: Faithfulness) -> pd.DataFrame:
    strengths = np.array([_strength(row) for row in rows])  # (row, column), larger is better
    texts = [
        [number(row.found.correlation), f"{row.found.top1:.0%}", f"{row.found.top3:.0%}"]
        for row in rows
    ]
    for column in range(strengths.shape[1]):
        known = np.nan_to_num(strengths[:, column], nan=-np.inf)
        if np.isfinite(known).any():
            best = int(known.argmax())
            texts[best][column] += " ★"
    texts.append(["0", f"{random.top1:.0%}", f"{random.top3:.0%}"])
    return pd.DataFrame(
        texts,
        index=[*(row.name for row in rows), "random points"],
        columns=["correlation with the logits", "top 1 kept", "top 3 kept"],
    )


def _strength(row: _Row) -> tuple[float, float, float]:
    sign = 1 if row.name.endswith("inner product") else -1
    return sign * row.found.correlation, row.found.top1, row.found.top3


def _conclusion(rows: list[_Row]) -> str:
    """Whether normalization helped this picture, and which is best (Markdown)."""
    raw, _, normalized = (row.found for row in rows[: len(STAGES)])
    change = normalized.correlation - raw.correlation
    sentences = []
    if np.isfinite(change):
        how = "worse" if change > 0 else "better"
        sentences.append(
            f"Normalization made the PCA picture **{how}** by correlation"
            f" ({number(raw.correlation)} to {number(normalized.correlation)})"
            f" and {_points(normalized.top1 - raw.top1)} by top 1."
        )
    best = max(rows, key=lambda row: row.found.top1)
    sentences.append(
        f"Most first keys are kept by **{best.name}**: {best.found.top1:.0%} of them lie nearest."
    )
    return " ".join(sentences)


def _points(change: float) -> str:
    if abs(change) < 0.005:
        return "no different"
    return f"{'better' if change > 0 else '**worse**'} by {abs(change):.0%} of the queries"


def _show_proof(trace: Trace, choice: Choice, name: str) -> None:
    st.subheader("Does attention stay the same?", anchor=False)
    scaling = scale_head(trace, choice.layer, choice.head, choice.distance, choice.criterion)
    moved = stage_vectors(trace, choice.layer, choice.head, scaling)["normalized"]
    change = attention_change(trace, choice.layer, choice.head, moved.queries, moved.keys)
    softcap = trace.layers[choice.layer].softcap
    if change <= _SAME_ATTENTION:
        st.markdown(
            f"Yes. The attention of {name}, recomputed from its normalized queries and keys,"
            f" differs from the model's by at most **{change:.0e}** in any weight: rounding."
        )
    else:
        cause = (
            f" This model bounds its logits softly at {softcap:g}, and the bound does see what"
            " translation adds to a row."
            if softcap is not None
            else ""
        )
        st.warning(f"No. The attention of {name} changes by up to {change:.2g}.{cause}")
    st.latex(
        r"\langle c\,q_i,\ (k_j + a)/c\rangle = \langle q_i, k_j\rangle +"
        r" \underbrace{\langle q_i, a\rangle}_{\text{the same for every } j}"
    )
