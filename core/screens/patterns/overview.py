"""All heads: the map, the chosen head's scores beside their uniform baseline, and the table."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.analysis.head_patterns.naming import NAMING, NONE
from core.analysis.head_patterns.registry import PATTERNS
from core.analysis.layers import rows_of
from core.analysis.statistics import RESAMPLES
from core.figures.heads import class_map
from core.figures.palette import Palette
from core.figures.patterns import Bar, pattern_looks, score_bars
from core.model import Trace
from core.screens.patterns.view import View
from core.screens.patterns.wording import verdict, why_missing
from core.ui import controls
from core.ui.cache import first_model
from core.ui.charts import show_chart
from core.ui.corpus_walk import reads_corpora
from core.ui.downloads import contents
from core.ui.head_maps import show_gaps, show_head_map, show_heads
from core.ui.head_tables import names_of, offer_table, show_rows
from core.ui.navigation import ask
from core.ui.place import choose_head
from core.ui.words.pattern_words import has_meaning, pattern_names, score_names, score_words
from core.ui.words.prose import Prose

_words = Prose(__file__)
choose_one = partial(choose_head, whole="head")
_COLUMNS = {"class": "pattern", "confidence": "above threshold"}  # as people read them
_PATTERN_OF = {pattern.score: name for name, pattern in NAMING.items()}


def show_overview(view: View, colours: Palette, score: str) -> None:
    """The map beside the chosen head, then the table."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _show_map(view, colours, score)
        _summarise(view)
    with right:
        st.markdown(verdict(view))
        figure = score_bars(_bars(view), colours)
        show_chart(
            figure,
            key="patterns_bars",
            alt=f"Scores of {view.name}",
            quiet=True,
        )
        st.button("Open in One head", key="patterns_look", on_click=_open_one)
    first_model.when_here(lambda: _show_table(view))


def pick_colouring(trace: Trace) -> str:
    """What the map's colours show."""
    return controls.choice(
        "score",
        ("class", *_scores(trace)),
        "Colour by",
        subject="Heads can be coloured by",
        names=score_names(trace).__getitem__,
        menu=True,
        width=190,
    )


def _scores(trace: Trace) -> list[str]:
    """The scores that have a meaning for this kind of attention, each once."""
    names = score_names(trace)
    scores = [each.score for each in PATTERNS if has_meaning(trace, each)]
    return list({names[score]: score for score in reversed(scores)}.values())[::-1]


def _open_one() -> None:
    controls.pick(part="one", whole="head")


def _summarise(view: View) -> None:
    """How many heads follow each pattern, and which patterns had too few tokens."""
    if view.short:
        more, corpus = view.trace.input.more, reads_corpora(view.trace)
        st.info(_words("short_text", where=view.where, least=MIN_TOKENS, more=more, corpus=corpus))
        return
    counts, names = view.table["class"].value_counts().to_dict(), pattern_names(view.trace)
    total = len(view.table)
    broad = counts.pop("broad", 0)
    answer = _words(
        "followed",
        corpus=view.where if view.corpus is not None else "",
        named=total - counts.get(NONE, 0) - broad,
        total=total,
        patterns=", ".join(f"{counts[name]} {names[name]}" for name in NAMING if name in counts),
        broad=broad,
    )
    ask(answer, "Press a cell to see its head.", tokens=view.tokens)
    tokens = view.query_tokens
    scarce = [
        f"{names[name]} ({tokens[name]:.0f} of {pattern.min_query_tokens})"
        for name, pattern in NAMING.items()
        if 0 < tokens[name] < pattern.min_query_tokens
    ]
    if scarce:
        st.caption(_words("scarce", patterns=", ".join(scarce)))


def _show_map(view: View, colours: Palette, score: str) -> None:
    if score == "class":
        figure = class_map(
            view.grid("class").astype(np.str_),
            view.grid("confidence").astype(np.float64),
            rows_of(view.trace),
            pattern_looks(pattern_names(view.trace), st.context.theme.type, colours),
            colours,
            (view.layer, view.head),
        )
        show_heads(figure, "Map of all heads: patterns", key="patterns_map", on_open=choose_one)
        show_gaps(view.trace)
    else:
        values, name = view.grid(score).astype(np.float64), score_names(view.trace)[score]
        farthest = float(np.nanmax(values, initial=0)) if score == "distance" else 1.0
        show_head_map(
            view.trace,
            values,
            name,
            colours,
            key="patterns_map",
            on_open=choose_one,
            chosen=(view.layer, view.head),
            bounds=(0.0, max(1.0, farthest)),
            title=name,
        )
    st.caption(_map_caption(view, score))


def _map_caption(view: View, score: str) -> str:
    if score == "class":
        return _words("classes")
    baseline = view.table[f"{score}_uniform"]
    if baseline.isna().all():
        pattern = next(each.name for each in PATTERNS if each.score == score)
        return f"Not defined here. {why_missing(view.trace, pattern)}"
    return _words("baseline", score=score, low=baseline.min(), high=baseline.max())


def _bars(view: View) -> list[Bar]:
    row, limits, tokens = view.row, view.limits, view.query_tokens
    bars, names = [], score_names(view.trace)
    for score in _scores(view.trace):
        if score == "distance":
            continue
        pattern = _PATTERN_OF.get(score, "")
        value, limit = row[score], limits.get(pattern, np.nan)
        enough = bool(pattern) and tokens[pattern] >= NAMING[pattern].min_query_tokens
        bars.append(
            Bar(
                names[score],
                value,
                row[f"{score}_uniform"],
                limit if np.isfinite(value) else np.nan,
                row.get(f"{score}_low", np.nan),
                row.get(f"{score}_high", np.nan),
                passes=bool(value > limit) and enough and not view.short,
            )
        )
    return bars


def _show_table(view: View) -> None:
    """A row per head; uniform baselines and intervals are in the download alone."""
    st.header("Every head", anchor=False)
    table, scores, words = view.table, _scores(view.trace), score_words(view.trace)
    first = [name for name in ("class", "confidence", "stability") if name in table]
    shown = table[[*first, *scores]].rename(columns=_COLUMNS)
    shown["pattern"] = shown["pattern"].map(pattern_names(view.trace))
    shown.insert(0, "head", names_of(table))
    columns = {
        name: st.column_config.NumberColumn(
            words[name].short, format="%.3f", help=words[name].score
        )
        for name in scores
    }
    columns |= {
        name: st.column_config.NumberColumn(format="%.3f")
        for name in ("above threshold", "stability")
    }
    show_rows(view, shown, columns, key="patterns_table", on_open=choose_one)
    held = contents("patterns", view.trace.model, "", text=view.corpus is None, on=view.where)
    caption = _words("table", resamples=f"{RESAMPLES:,}" if view.corpus is not None else "")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(caption, width="stretch")
        offer_table(view, held)
