"""Q, K, the transpose of K and S = Q Kᵀ of one head written out beside the arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.arrays import Floats
from core.analysis.pairs import head_vectors
from core.analysis.vectors import Summary
from core.ui.words.prose import Prose
from core.vocabulary import head_name

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
_FIRST = 2  # rows and columns that are written before the dots; after them the last


def show_matrices(
    trace: Trace, layer: int | None, summary: Summary, positions: Sequence[int]
) -> None:
    """The matrices of the head on screen, or of the first where there are several.

    `positions` are those of the tokens that have arrows; layer and head are from 0.
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
    columns = [*st.columns(2), *st.columns(2)]  # two in a row have room
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
