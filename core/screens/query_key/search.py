"""The search for a and c, twice: as the notebook does it, and as the paper means it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.normalization import GridSearch, correlation_along_c
from core.analysis.query_key.layer_search import regression_of
from core.analysis.query_key.scaling import C_VALUES, PUBLISHED_GRID, squared_distance
from core.figures.query_key.clouds import curve_figure, regression_figure, surface_figure
from core.screens.query_key.choice import scaling_of, search_of
from core.screens.query_key.restore import search_range
from core.screens.query_key.search_wording import regression_title
from core.screens.query_key.wording import (
    CRITERIA,
    DISTANCES,
    SCORES,
    number,
    verdict,
    warnings_of,
)

if TYPE_CHECKING:
    from core.analysis.query_key.scaling import HeadScaling
    from core.figures.palette import Palette
    from core.model import Trace
    from core.screens.query_key.choice import Choice


def show_search(trace: Trace, choice: Choice, colours: Palette) -> None:
    """The paper's search of one head, then the notebook's of the whole layer."""
    _show_notebook(trace, choice, colours)
    _show_paper(trace, choice, colours)


def _show_notebook(trace: Trace, choice: Choice, colours: Palette) -> None:
    st.subheader(f"As the notebook does it: layer {choice.layer + 1}, all heads", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search_range(drawn=True)
    found = search_of(choice)
    if not found.defined:
        st.info("There is no correlation: the products or the distances of this layer do not vary.")
        return
    a, c, r = (number(v, f) for v, f in zip(found.history[-1], (".3g", ".3g", "+.5f"), strict=True))
    st.markdown(
        f"**Best: a = {a}, c = {c}, |r| = {abs(found.correlation):.5f}** (r = {r})."
        f" {_evidence(trace, choice, found)}"
    )
    left, right = st.columns(2)
    with left:
        st.plotly_chart(surface_figure(found, colours), key="query_key_surface")
        st.caption("The ring marks the best a and c.")
    with right:
        regression = regression_of(trace, choice.layer, found)
        title = regression_title(choice.layer, found)
        st.plotly_chart(regression_figure(regression, title, colours), key="query_key_regression")
        st.caption(
            f"The {regression.products.size:,} pairs of a query and the key of its own token, all"
            " heads, at the best a and c, and the line of least squares, as the notebook draws"
            " them, with raw products."
        )
    with st.expander(f"The log of improvements ({len(found.history)})"):
        st.table(_history(found))


def _evidence(trace: Trace, choice: Choice, found: GridSearch) -> str:
    """What the surface shows, with the numbers that show it (Markdown)."""
    along = correlation_along_c(
        trace.queries[choice.layer], trace.keys[choice.layer], found.a, found.c_values
    )
    spread = float(np.nanmax(along) - np.nanmin(along))
    same = "exactly the same r" if spread == 0 else f"r within {spread:.0e}, which is rounding,"
    flat = (
        f"The surface is **flat along c**: at this a, scaled vectors give {same} for every c, since"
        " c cancels from a cosine. The c that is kept is only the first that was tried."
    )
    edge = (
        "The best a lies **on the edge of its range**: widen the range and see it move."
        if found.a_on_edge
        else "The best a lies inside its range: it is a real optimum of this grid."
    )
    undefined = " At c = 0 nothing is defined: keys are divided by it." * bool(
        (found.c_values == 0).any()
    )
    return f"{flat} {edge}{undefined}"


def _history(found: GridSearch) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (f"{step.a:.4g}", f"{step.c:.4g}", f"{abs(step.correlation):.6f}")
            for step in found.history
        ],
        columns=["a", "c", "|r|"],
        index=range(1, len(found.history) + 1),
    )


def _show_paper(trace: Trace, choice: Choice, colours: Palette) -> None:
    st.subheader(f"As the paper means it: {choice.name}", anchor=False)
    scaling = scaling_of(trace, choice)
    st.markdown(verdict(scaling, choice))
    for warning in warnings_of(scaling, choice.criterion):
        st.warning(warning)
    if not np.isfinite(scaling.curve).any():
        return
    squared = squared_distance(trace, choice.layer, choice.head, scaling.a, choice.target)
    shown = squared if choice.distance == "euclidean" else None
    figure = curve_figure(scaling, shown, C_VALUES, PUBLISHED_GRID, colours)
    st.plotly_chart(figure, key="query_key_curve")
    st.caption(_reading(scaling, choice))
    if shown is not None:
        st.markdown(_agreement(squared.closed_form, squared.on_grid))


def _reading(scaling: HeadScaling, choice: Choice) -> str:
    """What the curve is made of."""
    why = (
        " For this choice distances keep the means of their rows: without them every head would ask"
        " for a c without end, where each query ranks its keys as it attends to them and the clouds"
        " fly apart."
        if choice.target == "centred" and choice.distance == "euclidean"
        else ""
    )
    return (
        f"{CRITERIA[choice.criterion]}: {DISTANCES[choice.distance]} distance with the"
        f" {SCORES[choice.target]}, over {scaling.pairs[0]:,} permitted pairs of this head; the"
        " keys are moved by the vector between the centroids,"
        f" |a| = {np.linalg.norm(scaling.a):.3g}.{why}"
    )


def _agreement(closed_form: float | None, on_grid: float) -> str:
    if closed_form is None:
        return (
            "For **squared** Euclidean distance the formula finds no optimum inside: the"
            f" correlation falls on towards 0 or infinity, and the grid stops at {on_grid:.3g}."
        )
    step = float(np.max(C_VALUES[1:] / C_VALUES[:-1]))
    ratio = max(closed_form / on_grid, on_grid / closed_form)
    agree = "they agree" if ratio <= step else "**they do not agree**"
    return (
        f"For **squared** Euclidean distance no search is needed: the formula gives c ="
        f" {closed_form:.4f}, the grid {on_grid:.4f}, a factor of {ratio:.3f} apart where the"
        f" grid's steps are up to {step:.3f}: {agree}."
    )
