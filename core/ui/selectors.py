"""Layer and head pickers that speak the link's language: numbers from 1, "mean" and "max"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.ui.address import restore_choice

if TYPE_CHECKING:
    from core.analysis.attention_table import Head, Layer
    from core.model import Trace


def pick_layer(trace: Trace, *, mean: bool = False) -> Layer:
    """A layer picker, the last layer first; returns the layer from 0, or "mean"."""
    layers = trace.shape[0]
    options = [*(["mean"] if mean else []), *map(str, range(1, layers + 1))]
    restore_choice("layer", options, str(layers), f"{trace.model} has {layers} layers")
    picked = st.selectbox(
        "Layer", options, key="layer", format_func=_layer_label, persist_state="session"
    )
    return "mean" if picked == "mean" else int(picked) - 1


def pick_head(trace: Trace, *, summaries: tuple[str, ...] = ()) -> Head:
    """A head picker; returns the head from 0, or one of `summaries` ("mean", "max")."""
    heads = trace.shape[1]
    options = [*summaries, *map(str, range(1, heads + 1))]
    restore_choice("head", options, options[0], f"{trace.model} has {heads} heads a layer")
    picked = st.selectbox(
        "Head", options, key="head", format_func=_head_label, persist_state="session"
    )
    if picked == "mean":
        return "mean"
    return "max" if picked == "max" else int(picked) - 1


def _layer_label(option: str) -> str:
    return "mean of layers" if option == "mean" else f"layer {option}"


def _head_label(option: str) -> str:
    return {"mean": "mean of heads", "max": "maximum of heads"}.get(option, f"head {option}")
