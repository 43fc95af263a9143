"""Layer and head pickers that speak the link's language: numbers from 1, "mean" and "max"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import streamlit as st

from core.ui.address import restore_choice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    from core.model import Trace

    class HasHeads(Protocol):
        """A trace or an atlas: a model's name, and (layers, heads, ...)."""

        @property
        def model(self) -> str:
            """The name it was loaded by."""

        @property
        def shape(self) -> tuple[int, ...]:
            """Layers, heads, and more."""


Layer = int | Literal["mean"]
Head = int | Literal["mean", "median", "max"]
_HEAD_LABELS = {"mean": "mean of heads", "median": "median of heads", "max": "maximum of heads"}


def pick_part(parts: Mapping[str, str], *, key: str = "part", told: str = "The parts are") -> str:
    """Which part of a page is shown, the first one first; `parts` are names in links and labels."""
    restore_choice(key, list(parts), next(iter(parts)), told)
    st.segmented_control(
        "Part",
        list(parts),
        key=key,
        format_func=parts.__getitem__,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    chosen: str = st.session_state[key]
    return chosen


def restore_head(trace: HasHeads) -> tuple[int, int]:
    """Layer and head from 0 as the link or another page left them, where no picker is drawn."""
    layers, heads = trace.shape[:2]
    for key, count, default in (("layer", layers, layers), ("head", heads, 1)):
        options = [str(number) for number in range(1, count + 1)]
        restore_choice(key, options, str(default), f"{trace.model} has {count} {key}s")
    return int(st.session_state["layer"]) - 1, int(st.session_state["head"]) - 1


def pick_layer(trace: HasHeads, *, mean: bool = False) -> Layer:
    """A layer picker, the last layer first; returns the layer from 0, or "mean"."""
    layers = trace.shape[0]
    options = [*(["mean"] if mean else []), *map(str, range(1, layers + 1))]
    restore_choice("layer", options, str(layers), f"{trace.model} has {layers} layers")
    picked = st.selectbox(
        "Layer", options, key="layer", format_func=_layer_label, persist_state="session"
    )
    return "mean" if picked == "mean" else int(picked) - 1


def pick_head(trace: HasHeads, *, summaries: tuple[str, ...] = ()) -> Head:
    """A head picker; returns the head from 0, or one of `summaries` ("mean", "median", "max")."""
    heads = trace.shape[1]
    options = [*summaries, *map(str, range(1, heads + 1))]
    restore_choice("head", options, options[0], f"{trace.model} has {heads} heads a layer")
    picked = st.selectbox(
        "Head", options, key="head", format_func=_head_label, persist_state="session"
    )
    return cast("Head", picked if picked in _HEAD_LABELS else int(picked) - 1)


def step_through_heads(trace: HasHeads) -> None:
    """Buttons to the previous and the next head, from layer to layer; for pickers without means."""
    layers, heads = trace.shape[:2]

    def step(by: int) -> None:
        place = (int(st.session_state["layer"]) - 1) * heads + int(st.session_state["head"]) - 1
        layer, head = divmod((place + by) % (layers * heads), heads)
        st.session_state.update(layer=str(layer + 1), head=str(head + 1))

    with st.container(horizontal=True, gap="small", width="content"):
        st.button("◀", key="head_before", help="Previous head", on_click=step, args=(-1,))
        st.button("▶", key="head_after", help="Next head", on_click=step, args=(1,))


def pick_token(label: str, key: str, trace: Trace, labels: Sequence[str], default: int) -> int:
    """A picker for one token that is not special; returns its position.

    `labels` has one entry a position, each different; links carry the label, as people read it.
    """
    ordinary = [token.position for token in trace.tokens if not token.special]
    options = [labels[position] for position in ordinary]
    if not st.session_state.get(key):
        st.session_state.pop(key, None)
    restore_choice(key, options, labels[default], "The tokens of this text are")
    picked = st.selectbox(label, options, key=key, persist_state="session")
    return ordinary[options.index(picked)]


def _layer_label(option: str) -> str:
    return "mean of layers" if option == "mean" else f"layer {option}"


def _head_label(option: str) -> str:
    return _HEAD_LABELS.get(option, f"head {option}")
