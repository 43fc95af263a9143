"""Importance and looks: every head as a point, any two measures as axes."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.anomalies import anomaly_table
from core.analysis.effect.looks import looks_table, rank_correlation
from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.table import SCORES
from core.figures.effect import heads_against
from core.figures.palette import Palette
from core.model import Trace
from core.model.weights import output_projection
from core.ui import cache, controls, python
from core.ui.cache import TraceKey
from core.ui.downloads import contents
from core.ui.head_maps import show_heads
from core.ui.head_tables import HeadTable, offer_table
from core.ui.navigation import ask
from core.ui.place import choose_head
from core.ui.words.numbers import number
from core.ui.words.pattern_words import score_names
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

_words = Prose(__file__)
_OWN = {
    "size": "size of the effect",
    "control": "largest random direction",
    "share": "what it writes",
}
_ODD = {
    "sink_attention": "attention to its strongest column",
    "null_attention": "attention to short values",
    "norm_log_ratio": "log2 of |q| over |k|",
    "rank": "rank of its attention",
}


def pick_axes(trace: Trace) -> tuple[str, str]:
    """Which measures are drawn, across and up."""
    names = _names(trace)
    axes = [
        controls.choice(
            key,
            names,
            label,
            default=default,
            subject="Heads have these measures",
            menu=True,
            width=165,
        )
        for key, label, default in (("x", "Across", "entropy"), ("y", "Up", "size"))
    ]
    return axes[0], axes[1]


def _names(trace: Trace) -> dict[str, str]:
    scores = {name: each for name, each in score_names(trace).items() if name in SCORES}
    return {**_OWN, **scores, **_ODD}


@st.cache_resource(max_entries=cache.MAX_TRACES, show_spinner="Measuring every head …")
def _measures(key: TraceKey) -> tuple[pd.DataFrame, pd.DataFrame]:
    trace = cache.trace(*key)
    return pattern_table(trace), anomaly_table(trace, cache.transformed_norms(key))


def _looks(table: pd.DataFrame, key: TraceKey) -> pd.DataFrame:
    patterns, anomalies = _measures(key)
    norms = cache.transformed_norms(key)
    python.made("scores", patterns, python.call(pattern_table, python.TRACE))
    lengths = python.call(output_projection.transformed_norms, python.MODEL, python.TRACE)
    python.made("norms", norms, lengths)
    odd = python.call(anomaly_table, python.TRACE, norms)
    python.made("anomalies", anomalies, odd)
    return python.shown("looks", looks_table, table, patterns, anomalies)


def show_looks(heads: HeadTable, key: TraceKey, axes: tuple[str, str], colours: Palette) -> None:
    """The answer, the points, and the file."""
    looks = _looks(heads.table, key)
    names = _names(heads.trace)
    x, y = (looks[axis].to_numpy(dtype=float) for axis in axes)
    found = rank_correlation(x, y)
    drawn = (python.call(operator.getitem, python.Variable("looks"), axis) for axis in axes)
    python.made("correlation", found, python.call(rank_correlation, *drawn))
    across, up = names[axes[0]], names[axes[1]]
    if found is None:
        ask(_words("no_correlation", across=across, up=up))
    else:
        rho, low, high = (number(each) for each in (found.rho, found.low, found.high))
        ask(
            _words(
                "looks_go",
                across=across,
                up=up,
                rho=rho,
                low=low,
                high=high,
                apart=found.low < 0 < found.high,
                falls=found.rho < 0,
            )
        )
    places = list(zip(looks["layer"], looks["head"], strict=True))
    figure = heads_against(
        places, x, y, (across, up), looks["exceeds"].to_numpy(), heads.number, colours
    )
    alt = f"All heads: {across} against {up}"
    show_heads(figure, alt, key="effect_looks", on_open=choose_head)
    heads_left_out = int((~np.isfinite(x) | ~np.isfinite(y)).sum())
    st.caption(_words("of_heads", heads=len(looks) - heads_left_out, left=heads_left_out))
    own = HeadTable(trace=heads.trace, table=looks, layer=heads.layer, head=heads.head)
    offer_table(own, contents("effect", heads.trace.model, "looks"))
