"""A head's report: what it follows, what is odd about it, its likes, and contexts of every decile.

Contexts come from every tenth of the head's strength: the strongest alone would mislead.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from weakref import ref

import numpy as np
import streamlit as st

from core.analysis.anomalies import head_row
from core.analysis.head_patterns.naming import NAMING
from core.analysis.head_patterns.registry import PATTERNS
from core.atlas import Atlas
from core.atlas.one_head.contexts import Contexts, Decile, draw_deciles
from core.atlas.one_head.sample import Gatherer, HeadSample, draw_sentences
from core.components.contexts import Context, ContextGroup, show_contexts
from core.model import LoadedModel, ModelError
from core.model.weights import output_projection
from core.screens.atlas.head.effect import Replaced, facts_of, replace_head
from core.screens.atlas.head.report_file import HeadReport, report_file
from core.screens.atlas.screen import Screen, contents_of
from core.screens.atlas.sentence import OTHER_TOKENS, model_of, traces_of
from core.screens.atlas.wording import number
from core.ui.cache.session import remembered
from core.ui.downloads import offer_file
from core.ui.serve.progress import Bar
from core.ui.words.messages import escape, show_model_error
from core.ui.words.pattern_words import PATTERN_NAMES, WORDS
from core.ui.words.prose import Prose

_SAMPLE, _DRAWN = "_atlas_dossier_sample", "_atlas_dossier_drawn"
_REPLACED = "_atlas_dossier_replaced"
_MAX_DRAWN = 8  # heads whose contexts are kept: stepping back and forth runs nothing again
PER_DECILE = 2
_words = Prose(__file__)


def show_head_report(screen: Screen) -> None:
    """What is known of the head on screen, and its file; or why there is nothing."""
    st.header(f"Head report of {screen.name}", anchor=False)
    model = model_of(screen.atlas)
    if model is None:
        return
    try:
        atlas = ref(screen.atlas)
        sample = remembered(_SAMPLE, atlas, lambda: _sample(screen.atlas, model))
        if sample is None:
            st.warning(OTHER_TOKENS)
            return
        head = atlas, screen.layer, screen.head
        groups = remembered(_DRAWN, head, lambda: _groups(screen, model, sample), _MAX_DRAWN)
        sentences = sample.contexts.sentence
        replaced = remembered(
            _REPLACED, head, lambda: replace_head(screen, model, sentences), _MAX_DRAWN
        )
    except ModelError as error:
        show_model_error(error)
        return
    _draw(screen, _head_report(screen, sample, groups, replaced))


def _draw(screen: Screen, report: HeadReport) -> None:
    atlas = screen.atlas
    st.markdown("\n".join(f"- **{name}:** {words}" for name, words in report.facts))
    show_contexts(report.groups, key="atlas_contexts")
    st.caption(report.note)
    held = contents_of(screen, f"{screen.file_name}-report")
    points = atlas.points[screen.stage][screen.layer, screen.head, :, :2].copy()
    write = partial(report_file, screen.name, atlas.model, report, points)
    offer_file(
        "Save the head report", partial(write, held.facts), held, ".html", key="atlas_dossier_file"
    )


def _head_report(
    screen: Screen,
    sample: HeadSample,
    groups: Sequence[ContextGroup],
    replaced: Replaced | None,
) -> HeadReport:
    note = _words(
        "how_contexts_were_drawn",
        sentences=sample.sentences,
        tokens=sample.tokens,
        causal=screen.atlas.causal,
        contexts=sample.contexts.strength[screen.layer, screen.head].size,
        drawn=PER_DECILE,
    )
    return HeadReport([*_facts(screen, sample), *facts_of(replaced)], groups, note)


def _facts(screen: Screen, sample: HeadSample) -> list[tuple[str, str]]:
    strengths = sample.contexts.strength[screen.layer, screen.head]
    low, middle, high = (number(float(each)) for each in np.percentile(strengths, (10, 50, 90)))
    usual = f"median {middle}; a tenth of the contexts lies below {low}, a tenth above {high}"
    return [
        ("Head pattern", _pattern(screen, sample)),
        ("What is odd", _flags(screen, sample)),
        ("Strength", usual),
    ]


def _pattern(screen: Screen, sample: HeadSample) -> str:
    row = sample.patterns.iloc[screen.layer * screen.atlas.shape[1] + screen.head]
    name = str(row["class"])
    words = PATTERN_NAMES.get(name, name)
    if name not in NAMING:
        return f"{words} (induction needs texts of its own and is not measured here)"
    score = next(each.score for each in PATTERNS if each.name == name)
    return (
        f"{words}: {WORDS[name].gives.format(number(float(row[score])))} (uniform baseline"
        f" {number(float(row[f'{score}_uniform']))})"
    )


def _flags(screen: Screen, sample: HeadSample) -> str:
    layer_labels = screen.atlas.layer_labels
    row = head_row(sample.anomalies, layer_labels[screen.layer], screen.head + 1)
    reasons = str(row["reasons"])
    lengths = "" if sample.exact else " (values count by their own length)"
    return f"{escape(reasons)}{lengths}" if reasons else f"nothing{lengths}"


def _sample(atlas: Atlas, model: LoadedModel) -> HeadSample | None:
    """What all heads do in some sentences; None if the atlas has other tokens."""
    sentences = draw_sentences(atlas)
    grams = output_projection.value_grams(model)
    gatherer, taken = Gatherer(), 0
    slot = st.empty()
    bar = Bar(slot.progress)
    bar.show(0.0, _progress(0, len(sentences)))
    for sentence, trace in traces_of(atlas, model, sentences):
        norms = output_projection.transformed_norms(model, trace, grams)
        gatherer.take(sentence, trace, norms)
        taken += 1
        bar.step(taken / len(sentences), _progress(taken, len(sentences)))
    slot.empty()
    return gatherer.result() if taken else None


def _progress(done: int, count: int) -> str:
    return f"The model reads sentence {done:,} of {count:,} …"


def _groups(screen: Screen, model: LoadedModel, sample: HeadSample) -> Sequence[ContextGroup]:
    """The drawn contexts with their attention, run again for the head on screen."""
    head = screen.layer, screen.head
    contexts, strengths = sample.contexts, sample.contexts.strength[head]
    deciles = draw_deciles(strengths, PER_DECILE)
    wanted = sorted({int(contexts.sentence[i]) for each in deciles for i in each.drawn})
    with st.spinner(f"Drawing contexts of {screen.name} …"):
        rows = {
            sentence: (trace.attention(*head), [token.display for token in trace.tokens])
            for sentence, trace in traces_of(screen.atlas, model, wanted)
        }
    return [_group(each, contexts, head, rows) for each in deciles]


def _group(
    decile: Decile, contexts: Contexts, head: tuple[int, int], rows: dict[int, Any]
) -> ContextGroup:
    shown = []
    for i in decile.drawn:
        sentence, query = int(contexts.sentence[i]), int(contexts.position[i])
        attention, tokens = rows[sentence]
        key = int(contexts.key[(*head, i)])
        shown.append(Context(tokens, attention[query], query, key, sentence + 1))
    low, high = number(decile.low), number(decile.high)
    title = _words("decile", number=decile.number, low=low, high=high, contexts=decile.size)
    return ContextGroup(title, shown)
