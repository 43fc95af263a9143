"""The page on which pattern each head follows, and the pictures of similar heads."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.head_patterns.naming import MIN_TOKENS, NAMING, NONE
from core.analysis.head_patterns.registry import MIN_QUERY_TOKENS, PATTERNS
from core.analysis.head_patterns.similarity import (
    Distances,
    HeadMap,
    compare_heads,
    map_heads,
    nearest_heads,
)
from core.analysis.layers import place_layers
from core.figures.heads import class_map, head_scatter
from core.figures.palette import Palette
from core.figures.patterns import ScoreBar, pattern_looks, score_bars
from core.model import Trace
from core.screens.heads.card import describe_head
from core.screens.heads.measured import Heads
from core.screens.heads.screen import show_numbers, show_overview
from core.ui import cache, controls
from core.ui.charts import show_chart
from core.ui.corpus_walk import reads_corpora, show_unread
from core.ui.downloads import contents
from core.ui.heads import show_gaps, show_head_map, show_heads
from core.ui.navigation import set_headline
from core.ui.place import choose_head
from core.ui.presets import Preset
from core.ui.words.numbers import number
from core.ui.words.pattern_words import has_meaning, pattern_names, score_names, words_for
from core.ui.words.prose import Prose
from core.vocabulary import head_name

_words = Prose(__file__)
choose_one = partial(choose_head, whole="head")
_open_one_head = partial(controls.pick, part="one", whole="head")
_PATTERN_OF = {pattern.score: name for name, pattern in NAMING.items()}
_SCORES = {pattern.score for pattern in PATTERNS}
_NEAREST = 10  # heads in the list
_MAX_DISTANCES = 8  # kept, each between all pairs of heads: 40 kB, 900 kB for 336 heads


def show_patterns(heads: Heads, colours: Palette, score: str) -> None:
    """Show the answer, and the map beside what is known about the chosen head."""
    model = heads.trace.model
    export = contents("patterns", model, "", text=not heads.over_corpus, on=heads.where)

    def draw_map() -> None:
        _show_map(heads, colours, score)
        _summarise(heads)

    show_overview(heads, colours, export, draw_map, partial(_show_card, heads, colours))


def pick_colouring(heads: Heads) -> str:
    """Choose what the map's colours show: the pattern, or any measure."""
    scores = score_names(heads.trace)  # short ones: the row has no room for titles
    names = {name: scores.get(name, name.replace("_", " ")) for name in heads.measures}
    return controls.choice(
        "score",
        {"class": scores["class"]} | names,
        "Colour by",
        subject="Heads can be coloured by",
        menu=True,
        width=190,
    )


def _show_card(heads: Heads, colours: Palette) -> None:
    st.markdown(describe_head(heads))
    figure = score_bars(_bars(heads), colours)
    show_chart(figure, key="patterns_bars", alt=f"Scores of {heads.name}", quiet=True)
    with st.container(horizontal=True):
        st.button("Open in One head", key="patterns_look", on_click=_open_one_head)
        show_numbers(heads)


def _summarise(heads: Heads) -> None:
    """How many heads follow each pattern, and which patterns had too few query tokens."""
    if heads.short:
        more, corpus = heads.trace.input.more, reads_corpora(heads.trace)
        st.info(_words("short_text", where=heads.where, least=MIN_TOKENS, more=more, corpus=corpus))
        return
    counts, names = heads.table["class"].value_counts().to_dict(), pattern_names(heads.trace)
    total = len(heads.table)
    broad = counts.pop("broad", 0)
    answer = _words(
        "followed",
        corpus=heads.where if heads.over_corpus else "",
        named=total - counts.get(NONE, 0) - broad,
        total=total,
        patterns=", ".join(f"{counts[name]} {names[name]}" for name in NAMING if name in counts),
        broad=broad,
    )
    set_headline(answer, "Press a cell to see its head.", tokens=heads.tokens)
    tokens = heads.query_tokens
    scarce = [
        f"{names[name]} ({tokens[name]:.0f} of {pattern.min_query_tokens})"
        for name, pattern in NAMING.items()
        if 0 < tokens[name] < pattern.min_query_tokens
    ]
    if scarce:
        st.caption(_words("scarce", patterns=", ".join(scarce)))


def _show_map(heads: Heads, colours: Palette, score: str) -> None:
    look: dict[str, Any] = {"key": "patterns_map", "on_open": choose_one}
    chosen = heads.layer, heads.head
    if score == "class":
        figure = class_map(
            heads.grid("class").astype(np.str_),
            heads.grid("confidence").astype(np.float64),
            place_layers(heads.trace),
            pattern_looks(pattern_names(heads.trace), st.context.theme.type, colours),
            colours,
            chosen,
        )
        show_heads(figure, "Map of all heads: patterns", **look)
        show_gaps(heads.trace)
    else:
        measure, values = heads.measures[score], heads.grid(score).astype(np.float64)
        look |= measure.look | {"chosen": chosen}
        show_head_map(heads.trace, values, measure.title, colours, **look)
    if caption := _map_caption(heads, score):
        st.caption(caption)


def _map_caption(heads: Heads, score: str) -> str:
    if score == "class":
        return _words("classes")
    if score not in _SCORES:
        return ""
    baseline = heads.table[f"{score}_uniform"]
    if baseline.isna().all():
        pattern = next(each.name for each in PATTERNS if each.score == score)
        return f"Not defined here. {_why_missing(heads.trace, pattern)}"
    return _words("baseline", score=score, low=baseline.min(), high=baseline.max())


def _why_missing(trace: Trace, pattern: str) -> str:
    """Why a pattern has no score on this text, in a sentence."""
    repeated = any(each.name == pattern and each.measured == "repeated" for each in PATTERNS)
    if repeated and not reads_corpora(trace):
        return _words("encoder_alone")
    return words_for(trace)[pattern].missing


def _bars(heads: Heads) -> list[ScoreBar]:
    row, limits, tokens = heads.row, heads.limits, heads.query_tokens
    bars, names = [], score_names(heads.trace)
    for score in heads.measures:
        if score not in _SCORES - {"distance"}:
            continue
        pattern = _PATTERN_OF.get(score, "")
        value, limit = row[score], limits.get(pattern, np.nan)
        enough = bool(pattern) and tokens[pattern] >= NAMING[pattern].min_query_tokens
        bars.append(
            ScoreBar(
                names[score],
                value,
                row[f"{score}_uniform"],
                limit if np.isfinite(value) else np.nan,
                row.get(f"{score}_low", np.nan),
                row.get(f"{score}_high", np.nan),
                passes=bool(value > limit) and enough and not heads.short,
            )
        )
    return bars


@st.cache_resource(max_entries=_MAX_DISTANCES, show_spinner="Comparing every pair of heads …")
def _distances(key: cache.TraceKey) -> Distances:
    return compare_heads(cache.trace(*key))


@st.cache_resource(max_entries=_MAX_DISTANCES, show_spinner="Laying out the map …")
def _head_map(model: str, key: cache.TraceKey | None, _distances: Distances) -> HeadMap:  # noqa: ARG001 - the key
    """The map of heads on a text, or over the sample corpus if `key` is None."""
    return map_heads(_distances.mean)


def show_similar(heads: Heads, colours: Palette) -> None:
    """Show the map of distances between heads, and the heads nearest to the chosen one."""
    count = len(heads.table)
    if count < 2:
        st.info(_words("single_head"))
        return
    distances = heads.distances or _distances(heads.key)
    head_map = _head_map(heads.key.model, None if heads.over_corpus else heads.key, distances)
    nearest = nearest_heads(distances.mean, heads.number, _NEAREST)
    patterns, names = heads.table["class"].tolist(), pattern_names(heads.trace)
    left, right = st.columns([5, 4], gap="medium")
    with left:
        looks = pattern_looks(names, st.context.theme.type, colours)
        labels, chosen = heads.trace.layer_labels, heads.number
        figure = head_scatter(head_map.points, labels, patterns, chosen, looks, colours)
        show_heads(figure, "Map of similar heads", key="patterns_alike", on_open=choose_one)
        st.caption(
            _words(
                "map_of_similar",
                where=heads.where,
                tokens=distances.tokens,
                compared=distances.compared,
                queries=heads.trace.input.queries,
                stress=head_map.stress,
            )
        )
    with right:
        st.markdown(f"**Nearest to {heads.name}**")
        rows = [
            (
                head_name(heads.trace, *divmod(i, heads.trace.shape[1])),
                round(distance, 3),
                names[patterns[i]],
            )
            for i, distance in nearest
        ]
        frame = pd.DataFrame(rows, columns=["head", "distance", "pattern"])
        st.dataframe(frame, key="patterns_nearest", hide_index=True)
        mean = distances.mean.sum() / (count * (count - 1))
        st.caption(_words("distances", mean=mean))


def show_limits(trace: Trace) -> None:
    """Say which part of an encoder-decoder reads the corpus."""
    if trace.input.has_words:
        induction = "" if trace.source else ", like the random sequences of induction,"
        show_unread(trace, f"The sample corpus{induction}")


def examples(heads: Heads) -> list[Preset]:
    """Settings worth seeing with this kind of attention."""
    presets = []
    if heads.trace.source is None:  # in cross attention there is no previous token
        presets.append(_strongest(heads, "previous", f"Looking {heads.trace.input.back}"))
    presets.append(_strongest(heads, "first", "Resting on the first token"))
    if reads_corpora(heads.trace):
        state = {"part": "heads", "source": "corpus", "score": "class"}
        presets.append(Preset("Short texts mislead", _words("short_texts"), state))
    return presets


def _strongest(heads: Heads, pattern: str, title: str) -> Preset:
    """The head with the highest score."""
    score = NAMING[pattern].score
    first = int(heads.table[score].fillna(-1).to_numpy().argmax())
    layer, head = divmod(first, heads.trace.shape[1])
    sentence = _words(
        "strongest",
        head=head_name(heads.trace, layer, head),
        share=number(float(heads.table[score].iloc[first])),
        where=getattr(heads.trace.input, pattern),
    )
    place = {"layer": str(heads.trace.layer_labels[layer]), "head": str(head + 1)}
    return Preset(title, sentence, {"part": "one", "whole": "head", **place})


def mathematics(trace: Trace) -> str:
    """Definitions, with sources, of the scores that this kind of attention has."""
    names = pattern_names(trace)
    return _words(
        "mathematics",
        named=", ".join(
            f"{names[name]} ({each.threshold:g})"
            for name, each in NAMING.items()
            if has_meaning(trace, each)
        ),
        least=MIN_QUERY_TOKENS,
        short=MIN_TOKENS,
    )
