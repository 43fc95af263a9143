"""The layer and the head of a page, and the one stepper that changes them, by a click or a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import streamlit as st

from core.components.stepper import show_stepper
from core.ui import controls
from core.vocabulary import Layered, without_attention

Summary = TypeVar("Summary", bound=str)
HeadSummary = TypeVar("HeadSummary", bound=str)


SUMMARIES = {"mean", "median", "max"}  # of layers or heads, where a page offers them


class HasHeads(Layered, Protocol):
    """A trace or an atlas: a model's name, its layers, and (layers, heads, ...)."""

    @property
    def model(self) -> str:
        """The name it was loaded by."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Layers, heads, and more."""


def pick_head(
    trace: HasHeads,
    *,
    layers: tuple[Summary, ...] = (),
    heads: tuple[HeadSummary, ...] = (),
) -> tuple[Summary | int, HeadSummary | int]:
    """Layer and head from 0, or one of these summaries of them; with the stepper."""
    picked = layer(trace, summaries=layers), head(trace, summaries=heads)
    draw_stepper("layer", "head")
    return picked


def draw_stepper(*keys: str) -> None:
    """The stepper of "layer", of "head", or of both, which have been declared in this run."""
    declared = controls.declared()
    show_stepper(
        {key: {each: each for each in declared[key].allowed} for key in keys},
        {key: st.session_state[key] for key in keys},
        key="place",
        on_pick=lambda picked: controls.pick(**picked),
    )


def choose_head(layer: int, head: int, **others: Any) -> None:  # noqa: ANN401 - of controls
    """Choose a head by the numbers that people read, and set `others`.

    For callbacks, which run before the page.
    """
    controls.pick(layer=str(layer), head=str(head), **others)


def layer(trace: HasHeads, *, summaries: tuple[Summary, ...] = ()) -> Summary | int:
    """The index of a layer, at first the suggested or the last; or one of `summaries` ("mean").

    People and links have the model's own numbers, of the layers that attend.
    """
    layer_labels = trace.layer_labels
    subject = f"{trace.model} has {len(layer_labels)} layers"
    if without_attention(trace):
        subject += " that attend"
    return _declare("layer", layer_labels, str(layer_labels[-1]), subject, summaries)


def head(
    trace: HasHeads, *, summaries: tuple[Summary, ...] = (), follow: bool = True
) -> Summary | int:
    """A head from 0, or one of `summaries` ("mean", "median", "max").

    At first it is the suggested one, if the page does `follow` suggestions, else the first option.
    """
    heads = trace.shape[1]
    subject = f"{trace.model} has {heads} heads a layer"
    default = next(iter(summaries), "1")
    return _declare("head", range(1, heads + 1), default, subject, summaries, follow=follow)


def _declare(
    key: str,
    labels: Sequence[int],
    default: str,
    subject: str,
    summaries: tuple[Summary, ...],
    *,
    follow: bool = True,
) -> Summary | int:
    options: list[str] = [*summaries, *map(str, labels)]
    if follow:
        default = controls.suggested(key, options) or default
    picked = controls.choice(key, options, subject=subject, default=default)
    return picked if picked in summaries else labels.index(int(picked))
