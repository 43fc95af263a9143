"""What each head follows in an image: hue, brightness, edges, or the position of patches.

AttentionViz (Yeh et al. 2023, section 5.2) finds heads of vision transformers that group patches by
hue, brightness and spatial frequency. A head follows a feature if its scores are higher for keys
that are close to the query in that feature. There are three pitfalls:

- Nearby patches look alike, so a head that looks nearby correlates with hue. So place is partialled
  out of the looks, and the looks out of place.
- Some spatial structure remains even so. Chance is measured by moving the whole image over its
  grid, which keeps neighbours together.
- Many heads are tested. Each correlation is compared with the largest of any head and feature in
  the moved images.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats, Indices, one_thread, sample_indices
from core.analysis.images.colour import PatchLooks, oklab, patch_looks
from core.analysis.images.patch_scores import patches_of, scores_between
from core.analysis.statistics import pooled_p
from core.model.trace import Array, Trace

if TYPE_CHECKING:
    import pandas as pd

LOOKS = ("hue", "brightness", "edges")
FEATURES = (*LOOKS, "place")
PERMUTATIONS = 199  # the smallest p is 0.005
LEVEL = 0.05  # of images in which no head follows anything, at most this share appears to have one
# Cohen 1988 (section 3.2) calls 0.3 a medium correlation. With thousands of pairs, even a tiny one
# is beyond chance, but says little about what the head does.
MIN_CORRELATION = 0.3
MAX_PATCHES = 256  # larger images are sampled at random: pairs grow with the square
SEED = 20_230_504
_BLOCK = 50  # moved images per batch: 13 MB each of a feature
_TIE = 1e-5  # of a correlation: smaller differences are rounding
Parts = NDArray[np.float32]  # of pairs of patches, 0 for a patch with itself


@dataclass(frozen=True, eq=False)
class Selectivity:
    """How heads of one image correlate with closeness of patches, by feature of `FEATURES`."""

    # Partial rank correlation, (feature, layer, head); nan if the image has no such feature
    observed: Floats
    chance: Floats  # the same for each moved image, (move, feature, layer, head)
    patches: int  # how many were compared
    count: int  # how many the image has
    layer_labels: tuple[int, ...]  # of the layers, from 1


def selectivity(trace: Trace, permutations: int = PERMUTATIONS, seed: int = SEED) -> Selectivity:
    """What the heads of a trace follow in its image; `ValueError` for a text.

    Scores and closeness are ranked within each row, so that each query has one vote per key, and
    centred there: softmax ignores what is added to a row. Small grids can be moved in fewer ways
    than `permutations`: then all of them are used.
    """
    grid, looks = patches_of(trace), patch_looks(trace)
    edges = edge_strengths(grid.cells)
    sample = sample_indices(grid.count, MAX_PATCHES, seed)
    ways = _moved_grids(grid.rows, grid.columns, permutations, seed)
    draw = np.random.default_rng(seed)
    orders = np.stack([np.arange(len(sample)), *(draw.permutation(len(sample)) for _ in ways)])
    ways = np.concatenate([np.arange(grid.count)[None], ways])[:, sample]
    places = _place_closeness(sample, grid.columns)
    with one_thread():
        heads = _ranked(_patch_scores(trace, sample))
        look_ranks = _ranked(np.stack([_closeness(looks, edges, each) for each in LOOKS]))
        look_ranks[0] *= looks.saturation[:, None]  # a grey query has no hue to compare with
        look_controls = _between(look_ranks, sample)
        blocks = [
            _correlations(heads, _ranked(places), ways, look_ranks),
            _correlations(heads, look_controls, orders, _ranked(places[-1:])),
        ]
    values = np.concatenate(blocks, axis=1).reshape(len(ways), len(FEATURES), *trace.shape[:2])
    return Selectivity(values[0], values[1:], len(sample), grid.count, trace.layer_labels)


def selectivity_table(own: Selectivity, twin: Selectivity | None = None) -> pd.DataFrame:
    """One row per head: what it follows; `ValueError` if the twin has other heads.

    Columns ``layer`` and ``head``, from 1; for each of `FEATURES` ``<feature>``, the rank
    correlation of its scores with closeness, with place partialled out of looks and looks out of
    place, and ``<feature>_p``, how often the largest correlation of any head and feature in a moved
    image reaches it; ``follows``, the feature with the highest correlation that is at least
    `MIN_CORRELATION` with p at most `LEVEL`, or "none". With `twin`, the same image seen by the
    untrained twin (``core.model.untrained_twin``), the same with ``twin_`` before their names.

    ``attrs``: ``moves``, how many; ``patches`` compared, ``of`` how many in the image.
    """
    import pandas as pd

    layers, heads = own.observed.shape[1:]
    columns: dict[str, object] = {
        "layer": np.repeat(own.layer_labels, heads),
        "head": np.tile(np.arange(1, heads + 1), layers),
        **_columns(own, ""),
        **(_columns(twin, "twin_") if twin else {}),
    }
    table = pd.DataFrame(columns)
    table.attrs = {"moves": len(own.chance), "patches": own.patches, "of": own.count}
    return table


def follower_counts(table: pd.DataFrame) -> pd.DataFrame:
    """How many heads follow each of `FEATURES` at all, in the columns ``trained`` and ``twin``."""
    import pandas as pd

    counts = {
        name: [
            int(
                (
                    (table[f"{prefix}{each}"] >= MIN_CORRELATION)
                    & (table[f"{prefix}{each}_p"] <= LEVEL)
                ).sum()
            )
            for each in FEATURES
        ]
        for name, prefix in (("trained", ""), ("twin", "twin_"))
    }
    return pd.DataFrame(counts, index=list(FEATURES))


def edge_strengths(cells: NDArray[np.uint8]) -> Floats:
    """The strength of the edges within each patch, (patch,): 0 for a uniform one.

    `cells` are (patch, size, size, 3) in sRGB. The root mean square difference in brightness
    (OKLab lightness) between neighbouring pixels.
    """
    bright = oklab(cells.reshape(-1, 3) / 255)[:, 0].reshape(cells.shape[:3])
    squares = [np.square(np.diff(bright, axis=axis)).mean(axis=(1, 2)) for axis in (1, 2)]
    return np.asarray(np.sqrt(np.mean(squares, axis=0)).round(6))  # anything smaller is rounding


def _columns(part: Selectivity, prefix: str) -> dict[str, object]:
    observed = part.observed.reshape(len(FEATURES), -1)
    largest = np.nan_to_num(part.chance, nan=-1.0).reshape(len(part.chance), -1).max(axis=1)
    p = pooled_p(observed - _TIE, largest)
    strength = np.where((p <= LEVEL) & (observed >= MIN_CORRELATION), observed, -np.inf)
    names = np.array(FEATURES)[strength.argmax(axis=0)]
    columns: dict[str, object] = {}
    for place, feature in enumerate(FEATURES):
        columns |= {f"{prefix}{feature}": observed[place], f"{prefix}{feature}_p": p[place]}
    follows = np.where(np.isfinite(strength).any(axis=0), names, "none")
    return columns | {f"{prefix}follows": follows.astype(object)}


def _patch_scores(trace: Trace, sample: Indices) -> Array:
    """Scores between these patches in all heads, (layer x head, patch, patch)."""
    tokens = sample + patches_of(trace).first
    layers = range(trace.shape[0])
    return np.concatenate([scores_between(trace, each, tokens, tokens) for each in layers])


def _closeness(looks: PatchLooks, edges: Floats, feature: str) -> Floats:
    """How close two patches are in a look, (patch, patch); larger is closer.

    Hue is compared on its circle, and weighted by the key's saturation.
    """
    if feature == "hue":
        turns = 2 * np.pi * looks.hue
        return np.asarray(np.cos(turns[:, None] - turns) * looks.saturation)
    values = looks.brightness if feature == "brightness" else edges
    return -np.abs(values[:, None] - values)


def _place_closeness(patches: Indices, columns: int) -> Floats:
    """Same row (1 or 0), same column (1 or 0), and minus the distance: (3, patch, patch).

    `patches` are numbered row by row in a grid of `columns`; distances are in patches.
    """
    row, column = np.divmod(patches, columns)
    down, across = row[:, None] - row, column[:, None] - column
    return np.stack([down == 0, across == 0, -np.hypot(down, across)]).astype(np.float64)


def _ranked(values: Array | Floats) -> Parts:
    """Ranks within each row (part, row, column), the diagonal excluded; mean 0, -0.5 to 0.5."""
    from scipy.stats import rankdata

    size = values.shape[-1]
    diagonal = np.eye(size, dtype=bool)
    ranks = [rankdata(np.where(diagonal, -np.inf, each), axis=-1) - 1 for each in values]
    return np.where(diagonal, 0, np.stack(ranks) / size - 0.5).astype(np.float32)


def _between(parts: Parts, patches: Indices) -> Parts:
    """Only these patches, in this order, each row centred again."""
    chosen = parts[:, patches[:, None], patches]
    centred = chosen - chosen.sum(axis=-1, keepdims=True) / max(len(patches) - 1, 1)
    return np.where(np.eye(len(patches), dtype=bool), np.float32(0), centred)


def _correlations(heads: Parts, controls: Parts, orders: Indices, targets: Parts) -> Floats:
    """Partial correlation with each target for each order of patches, (order, target, head)."""
    as_it_is = np.arange(heads.shape[-1])
    controlled, flat = (_flat(_between(each, as_it_is)) for each in (controls, heads))
    basis, scales, _ = np.linalg.svd(controlled.T, full_matrices=False)
    basis = basis[:, scales > 1e-4 * max(scales[0], 1e-9)]
    flat = _units(flat - (flat @ basis) @ basis.T)
    blocks = []
    for start in range(0, len(orders), _BLOCK):
        moved = [_flat(_between(targets, each)) for each in orders[start : start + _BLOCK]]
        stacked = np.concatenate(moved)
        residuals = _units(stacked - (stacked @ basis) @ basis.T)
        blocks.append((residuals @ flat.T).reshape(len(moved), len(targets), -1))
    return np.concatenate(blocks).astype(np.float64)


def _flat(parts: Parts) -> Parts:
    return parts.reshape(len(parts), -1)


def _units(vectors: Parts) -> Parts:
    """Each row scaled to length 1; nan where only rounding is left of it."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    least = 1e-4 * vectors.shape[1] ** 0.5
    return np.divide(vectors, lengths, out=np.full_like(vectors, np.nan), where=lengths > least)


def _moved_grids(rows: int, columns: int, count: int, seed: int) -> Indices:
    """Ways to move the image over its grid that keep neighbours together, (way, patch).

    The image is shifted around the edges, and mirrored or (if square) turned: entry p is the
    patch whose look comes to p. Nearby patches look alike; a free permutation would tear them
    apart, and then every head with any spatial structure seems to follow colours (Guillot and
    Rousset 2013, "Dismantling the Mantel tests"). Shifts around the edges keep that structure
    (Lotwick and Silverman 1982; Harms et al. 2001). `count` different ways are drawn, or all there
    are, never the image as it is.
    """
    grid = np.arange(rows * columns).reshape(rows, columns)
    turned = [grid, grid[::-1], grid[:, ::-1], grid[::-1, ::-1]]
    if rows == columns:
        turned += [each.T for each in turned]
    total = len(turned) * rows * columns
    numbers = np.random.default_rng(seed).permutation(np.arange(1, total))[:count]
    moved = [
        np.roll(turned[number // grid.size], np.divmod(number % grid.size, columns), (0, 1)).ravel()
        for number in numbers
    ]
    return np.array(moved, dtype=np.intp).reshape(-1, grid.size)
