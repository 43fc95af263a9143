"""How the model is built, as a diagram and as text: an expander of Home."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.figures.structure import Box, structure_figure
from core.model import ModelError
from core.model.weights.structure import structure_of
from core.ui import cache
from core.ui.charts import show_chart
from core.ui.messages import quote, show_model_error

if TYPE_CHECKING:
    from core.figures.palette import Palette
    from core.model import Trace
    from core.model.weights.structure import Structure

_HEADS = {
    "none": "This checkpoint has no language-model head: it gives vectors, and guesses no words.",
    "embeddings": "On top, a language-model head turns hidden states into probabilities of words;"
    " its weights are the embeddings.",
    "own": "On top, a language-model head turns hidden states into probabilities of words; its"
    " weights are its own.",
}
_LAYER_ROWS = (1, 5)  # of the diagram


def show_structure(trace: Trace, colours: Palette) -> None:
    """Draw the expander for the model on screen; its content is read only while it is open."""
    expander = st.expander("How this model is built", key="structure", on_change="rerun")
    if not expander.open:
        return
    with expander:
        try:
            structure = structure_of(cache.model(trace.model))
        except ModelError as error:
            show_model_error(error)
            return
        rows = _rows(structure, len(trace.tokens), colours)
        first, last = trace.numbers[0], trace.depth or structure.layers
        note = f"layer {first} of {last}"
        figure = structure_figure(rows, _LAYER_ROWS, note, colours)
        show_chart(
            figure,
            key="structure_figure",
            alt="How the model is built",
            quiet=True,
        )
        st.caption(_describe(structure, first))
        st.markdown(f"The modules of {quote(structure.model_class)} as PyTorch prints them:")
        st.code(structure.text, language=None, height=360)


def _rows(structure: Structure, tokens: int, colours: Palette) -> list[list[Box]]:
    """What a text of so many tokens goes through, from top to bottom."""
    heads, kv_heads = structure.heads, structure.kv_heads
    dim, width = structure.dim, structure.width
    mlp = f"{width} → {structure.mlp_width} → {width}" if structure.mlp_width else "of each token"
    thirds = ((0.0, 0.31), (0.345, 0.655), (0.69, 1.0))
    maps = (
        ("queries: W_Q", heads, colours.query),
        ("keys: W_K", kv_heads, colours.key),
        ("values: W_V", kv_heads, None),
    )
    return [
        [Box(("embeddings", f"a vocabulary of {structure.vocabulary:,}; here {tokens} × {width}"))],
        [
            Box((name, f"{width} → {count} × {dim}"), *third, colour)
            for (name, count, colour), third in zip(maps, thirds, strict=True)
        ],
        [
            Box(("scores, then softmax", f"{heads} tables of {tokens} × {tokens}"), 0.0, 0.655),
            Box(("values", f"{tokens} × {kv_heads} × {dim}"), *thirds[2]),
        ],
        [Box(("attention × values, heads side by side", f"{tokens} × {heads} × {dim}"))],
        [Box(("W_O, added to what came in", f"{heads} × {dim} → {width}"), colour=colours.accent)],
        [Box(("feed-forward, added to what came in", mlp))],
        [Box(("hidden states", f"{tokens} × {width}"))],
    ]


def _describe(structure: Structure, layer: int) -> str:
    """Where the four maps are, by this model's names, and what the diagram leaves out."""
    maps = "; ".join(
        f"W_{role.upper()} is {quote(each.name)} ({each.inputs} → {each.outputs})"
        for role, each in structure.projections.items()
    )
    shared = (
        f" {structure.heads} query heads share {structure.kv_heads} key heads."
        if structure.kv_heads != structure.heads
        else ""
    )
    return (
        f"In layer {layer}: {maps or 'the names of W_Q, W_K and W_V in this family are not known'}."
        f"{shared} Left out: normalisation, biases, positions, and in which order a layer"
        f" normalises and adds. {_HEADS[structure.head]}"
    )
