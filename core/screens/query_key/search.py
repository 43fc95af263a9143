"""The search for a and c, twice: as in the notebook, and as the paper describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.normalization import GridSearch, regression_of
from core.analysis.query_key.scaling import C_VALUES, PUBLISHED_GRID
from core.figures.palette import Palette
from core.figures.query_key import curve_figure, regression_figure, surface_figure
from core.screens.query_key.choice import Choice, scaling_of, search_of
from core.screens.query_key.wording import (
    CRITERIA,
    DISTANCES,
    edge_of,
    regression_title,
    verdict,
    warnings_of,
    why_undefined,
)
from core.ui.charts import show_chart
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)


def show_search(trace: Trace, choice: Choice, colours: Palette) -> None:
    """Show the notebook's search on the whole layer, then the paper's on one head."""
    search = search_of(choice)
    if search.defined:
        _show_notebook(trace, choice, search, colours)
    else:
        st.info(f"There is no correlation: {why_undefined(trace)}.")
    st.header(f"As the paper means it: {choice.name()}", anchor=False)
    _show_paper(choice, colours)


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
    st.markdown(
        _words(
            "notebook",
            layer=choice.number,
            best=search.history[-1],  # a, c and r
            spread=search.spread_along_c,
            edge=edge_of(search),
        )
    )
    with st.expander(f"The log of improvements ({len(search.history)})"):
        steps = [(f"{a:.4g}", f"{c:.4g}", f"{abs(r):.6f}") for a, c, r in search.history]
        st.table(pd.DataFrame(steps, columns=["a", "c", "|r|"], index=range(1, len(steps) + 1)))


def _show_paper(choice: Choice, colours: Palette) -> None:
    scaling = scaling_of(choice, choice.head)
    st.markdown(verdict(scaling, choice))
    for warning in warnings_of(scaling, choice):
        st.warning(warning)
    if not np.isfinite(scaling.curve).any():
        return
    figure = curve_figure(scaling, C_VALUES, PUBLISHED_GRID, colours)
    show_chart(figure, key="query_key_curve", alt="Correlation for every c")
    st.caption(
        _words(
            "paper",
            criterion=CRITERIA[choice.criterion],
            distance=DISTANCES[choice.distance],
            pairs=scaling.pairs[0],
            a=np.linalg.norm(scaling.a),
        )
    )
