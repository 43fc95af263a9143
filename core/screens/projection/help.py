"""What the projection page says, and the comparison of several sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.pair_projection import parse_marked, project_pair, token_at
from core.figures.palette import token_colours
from core.figures.projection import sentences_figure
from core.model import ModelError
from core.ui import cache, controls
from core.ui.messages import quote
from core.ui.navigation import go_to
from core.ui.presets import Preset, show
from core.ui.sidebar import EXAMPLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.pair_projection import PairProjection
    from core.figures.palette import Palette

MOST_SENTENCES = 8
EXAMPLE_LINES = """\
Oh, this [book]? I've enjoyed [it].
My friend told me about this [class] and I love [it] so far!
The [dog] barked because [it] was hungry.
She bought a [car] and drove [it] home.
The [teacher] smiled when [she] saw the drawing."""


def titles(projection: PairProjection) -> tuple[list[str], list[str]]:
    """A title and a note for every plane: the layer, and the signed length or why there is none."""
    names = [f"Layer {layer + 1}" for layer in range(len(projection.in_plane))]
    notes = [
        f"{value:+.2f}" if np.isfinite(value) else "a token has no direction here"
        for value in projection.in_plane
    ]
    return names, notes


def open_table(layer: int, head: int) -> None:
    """Show the table of a head, from 0, that was clicked."""
    st.session_state.update(layer=str(layer + 1), head=str(head + 1))
    go_to("heatmap")


def compare_sentences(model_name: str, colours: Palette) -> None:
    """The same measure for several sentences at once, so that a class can test a rule."""
    st.subheader("Is it the same layer for other sentences?", anchor=False)
    lines = controls.text(
        "lines",
        EXAMPLE_LINES,
        f"Up to {MOST_SENTENCES} sentences, one a line, with two words marked: [B] first, then [A]",
        height=140,
    )
    names, lengths = _measure(model_name, lines)
    if not names:
        return
    chart = sentences_figure(
        np.stack(lengths), names, token_colours(len(names), st.context.theme.type), colours
    )
    st.plotly_chart(chart, key="projection_sentences")
    st.caption(
        "Signed length of A along B in the plane, one line a sentence; the thick line is"
        " their mean. A word of several pieces counts by its first piece."
    )


def _measure(model_name: str, lines: str) -> tuple[list[str], list[NDArray[np.float64]]]:
    """Names and signed lengths (layer,) of the sentences; says which cannot be measured."""
    names: list[str] = []
    lengths: list[NDArray[np.float64]] = []
    written = [line.strip() for line in lines.splitlines() if line.strip()]
    for line in written[:MOST_SENTENCES]:
        found = _project_line(model_name, line)
        if isinstance(found, str):
            st.warning(f"{quote(line)}: {found}")
        else:
            name, projection = found
            names.append(f"{len(names) + 1}. {name}")
            lengths.append(projection.in_plane)
    if len(written) > MOST_SENTENCES:
        st.info(f"{len(written) - MOST_SENTENCES} more lines are not shown.")
    return names, lengths


def _project_line(model_name: str, line: str) -> tuple[str, PairProjection] | str:
    """What the line compares, and how; or why it cannot be measured."""
    marked = parse_marked(line)
    if marked is None:
        return "mark exactly two words with square brackets."
    text, span_a, span_b = marked
    try:
        trace = cache.trace(model_name, text, None)
    except ModelError:
        return "this sentence cannot be run."
    a, b = token_at(trace, span_a), token_at(trace, span_b)
    if a is None or b is None:
        return "a marked word was cut off or is no token."
    name = f"{text[slice(*span_a)]} on {text[slice(*span_b)]}"
    return name, project_pair(trace, a, b)


def show_presets() -> None:
    """Sentences worth trying; they replace the text."""
    show(
        "projection",
        lambda: [
            Preset(
                "it on book",
                "The chapter's question: at which layer is *it* understood as *book*?",
                {"text": EXAMPLES[0][0], "two": False, "a": "", "b": ""},
            ),
            Preset(
                "it on class",
                "A longer way between the pronoun and its noun, and a *she* that means somebody.",
                {
                    "text": EXAMPLES[1][0],
                    "two": False,
                    "a": "it",
                    "b": "class",
                },
            ),
        ],
    )


def show_mathematics() -> None:
    """The definition, and what to keep in mind."""
    with st.expander("The mathematics, and what to keep in mind"):
        st.markdown(
            r"""
With $a$ and $b$ the vectors of the two tokens in a layer's plane (PCA of the mean attention rows,
special tokens left out, not normalised), both scaled to length 1,

$$
\operatorname{proj}_b a = \frac{\langle a, b\rangle}{\lVert b\rVert^2}\, b,
\qquad
\text{signed length} = \frac{\langle a, b\rangle}{\lVert b\rVert} = \cos\angle(a, b).
$$

*In full space* uses the centred attention rows themselves, which have as many dimensions as there
are tokens.

**Keep in mind:** tokens that **attend in the same way** point the same way, which is not meaning
the same; and two that point the same way in a plane may still differ in what it leaves out: compare
*in full space*. Two tokens can attend alike because both rest on the same comma. Whether *it*
looks at *book* is what the attention lines and the map of heads show; the arrows show whether *it*
looks where *book* looks.
"""
        )
