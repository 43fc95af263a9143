"""How much of one token's vector lies along another's, by layer, and which heads link the two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.arrays import Floats
from core.analysis.pairs import permitted_pairs, uniform_attention
from core.analysis.vectors import ROUNDING, principal_components, summarise_heads, vector_projection
from core.model.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

SAME_WAY = 0.7071  # cosine of 45 degrees: from here on two vectors "point the same way"


@dataclass(frozen=True, eq=False)
class PairProjection:
    """Two tokens, A projected on B, in every layer."""

    vectors: Floats  # B, A, and A along B, in the plane, (layer, 3, 2); A and B of length 1, or 0
    in_plane: Floats  # signed length of A along B, (layer,); NaN where B or A has no direction
    in_full: Floats  # the same for the attention rows themselves, before PCA, (layer,)
    a_to_b: Floats  # attention, (layer, head)
    b_to_a: Floats
    uniform: Floats  # attention of A to B if it were uniform over permitted keys, (layer,)
    kept: Floats  # share of the variance of the attention rows that the plane keeps, (layer,)
    layer_labels: tuple[int, ...]  # of the layers, as people read them

    @property
    def strongest_head(self) -> tuple[int, int]:
        """Layer and head, from 0, in which A attends to B most."""
        layer, head = np.unravel_index(int(self.a_to_b.argmax()), self.a_to_b.shape)
        return int(layer), int(head)

    @property
    def same_way(self) -> tuple[int, ...]:
        """Layers, from 0, in which A and B are alike in full space: within 45 degrees.

        Most pairs that are alike in the plane differ in the dimensions that it leaves out.
        """
        return tuple(np.flatnonzero(self.in_full >= SAME_WAY).tolist())

    def frame(self) -> pd.DataFrame:
        """A row per layer (by its number): signed lengths, arrows in the plane, head attention."""
        import pandas as pd

        arrows = {
            f"{name}_{axis}": self.vectors[:, place, at]
            for place, name in enumerate(("b", "a", "a_along_b"))
            for at, axis in enumerate("xy")
        }
        heads = {
            f"{name}_h{head + 1}": weights[:, head]
            for name, weights in (("a_to_b", self.a_to_b), ("b_to_a", self.b_to_a))
            for head in range(weights.shape[1])
        }
        along = {"along_in_plane": self.in_plane, "along_in_full_space": self.in_full}
        return pd.DataFrame({"layer": np.array(self.layer_labels), **along, **arrows, **heads})


def project_pair(trace: Trace, a: int, b: int) -> PairProjection:
    """Token A along token B in every layer.

    As in Shoemaker (2024, chapter 11): attention is averaged over heads, special tokens dropped,
    rows reduced to a plane by PCA without normalisation, both vectors scaled to length 1, A
    projected on B. `a` and `b` are positions; `ValueError` if one is special or not in the text.
    """
    ordinary = [token.position for token in trace.tokens if not token.special]
    if a not in ordinary or b not in ordinary:
        raise ValueError(f"positions {a} and {b} must be tokens that are not special")
    row_a, row_b = ordinary.index(a), ordinary.index(b)
    vectors, in_plane, in_full, a_to_b, b_to_a, uniform, kept = [], [], [], [], [], [], []
    for layer in range(trace.shape[0]):
        weights = trace.attention(layer)  # (head, token, token)
        rows = summarise_heads(weights, "mean")[np.ix_(ordinary, ordinary)]
        plane, shares = principal_components(rows)
        unit_a, unit_b = _unit(plane[row_a]), _unit(plane[row_b])
        vectors.append([unit_b, unit_a, vector_projection(unit_a, unit_b)])
        in_plane.append(signed_length(unit_a, unit_b))
        centred = rows - rows.mean(axis=0)
        centred[np.linalg.norm(centred, axis=1) <= ROUNDING * np.linalg.norm(rows)] = 0
        in_full.append(signed_length(_unit(centred[row_a]), _unit(centred[row_b])))
        a_to_b.append(weights[:, a, b].astype(np.float64))
        b_to_a.append(weights[:, b, a].astype(np.float64))
        uniform.append(uniform_attention(permitted_pairs(trace, layer)[:, a])[:, b].mean())
        kept.append(shares.sum())
    return PairProjection(
        np.array(vectors),
        np.array(in_plane),
        np.array(in_full),
        np.array(a_to_b),
        np.array(b_to_a),
        np.array(uniform, dtype=np.float64),
        np.array(kept),
        trace.layer_labels,
    )


def _unit(vector: Floats) -> Floats:
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else np.zeros_like(vector)


def signed_length(a: Floats, b: Floats) -> float:
    """Length of the projection of `a` on `b`, negative if they point apart; NaN for zeros."""
    return float(a @ b / np.linalg.norm(b)) if a.any() and b.any() else float("nan")
