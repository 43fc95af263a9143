"""Importance and looks: every head as a point, any two measures as axes."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.analysis.anomalies import anomaly_table
from core.analysis.effect import LEVEL
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
from core.ui.head_tables import HeadTable, names_of, offer_table
from core.ui.navigation import ask
from core.ui.place import choose_head
from core.ui.words.numbers import number
from core.ui.words.pattern_words import score_names
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

GROUP = "group"  # the heads that are looked at together
_words = Prose(__file__)
_OWN = {
    "size": "size of the effect",
    "control": "largest random direction",
    "share": "what it writes",
}
_ODD = {
    "sink_attention": "attention to its strongest column",
    "null_attention": "attention to values nearly zero",
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
    found = rank_correlation(x, y, looks["layer"])
    columns = (*axes, "layer")
    drawn = (python.call(operator.getitem, python.Variable("looks"), name) for name in columns)
    python.made("correlation", found, python.call(rank_correlation, *drawn))
    across, up = names[axes[0]], names[axes[1]]
    if found is None:
        ask(_words("no_correlation", across=across, up=up))
    else:
        ask(
            _words(
                "looks_go",
                across=across,
                up=up,
                rho=number(found.rho),
                p=number(found.p, ".3f"),
                apart=found.p > LEVEL,
                falls=found.rho < 0,
            )
        )
    picture = st.container()
    group = _pick_group(heads)
    places = list(zip(looks["layer"], looks["head"], strict=True))
    figure = heads_against(
        places, x, y, (across, up), looks["exceeds"].to_numpy(), heads.number, group, colours
    )
    alt = f"All heads: {across} against {up}"
    choose = partial(_choose_group, tuple(heads.trace.layer_labels), heads.trace.shape[1])
    heads_left_out = int((~np.isfinite(x) | ~np.isfinite(y)).sum())
    with picture:
        show_heads(figure, alt, key="effect_looks", on_open=choose_head, on_lasso=choose)
        st.caption(_words("of_heads", heads=len(looks) - heads_left_out, left=heads_left_out))
    if group.any():
        _show_group(looks, group, axes, names)
    own = HeadTable(trace=heads.trace, table=looks, layer=heads.layer, head=heads.head)
    offer_table(own, contents("effect", heads.trace.model, "looks"))


def _pick_group(heads: HeadTable) -> NDArray[np.bool_]:
    """Which heads are looked at together, (head of all,): in the link, by their number from 1."""
    named = names_of(heads.table).tolist()
    numbers = controls.tokens(
        GROUP,
        range(1, len(named) + 1),
        "Heads together",
        place="a head of this model",
        names=lambda number: named[number - 1],
        placeholder="Draw a lasso, or choose",
    )
    return np.isin(np.arange(1, len(named) + 1), numbers)


def _choose_group(
    layer_labels: tuple[int, ...], heads: int, chosen: Sequence[tuple[int, int]]
) -> None:
    numbers = {
        layer_labels.index(layer) * heads + head
        for layer, head in chosen
        if layer in layer_labels and 1 <= head <= heads
    }
    controls.pick(**{GROUP: sorted(numbers)})


def _show_group(
    looks: pd.DataFrame, group: NDArray[np.bool_], axes: tuple[str, str], names: Mapping[str, str]
) -> None:
    """The heads that were chosen together, beside all."""
    chosen = looks[group]
    st.markdown(
        _words(
            "group",
            heads=len(chosen),
            beyond=int(chosen["exceeds"].sum()),
            all_beyond=int(looks["exceeds"].sum()),
            all_heads=len(looks),
        )
    )
    columns = ["pattern", "effect", "control", "exceeds", *dict.fromkeys(axes)]
    shown = chosen[[name for name in dict.fromkeys(columns) if name in chosen]]
    shown = shown.rename(columns=dict(names))
    shown.insert(0, "head", names_of(chosen))
    st.dataframe(shown, hide_index=True)
