"""One head, the mean of everything or rollout: its attention beside a pattern, token by token."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.attention_table import unique_labels
from core.analysis.head_patterns.evidence import Evidence, evidence
from core.analysis.head_patterns.measure import (
    MEASURED,
    mean_scores,
    measure_matrix,
    uniform_attention,
)
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS, too_short
from core.analysis.head_patterns.naming import NAMING, NONE, TOO_SHORT, assign_patterns
from core.analysis.head_patterns.table import add_induction
from core.analysis.pairs import permitted_pairs
from core.analysis.rollout import Overall, overall_attention, uniform_overall
from core.figures.heatmap import heatmap_figure
from core.screens.patterns.wording import (
    nearest_pattern,
    number,
    say_evidence,
)
from core.ui import cache, controls
from core.ui.words.pattern_words import PATTERN_NAMES

if TYPE_CHECKING:
    from core.figures.palette import Palette
    from core.model import Trace
    from core.model.trace import Array
    from core.screens.patterns.found import Found

WHOLES = {"head": "one head", "mean": "mean of everything", "rollout": "rollout"}
BESIDE = ("auto", *NAMING)
_LISTED = 60  # sentences to choose from: those where the head follows most, and least


def pick_view() -> tuple[str, str]:
    """Whose attention is shown, and beside what."""
    whole = controls.choice(
        "whole",
        WHOLES,
        "Attention of",
        subject="Attention can be that of",
        menu=True,
        width=165,
        help="Mean: over all heads of all layers. Rollout: how attention passes through all"
        " layers, half of each layer being the residual connection (Abnar and Zuidema 2020).",
    )
    beside = controls.choice(
        "beside",
        BESIDE,
        "Beside the pattern",
        subject="The patterns are",
        names=lambda name: "the one it follows" if name == "auto" else PATTERN_NAMES[name],
        menu=True,
        width=180,
    )
    return whole, beside


def show_one(found: Found, whole: str, beside: str, colours: Palette) -> None:
    """The two matrices, what they say, and the evidence token by token."""
    pattern = _pattern(found, whole) if beside == "auto" else beside
    trace = (
        _pick_sentence(found, pattern if whole == "head" else "", pattern)
        if found.corpus is not None
        else found.trace
    )
    weights, even = _matrices(found, trace, whole)
    name = found.name if whole == "head" else WHOLES[whole].capitalize()
    evident = evidence(weights, even, trace.tokens, pattern)
    st.markdown(_verdict(found, whole, trace, weights, even))
    labels = unique_labels(tuple(token.display for token in trace.tokens))
    left, right = st.columns(2)
    with left:
        st.markdown(f"**{name}**")
        figure = heatmap_figure(weights, labels, name, colours, full_scale=True)
        st.plotly_chart(figure, key="patterns_attention", config={"displayModeBar": False})
    with right:
        st.markdown(f"**The pattern: {PATTERN_NAMES[pattern]}**")
        if evident.tokens:
            figure = heatmap_figure(evident.ideal, labels, "pattern", colours, full_scale=True)
            st.plotly_chart(figure, key="patterns_ideal", config={"displayModeBar": False})
        else:
            st.info(say_evidence(name, pattern, evident, len(labels)))
    st.caption(
        "Left: who attends to whom, rows attend. Right: a head that does nothing else; where a"
        " token has several such pairs they get the same, and rows without one are empty. Both"
        " have colours from 0 to 1."
    )
    if evident.tokens:
        st.markdown(say_evidence(name, pattern, evident, len(labels)))
        st.dataframe(
            _tokens(evident, weights, labels),
            key="patterns_evidence",
            hide_index=True,
            placeholder="–",
            column_config={
                column: st.column_config.NumberColumn(format="%.3f")
                for column in ("follows", "uniform", "weight")
            },
        )


def _pattern(found: Found, whole: str) -> str:
    """The pattern shown beside where none is chosen: that the head follows, or is nearest to."""
    if whole != "head":
        return "first"
    kind = str(found.row["class"])
    if kind not in (NONE, TOO_SHORT):
        return kind
    tokens = found.query_tokens_of(found.number)
    if kind == TOO_SHORT:  # nothing is claimed: any pattern that the text has may stand beside
        tokens = {name: float("inf") if count else 0.0 for name, count in tokens.items()}
        tokens["induction"] = 0.0
    return nearest_pattern(found.row, found.thresholds_of(found.number), tokens)[0] or "self"


def _matrices(found: Found, trace: Trace, whole: str) -> tuple[Array, Array]:
    """Attention, and that of a head or model with uniform attention, both (token, token)."""
    if whole != "head":
        kind = cast("Overall", whole)
        return overall_attention(trace, kind), uniform_overall(trace, kind)
    allowed = permitted_pairs(trace, found.layer)
    even = uniform_attention(allowed)[found.head if len(allowed) > 1 else 0]
    return trace.attention(found.layer, found.head), even


def _verdict(found: Found, whole: str, trace: Trace, weights: Array, even: Array) -> str:
    if whole == "head":
        return f"Over {found.where}: {found.verdict}" if found.corpus is not None else found.verdict
    name = WHOLES[whole].capitalize()
    if too_short(len(trace.tokens)):
        return f"**{name}: too short to say** ({len(trace.tokens)} of {MIN_TOKENS} tokens)."
    scores = add_induction(mean_scores([measure_matrix(weights, even, trace.tokens)]), None)
    kinds = assign_patterns(scores.means, scores.uniform, scores.query_tokens, found.thresholds)
    named = str(kinds.names[0, 0])
    if named == NONE:
        return f"**{name}** follows no pattern above its threshold."
    score = NAMING[named].score
    return (
        f"**{name}: {PATTERN_NAMES[named]}**, {number(float(scores.means[score][0, 0]))} where"
        f" uniform attention would give {number(float(scores.uniform[score][0, 0]))}."
    )


def _pick_sentence(found: Found, followed: str, pattern: str) -> Trace:
    """A sentence of the corpus, by how much the head follows the pattern on it; its trace.

    `followed` is the pattern where one head is shown, else "": then sentences have no order.
    """
    corpus = found.corpus
    assert corpus is not None  # noqa: S101 - asked for only where there is one
    shares = _sentence_shares(found, followed)
    ranked = [int(place) for place in np.argsort(-np.nan_to_num(shares, nan=-1), kind="stable")]
    ordered = bool(np.isfinite(shares).any())
    if ordered and len(ranked) > _LISTED:
        ranked = ranked[: _LISTED // 2] + ranked[-_LISTED // 2 :]
    options = [str(place + 1) for place in ranked]
    subject = "The sentences are numbered"
    every = [str(place + 1) for place in range(len(shares))]
    asked = controls.choice("sentence", every, subject=subject, default=options[0])
    if asked not in options:
        options.insert(0, asked)
    picked = controls.choice(
        "sentence",
        options,
        f"Sentence ({len(options)} of {len(shares)}: where {found.name} follows"
        f" “{PATTERN_NAMES[pattern]}” most, then least)"
        if ordered
        else f"Sentence ({len(shares)})",
        subject=subject,
        names=lambda option: _sentence_label(found, int(option) - 1, shares),
        menu=True,
    )
    return cache.trace(found.trace.model, corpus.sentences[int(picked) - 1], None)


def _sentence_shares(found: Found, pattern: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How much the chosen head follows the pattern on each sentence; nan where it has no pair."""
    score = NAMING[pattern].score if pattern else ""
    if score not in MEASURED:
        return np.full(len(found.measured), np.nan)
    at = (MEASURED.index(score), found.layer, found.head)
    with np.errstate(invalid="ignore"):
        return np.array([each.sums[at] / each.counts[at] for each in found.measured])


def _sentence_label(
    found: Found, place: int, shares: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> str:
    corpus = found.corpus
    sentence = corpus.sentences[place] if corpus is not None else ""
    share = f"{shares[place]:.2f} · " if np.isfinite(shares[place]) else ""
    return f"{share}{sentence}"


def _tokens(evident: Evidence, weights: Array, labels: tuple[str, ...]) -> pd.DataFrame:
    """A row a token: how much of it follows the pattern, and where it attends most."""
    strongest = evident.strongest
    return pd.DataFrame(
        {
            "token": labels,
            "follows": evident.share,
            "uniform": evident.uniform,
            "attends most to": [labels[key] for key in strongest],
            "weight": weights[np.arange(len(labels)), strongest],
        }
    )
