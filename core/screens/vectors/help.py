"""What the vector grid says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.analysis.vectors import CLOSE_ANGLE, MIN_COSINE, Planes, Source, Summary
from core.ui.words.messages import quote
from core.ui.words.prose import Prose
from core.vocabulary import percent

_words = Prose(__file__)
_MANY = 24  # arrows of which a plane has no room to name all
TOO_FEW = _words("too_few")


def set_picks(positions: Sequence[int], chosen: Sequence[int]) -> None:
    """Pick the tokens of the `chosen` arrows; `positions` has the token of each arrow shown."""
    st.session_state["pick"] = [positions[index] + 1 for index in chosen]


def describe_close_pairs(planes: Planes, layer: int | None) -> str:
    """How far arrows side by side can be believed, counted in the `layer` shown, or in all."""
    close, similar = (
        int(counts.sum() if layer is None else counts[layer])
        for counts in (planes.close_pairs, planes.similar_pairs)
    )
    return _words(
        "close_pairs",
        close=f"{close:,}",
        similar=f"{similar:,}",
        degrees=round(np.degrees(CLOSE_ANGLE)),
        cosine=MIN_COSINE,
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


def explain(source: Source, summary: Summary, tokens: int) -> str:
    """How to read the planes, true for what is drawn; so many `tokens` have arrows in them."""
    of = f"head {summary + 1}" if isinstance(summary, int) else f"{summary} over heads"
    if source != "attention" and not isinstance(summary, int):
        of = "all heads together"
    return _words(
        "reading",
        source={"attention": "attention rows"}.get(source, source),
        of="as the layer receives them" if source == "hidden states" else of,
        many=tokens > _MANY,
    )
