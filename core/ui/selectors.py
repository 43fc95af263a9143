"""Pickers that several pages have: one token, pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.analysis.model_map import PAIR_FILTERS, PairFilter
from core.model.trace import Trace
from core.ui import controls


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
