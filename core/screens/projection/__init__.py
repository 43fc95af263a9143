"""What the projection page says about two tokens, and draws of them in each part."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.analysis.pair_projection import PairProjection
from core.components.points import Arrow, show_planes
from core.figures.palette import Palette
from core.model import Trace
from core.ui.downloads import Contents
from core.ui.heads import show_head_map
from core.ui.place import choose_head
from core.ui.words.messages import quote
from core.ui.words.pages import go_to
from core.ui.words.prose import Prose
from core.vocabulary import listed, percent

_words = Prose(__file__)


def headline(part: str, projection: PairProjection, a: str, b: str) -> str:
    """One sentence that answers the part's question; `a` and `b` are Markdown for the tokens."""
    layer, head = projection.strongest_head
    every = projection.layer_labels
    alike = tuple(every[layer] for layer in projection.same_way)
    full = np.nan_to_num(projection.in_full, nan=-np.inf)
    best = int(full.argmax())
    return _words(
        "headline",
        part=part,
        alike=listed(alike),
        single=len(alike) == 1,
        in_all=alike == every,
        cosine=projection.in_full[best],
        best=every[best],
        kept=percent(projection.kept.mean()),
        weight=f"{projection.a_to_b[layer, head]:.2f}",
        layer=every[layer],
        head=head + 1,
        a=a,
        b=b,
    )


def show_badge(part: str, projection: PairProjection, a: str, b: str) -> None:
    """Show how far the first panel can be trusted: a number, with its meaning in a popover."""
    if part == "like":
        quality, layers = projection.kept, projection.layer_labels
        low, high = int(quality.argmin()), int(quality.argmax())
        apart = np.nan_to_num(np.abs(projection.in_plane - projection.in_full))
        far = int(apart.argmax())
        label = f"Projection quality {percent(quality.mean())}"
        details = _words(
            "quality",
            mean=percent(quality.mean()),
            low=f"{percent(quality[low])} (layer {layers[low]})",
            high=f"{percent(quality[high])} (layer {layers[high]})",
            apart=apart[far],
            layer=layers[far],
        )
    else:
        above, uniform = projection.a_to_b > projection.uniform[:, None], projection.uniform
        label = f"{above.sum()} of {above.size} heads above uniform"
        details = _words("baseline", a=a, b=b, low=uniform.min(), high=uniform.max())
    with st.popover(label, type="tertiary", width="content"):
        st.markdown(details)


def show_projections(
    projection: PairProjection, names: tuple[str, str], colours: Palette, export: Contents
) -> None:
    """Show A's projection onto B in each layer's plane; `names` are those of A and B."""
    (a, b), along = map(quote, names), " along ".join(names)
    st.header(f"{a} along {b} in each layer's plane", anchor=False)
    notes = [
        f"{value:+.2f}" if np.isfinite(value) else "a token has no direction here"
        for value in projection.in_plane
    ]
    show_planes(
        projection.vectors,
        [
            Arrow(names[1], colours.accent, f"B: {names[1]}"),
            Arrow(names[0], colours.query, f"A: {names[0]}"),
            Arrow(along, colours.alert, along),
        ],
        [f"Layer {number}" for number in projection.layer_labels],
        notes,
        key="projection_planes",
        right_angle=True,
        picture=export.titled(along),
    )
    st.caption(_words("planes", a=a, b=b))


def show_linking_heads(
    trace: Trace, projection: PairProjection, names: tuple[str, str], colours: Palette
) -> None:
    """Show how much A attends to B in every head; a click opens that head's table."""
    st.header("Which heads link these two words?", anchor=False)
    key, name = "projection_heads", " → ".join(names)
    show_head_map(trace, projection.a_to_b, name, colours, key=key, on_open=_open_table)
    a, b = map(quote, names)
    st.caption(_words("heads", a=a, b=b))


def _open_table(layer: int, head: int) -> None:
    choose_head(layer, head)
    go_to("heatmap")
