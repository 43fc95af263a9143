"""Tokens as vectors: attention rows reduced to a plane, and one vector projected on another.

After a workshop chapter on attention in vector space: the scores of all heads are averaged, the
rows of each layer's token x token matrix are reduced to two dimensions by PCA, and each token is an
arrow from the origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from core.model.trace import Trace

Summary = Literal["mean", "median", "max"] | int
Source = Literal["attention", "queries", "keys", "values", "hidden states"]

CLOSE_ANGLE = np.deg2rad(18)  # of two arrows that a reader takes for one direction
ALIKE = 0.5  # cosine in full space from which two such tokens do attend alike: within 60 degrees
ROUNDING = 1e-6  # of the length of all rows together: what float32 cannot tell from zero


@dataclass(frozen=True, eq=False)
class Planes:
    """One plane (or space) a layer.

    Attributes
    ----------
    coordinates : float64 (layer, token, component).
    explained : share of the variance each component keeps, float64 (layer, component).
    positions : position in the text of each token shown.
    close_pairs, alike_pairs : pairs of arrows within `CLOSE_ANGLE` of each other, and how many of
        them have a cosine of `ALIKE` or more in full space too, int (layer,) each.
    """

    coordinates: NDArray[np.float64]
    explained: NDArray[np.float64]
    positions: tuple[int, ...]
    close_pairs: NDArray[np.int64]
    alike_pairs: NDArray[np.int64]


def to_xy_coords(
    scores: ArrayLike, summary: Summary = "mean", normalize: bool = True
) -> NDArray[np.float64]:
    """The rows of a layer's attention as points in a plane.

    Parameters
    ----------
    scores : (head, token, token), the attention of one layer.
    summary : "mean", "median" or "max" over heads, or the number of one head, from 0.
    normalize : divide the whole matrix of coordinates by its Frobenius norm.

    Returns
    -------
    Float64 (token, 2): PCA of the rows. The sign of each component is arbitrary.

    Raises
    ------
    ValueError
        When `scores` is not (head, token, token).
    """
    stack = np.asarray(scores, dtype=np.float64)
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2]:
        raise ValueError(f"scores must be (head, token, token), not {stack.shape}")
    coordinates, _ = principal_components(summarise_heads(stack, summary))
    return normalize_plane(coordinates) if normalize else coordinates


def summarise_heads(stack: NDArray[np.float64], summary: Summary) -> NDArray[np.float64]:
    """(head, token, token) -> (token, token)."""
    if isinstance(summary, int):
        return stack[summary]
    if summary == "median":
        return np.asarray(np.median(stack, axis=0))
    return stack.mean(axis=0) if summary == "mean" else stack.max(axis=0)


def principal_components(
    rows: NDArray[np.float64], components: int = 2
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates of the rows along their principal components, and the variance each keeps.

    Rows that are fewer, or less spread out, than there are components get zeros there; so does
    whatever is no larger than the rounding of the rows.

    Returns
    -------
    Float64 (row, component), and shares of the variance (component,) that add up to at most 1.
    """
    from sklearn.decomposition import PCA
    from threadpoolctl import threadpool_limits

    count = min(components, *rows.shape)
    coordinates = np.zeros((rows.shape[0], components))
    explained = np.zeros(components)
    floor = ROUNDING * np.linalg.norm(rows)
    if np.linalg.norm(rows - rows.mean(axis=0)) > floor:
        pca = PCA(n_components=count, svd_solver="full")
        # Matrices this small gain nothing from threads, and wait for each other on a busy server.
        with threadpool_limits(1, user_api="blas"):
            coordinates[:, :count] = pca.fit_transform(rows)
        real = pca.singular_values_ > floor
        explained[:count] = np.where(real, pca.explained_variance_ratio_, 0)
        coordinates[:, :count] *= real
        coordinates[np.linalg.norm(coordinates, axis=1) <= floor] = 0
    return coordinates, explained


def normalize_plane(coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinates divided by their Frobenius norm; a plane of zeros stays one."""
    norm = np.linalg.norm(coordinates)
    return coordinates / norm if norm > 0 else coordinates


def vector_projection(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """The part of `a` along `b`: (a.b / |b|^2) b.

    `a` and `b` are vectors of the same length, float64 out. A zero-length `b` has no direction: the
    projection is the zero vector.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    squared = float(b @ b)
    return np.zeros_like(b) if squared == 0 else (a @ b / squared) * b


def layer_planes(
    trace: Trace,
    source: Source = "attention",
    summary: Summary = "mean",
    *,
    heads: Sequence[int] = (),
    keep_special: bool = False,
    normalize: bool = True,
    align: bool = False,
    components: int = 2,
) -> Planes:
    """A plane for every layer of a trace.

    Parameters
    ----------
    source : attention rows, or the vectors the layer computes: queries, keys or values (those of
        all heads side by side, or of the one head that `summary` names), or the hidden states that
        the layer receives.
    summary : over heads, for attention rows; a number picks one head for any source but hidden
        states.
    heads : of which heads, from 0, a summary is taken, or vectors stand side by side; all where
        none is named. A number as `summary` goes before it.
    keep_special : also show the tokens that the tokenizer added, as rows and columns.
    normalize : divide each plane by its Frobenius norm.
    align : turn each plane onto the one before (orthogonal Procrustes): distances stay.
    """
    positions = [token.position for token in trace.tokens if keep_special or not token.special]
    planes, shares, pairs = [], [], []
    for layer in range(trace.shape[0]):
        rows = layer_rows(trace, layer, source, summary, positions, heads)
        coordinates, explained = principal_components(rows, components)
        planes.append(normalize_plane(coordinates) if normalize else coordinates)
        shares.append(explained)
        pairs.append(close_and_alike(coordinates, rows))
    stacked = np.stack(planes)
    close, alike = np.array(pairs, dtype=np.int64).T
    return Planes(
        coordinates=align_planes(stacked) if align else stacked,
        explained=np.stack(shares),
        positions=tuple(positions),
        close_pairs=close,
        alike_pairs=alike,
    )


def close_and_alike(coordinates: NDArray[np.float64], rows: NDArray[np.float64]) -> tuple[int, int]:
    """How many pairs of arrows nearly coincide in direction, and how many of them truly do.

    Parameters
    ----------
    coordinates : (token, component), the arrows.
    rows : (token, length), what they were reduced from; compared after centring, as PCA does.

    Returns
    -------
    Pairs within `CLOSE_ANGLE` in the picture, and those of them whose rows have a cosine of at
    least `ALIKE`. A token without a direction is in no pair.
    """
    upper = np.triu_indices(len(rows), k=1)
    close = _cosines(coordinates)[upper] >= np.cos(CLOSE_ANGLE)
    alike = _cosines(rows - rows.mean(axis=0))[upper] >= ALIKE
    return int(close.sum()), int((close & alike).sum())


def _cosines(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of every vector with every other, (vector, vector); 0 for one of no length."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return np.asarray(units @ units.T)


def planes_frame(planes: Planes, labels: Sequence[str]) -> pd.DataFrame:
    """All coordinates as a table: layer and position from 1, token, x, y (and z).

    `labels` has one entry a token shown.
    """
    layers, tokens, components = planes.coordinates.shape
    flat = planes.coordinates.reshape(layers * tokens, components)
    return pd.DataFrame(
        {
            "layer": np.repeat(np.arange(1, layers + 1), tokens),
            "position": np.tile(np.array(planes.positions) + 1, layers),
            "token": np.tile(np.array(labels, dtype=object), layers),
            **dict(zip("xyz", flat.T, strict=False)),
        }
    )


def layer_rows(
    trace: Trace,
    layer: int,
    source: Source,
    summary: Summary,
    positions: list[int],
    heads: Sequence[int] = (),
) -> NDArray[np.float64]:
    """The vectors of one layer before they are reduced, float64 (token, length).

    `summary` and `heads` are as in :func:`layer_planes`.
    """
    subset = list(heads) if heads and not isinstance(summary, int) else slice(None)
    if source == "attention":
        stack = trace.attention(layer)[subset].astype(np.float64)
        return summarise_heads(stack, summary)[np.ix_(positions, positions)]
    if source == "hidden states":
        if trace.hidden_states is None:
            raise ValueError("this trace holds no hidden states")
        return trace.hidden_states[layer, positions].astype(np.float64)
    vectors = getattr(trace, source)[layer][subset]  # (head, token, dim)
    vectors = vectors[:, positions].astype(np.float64)
    if isinstance(summary, int):
        return np.asarray(vectors[summary])
    return np.asarray(vectors.transpose(1, 0, 2).reshape(len(positions), -1))


def align_planes(coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn and mirror each layer's points onto those of the layer before.

    The orthogonal Procrustes problem (Schonemann 1966): no distance and no angle changes.

    Parameters
    ----------
    coordinates : (layer, token, component).
    """
    from scipy.linalg import orthogonal_procrustes

    aligned = [coordinates[0]]
    for plane in coordinates[1:]:
        turn, _ = orthogonal_procrustes(plane, aligned[-1])
        aligned.append(plane @ turn)
    return np.stack(aligned)
