"""How the model is built, as a diagram and as text: an expander of Home."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from core.analysis.pairs import reach_of_layers
from core.figures.palette import Palette
from core.model import ModelError, Trace
from core.model.weights.structure import Attention, structure_of
from core.ui import cache
from core.ui.cache import first_model
from core.ui.words.messages import quote, show_model_error
from core.ui.words.prose import Prose, fill_page
from core.vocabulary import listed

_words = Prose(__file__)
_STACK_WIDTH = 380  # pixels


def show_structure(trace: Trace, colours: Palette) -> None:
    """Draw the expander for the model on screen; its content is computed only while it is open."""
    expander = st.expander("How this model is built", key="structure", on_change="rerun")
    if not expander.open:
        return
    with expander:
        first_model.when_loaded(partial(_draw, trace, colours), first_model.NEEDS_MODEL)


def _draw(trace: Trace, colours: Palette) -> None:
    try:
        structure = structure_of(cache.model(trace.model))
    except ModelError as error:
        show_model_error(error)
        return
    tokens = {each.attention_type: len(each.tokens) for each in (trace, *trace.others)}
    diagram = Path(__file__).with_suffix(".svg")
    st.image(
        fill_page(diagram, structure=structure, tokens=tokens, colours=colours).strip(),
        width=_STACK_WIDTH * len(structure.stacks),
    )
    maps = [
        _describe_maps(each, trace.layer_labels[0])
        for stack in structure.stacks
        for each in stack.attention
    ]
    st.caption(_words("structure", maps=" ".join(maps), head=structure.head))
    st.markdown(f"The modules of {quote(structure.model_class)} as PyTorch prints them:")
    st.code(structure.text, language=None, height=360)


def notes_on_reach(trace: Trace) -> dict[str, str]:
    """Which layers have global attention on this text and which a window, by glossary term."""
    farthest = len(trace.key_tokens) - 1
    local = {
        number: reach
        for number, reach in zip(trace.layer_labels, reach_of_layers(trace), strict=True)
        if reach < farthest
    }
    rest = [number for number in trace.layer_labels if number not in local]
    in_windows = [
        f"{_layers([number for number in local if local[number] == reach])}, at most {reach} tokens"
        " away"
        for reach in sorted(set(local.values()))
    ]
    return {
        "global attention": f"On this text, in this model: {_layers(rest)}.",
        "local attention": f"On this text, in this model: {'; '.join(in_windows) or _layers([])}.",
        "hard attention": "This model's attention is soft.",
    }


def _layers(layer_labels: Sequence[int]) -> str:
    """The numbers of layers, in words."""
    if not layer_labels:
        return "no layer"
    return f"layer{'s' * (len(layer_labels) > 1)} {listed(layer_labels)}"


def _describe_maps(attention: Attention, layer: int) -> str:
    return _words(
        "maps",
        attention_type=attention.attention_type,
        layer=layer,
        maps="; ".join(
            f"W_{role.upper()} is {quote(each.name)} ({each.inputs} → {each.outputs})"
            for role, each in attention.projections.items()
        ),
        heads=attention.heads,
        kv_heads=attention.kv_heads,
    )
