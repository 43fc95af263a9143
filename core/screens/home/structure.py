"""How the model is built, as a diagram and as text: an expander of Home."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.analysis.pairs import reach_of_layers
from core.figures.palette import Palette
from core.figures.structure import Box, Column, stacks_figure, structure_figure
from core.model import ModelError, Trace
from core.model.weights.structure import Attention, Positions, Stack, Structure, structure_of
from core.ui import cache
from core.ui.cache import first_model
from core.ui.charts import show_chart
from core.ui.words.messages import quote, show_model_error
from core.ui.words.prose import Prose
from core.vocabulary import listed

_words = Prose(__file__)
_LAYER_ROWS = (1, 5)  # of the diagram of one stack


def show_structure(trace: Trace, colours: Palette) -> None:
    """Draw the expander for the model on screen; its content is read only while it is open."""
    expander = st.expander("How this model is built", key="structure", on_change="rerun")
    if not expander.open:
        return
    with expander:
        first_model.when_here(partial(_draw, trace, colours), first_model.WORDS)


def _draw(trace: Trace, colours: Palette) -> None:
    try:
        structure = structure_of(cache.model(trace.model))
    except ModelError as error:
        show_model_error(error)
        return
    figure = _figure(structure, trace, colours)
    show_chart(
        figure,
        key="structure_figure",
        alt="How the model is built",
        quiet=True,
    )
    st.caption(_describe(structure, trace.layer_labels[0]))
    st.markdown(f"The modules of {quote(structure.model_class)} as PyTorch prints them:")
    st.code(structure.text, language=None, height=360)


def notes_on_reach(trace: Trace) -> dict[str, str]:
    """Which layers attend globally on this text and which in a window, by term of the glossary."""
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
    """Layers by their numbers, in words."""
    if not layer_labels:
        return "no layer"
    return f"layer{'s' * (len(layer_labels) > 1)} {listed(layer_labels)}"


def _figure(structure: Structure, trace: Trace, colours: Palette) -> Any:  # noqa: ANN401 - of core.figures, which alone knows plotly
    """One stack, or an encoder beside a decoder."""
    if len(structure.stacks) == 1:
        (stack,) = structure.stacks
        note = f"layer {trace.layer_labels[0]} of {stack.layers}"
        rows = _rows(structure, stack, len(trace.tokens), colours)
        return structure_figure(rows, _LAYER_ROWS, note, colours)
    tokens = {each.attention_type: len(each.tokens) for each in (trace, *trace.others)}
    encoder, decoder = (
        _column(structure, stack, tokens.get(stack.attention[0].attention_type), colours)
        for stack in structure.stacks
    )
    return stacks_figure(encoder, decoder, colours)


def _column(structure: Structure, stack: Stack, tokens: int | None, colours: Palette) -> Column:
    """A stack of an encoder-decoder, from below, for a text of so many tokens, if that is known."""
    width, vocabulary = structure.width, structure.vocabulary
    states = f"{tokens or 'tokens'} × {width}"
    is_decoder = len(stack.attention) > 1
    name = "decoder" if is_decoder else "encoder"
    below = [Box((f"{name}: embeddings", f"vocabulary: {vocabulary:,}", states))]
    if stack.positions is not None and stack.positions.way in ("learned", "fixed"):
        below.append(Box(("+ positions", _positions(stack.positions))))
    then = Box(("add & normalise",))
    layer: list[Box] = []
    for attention in stack.attention:
        layer += [_attention_box(attention, stack, width, colours), then]
    layer += [Box(("feed-forward", _mlp(stack, width))), then]
    above = [Box(("hidden states", states))]
    if is_decoder and structure.head != "none":
        above.append(Box(("language-model head", f"{width} → {vocabulary:,}, softmax")))
    return Column(
        tuple(below),
        tuple(layer),
        tuple(above),
        f"{stack.layers} layers",
        modality=layer.index(then) + 1 if is_decoder else None,
    )


def _attention_box(attention: Attention, stack: Stack, width: int, colours: Palette) -> Box:
    """The heads of one kind, and what their maps take and give."""
    names = {"encoder": "self-attention", "decoder": "masked self-attention"}
    heads, dim = attention.heads, attention.dim
    queries, keys = heads * dim, attention.kv_heads * dim
    lines = [names.get(attention.attention_type, "cross attention"), f"{heads} heads × {dim} dims"]
    if attention.attention_type == "cross":
        lines.append("K, V from the encoder")
    elif stack.positions is not None and stack.positions.way in ("relative", "rotary"):
        lines.append(f"+ {_positions(stack.positions)}")
    if width == queries == keys:
        lines += ["W_Q, W_K, W_V, W_O:", f"each {width} → {width}"]
    elif queries == keys:
        lines += [f"W_Q, W_K, W_V: {width} → {queries}", f"W_O: {queries} → {width}"]
    else:
        lines += [f"W_Q: {width} → {queries}", f"W_K, W_V: {width} → {keys}"]
        lines.append(f"W_O: {queries} → {width}")
    colour = colours.key if attention.attention_type == "cross" else colours.accent
    return Box(tuple(lines), colour=colour)


def _positions(positions: Positions) -> str:
    rows = "" if positions.rows is None else f"{positions.rows:,}"
    if positions.way == "relative":
        return f"{rows} relative distances"
    if positions.way == "rotary":
        return "rotary positions"
    return f"{positions.way}{f', {rows} rows' if rows else ''}"


def _mlp(stack: Stack, width: int) -> str:
    return f"{width} → {stack.mlp_width} → {width}" if stack.mlp_width else "of each token"


def _rows(structure: Structure, stack: Stack, tokens: int, colours: Palette) -> list[list[Box]]:
    """What a text of so many tokens goes through in one stack, from top to bottom."""
    (attention,) = stack.attention
    heads, kv_heads = attention.heads, attention.kv_heads
    dim, width = attention.dim, structure.width
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
        [Box(("feed-forward, added to what came in", _mlp(stack, width)))],
        [Box(("hidden states", f"{tokens} × {width}"))],
    ]


def _describe(structure: Structure, layer: int) -> str:
    """Where the four maps are, by this model's names, and what the diagram leaves out."""
    way = structure.stacks[0].positions
    return _words(
        "structure",
        single=len(structure.stacks) == 1,
        maps=" ".join(
            _describe_maps(each, layer) for stack in structure.stacks for each in stack.attention
        ),
        positions="" if way is None else _positions(way),
        head=structure.head,
    )


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
