"""One head: attention beside what it moves, with the first token or without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.anomalies import FLAGS, Row, head_row
from core.analysis.anomalies.contribution import (
    contributions,
    value_norms,
    without_first,
)
from core.analysis.arrays import Floats
from core.analysis.pairs import permitted
from core.figures.heatmap import colour_limit, heatmap_figure
from core.figures.palette import Palette
from core.model import Trace
from core.model.trace import Array
from core.screens.anomalies.open_head import open_button
from core.screens.anomalies.wording import show_flag_definition, values_note
from core.ui import cache, controls
from core.ui.charts import show_chart
from core.ui.current import current_key
from core.ui.place import pick_head
from core.ui.words.messages import quote
from core.ui.words.prose import Prose
from core.vocabulary import head_name, labels_of

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


_words = Prose(__file__)
FLAG = FLAGS["null attention"]
_LITTLE = 0.01  # of a row; what remains of it is magnified a hundred times


def show_moved(trace: Trace, table: pd.DataFrame, colours: Palette, row: DeltaGenerator) -> None:
    """Pickers, the sentence, the two matrices."""
    transformed = cache.transformed_norms(current_key(trace.model))
    with row:
        layer, head = pick_head(trace)
        hide = controls.flag(
            "latent",
            "Hide the first token" if len(trace.key_tokens) > 1 else "",
            disabled=len(trace.key_tokens) < 2,
            help=_words("renormalise"),
        )
    sentence = _sentence(trace, head_row(table, trace.layer_labels[layer], head + 1))
    weights = trace.attention(layer, head)
    lengths = value_norms(trace, transformed)
    norms: Floats = lengths[layer, head]
    seen = permitted(trace, layer, head)
    labels, columns = (labels_of(tokens) for tokens in (trace.tokens, trace.key_tokens))
    if hide:
        cross = trace.source is not None
        sentence = f"{sentence} {_hidden(weights, cross=cross)}"
        weights = without_first(weights, cross=cross)
        norms = norms[1:]
        columns = columns[1:]
        labels = labels if cross else labels[1:]
        seen = seen[0 if cross else 1 :, 1:]
    moved = contributions(weights, norms)
    top = max(colour_limit(weights), colour_limit(moved))
    name = head_name(trace, layer, head)
    for column, key, title, drawn, unit in zip(
        st.columns(2, gap="medium"),
        ("anomalies_raw", "anomalies_weighted"),
        (f"{name} attention", f"{name} value-weighted"),
        (weights, moved),
        ("attention", "moved"),
        strict=True,
    ):
        shown = np.where(seen, drawn, np.nan)  # what the model does not permit is hatched
        figure = heatmap_figure(shown, labels, title, colours, columns=columns, top=top, unit=unit)
        with column:
            show_chart(figure, key=key, alt=title, quiet=True)
    st.markdown(sentence)
    open_button(trace.layer_labels[layer], head + 1)
    st.caption(f"{_words('weighted')} {values_note(table)}")
    show_flag_definition(FLAG.name, trace, f"{FLAG.name} is")


def _sentence(trace: Trace, row: Row) -> str:
    """What the head gives its first token and its strongest column, and what these account for."""
    return _words(
        "of_head",
        row=row,
        first=trace.input.first,
        token=quote(trace.key_tokens[0].display),
        sink=quote(row["sink_token"]) if row["sink"] != 1 else "",
        flagged=FLAG.name in row["flags"].split(", "),
        reason=FLAG.explain(row),
    )


def _hidden(weights: Array, *, cross: bool) -> str:
    """What is left out, and where little remains (Markdown); `cross` attention keeps all rows."""
    first = weights[:, 0]
    few = int((1 - first[0 if cross else 1 :] < _LITTLE).sum())
    return _words("first_hidden", share=first.mean(), few=few)
