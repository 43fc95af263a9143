"""Pickers that several pages have: the next head, one token, pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from core.analysis.layers import head_beside, layer_beside
from core.analysis.model_map import PAIR_FILTERS, PairFilter
from core.components.stepper import show_stepper
from core.model.trace import Trace
from core.ui import controls
from core.ui.controls import HasHeads

_TRAIL = "_heads_stepped_through"  # since one was picked in another way


def choose_head(layer: int, head: int, **others: Any) -> None:  # noqa: ANN401 - of controls
    """Choose a head by the numbers that people read, and set `others`.

    For callbacks, which run before the page.
    """
    controls.pick(layer=str(layer), head=str(head), **others)


def step_through_heads(trace: HasHeads) -> None:
    """Buttons to the previous and the next head, across layers; for pickers without summaries."""
    layer_labels, heads = trace.layer_labels, trace.shape[1]  # the buttons keep no trace
    _remember_head()
    show_stepper(
        "Previous head",
        "Next head",
        key="step_head",
        on_step=lambda by: _step(
            lambda layer, head: head_beside(layer_labels, heads, layer, head, by)
        ),
    )


def step_through_layers(trace: HasHeads) -> None:
    """Buttons to the same head of the layer above and below, as a matrix of heads shows them."""
    layer_labels = trace.layer_labels
    _remember_head()
    show_stepper(
        "The same head, a layer before",
        "The same head, a layer after",
        key="step_layer",
        arrows="▲▼",
        on_step=lambda by: _step(lambda layer, head: (layer_beside(layer_labels, layer, by), head)),
    )


def _remember_head() -> None:
    if st.session_state.get(_TRAIL, [None])[-1] != _head_picked():
        st.session_state[_TRAIL] = [_head_picked()]


def _step(beside: Callable[[int, int], tuple[int, int]]) -> None:
    # A press that comes while the page runs brings the pickers' values from before that run.
    trail = st.session_state[_TRAIL]
    if (start := _head_picked()) in trail:
        start = trail[-1]
    trail.append(beside(*start))
    choose_head(*trail[-1])


def _head_picked() -> tuple[int, int]:
    """Layer and head as people read them."""
    return int(st.session_state["layer"]), int(st.session_state["head"])


def pick_token(label: str, key: str, trace: Trace, labels: Sequence[str], default: int) -> int:
    """A menu of the tokens that are not special; returns the position of the one picked.

    `labels` has a different entry for each position; links carry the label.
    """
    positions = {
        labels[token.position]: token.position for token in trace.tokens if not token.special
    }
    picked = controls.choice(
        key,
        list(positions),
        label,
        subject="The tokens of this text are",
        default=labels[default],
        menu=True,
        width=210,
    )
    return positions[picked]


def pick_pairs(
    trace: Trace,
    label: str = "",
    *,
    key: str = "filter",
    **look: Any,  # noqa: ANN401 - of the control: names, help
) -> PairFilter:
    """Which sentence attends to which; nothing to choose where there is only one on each side."""
    sides = [{token.segment for token in side} for side in (trace.tokens, trace.key_tokens)]
    offered = [
        pairs
        for pairs in PAIR_FILTERS[1:]
        if all("ab".index(name) in side for name, side in zip(pairs, sides, strict=True))
    ]
    two = len(offered) > 1
    return controls.choice(
        key,
        [PAIR_FILTERS[0], *offered] if two else PAIR_FILTERS[:1],
        label if two else "",
        subject="The pairs are" if two else "With one sentence the pairs are",
        optional=not two,
        **look,
    )
