"""Controls for a page's layer and head, with the stepper, its tokens, and pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import streamlit as st

from core.analysis.model_map import PAIR_FILTERS, PairFilter
from core.components.stepper import show_stepper
from core.model.trace import Trace
from core.ui import address, controls
from core.vocabulary import Layered, without_attention

if TYPE_CHECKING:
    from core.model import Trace

Summary = TypeVar("Summary", bound=str)
HeadSummary = TypeVar("HeadSummary", bound=str)


SUMMARIES = {"mean", "median", "max"}  # of layers or heads, where a page offers them


class HasHeads(Layered, Protocol):
    """A trace or an atlas: a model's name, its layers, and (layers, heads, ...)."""

    @property
    def model(self) -> str:
        """The name that it was loaded by."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Layers, heads, and more."""


def pick_head(
    trace: HasHeads,
    *,
    layers: tuple[Summary, ...] = (),
    heads: tuple[HeadSummary, ...] = (),
) -> tuple[Summary | int, HeadSummary | int]:
    """Pick layer and head, from 0 or one of these summaries; with the stepper."""
    picked = layer(trace, summaries=layers), head(trace, summaries=heads)
    draw_stepper("layer", "head")
    return picked


def draw_stepper(*keys: str) -> None:
    """Draw the stepper for "layer", "head", or both; these must be declared in this run."""
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
    """The index of a layer, by default the suggested or the last; or one of `summaries` ("mean").

    People and links use the model's own layer numbers; only layers with attention are offered.
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

    The default is the suggested head if the page does `follow` suggestions, else the first option.
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


def pick_token(label: str, key: str, trace: Trace, labels: Sequence[str], default: int) -> int:
    """A menu of the tokens that are not special; returns the picked position.

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
    """Pick which sentence attends to which; no choice if there is only one on each side."""
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


CELL = "cell"  # query and key, positions from 1
_TEXT = "_text_of_cell"


def pinned_pair(trace: Trace) -> tuple[int, ...]:
    """The pair pinned in the link or the session; empty once the text has changed."""
    state = st.session_state
    text = hash((trace.tokens, trace.source))
    if state.setdefault(_TEXT, text) != text and not address.asks_for(CELL):
        state[CELL] = []
    state[_TEXT] = text
    sizes = len(trace.tokens), len(trace.key_tokens)
    cell = tuple(controls.tokens(CELL, range(1, max(sizes) + 1)))
    if len(cell) != 2 or any(place > size for place, size in zip(cell, sizes, strict=True)):
        cell = ()
    state[CELL] = list(cell)
    return cell
