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
from core.screens.query_key.wording import interval, judgement, signed
from core.ui import python
from core.ui.words.messages import escape
from core.ui.words.prose import Prose
from core.ui.words.scores import SCORES
from core.vocabulary import STAGE_NAMES, STAGES, percent

if TYPE_CHECKING:
    import pandas as pd

    from core.model import Trace

_words = Prose(__file__)
_MAX_ROUNDING = 1e-5  # of an attention weight
_NAMES: dict[Projection, str] = {"UMAP": "umap", "t-SNE": "tsne"}  # under Share


class _Row(NamedTuple):
    name: str
    measured: Faithfulness
    sign: int = -1  # of a perfect correlation
    in_picture: bool = True


def show_faithfulness(trace: Trace, choice: Choice, *, slow: bool) -> None:
    """The table of faithfulness, what it says, and the proof; with `slow` UMAP and t-SNE too."""
    target = python.shown("target", head_target, trace, choice.layer, choice.head, choice.target)
    search = search_of(choice)
    baseline = python.shown("baseline", uniform_baseline, target.rows)
    rows = _measure(choice, target, search, slow=slow)
    st.table(_table(rows, baseline, choice))
    st.markdown(_conclusion(rows))
    st.caption(
        _words(
            "columns",
            scores=SCORES[choice.target],
            pairs=target.rows.keys.size,
            left_out=len(trace.tokens) - target.rows.queries.size,
        )
    )
    _show_proof(trace, choice, search)


def _measure(choice: Choice, target: Target, search: GridSearch, *, slow: bool) -> list[_Row]:
    clouds = clouds_of(choice, head_stages(search))
    rows = [_Row(f"PCA, {STAGE_NAMES[cloud.stage]}", cloud.in_picture) for cloud in clouds]
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
        _Row(f"full space, {STAGE_NAMES[cloud.stage]}", cloud.in_full, in_picture=False)
        for cloud in clouds
    ]


def _table(rows: list[_Row], baseline: Baseline, choice: Choice) -> pd.DataFrame:
    import pandas as pd

    correlation = f"correlation with the {SCORES[choice.target]}"
    measured = [row.measured for row in rows]
    columns = {
        correlation: [*(signed(each.correlation) for each in measured), "0"],
        "95\N{NO-BREAK SPACE}% interval": [*map(interval, measured), ""],
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
    pictures = [row for row in rows if row.in_picture and np.isfinite(row.measured.top1)]
    best = max(pictures, key=lambda row: row.measured.top1, default=None)
    return _words(
        "conclusion",
        measured=np.isfinite([raw.correlation, normalized.correlation]).all(),
        judgement=judgement(raw, normalized),
        raw=raw,
        normalized=normalized,
        best=best.name if best else "",
        nearest=best.measured.top1 if best else 0.0,
    )


def _show_proof(trace: Trace, choice: Choice, search: GridSearch) -> None:
    st.header("Does attention stay the same?", anchor=False)
    scaling = scaling_of(choice, choice.head)
    stages = stage_vectors(trace, choice.layer, choice.head, scaling, search)
    change = max(
        attention_change(trace, choice.layer, choice.head, *vectors) for vectors in stages.values()
    )
    rule = trace.layers[choice.layer]
    if change <= _MAX_ROUNDING:
        st.markdown(_words("unchanged", head=choice.name(), change=change))
    else:
        cap, sink = rule.softcap, rule.sink is not None
        st.warning(_words("changed", head=choice.name(), change=change, cap=cap, sink=sink))
    st.latex(_words("proof"))
