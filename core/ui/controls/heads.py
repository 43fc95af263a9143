"""The choice of a layer and a head, by the numbers that people read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import streamlit as st

from core.ui.controls.declared import SUGGESTED
from core.ui.controls.values import Option, choice
from core.ui.words.glossary import TERMS
from core.vocabulary import Layered, without_attention

_SUMMARIES = {"mean": "mean", "median": "median", "max": "maximum"}  # of layers or heads


class HasHeads(Layered, Protocol):
    """A trace or an atlas: a model's name, its layers, and (layers, heads, ...)."""

    @property
    def model(self) -> str:
        """The name it was loaded by."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Layers, heads, and more."""


def layer(
    trace: HasHeads,
    *,
    summaries: tuple[Option, ...] = (),
    **look: Any,  # noqa: ANN401 - of `_place`: width, drawn, titled
) -> Option | int:
    """The index of a layer, at first the suggested or the last; or one of `summaries` ("mean").

    People and links have the model's own numbers, of the layers that attend.
    """
    layer_labels = trace.layer_labels
    subject = f"{trace.model} has {len(layer_labels)} layers"
    if without_attention(trace):
        subject += " that attend"
    return _place("layer", layer_labels, str(layer_labels[-1]), subject, summaries, **look)


def head(
    trace: HasHeads,
    *,
    summaries: tuple[Option, ...] = (),
    **look: Any,  # noqa: ANN401 - of `_place`: width, drawn, titled, follow
) -> Option | int:
    """A head from 0, or one of `summaries` ("mean", "median", "max").

    At first it is the suggested one, if the page does `follow` suggestions, else the first option.
    """
    heads = trace.shape[1]
    subject = f"{trace.model} has {heads} heads a layer"
    layer_labels, default = range(1, heads + 1), next(iter(summaries), "1")
    return _place("head", layer_labels, default, subject, summaries, **look)


def _place(
    key: str,
    layer_labels: Sequence[int],
    default: str,
    subject: str,
    summaries: tuple[Option, ...],
    *,
    width: int | None = None,
    drawn: bool = True,
    titled: bool = True,
    follow: bool = True,
) -> Option | int:
    """A menu; without a title above it, it is only as high as a button."""

    def name(option: str) -> str:
        return f"{_SUMMARIES[option]} of {key}s" if option in _SUMMARIES else f"{key} {option}"

    options: list[str] = [*summaries, *map(str, layer_labels)]
    suggested = st.session_state.get(SUGGESTED, {}).get(key)
    if follow and suggested in options:
        default = suggested
    picked = choice(
        key,
        options,
        key.capitalize() if drawn else "",
        subject=subject,
        default=default,
        names=name,
        menu=True,
        width=width,
        help=TERMS[key] if titled else None,
        label_visibility="visible" if titled else "collapsed",
    )
    return picked if picked in summaries else layer_labels.index(int(picked))
