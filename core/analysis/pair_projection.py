"""How much of one token lies along another, layer by layer, and which heads link the two."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.vectors import (
    ROUNDING,
    layer_rows,
    principal_components,
    vector_projection,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Token, Trace

SAME_WAY = 0.7071  # cosine of 45 degrees: from here on two vectors "point the same way"
_MARKED = re.compile(r"\[([^\[\]]+)\]")


@dataclass(frozen=True, eq=False)
class PairProjection:
    """Two tokens, A projected on B, in every layer.

    Attributes
    ----------
    a, b : their positions in the text.
    vectors : float64 (layer, 3, 2): B, A, and A along B, in the plane; B and A have length 1, or 0
        where the token has no direction in the plane.
    in_plane : signed length of A along B in the plane, (layer,); not a number where B or A has no
        direction.
    in_full : the same for the attention rows themselves, before PCA, (layer,).
    a_to_b, b_to_a : attention, (layer, head).
    """

    a: int
    b: int
    vectors: NDArray[np.float64]
    in_plane: NDArray[np.float64]
    in_full: NDArray[np.float64]
    a_to_b: NDArray[np.float64]
    b_to_a: NDArray[np.float64]


def project_pair(trace: Trace, a: int, b: int) -> PairProjection:
    """Token A along token B in every layer.

    As in the workshop chapter: mean attention over heads, special tokens dropped, rows reduced to a
    plane by PCA without normalisation, both vectors scaled to length 1, A projected on B. `a` and
    `b` are positions of tokens that are not special.

    Raises
    ------
    ValueError
        When `a` or `b` is special or not in the text.
    """
    ordinary = [token.position for token in trace.tokens if not token.special]
    if a not in ordinary or b not in ordinary:
        raise ValueError(f"positions {a} and {b} must be tokens that are not special")
    row_a, row_b = ordinary.index(a), ordinary.index(b)
    vectors, in_plane, in_full, a_to_b, b_to_a = [], [], [], [], []
    for layer in range(trace.shape[0]):
        rows = layer_rows(trace, layer, "attention", "mean", ordinary)
        plane, _ = principal_components(rows)
        unit_a, unit_b = unit(plane[row_a]), unit(plane[row_b])
        vectors.append([unit_b, unit_a, vector_projection(unit_a, unit_b)])
        in_plane.append(signed_length(unit_a, unit_b))
        centred = rows - rows.mean(axis=0)
        centred[np.linalg.norm(centred, axis=1) <= ROUNDING * np.linalg.norm(rows)] = 0
        in_full.append(signed_length(unit(centred[row_a]), unit(centred[row_b])))
        weights = trace.attention(layer)  # (head, token, token)
        a_to_b.append(weights[:, a, b])
        b_to_a.append(weights[:, b, a])
    return PairProjection(
        a=a,
        b=b,
        vectors=np.array(vectors),
        in_plane=np.array(in_plane),
        in_full=np.array(in_full),
        a_to_b=np.array(a_to_b, dtype=np.float64),
        b_to_a=np.array(b_to_a, dtype=np.float64),
    )


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """`vector` at length 1; a vector of no length stays zero."""
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else np.zeros_like(vector)


def signed_length(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Length of the projection of `a` on `b`, negative where they point apart.

    Not a number when either has no direction.
    """
    if not a.any() or not b.any():
        return float("nan")
    return float(a @ b / np.linalg.norm(b))


def default_pair(trace: Trace) -> tuple[int, int] | None:
    """Which two tokens to begin with, as (A, B); None when the text has no two different words.

    The last "it" on the last "book" when both occur; else the two different ordinary words that
    attend to each other most, both ways together, in any one head; A gives more.
    """
    pieces = Counter(token.word for token in trace.tokens)
    whole = [token for token in trace.tokens if pieces[token.word] == 1]
    names = {token.text.strip("Ġ▁").casefold(): token.position for token in whole}
    if {"it", "book"} <= set(names):
        return names["it"], names["book"]
    ordinary = [token for token in trace.tokens if not token.special]
    wordlike = [token for token in ordinary if any(map(str.isalnum, token.display))]
    candidates = wordlike if len(wordlike) > 1 else ordinary
    if len(candidates) < 2:
        return None
    return _most_mutual(trace, candidates)


def _most_mutual(trace: Trace, candidates: list[Token]) -> tuple[int, int] | None:
    positions = [token.position for token in candidates]
    names = np.array([token.display.casefold() for token in candidates])
    words = np.array([token.word for token in candidates])  # pieces of one word are no pair
    different = (names[:, None] != names[None, :]) & (words[:, None] != words[None, :])
    best, found = -1.0, None
    for layer in range(trace.shape[0]):
        weights = trace.attention(layer)[:, positions][:, :, positions]
        mutual = np.where(different, weights + weights.swapaxes(1, 2), -1.0)
        head, i, j = np.unravel_index(int(mutual.argmax()), mutual.shape)
        if mutual[head, i, j] > best:
            best = float(mutual[head, i, j])
            first, second = (i, j) if weights[head, i, j] >= weights[head, j, i] else (j, i)
            found = (positions[int(first)], positions[int(second)])
    return found


def describe_pair(projection: PairProjection, name_a: str, name_b: str) -> str:
    """One sentence about the pair, made from the numbers and true for any of them.

    `name_a` and `name_b` are how the tokens are written in the sentence.
    """
    weights = projection.a_to_b
    layer, head = (int(i) for i in np.unravel_index(int(weights.argmax()), weights.shape))
    strongest = f"{weights[layer, head]:.2f}"
    if strongest == "0.00":
        attention = f"No head gives as much as 0.01 of {name_a} to {name_b}"
    else:
        attention = (
            f"Strongest in layer {layer + 1}: head {head + 1} gives {strongest} of {name_a} to"
            f" {name_b}"
        )
    return f"{attention}; in the plane the two point the same way {_where(projection.in_plane)}."


def _where(in_plane: NDArray[np.float64]) -> str:
    same = [layer + 1 for layer, value in enumerate(in_plane) if value >= SAME_WAY]
    layers = len(in_plane)
    if not same:
        return "in no layer"
    if len(same) == layers:
        return "in every layer"
    if same == list(range(same[0], layers + 1)) and len(same) > 1:
        return f"from layer {same[0]} on"
    if len(same) == 1:
        return f"in layer {same[0]} only"
    return f"in layers {', '.join(map(str, same[:-1]))} and {same[-1]}"


def parse_marked(line: str) -> tuple[str, tuple[int, int], tuple[int, int]] | None:
    """A sentence with two words in square brackets: first B, then A.

    >>> parse_marked("Oh, this [book]? I've enjoyed [it].")
    ("Oh, this book? I've enjoyed it.", (28, 30), (9, 13))

    Returns
    -------
    The sentence without brackets and the character spans of A and B; None without two marks.
    """
    marks = list(_MARKED.finditer(line))
    if len(marks) != 2:
        return None
    spans = []
    for index, mark in enumerate(marks):
        start = mark.start() - 2 * index  # the brackets before it are gone
        spans.append((start, start + len(mark[1])))
    return _MARKED.sub(r"\1", line), spans[1], spans[0]


def token_at(trace: Trace, span: tuple[int, int]) -> int | None:
    """Position of the first token that overlaps these characters of the first sentence."""
    for token in trace.tokens:
        start, end = token.span
        inside = max(start, span[0]) < min(end, span[1])
        if inside and not token.special and token.segment == 0:
            return token.position
    return None
