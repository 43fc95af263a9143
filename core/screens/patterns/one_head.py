"""One head, the mean of everything or rollout: its attention beside a pattern, token by token."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.head_patterns.evidence import Evidence, evidence
from core.analysis.head_patterns.measure import (
    MEASURED,
    mean_scores,
    measure_matrix,
)
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS, too_short
from core.analysis.head_patterns.naming import NAMING, NONE, TOO_SHORT, assign_patterns
from core.analysis.head_patterns.table import add_induction
from core.analysis.pairs import permitted, permitted_somewhere, uniform_attention
from core.analysis.rollout import Overall, overall_attention, uniform_overall
from core.figures.heatmap import heatmap_figure
from core.figures.labels import literal
from core.figures.palette import Palette
from core.model import Trace, trace_text
from core.model.trace import Array
from core.screens.patterns.corpus import Corpus
from core.screens.patterns.view import View
from core.screens.patterns.wording import describe_evidence, nearest_pattern, verdict
from core.ui import cache, controls, python
from core.ui.charts import show_chart
from core.ui.words.pattern_words import has_meaning, pattern_names
from core.ui.words.prose import Prose
from core.vocabulary import labels_of

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


_words = Prose(__file__)
WHOLES = {"head": "one head", "mean": "mean of everything", "rollout": "rollout"}
_LISTED = 60  # sentences to choose from: those that follow the pattern most, and least


def pick_view(trace: Trace) -> tuple[str, str]:
    """Whose attention is shown, and beside what."""
    cross = trace.source is not None
    whole = controls.choice(
        "whole",
        {name: label for name, label in WHOLES.items() if not cross or name != "rollout"},
        "Attention of",
        subject="Attention can be that of",
        menu=True,
        width=165,
        help=_words("wholes", cross=cross),
    )
    beside = controls.choice(
        "beside",
        ("auto", *(name for name, each in NAMING.items() if has_meaning(trace, each))),
        "Beside the pattern",
        subject="The patterns are",
        names={"auto": "the one it follows", **pattern_names(trace)}.__getitem__,
        menu=True,
        width=180,
    )
    return whole, beside


def show_one(
    view: View, colours: Palette, whole: str, beside: str, settings: DeltaGenerator
) -> None:
    """The two matrices, what they show, and the evidence token by token.

    A sentence of the corpus is chosen in `settings`.
    """
    pattern = _pattern(view, whole) if beside == "auto" else beside
    trace = view.trace
    if view.corpus is not None:
        with settings:
            trace = _pick_sentence(view, view.corpus, pattern, ordered=whole == "head")
    weights, uniform = _matrices(view, trace, whole)
    name = view.name if whole == "head" else WHOLES[whole].capitalize()
    shown = python.shown("shown", evidence, weights, uniform, trace.tokens, pattern, trace.source)
    labels, columns = (labels_of(tokens) for tokens in (trace.tokens, trace.key_tokens))
    description = describe_evidence(name, pattern, shown, trace)
    title = pattern_names(trace)[pattern]
    left, right = st.columns(2)
    with left:
        drawn = np.where(permitted_somewhere(trace), weights, np.nan)  # what is masked is hatched
        figure = heatmap_figure(drawn, labels, name, colours, full_scale=True, columns=columns)
        figure.update_xaxes(title_text=f"<b>{name}</b>, to (key)")
        show_chart(
            figure,
            key="patterns_attention",
            alt=f"Attention of {name}",
            quiet=True,
        )
    with right:
        if shown.tokens:
            figure = heatmap_figure(
                shown.ideal, labels, "pattern", colours, full_scale=True, columns=columns
            )
            figure.update_xaxes(title_text=f"<b>The pattern: {literal(title)}</b>, to (key)")
            named = f"The pattern {title}"
            show_chart(figure, key="patterns_ideal", alt=named, quiet=True)
        else:
            st.markdown(f"**The pattern: {title}**")
            st.info(description)
    st.markdown(_verdict(view, whole, trace, weights, uniform))
    st.caption(_words("two_matrices", pattern=title))
    if shown.tokens:
        st.markdown(description)
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


def _pattern(view: View, whole: str) -> str:
    """The pattern shown when none is chosen: the one the head follows, or the nearest."""
    if whole != "head":
        return "first"
    followed = str(view.row["class"])
    if followed not in (NONE, TOO_SHORT):
        return followed
    tokens = view.query_tokens
    if followed == TOO_SHORT:  # nothing is claimed: any pattern that the text has will do
        tokens = {name: np.inf if count else 0.0 for name, count in tokens.items()}
        tokens["induction"] = 0.0
    nearest, _ = nearest_pattern(view.row, view.limits, tokens)
    return nearest or ("self" if view.trace.source is None else "first")


def _matrices(view: View, trace: Trace, whole: str) -> tuple[Array, Array]:
    """Attention, and what uniform attention would be, both (token, key token)."""
    if whole != "head":
        kind = cast("Overall", whole)
        return (
            python.shown("weights", overall_attention, trace, kind),
            python.shown("uniform", uniform_overall, trace, kind),
        )
    allowed = python.shown("allowed", permitted, trace, view.layer, view.head)
    return (
        python.shown("weights", trace.attention, view.layer, view.head),
        python.shown("uniform", uniform_attention, allowed),
    )


def _verdict(view: View, whole: str, trace: Trace, weights: Array, uniform: Array) -> str:
    if whole == "head":
        return verdict(view) if view.corpus is None else f"Over {view.where}: {verdict(view)}"
    name = WHOLES[whole].capitalize()
    if too_short(tokens := len(trace.tokens)):
        return _words("whole_too_short", whole=name, tokens=tokens, least=MIN_TOKENS)
    measured = measure_matrix(weights, uniform, trace.tokens, trace.source)
    scores = add_induction(mean_scores([measured]), None)
    assigned = assign_patterns(scores.means, scores.uniform, scores.query_tokens, view.thresholds)
    pattern = str(assigned.names[0, 0])
    if pattern == NONE:
        return _words("whole_unnamed", whole=name)
    score = NAMING[pattern].score
    return _words(
        "whole_named",
        whole=name,
        pattern=pattern_names(trace)[pattern],
        score=scores.means[score].item(),
        uniform=scores.uniform[score].item(),
    )


def _pick_sentence(view: View, corpus: Corpus, pattern: str, *, ordered: bool) -> Trace:
    """The trace of a sentence, `ordered` by how much the chosen head follows the pattern on it."""
    shares = np.full(len(corpus.sentences), np.nan)
    if ordered and (score := NAMING[pattern].score) in MEASURED:
        place = MEASURED.index(score), view.layer, view.head
        with np.errstate(invalid="ignore"):  # nan where the sentence has no such pair
            shares = np.array([each.sums[place] / each.counts[place] for each in view.measured])
    ordered = bool(np.isfinite(shares).any())
    order = np.argsort(-shares, kind="stable").tolist()  # nan comes last
    if ordered and len(order) > _LISTED:
        order = order[: _LISTED // 2] + order[-_LISTED // 2 :]
    options = [str(index + 1) for index in order]
    subject = "The sentences are numbered"
    every = [str(index + 1) for index in range(len(shares))]
    asked = controls.choice("sentence", every, subject=subject, default=options[0])
    if asked not in options:
        options.insert(0, asked)

    def name(option: str) -> str:
        index = int(option) - 1
        share = f"{shares[index]:.2f} · " if np.isfinite(shares[index]) else ""
        return f"{share}{corpus.sentences[index]}"

    label = _words(
        "sentence",
        shown=len(options),
        total=len(shares),
        ordered=ordered,
        head=view.name,
        pattern=pattern_names(view.trace)[pattern],
    )
    picked = controls.choice("sentence", options, label, subject=subject, names=name, menu=True)
    text = corpus.sentences[int(picked) - 1]
    run = python.call(trace_text, python.MODEL, text, max_tokens=cache.MAX_TOKENS, decode=False)
    return python.made("sentence", cache.trace(view.trace.model, text, None), run)


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
