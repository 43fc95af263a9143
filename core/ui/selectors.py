"""Pickers that several pages have: a part of the page, the next head, one token, pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.model_map import PAIR_FILTERS
from core.ui import controls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from core.analysis.model_map import PairFilter
    from core.model import Trace
    from core.ui.controls import HasHeads


def pick_part(
    parts: Mapping[str, str], *, key: str = "part", subject: str = "The parts are"
) -> str:
    """Which part of a page is shown, at first the first; `parts` maps names in links to labels."""
    return controls.choice(key, parts, "Part", subject=subject, label_visibility="collapsed")


def choose_head(layer: int, head: int, **others: Any) -> None:  # noqa: ANN401 - of controls
    """Choose a head by the numbers that people read, and set `others`.

    For callbacks, which run before the page.
    """
    st.session_state.update(layer=str(layer), head=str(head), **others)


def step_through_heads(trace: HasHeads) -> None:
    """Buttons to the previous and the next head, across layers; for pickers without summaries."""
    numbers, heads = trace.numbers, trace.shape[1]  # the buttons keep no trace

    def step(by: int) -> None:
        place = numbers.index(int(st.session_state["layer"]))
        index = (place * heads + int(st.session_state["head"]) - 1 + by) % (len(numbers) * heads)
        choose_head(numbers[index // heads], index % heads + 1)

    with st.container(horizontal=True, gap="small", width="content"):
        st.button("◀", key="head_before", help="Previous head", on_click=step, args=(-1,))
        st.button("▶", key="head_after", help="Next head", on_click=step, args=(1,))


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
