"""What the projection page says, and the comparison of several sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.layers import listed
from core.analysis.pair_projection import parse_marked, project_pair, token_at
from core.figures.palette import token_colours
from core.figures.projection import sentences_figure
from core.model import ModelError
from core.ui import cache, controls
from core.ui.charts import show_chart
from core.ui.frame.text_row import EXAMPLES
from core.ui.messages import quote
from core.ui.navigation import go_to
from core.ui.presets import Preset
from core.ui.selectors import choose_head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.pair_projection import PairProjection
    from core.figures.palette import Palette

MAX_SENTENCES = 8
EXAMPLE_LINES = """\
Oh, this [book]? I've enjoyed [it].
My friend told me about this [class] and I love [it] so far!
The [dog] barked because [it] was hungry.
She bought a [car] and drove [it] home.
The [teacher] smiled when [she] saw the drawing."""
MATHEMATICS = r"""
With $a$ and $b$ the vectors of the two tokens in a layer's plane (PCA of the mean attention rows,
special tokens left out, not normalised), both scaled to length 1,

$$
\operatorname{proj}_b a = \frac{\langle a, b\rangle}{\lVert b\rVert^2}\, b,
\qquad
\text{signed length} = \frac{\langle a, b\rangle}{\lVert b\rVert} = \cos\angle(a, b).
$$

*In full space* uses the centred attention rows themselves, which have as many dimensions as there
are tokens.

**Keep in mind:** arrows point the same way for tokens that **attend in the same way**, which is not
the same as meaning the same; two tokens may attend alike because both rest on one comma. And arrows
that agree in a plane may still differ in what it leaves out: compare *in full space*. The attention
lines and the map of heads show whether *it* looks at *book*; the arrows show whether *it* looks
where *book* looks.
"""
EXAMPLES_TO_TRY = [
    Preset(
        "it on book",
        "The question this page began with: at which layer is *it* understood as *book*?",
        {"text": EXAMPLES[0][0], "two": False, "a": "", "b": ""},
    ),
    Preset(
        "it on class",
        "A longer way from the pronoun to its noun, and a *she* that is a person.",
        {"text": EXAMPLES[1][0], "two": False, "a": "it", "b": "class"},
    ),
]


def describe_pair(projection: PairProjection, name_a: str, name_b: str) -> str:
    """One sentence about the pair; the names are as they stand in it (Markdown)."""
    layer, head = projection.strongest_head
    weight = f"{projection.a_to_b[layer, head]:.2f}"
    attention = (
        f"No head gives as much as 0.01 of {name_a}'s attention to {name_b}"
        if weight == "0.00"
        else f"L{projection.numbers[layer]} H{head + 1} gives {weight} of {name_a}'s attention to"
        f" {name_b}, the most of any head"
    )
    return f"{_where(projection.same_way, projection.numbers)} (in the plane). {attention}."


def _where(same_way: tuple[int, ...], every: tuple[int, ...]) -> str:
    """In which layers' planes two tokens point the same way."""
    numbers = tuple(every[layer] for layer in same_way)
    if not numbers:
        return "In no layer do both attend alike"
    if numbers == every:
        return "In every layer both attend alike"
    if len(numbers) == 1:
        return f"Only in layer {numbers[0]} do both attend alike"
    if numbers == every[-len(numbers) :]:
        return f"Only from layer {numbers[0]} on do both attend alike"
    return f"Only in layers {listed(numbers)} do both attend alike"


def titles(projection: PairProjection) -> tuple[list[str], list[str]]:
    """A title and a note for every plane: the layer, and the signed length or why there is none."""
    names = [f"Layer {number}" for number in projection.numbers]
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
    lines = controls.text(
        "lines",
        EXAMPLE_LINES,
        f"Up to {MAX_SENTENCES} sentences, one per line. Mark two words: first [B], then [A]",
        height=140,
    )
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
            numbers = result[1].numbers
    if len(sentences) > MAX_SENTENCES:
        st.info(f"{len(sentences) - MAX_SENTENCES} more lines are not shown.")
    if not names:
        return
    line_colours = token_colours(len(names), st.context.theme.type)
    chart = sentences_figure(np.stack(lengths), names, line_colours, numbers, colours)
    show_chart(chart, key="projection_sentences", alt="A along B, by layer and sentence")
    st.caption(
        "Signed length of A along B in the plane, one line per sentence, and their mean as a thick"
        " line. A word of several pieces counts by its first piece."
    )


def _project_line(model_name: str, line: str) -> tuple[str, PairProjection] | str:
    """What the line compares, and how; or why it cannot be measured."""
    marked = parse_marked(line)
    if marked is None:
        return "mark exactly two words with square brackets."
    text, span_a, span_b = marked
    try:
        trace = cache.trace(model_name, text, None)
    except ModelError:
        return "the model cannot read this sentence."
    a, b = token_at(trace, span_a), token_at(trace, span_b)
    if a is None or b is None:
        return "a marked word is cut off or has no token."
    return f"{text[slice(*span_a)]} on {text[slice(*span_b)]}", project_pair(trace, a, b)
