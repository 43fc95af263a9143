"""One head: its attention with token-by-token evidence, or beside the value-weighted map."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.anomalies import FLAGS
from core.analysis.anomalies.contribution import contribution_norms, contributions, without_first
from core.analysis.arrays import Floats
from core.analysis.head_patterns.evidence import Evidence, evidence
from core.analysis.head_patterns.naming import NONE, TOO_SHORT
from core.analysis.pairs import permitted, permitted_somewhere, uniform_attention
from core.analysis.rollout import Overall, overall_attention, uniform_overall
from core.figures.heatmap import colour_limit, heatmap_figure
from core.figures.palette import Palette
from core.model import Trace
from core.model.trace import Array
from core.screens.heads.card import (
    describe_head,
    nearest_pattern,
    show_flag_definition,
    values_note,
)
from core.screens.heads.measured import Heads
from core.ui import cache, controls
from core.ui.charts import show_chart
from core.ui.words.messages import quote
from core.ui.words.numbers import number
from core.ui.words.pattern_words import words_for
from core.ui.words.prose import Prose
from core.vocabulary import labels_of

_words = Prose(__file__)
WHOLES = {"head": "one head", "mean": "mean of everything", "rollout": "rollout"}
NULL = FLAGS["null attention"]


def pick_whole(trace: Trace) -> str:
    """Choose whose attention is shown: the head's or an overall one."""
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


def show_one(heads: Heads, colours: Palette, whole: str) -> None:
    """Show the attention on the text, the pattern it follows, and the evidence for each token."""
    trace = heads.trace
    weights, uniform = _matrices(heads, whole)
    name, pattern, says = WHOLES[whole].capitalize(), "first", ""
    if whole == "head":
        name, pattern, says = heads.name, _pattern(heads), describe_head(heads)
        says = says if not heads.over_corpus else f"Over {heads.where}: {says}"
    rows = evidence(weights, uniform, trace.tokens, pattern, trace.source)
    labels, columns = (labels_of(tokens) for tokens in (trace.tokens, trace.key_tokens))
    left, right = st.columns(2)
    with left:
        values = np.where(permitted_somewhere(trace), weights, np.nan)  # masked pairs are hatched
        figure = heatmap_figure(values, labels, name, colours, columns=columns)
        alt = f"Attention of {name}"
        show_chart(figure, key="patterns_attention", alt=alt, quiet=True)
    with right:
        st.markdown(f"{says}\n\n{_describe_evidence(name, pattern, rows, trace)}")
        if rows.tokens:
            st.dataframe(
                _token_rows(rows, weights, labels, columns),
                key="patterns_evidence",
                hide_index=True,
                placeholder="–",
                column_config={
                    column: st.column_config.NumberColumn(format="%.3f")
                    for column in ("follows", "uniform", "weight")
                },
            )


def _pattern(heads: Heads) -> str:
    """The pattern that the chosen head follows, or comes closest to."""
    followed = str(heads.row["class"])
    if followed not in (NONE, TOO_SHORT):
        return followed
    nearest, _ = nearest_pattern(heads.row, heads.limits, heads.query_tokens)
    return nearest or ("self" if heads.trace.source is None else "first")


def _matrices(heads: Heads, whole: str) -> tuple[Array, Array]:
    """Attention and its uniform baseline, both (token, key token)."""
    trace, layer, head = heads.trace, heads.layer, heads.head
    if whole == "head":
        return trace.attention(layer, head), uniform_attention(permitted(trace, layer, head))
    kind = cast("Overall", whole)
    return overall_attention(trace, kind), uniform_overall(trace, kind)


def _token_rows(
    rows: Evidence, weights: Array, labels: tuple[str, ...], columns: tuple[str, ...]
) -> pd.DataFrame:
    """A row per token: how much of it follows the pattern, and where it attends most."""
    return pd.DataFrame(
        {
            "token": labels,
            "follows": rows.share,
            "uniform": rows.uniform,
            "attends most to": [columns[key] for key in rows.strongest],
            "weight": weights[np.arange(len(labels)), rows.strongest],
        }
    )


def _describe_evidence(name: str, pattern: str, evidence: Evidence, trace: Trace) -> str:
    """A sentence that sums up the evidence (Markdown)."""
    words, queries = words_for(trace)[pattern], trace.input.queries
    if not evidence.tokens:
        return _words("no_pair", queries=queries, missing=words.missing)
    share, uniform = (
        number(float(np.nanmean(part))) for part in (evidence.share, evidence.uniform)
    )
    gives, among = words.evident.format(f"**{share}**"), f"{evidence.tokens} of {len(trace.tokens)}"
    return _words("evidence", head=name, gives=gives, among=among, queries=queries, uniform=uniform)


def pick_first_token(trace: Trace) -> bool:
    """Choose whether to hide the first token."""
    return controls.flag(
        "latent",
        "Hide the first token" if len(trace.key_tokens) > 1 else "",
        disabled=len(trace.key_tokens) < 2,
        help=_words("renormalise"),
    )


def show_moved(heads: Heads, colours: Palette, *, hide: bool) -> None:
    """Show the sentence, and the head's attention beside the same weighted by values."""
    trace, layer, head = heads.trace, heads.layer, heads.head
    sentence = _words(
        "of_head",
        row=heads.row,
        first=trace.input.first,
        token=quote(trace.key_tokens[0].display),
        reason=NULL.explain(heads.row),
    )
    weights = trace.attention(layer, head)
    lengths = contribution_norms(trace, cache.transformed_norms(heads.key))
    norms: Floats = lengths[layer, head]
    allowed = permitted(trace, layer, head)
    labels, columns = (labels_of(tokens) for tokens in (trace.tokens, trace.key_tokens))
    if hide:
        cross = trace.source is not None
        sentence = f"{sentence} {_words('first_hidden', share=weights[:, 0].mean())}"
        weights = without_first(weights, cross=cross)
        norms = norms[1:]
        columns = columns[1:]
        labels = labels if cross else labels[1:]
        allowed = allowed[0 if cross else 1 :, 1:]
    moved = contributions(weights, norms)
    top = max(colour_limit(weights), colour_limit(moved))
    name = heads.name
    for column, key, title, values, unit in zip(
        st.columns(2, gap="medium"),
        ("anomalies_raw", "anomalies_weighted"),
        (f"{name} attention", f"{name} value-weighted"),
        (weights, moved),
        ("attention", "moved"),
        strict=True,
    ):
        masked = np.where(allowed, values, np.nan)  # masked pairs are hatched
        figure = heatmap_figure(masked, labels, title, colours, columns=columns, top=top, unit=unit)
        with column:
            show_chart(figure, key=key, alt=title, quiet=True)
    st.markdown(sentence)
    st.caption(f"{_words('weighted')} {values_note(heads.table)}")
    show_flag_definition(NULL.name, trace, f"{NULL.name} is")
