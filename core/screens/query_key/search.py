"""The search for a and c, twice: as the notebook does it, and as the paper means it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.normalization import GridSearch, correlation_along_c, printed_log
from core.analysis.query_key.layer_search import NOTEBOOK_RANGE, regression_of
from core.analysis.query_key.scaling import (
    C_VALUES,
    PUBLISHED_GRID,
    SquaredDistance,
    squared_distance,
)
from core.figures.palette import Palette
from core.figures.query_key.search import curve_figure, regression_figure, surface_figure
from core.screens.query_key.choice import Choice, scaling_of, search_of
from core.screens.query_key.controls import pick_measure
from core.screens.query_key.wording import regression_title, verdict, warnings_of, why_undefined
from core.ui.charts import show_chart
from core.ui.words.prose import Prose
from core.ui.words.scores import CRITERIA, DISTANCES, SCORES

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
_AGREEING = 1e-3  # of c: what differs by less is one optimum


def show_search(trace: Trace, choice: Choice, colours: Palette) -> None:
    """The notebook's search of the whole layer, then the paper's of one head."""
    search = search_of(choice)
    if search.defined:
        _show_notebook(trace, choice, search, colours)
    else:
        st.info(f"There is no correlation: {why_undefined(trace)}.")
    st.header(f"As the paper means it: {choice.name()}", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pick_measure(drawn=True)
    _show_paper(trace, choice, colours)


def _show_notebook(trace: Trace, choice: Choice, search: GridSearch, colours: Palette) -> None:
    import pandas as pd

    surface, scatter = st.columns(2)
    with surface:
        show_chart(
            surface_figure(search, colours), key="query_key_surface", alt="r for every a and c"
        )
        st.caption("The ring marks the best a and c.")
    with scatter:
        regression = regression_of(trace, choice.layer, search)
        title = regression_title(choice.number, search)
        figure = regression_figure(regression, title, colours)
        show_chart(figure, key="query_key_regression", alt=title)
        st.caption(_words("regression", pairs=regression.products.size))
    evidence = _evidence(trace, choice, search)
    best = search.history[-1]  # a, c and r
    st.markdown(_words("notebook", layer=choice.number, best=best, evidence=evidence))
    with st.expander(f"The log of improvements ({len(search.history)})"):
        logs = {"This page": search.history}
        if choice.ranges == NOTEBOOK_RANGE:  # others no notebook has printed, and they may be large
            queries, keys = trace.queries[choice.layer], trace.keys[choice.layer]
            printed = printed_log(queries, keys, search.a_values, search.c_values)
            last = printed[-1].c if printed else 0.0
            st.markdown(_words("logs", ours=len(search.history), lines=len(printed), last=last))
            logs["As the notebook prints it"] = printed
        for column, (title, log) in zip(st.columns(2), logs.items(), strict=False):
            steps = [(f"{a:.4g}", f"{c:.4g}", f"{abs(r):.6f}") for a, c, r in log]
            index = range(1, len(steps) + 1)
            column.markdown(f"**{title}**")
            column.table(pd.DataFrame(steps, columns=["a", "c", "|r|"], index=index))


def _evidence(trace: Trace, choice: Choice, search: GridSearch) -> str:
    """What the surface shows, with the numbers that show it (Markdown)."""
    queries, keys = trace.queries[choice.layer], trace.keys[choice.layer]
    along = correlation_along_c(queries, keys, search.a, search.c_values)
    spread = float(np.nanmax(along) - np.nanmin(along))
    undefined = (search.c_values == 0).any()
    return _words("flat_along_c", spread=spread, on_edge=search.a_on_edge, undefined=undefined)


def _show_paper(trace: Trace, choice: Choice, colours: Palette) -> None:
    scaling = scaling_of(choice, choice.head)
    st.markdown(verdict(scaling, choice))
    for warning in warnings_of(scaling, choice):
        st.warning(warning)
    if not np.isfinite(scaling.curve).any():
        return
    euclidean = choice.distance == "euclidean"
    squared = (
        squared_distance(trace, choice.layer, choice.head, scaling.a, choice.target)
        if euclidean
        else None
    )
    figure = curve_figure(scaling, squared, C_VALUES, PUBLISHED_GRID, colours)
    show_chart(figure, key="query_key_curve", alt="Correlation for every c")
    st.caption(
        _words(
            "paper",
            criterion=CRITERIA[choice.criterion],
            distance=DISTANCES[choice.distance],
            scores=SCORES[choice.target],
            pairs=scaling.pairs[0],
            a=np.linalg.norm(scaling.a),
            centred=choice.target == "centred" and euclidean,
        )
    )
    if squared is not None:
        st.markdown(_agreement(squared))


def _agreement(squared: SquaredDistance) -> str:
    closed_form, searched = squared.closed_form, squared.searched
    if closed_form is None:
        return _words("no_formula", searched=searched)
    ratio = max(closed_form / searched, searched / closed_form)
    agree = ratio < 1 + _AGREEING
    return _words("formula", formula=closed_form, searched=searched, agree=agree)
