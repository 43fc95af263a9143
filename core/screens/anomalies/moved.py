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
        sentence = f"{sentence} {_words('first_hidden', share=weights[:, 0].mean())}"
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
    st.caption(f"{_words('weighted')} {values_note(table)}")
    show_flag_definition(FLAG.name, trace, f"{FLAG.name} is")


def _sentence(trace: Trace, row: Row) -> str:
    """What the head gives its first token and what that accounts for."""
    return _words(
        "of_head",
        row=row,
        first=trace.input.first,
        token=quote(trace.key_tokens[0].display),
        reason=FLAG.explain(row),
    )
