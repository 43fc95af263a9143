"""What the projection page says, and the comparison of several sentences."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.analysis.pair_projection import PairProjection, parse_marked, project_pair, token_at
from core.figures.palette import Palette, token_colours
from core.figures.projection import sentences_figure
from core.model import ModelError
from core.ui import cache, controls
from core.ui.cache import first_model
from core.ui.charts import show_chart
from core.ui.examples import written
from core.ui.place import choose_head
from core.ui.presets import Preset
from core.ui.words.messages import quote
from core.ui.words.pages import go_to
from core.ui.words.prose import Prose
from core.vocabulary import listed

MAX_SENTENCES = 8
EXAMPLE_LINES = """\
Oh, this [book]? I've enjoyed [it].
My friend told me about this [class] and I love [it] so far!
The [dog] barked because [it] was hungry.
She bought a [car] and drove [it] home.
The [teacher] smiled when [she] saw the drawing."""
_words = Prose(__file__)
MATHEMATICS = _words("mathematics")


def examples() -> list[Preset]:
    """Pairs worth seeing."""
    return written(__file__, "")


def describe_pair(projection: PairProjection, name_a: str, name_b: str) -> str:
    """One sentence about the pair; the names are as they stand in it (Markdown)."""
    layer, head = projection.strongest_head
    every = projection.layer_labels
    alike = tuple(every[layer] for layer in projection.same_way)
    return _words(
        "pair",
        alike=listed(alike),
        first=alike[0] if alike else 0,
        single=len(alike) == 1,
        in_all=alike == every,
        to_the_end=alike == every[-len(alike) :],
        weight=f"{projection.a_to_b[layer, head]:.2f}",
        layer=every[layer],
        head=head + 1,
        a=name_a,
        b=name_b,
    )


def titles(projection: PairProjection) -> tuple[list[str], list[str]]:
    """A title and a note for every plane: the layer, and the signed length or why there is none."""
    names = [f"Layer {number}" for number in projection.layer_labels]
    notes = [
        f"{value:+.2f}" if np.isfinite(value) else "a token has no direction here"
        for value in projection.in_plane
    ]
    return names, notes


def open_table(layer: int, head: int) -> None:
    """Show the table of a head that was clicked."""
    choose_head(layer, head)
    go_to("heatmap")


def compare_sentences(model_name: str, colours: Palette) -> None:
    """The same measure for several sentences at once, so that a class can test a rule."""
    st.header("Is it the same layer for other sentences?", anchor=False)
    label = _words("lines", most=MAX_SENTENCES)
    lines = controls.text("lines", EXAMPLE_LINES, label, height=140)
    draw = partial(_draw_sentences, model_name, lines, colours)
    first_model.when_here(draw, first_model.WORDS)


def _draw_sentences(model_name: str, lines: str, colours: Palette) -> None:
    names: list[str] = []
    lengths: list[NDArray[np.float64]] = []
    sentences = [line.strip() for line in lines.splitlines() if line.strip()]
    for line in sentences[:MAX_SENTENCES]:
        result = _project_line(model_name, line)
        if isinstance(result, str):
            st.warning(f"{quote(line)}: {result}")
        else:
            names.append(f"{len(names) + 1}. {result[0]}")
            lengths.append(result[1].in_plane)
            layer_labels = result[1].layer_labels
    if len(sentences) > MAX_SENTENCES:
        st.info(_words("not_shown", count=len(sentences) - MAX_SENTENCES))
    if not names:
        return
    line_colours = token_colours(len(names), st.context.theme.type)
    chart = sentences_figure(np.stack(lengths), names, line_colours, layer_labels, colours)
    show_chart(chart, key="projection_sentences", alt="A along B, by layer and sentence")
    st.caption(_words("reading"))


def _project_line(model_name: str, line: str) -> tuple[str, PairProjection] | str:
    """What the line compares, and how; or why it cannot be measured."""
    marked = parse_marked(line)
    if marked is None:
        return _words("not_marked")
    text, span_a, span_b = marked
    try:
        trace = cache.trace(model_name, text, None)
    except ModelError:
        return _words("not_read")
    a, b = token_at(trace, span_a), token_at(trace, span_b)
    if a is None or b is None:
        return _words("no_token")
    return f"{text[slice(*span_a)]} on {text[slice(*span_b)]}", project_pair(trace, a, b)
