"""What the vector grid says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.vectors import CLOSE_ANGLE, MIN_COSINE, Planes, Source, Summary
from core.ui.examples import written
from core.ui.presets import Preset
from core.ui.words.messages import quote
from core.ui.words.prose import Prose
from core.vocabulary import percent

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
_MANY = 24  # arrows of which a plane has no room to name all
MATHEMATICS = _words("mathematics")


def set_picks(positions: Sequence[int], chosen: Sequence[int]) -> None:
    """Pick the tokens of the `chosen` arrows; `positions` has the token of each arrow shown."""
    st.session_state["pick"] = [positions[index] + 1 for index in chosen]


def describe_close_pairs(planes: Planes, layer: int | None) -> str:
    """How far arrows side by side can be believed, counted in the `layer` shown, or in all."""
    close, similar = (
        int(counts.sum() if layer is None else counts[layer])
        for counts in (planes.close_pairs, planes.similar_pairs)
    )
    degrees = round(np.degrees(CLOSE_ANGLE))
    if not close:
        return _words("no_close_pair", degrees=degrees)
    return _words(
        "close_pairs",
        close=f"{close:,}",
        similar=f"{similar:,}",
        degrees=degrees,
        cosine=MIN_COSINE,
        in_all=layer is None,
    )


def headline(planes: Planes, source: Source, layer: int | None, held: int) -> str:
    """The two tokens, of so many `held`, that are most alike in the `layer` shown, or in any
    (Markdown); else "".
    """
    layers = range(len(planes.closest)) if layer is None else (layer,)
    pairs = [(pair, each) for each in layers if (pair := planes.closest[each]) is not None]
    if not pairs:
        return ""
    pair, best = max(pairs, key=lambda found: found[0].cosine)
    return _words(
        "headline",
        held=held,
        in_all=layer is None,
        layer=planes.layer_labels[best],
        first=quote(planes.labels[pair.first]),
        second=quote(planes.labels[pair.second]),
        cosine=pair.cosine,
        median=pair.median,
        kept=percent(planes.explained[best].sum()),
        source=source,
    )


def too_few(labels: Sequence[str]) -> str:
    """Why fewer than two tokens have no planes, and what to do (Markdown)."""
    return _words("alone", token=quote(labels[0])) if labels else _words("only_special")


def explain(
    source: Source,
    summary: Summary,
    *,
    all_layers: bool,
    special: bool,
    tokens: int,
) -> str:
    """How to read the planes, true for what is drawn; so many `tokens` have arrows in them."""
    one_head = f"head {summary + 1}" if isinstance(summary, int) else None
    if source == "attention":
        summarised = one_head or f"{summary} over heads"
        drawn = _words("attention", heads=summarised, special=special)
    elif source == "hidden states":
        drawn = _words("hidden_states")
    else:
        drawn = _words("of_heads", source=source, heads=one_head or "all heads together")
    return _words("reading", drawn=drawn, all_layers=all_layers, many=tokens > _MANY)


def examples(trace: Trace) -> list[Preset]:
    """Settings worth seeing, each with what it shows."""
    return written(__file__, "", first=trace.layer_labels[0], last=trace.layer_labels[-1])
