"""One head: attention beside what it moves, with the first token or without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import head_of, hollow_head
from core.analysis.anomalies.contribution import lengths_and_sum, moved, value_norms, without_first
from core.analysis.anomalies.flags import null_attention_in_words, rule
from core.analysis.attention_table import unique_labels
from core.figures.anomalies import matrix_pair
from core.model.weights.output_projection import transformed_values
from core.screens.anomalies.open_head import begin_with, open_buttons, pick_one_head
from core.screens.anomalies.wording import DEFINITIONS, show_definition, threshold, values_note
from core.ui import cache, controls
from core.ui.messages import quote

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from core.analysis.anomalies import Row
    from core.figures.palette import Palette
    from core.model import Trace
    from core.model.trace import Array

FLAG = "null attention"
_LITTLE = 0.01  # of a row; what is left of it is magnified a hundred times


def show_moved(
    trace: Trace, table: pd.DataFrame, transformed: Array | None, colours: Palette
) -> None:
    """Pickers, the sentence, the two matrices."""
    begin_with(hollow_head(table))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer, head = pick_one_head(trace)
        hide = controls.flag(
            "latent",
            "Hide the first token and renormalise",
            disabled=len(trace.tokens) < 2,
            help="Leave the first token out and divide each row by what is left of it: what the"
            " head would look at if it could not rest.",
        )
        open_buttons(layer + 1, head + 1)
    one = head_of(table, layer + 1, head + 1)
    said = _sentence(trace, one)
    weights, norms = trace.attention(layer, head), value_norms(trace, transformed)[layer, head]
    if hide:
        said = f"{said} {_hidden(weights)}"
        weights, norms = without_first(weights), norms[1:]
    st.markdown(said)
    _show_pair(trace, weights, norms, f"L{layer + 1} H{head + 1}", colours, hide=hide)
    st.caption(
        "Attention: how each token (row) shares it out. What is moved: the same, times the length"
        " of what each column brings, scaled to the same total, so that both have one scale of"
        f" colours. {values_note(transformed is not None)} {_cancelled(trace, layer, head)}"
    )
    show_definition(
        f"null attention is {DEFINITIONS[FLAG]}", f"{rule(FLAG).source}.", f"{threshold(FLAG)}."
    )


def _sentence(trace: Trace, one: Row) -> str:
    """What the head gives its first token and its strongest column, and what these carry."""
    first = quote(trace.tokens[0].display)
    said = (
        f"This head puts **{one['first_attention']:.2f}** on the first token, {first}, which then"
        f" carries **{one['first_contribution']:.2f}** of what is moved."
    )
    if one["sink"] != 1:
        sink = quote(one["sink_token"])
        said += (
            f" Its strongest column is {sink} (token {one['sink']}): {one['sink_attention']:.2f} of"
            f" the attention, {one['sink_contribution']:.2f} of what is moved."
        )
    null = f"null attention {one['null_attention']:.2f}"
    marked = f"**{null}**" if FLAG in one["flags"] else null
    return f"{said} In all, {marked}: {null_attention_in_words(one)}."


def _cancelled(trace: Trace, layer: int, head: int) -> str:
    """The lengths of the parts beside the length of their sum, over the whole text."""
    vectors = transformed_values(cache.model(trace.model), trace, layer, head)
    known = vectors is not None
    if vectors is None:
        vectors = trace.kv_values[layer, head // trace.group]
    weights = trace.attention(layer, head)
    added, whole = (each.mean() for each in lengths_and_sum(weights, vectors))
    what = "what this head adds to a token" if known else "the sum of its weighted values"
    return (
        f"Mean over tokens: the lengths of the parts add up to {added:.2f}, and {what} is"
        f" {whole:.2f} long."
    )


def _hidden(weights: Array) -> str:
    """What is left out, and where little is left (Markdown)."""
    gone = weights[:, 0]
    little = int((1 - gone[1:] < _LITTLE).sum())
    said = f"The first token is hidden, and with it {gone.mean():.2f} of all attention."
    if little:
        rows = "row has" if little == 1 else "rows have"
        said += f" {little} {rows} less than 1 % left, magnified more than a hundred times."
    return said


def _show_pair(
    trace: Trace,
    weights: Array,
    norms: NDArray[np.float64],
    where: str,
    colours: Palette,
    *,
    hide: bool,
) -> None:
    labels = unique_labels(tuple(token.display for token in trace.tokens))[int(hide) :]
    raw, weighted = matrix_pair(
        weights, moved(weights, norms), labels, where, ("attention", "moved"), colours
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Attention**")
        st.plotly_chart(raw, key="anomalies_raw", config={"displayModeBar": False})
    with right:
        st.markdown("**What is moved:** attention × |value|")
        st.plotly_chart(weighted, key="anomalies_weighted", config={"displayModeBar": False})
