"""How the model is built, as a diagram and as text: an expander of Home."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.figures.structure import Box, structure_figure
from core.model import ModelError
from core.model.weights.structure import structure_of
from core.ui import cache
from core.ui.messages import quote, show_model_error

if TYPE_CHECKING:
    from core.figures.palette import Palette
    from core.model import Trace
    from core.model.weights.structure import Structure

_LAYER_ROWS = (1, 5)  # of the diagram


def show_structure(trace: Trace, colours: Palette) -> None:
    """Draw the expander for the model on screen; what is in it is read only while it is open."""
    expander = st.expander("How this model is built", key="structure", on_change="rerun")
    if not expander.open:
        return
    with expander:
        try:
            structure = structure_of(cache.model(trace.model))
        except ModelError as error:
            show_model_error(error)
            return
        st.plotly_chart(
            structure_figure(
                _rows(structure, len(trace.tokens), colours),
                _LAYER_ROWS,
                f"layer 1 of {structure.layers}",
                colours,
            ),
            key="structure_figure",
            config={"displayModeBar": False},
        )
        st.caption(_say(structure))
        st.markdown(f"The modules of {quote(structure.model_class)} as PyTorch prints them:")
        st.code(structure.text, language=None, height=360)


def _rows(structure: Structure, tokens: int, colours: Palette) -> list[list[Box]]:
    """What a text of so many tokens goes through, from top to bottom."""
    heads, kv_heads, dim, width = (
        structure.heads,
        structure.kv_heads,
        structure.dim,
        structure.width,
    )
    made = {"q": heads, "k": kv_heads, "v": kv_heads}
    colour = {"q": colours.query, "k": colours.key, "v": None}
    names = {"q": "queries", "k": "keys", "v": "values"}
    thirds = {"q": (0.0, 0.31), "k": (0.345, 0.655), "v": (0.69, 1.0)}
    mlp = f"{width} → {structure.mlp_width} → {width}" if structure.mlp_width else "of each token"
    return [
        [Box(("embeddings", f"{structure.vocabulary:,} tokens known; here {tokens} × {width}"))],
        [
            Box(
                (f"{names[role]}: W_{role.upper()}", f"{width} → {made[role]} × {dim}"),
                *thirds[role],
                colour[role],
            )
            for role in ("q", "k", "v")
        ],
        [
            Box(("scores, then softmax", f"{heads} tables of {tokens} × {tokens}"), 0.0, 0.655),
            Box(("values", f"{tokens} × {kv_heads} × {dim}"), 0.69, 1.0),
        ],
        [Box(("attention × values, heads side by side", f"{tokens} × {heads} × {dim}"))],
        [Box(("W_O, added to what came in", f"{heads} × {dim} → {width}"), colour=colours.accent)],
        [Box(("feed-forward, added to what came in", mlp))],
        [Box(("hidden states", f"{tokens} × {width}"))],
    ]


def _say(structure: Structure) -> str:
    """Where the four maps sit, by the names of this model; and what the diagram leaves out."""
    told = [
        f"{'W_O' if role == 'o' else 'W_' + role.upper()} is {quote(each.name)}"
        f" ({each.inputs} → {each.outputs})"
        for role, each in structure.projections.items()
    ]
    names = "; ".join(told) if told else "This family's names for W_Q, W_K, W_V are not known here"
    shared = (
        f" {structure.heads} query heads share {structure.kv_heads} key heads."
        if structure.kv_heads != structure.heads
        else ""
    )
    return (
        f"In layer 1: {names}.{shared} Left out: normalisation, biases, positions, and in which"
        " order a layer normalises and adds."
    )
