"""The words of the vector grid: how to read it, examples, mathematics, and matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.analysis.arrays import Floats
from core.analysis.pairs import head_vectors
from core.analysis.vectors import CLOSE_ANGLE, MIN_COSINE, Planes, Summary, VectorSource
from core.model import Trace
from core.ui.words.messages import quote
from core.ui.words.prose import Prose
from core.vocabulary import head_name, percent

_words = Prose(__file__)
_MANY = 24  # arrows, beyond which a plane has no room to name them all
_FIRST = 2  # rows and columns of a matrix before the dots; after them comes the last
TOO_FEW = _words("too_few")


def set_picks(positions: Sequence[int], chosen: Sequence[int]) -> None:
    """Pick the tokens of the `chosen` arrows; `positions` has the token of each arrow shown."""
    st.session_state["pick"] = [positions[index] + 1 for index in chosen]


def describe_close_pairs(planes: Planes, layer: int | None) -> str:
    """How far close arrows can be trusted, counted in the `layer` shown, or in all."""
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


def headline(planes: Planes, source: VectorSource, layer: int | None, held: int) -> str:
    """Of the `held` coloured tokens, the two most alike in the `layer` shown, or in any
    (Markdown); "" if there is no such pair.
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


def explain_planes(source: VectorSource, summary: Summary, tokens: int) -> str:
    """How to read the planes as they are drawn; `tokens` is how many have arrows."""
    of = f"head {summary + 1}" if isinstance(summary, int) else f"{summary} over heads"
    if source != "attention" and not isinstance(summary, int):
        of = "all heads together"
    return _words(
        "reading",
        source={"attention": "attention rows"}.get(source, source),
        of="as the layer receives them" if source == "hidden states" else of,
        many=tokens > _MANY,
    )


def show_matrices(
    trace: Trace, layer: int | None, summary: Summary, positions: Sequence[int]
) -> None:
    """Show the matrices of the head on screen, or of the first if there are several.

    `positions` are the positions of tokens that have arrows; layer and head are from 0.
    """
    layer, head = layer or 0, summary if isinstance(summary, int) else 0
    queries, keys = (each[list(positions)] for each in head_vectors(trace, layer, head))
    scaling = trace.layers[layer].scaling
    written = (
        ("Q", queries),
        ("K", keys),
        (r"K^{\top}", keys.T),
        (r"S = Q K^{\top}", queries @ keys.T),
    )
    columns = [*st.columns(2), *st.columns(2)]  # only two fit in a row
    for column, (name, matrix) in zip(columns, written, strict=True):
        column.latex(rf"{name} = {matrix_latex(matrix)}")
    st.caption(_words("matrices", head=head_name(trace, layer, head), scaling=scaling))


def matrix_latex(matrix: Floats) -> str:
    """The corners of a matrix and its size, in LaTeX: its first rows and columns, and its last."""
    rows, columns = ([*range(min(_FIRST, size - 1)), size - 1] for size in matrix.shape)
    gaps = [size > _FIRST + 1 for size in matrix.shape]
    lines = [_line([f"{matrix[i, j]:.2f}" for j in columns], r"\cdots", gap=gaps[1]) for i in rows]
    if gaps[0]:
        lines.insert(_FIRST, _line([r"\vdots"] * len(columns), r"\ddots", gap=gaps[1]))
    size = r"\times".join(map(str, matrix.shape))
    body = r" \\ ".join(lines)
    return rf"\underset{{{size}}}{{\begin{{bmatrix}}{body}\end{{bmatrix}}}}"


def _line(cells: list[str], dots: str, *, gap: bool) -> str:
    return " & ".join([*cells[:_FIRST], dots, *cells[_FIRST:]] if gap else cells)
