"""Tokens as vectors: attention rows reduced to a plane, and one vector projected on another.

After Shoemaker (2024, chapter 11): attention is averaged over heads, the rows of each layer's
matrix are reduced to two dimensions by PCA, and each token is an arrow from the origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.analysis.arrays import Floats, cosines, one_thread
from core.model.trace import Trace
from core.vocabulary import labels_of

if TYPE_CHECKING:
    import pandas as pd


Summary = Literal["mean", "median", "max"] | int
VectorSource = Literal["attention", "queries", "keys", "values", "hidden states"]

CLOSE_ANGLE = np.deg2rad(18)  # between two arrows that a reader takes for one direction
MIN_COSINE = 0.5  # in full space, between two tokens that really attend alike: within 60 degrees
ROUNDING = 1e-6  # of the length of all rows together: float32 cannot tell less from zero


class ClosePair(NamedTuple):
    """The two tokens whose centred rows are most alike in full space, of all or of those held.

    Attributes
    ----------
    first, second : their positions among the tokens shown.
    cosine : between the two.
    median : of the cosines of all pairs.
    """

    first: int
    second: int
    cosine: float
    median: float


@dataclass(frozen=True, eq=False)
class Planes:
    """One plane per layer."""

    coordinates: Floats  # (layer, token, component)
    explained: Floats  # share of the variance each component keeps, (layer, component)
    positions: tuple[int, ...]  # position in the text of each token shown
    close_pairs: NDArray[np.int64]  # how many pairs of arrows are within `CLOSE_ANGLE`, (layer,)
    similar_pairs: NDArray[np.int64]  # of these, with a cosine from `MIN_COSINE` in full space
    closest: tuple[ClosePair | None, ...]  # in each layer
    layer_labels: tuple[int, ...]  # of the layers, as people read them
    labels: tuple[str, ...]  # the label of each token shown, all different

    def frame(self) -> pd.DataFrame:
        """The table to save: layer and position as numbered, token (label), x, y."""
        import pandas as pd

        layers, tokens, components = self.coordinates.shape
        flat = self.coordinates.reshape(layers * tokens, components)
        return pd.DataFrame(
            {
                "layer": np.repeat(np.array(self.layer_labels), tokens),
                "position": np.tile(np.array(self.positions) + 1, layers),
                "token": np.tile(np.array(self.labels, dtype=object), layers),
                **dict(zip("xy", flat.T, strict=True)),
            }
        )


def to_xy_coords(scores: ArrayLike, summary: Summary = "mean", normalize: bool = True) -> Floats:
    """The rows of a layer's attention as points in a plane.

    `scores` (head, token, token), the attention of one layer, are summarised over heads by "mean",
    "median" or "max", or taken from one head, from 0. `normalize` divides the coordinates by the
    Frobenius norm of their matrix. Returns float64 (token, 2): PCA of the rows. The sign of each
    component is arbitrary. Raises `ValueError` for scores of another shape.
    """
    stack = np.asarray(scores)
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2]:
        raise ValueError(f"scores must be (head, token, token), not {stack.shape}")
    coordinates, _ = principal_components(summarise_heads(stack, summary))
    return normalize_plane(coordinates) if normalize else coordinates


def summarise_heads(stack: NDArray[Any], summary: Summary) -> Floats:
    """(head, token, token) -> float64 (token, token), row by row: copies take memory."""
    if isinstance(summary, int):
        return np.asarray(stack[summary], dtype=np.float64)
    summarise = getattr(np, summary)  # "mean", "median" and "max" are NumPy's names too
    rows = (summarise(row.astype(np.float64), axis=0) for row in stack.swapaxes(0, 1))
    return np.array(list(rows))


def principal_components(rows: Floats, components: int = 2) -> tuple[Floats, Floats]:
    """Coordinates along the principal components (row, component), and their shares of variance.

    Zeros stand for components that the rows do not have, or that are within rounding error.
    The largest entry of each component's axis is positive, as in scikit-learn.
    """
    count = min(components, *rows.shape)
    coordinates, explained = np.zeros((rows.shape[0], components)), np.zeros(components)
    floor, centred = ROUNDING * np.linalg.norm(rows), rows - rows.mean(axis=0)
    if np.linalg.norm(centred) > floor:
        with one_thread():
            _, lengths, axes = np.linalg.svd(centred, full_matrices=False)
        farthest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
        real = lengths > floor
        explained[:count] = (np.where(real, lengths**2, 0) / (lengths @ lengths))[:count]
        coordinates[:, :count] = centred @ (axes * np.sign(farthest) * real[:, None])[:count].T
        coordinates[np.linalg.norm(coordinates, axis=1) <= floor] = 0
    return coordinates, explained


def normalize_plane(coordinates: Floats) -> Floats:
    """Coordinates divided by their Frobenius norm; a plane of zeros stays zero."""
    norm = np.linalg.norm(coordinates)
    return coordinates / norm if norm > 0 else coordinates


def vector_projection(a: ArrayLike, b: ArrayLike) -> Floats:
    """The part of `a` along `b`: (a.b / |b|^2) b, float64.

    `a` and `b` are vectors of the same length. The projection on a zero vector is zero.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    squared = float(b @ b)
    return np.zeros_like(b) if squared == 0 else (a @ b / squared) * b


def layer_planes(
    trace: Trace,
    source: VectorSource = "attention",
    summary: Summary = "mean",
    *,
    keep_special: bool = False,
    normalize: bool = True,
    held: Sequence[int] = (),
) -> Planes:
    """A plane for every layer of a trace, from its :func:`layer_rows`.

    `keep_special` also shows the tokens that the tokenizer added, as rows and columns; `normalize`
    divides each plane by its Frobenius norm. The closest pair is one of the tokens `held`
    (positions): two of them, or a single one with any other.
    """
    positions = [token.position for token in trace.tokens if keep_special or not token.special]
    places = [positions.index(position) for position in held]
    planes, shares, pairs, closest = [], [], [], []
    for layer in range(trace.shape[0]):
        rows = layer_rows(trace, layer, source, summary, positions)
        coordinates, explained = principal_components(rows)
        planes.append(normalize_plane(coordinates) if normalize else coordinates)
        shares.append(explained)
        pairs.append(count_close_pairs(coordinates, rows))
        closest.append(closest_pair(rows, places))
    close, similar = np.array(pairs, dtype=np.int64).T
    labels = labels_of(trace.tokens)
    return Planes(
        np.stack(planes),
        np.stack(shares),
        tuple(positions),
        close,
        similar,
        closest=tuple(closest),
        layer_labels=trace.layer_labels,
        labels=tuple(labels[position] for position in positions),
    )


def count_close_pairs(coordinates: Floats, rows: Floats) -> tuple[int, int]:
    """How many pairs of arrows nearly coincide in direction, and how many of these really do.

    The arrows are (token, component), the `rows` they were reduced from (token, length). Close is
    within `CLOSE_ANGLE`; really close is a cosine of the centred rows of `MIN_COSINE` or more. A
    token without a direction is in no pair.
    """
    upper = np.triu_indices(len(rows), k=1)
    close = cosines(coordinates)[upper] >= np.cos(CLOSE_ANGLE)
    similar = cosines(rows - rows.mean(axis=0))[upper] >= MIN_COSINE
    return int(close.sum()), int((close & similar).sum())


def closest_pair(rows: Floats, held: Sequence[int] = ()) -> ClosePair | None:
    """The two `rows` (token, length) that are most alike, once centred; None if there are none.

    A single `held` token is in the pair; of several, two are, in their order, even if they point
    apart. A token without a direction is in no pair.
    """
    first, second = np.triu_indices(len(rows), k=1)
    values = cosines(rows - rows.mean(axis=0))[first, second]
    allowed = np.isin(first, held).astype(int) + np.isin(second, held) >= min(len(held), 2)
    among = np.where(allowed & (values != 0), values, -np.inf)
    if not values.size or among.max() <= (-np.inf if len(held) == 2 else 0):
        return None
    best = int(among.argmax())
    pair = {int(first[best]), int(second[best])}
    one, other = *(place for place in held if place in pair), *sorted(pair - set(held))
    return ClosePair(one, other, values[best], float(np.median(values)))


def layer_rows(
    trace: Trace,
    layer: int,
    source: VectorSource,
    summary: Summary,
    positions: list[int],
) -> Floats:
    """The vectors of one layer before they are reduced, float64 (token, length).

    The `source` is attention rows, summarised over heads; the queries, keys or values of all heads
    side by side; or the hidden states that the layer receives. A number as `summary` selects one
    head, from 0.
    """
    if source == "attention":
        return summarise_heads(trace.attention(layer), summary)[np.ix_(positions, positions)]
    if source == "hidden states":
        if trace.hidden_states is None:
            raise ValueError("this trace holds no hidden states")
        return trace.hidden_states[layer, positions].astype(np.float64)
    vectors = getattr(trace, source)[layer][:, positions].astype(np.float64)
    if isinstance(summary, int):
        return np.asarray(vectors[summary])
    return np.asarray(vectors.transpose(1, 0, 2).reshape(len(positions), -1))


def align_planes(coordinates: Floats) -> Floats:
    """Points (layer, token, component), each layer turned and mirrored onto the previous one.

    The orthogonal Procrustes problem (Schonemann 1966): no distance and no angle changes.
    """
    from scipy.linalg import orthogonal_procrustes

    aligned = [coordinates[0]]
    for plane in coordinates[1:]:
        turn, _ = orthogonal_procrustes(plane, aligned[-1])
        aligned.append(plane @ turn)
    return np.stack(aligned)
