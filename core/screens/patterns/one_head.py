"""One head, the mean of everything or rollout: its attention, and the evidence token by token."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.head_patterns.evidence import Evidence, evidence
from core.analysis.head_patterns.naming import NONE, TOO_SHORT
from core.analysis.pairs import permitted, permitted_somewhere, uniform_attention
from core.analysis.rollout import Overall, overall_attention, uniform_overall
from core.figures.heatmap import heatmap_figure
from core.figures.palette import Palette
from core.model import Trace
from core.model.trace import Array
from core.screens.patterns.view import View
from core.screens.patterns.wording import describe_evidence, nearest_pattern, verdict
from core.ui import controls
from core.ui.charts import show_chart
from core.ui.words.prose import Prose
from core.vocabulary import labels_of

_words = Prose(__file__)
WHOLES = {"head": "one head", "mean": "mean of everything", "rollout": "rollout"}


def pick_whole(trace: Trace) -> str:
    """Whose attention is shown."""
    cross = trace.source is not None
    return controls.choice(
        "whole",
        {name: label for name, label in WHOLES.items() if not cross or name != "rollout"},
        "Attention of",
        subject="Attention can be that of",
        menu=True,
        width=165,
        help=_words("wholes"),
    )


def show_one(view: View, colours: Palette, whole: str) -> None:
    """The attention on the text, which pattern it follows, and the evidence token by token."""
    trace = view.trace
    weights, uniform = _matrices(view, whole)
    name, pattern, says = WHOLES[whole].capitalize(), "first", ""
    if whole == "head":
        name, pattern, says = view.name, _pattern(view), verdict(view)
        says = says if view.corpus is None else f"Over {view.where}: {says}"
    shown = evidence(weights, uniform, trace.tokens, pattern, trace.source)
    labels, columns = (labels_of(tokens) for tokens in (trace.tokens, trace.key_tokens))
    left, right = st.columns(2)
    with left:
        drawn = np.where(permitted_somewhere(trace), weights, np.nan)  # what is masked is hatched
        figure = heatmap_figure(drawn, labels, name, colours, columns=columns)
        alt = f"Attention of {name}"
        show_chart(figure, key="patterns_attention", alt=alt, quiet=True)
    with right:
        st.markdown(f"{says}\n\n{describe_evidence(name, pattern, shown, trace)}")
        if shown.tokens:
            st.dataframe(
                _token_rows(shown, weights, labels, columns),
                key="patterns_evidence",
                hide_index=True,
                placeholder="–",
                column_config={
                    column: st.column_config.NumberColumn(format="%.3f")
                    for column in ("follows", "uniform", "weight")
                },
            )


def _pattern(view: View) -> str:
    """The pattern that the chosen head follows, or the nearest."""
    followed = str(view.row["class"])
    if followed not in (NONE, TOO_SHORT):
        return followed
    nearest, _ = nearest_pattern(view.row, view.limits, view.query_tokens)
    return nearest or ("self" if view.trace.source is None else "first")


def _matrices(view: View, whole: str) -> tuple[Array, Array]:
    """Attention, and what uniform attention would be, both (token, key token)."""
    trace, layer, head = view.trace, view.layer, view.head
    if whole == "head":
        return trace.attention(layer, head), uniform_attention(permitted(trace, layer, head))
    kind = cast("Overall", whole)
    return overall_attention(trace, kind), uniform_overall(trace, kind)


def _token_rows(
    shown: Evidence, weights: Array, labels: tuple[str, ...], columns: tuple[str, ...]
) -> pd.DataFrame:
    """A row per token: how much of it follows the pattern, and where it attends most."""
    return pd.DataFrame(
        {
            "token": labels,
            "follows": shown.share,
            "uniform": shown.uniform,
            "attends most to": [columns[key] for key in shown.strongest],
            "weight": weights[np.arange(len(labels)), shown.strongest],
        }
    )
