"""The effect table: per head, the effect of replacing it, its controls, and what it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.analysis import statistics
from core.analysis.arrays import Floats
from core.analysis.statistics import false_discovery, gamma_p, holm, pooled_p, rank_p
from core.vocabulary import Layered, labels_of

if TYPE_CHECKING:
    import pandas as pd

    from core.model.trace import Trace

# Of what the mean head of its layer writes: a head below this is inactive, however its attention
# looks. Ours; sink mass alone misses heads that write nothing (Sandoval-Segura et al. 2025).
INACTIVE = 0.1
FALSE_DISCOVERY = 0.1  # of the heads said to exceed chance, the share that may not
LEADERS, LEVEL = 5, 0.05  # heads with the largest effect; the chance of any false claim
NEGLIGIBLE = 0.01  # of the largest effect: smaller ones count as nothing
MIN_SHARE = 0.05  # of the way: a head that moves the answer less does not carry a difference
_ROUNDING = float(np.finfo(np.float32).eps)  # of the largest size: smaller ones are rounding


class HeadEffects(Protocol):
    """What :func:`core.model.effects` returns."""

    @property
    def values(self) -> Floats:
        """The effect of each head, (layer, head)."""

    @property
    def control(self) -> Floats:
        """The largest effect of a random direction, by size, (layer, head)."""

    @property
    def draws(self) -> Floats:
        """The effect of each random direction, (draw, layer, head)."""

    @property
    def measure(self) -> Any:  # noqa: ANN401 - a name
        """What is measured."""

    @property
    def unit(self) -> str:
        """Its unit."""

    @property
    def replace(self) -> Any:  # noqa: ANN401 - a name
        """What the heads are replaced by."""


class Exchanged(HeadEffects, Protocol):
    """What :func:`core.model.interventions.exchange.exchange` returns."""

    @property
    def same_answer(self) -> bool:
        """Whether no head can carry a difference, for there is none."""


def effect_table(
    layered: Layered,
    found: HeadEffects,
    written: Floats | None = None,
    direct: Floats | None = None,
) -> pd.DataFrame:
    """Whether each head matters on one text, a row per head, in the order of layers and heads.

    Parameters
    ----------
    layered : a trace of the same model, for the layer numbers.
    found : from :func:`core.model.effects`.
    written : (layer, head), from ``core.model.interventions.reference.written_norms``.
    direct : (layer, head), from ``core.model.interventions.direct.direct_effects``.

    Columns ``layer`` and ``head`` (from 1); ``effect``; ``control``, the largest effect of a random
    direction by size; ``rate``, the false discovery rate at which the effect exceeds chance
    (:func:`discovery_rates`), and ``exceeds``, whether that is at most `FALSE_DISCOVERY`;
    ``others``, the median size among the other heads of its layer; with `written`: ``written`` (a
    length), ``share`` (of the mean head of its layer) and ``inactive`` (whether that is below
    `INACTIVE`); with `direct`: ``direct`` and ``repaired``, the direct effect less the effect: what
    the rest of the model makes up for. A head that a layer does not have is nan.
    ``table.attrs`` has "measure", "unit" and "replace" of the effects.
    """
    import pandas as pd

    values = found.values  # noqa: PD011 - the name that notebooks use, of no data frame
    layers, heads = values.shape
    layer, head = np.divmod(np.arange(layers * heads), heads)
    sizes = np.abs(values)
    rates = discovery_rates(values, found.draws)
    columns: dict[str, NDArray[Any]] = {
        "layer": np.array(layered.layer_labels)[layer],
        "head": head + 1,
        "effect": values.ravel(),
        "control": found.control.ravel(),
        "rate": rates.ravel(),
        "exceeds": (rates <= FALSE_DISCOVERY).ravel(),
        "others": _median_of_others(sizes).ravel(),
    }
    if written is not None:
        share = written / np.nanmean(written, axis=1, keepdims=True)
        columns |= {
            "written": written.ravel(),
            "share": share.ravel(),
            "inactive": (share < INACTIVE).ravel(),
        }
    if direct is not None:
        columns |= {"direct": direct.ravel(), "repaired": (direct - values).ravel()}
    table = pd.DataFrame(columns)
    table.attrs |= facts_of(found)
    return table


def facts_of(found: HeadEffects) -> dict[str, Any]:
    """What was measured, in which unit, and what heads were replaced by."""
    return {"measure": found.measure, "unit": found.unit, "replace": found.replace}


def discovery_rates(values: Floats, draws: Floats) -> Floats:
    """The false discovery rate at which each head's effect exceeds chance, (layer, head).

    A head's log |effect| less the mean log |effect| of its directions, compared with each direction
    less the mean of the head's others, pooled over all heads; then Benjamini and Hochberg. The
    difference removes how sensitive the model is to any change at a head. All nan for fewer than
    two `draws` (draw, layer, head).
    """
    return rates_of_logs(log_sizes(values, draws))


def log_sizes(values: Floats, draws: Floats) -> Floats:
    """Log |effect| of each head, then of each of its directions, (1 + draw, layer, head)."""
    sizes = np.abs(np.concatenate([values[None], draws]))
    return np.log(np.maximum(sizes, max(_ROUNDING * np.nanmax(sizes), np.finfo(float).tiny)))


def rates_of_logs(logs: Floats) -> Floats:
    """:func:`discovery_rates` from :func:`log_sizes`, or from their means over texts."""
    effect, directions = logs[0], logs[1:]
    count = len(directions)
    if count < 2:
        return np.full(effect.shape, np.nan)
    total = directions.sum(axis=0)
    left_out = directions - (total - directions) / (count - 1)
    return false_discovery(pooled_p(effect - total / count, left_out))


def leading_heads(values: Floats) -> list[tuple[int, int]]:
    """The heads with the largest effect by size, at most `LEADERS`: (layer, head), from 0."""
    sizes = np.nan_to_num(np.abs(values), nan=-1.0)
    order = np.argsort(-sizes, axis=None, kind="stable")[:LEADERS]
    places = zip(*np.unravel_index(order, values.shape), strict=True)
    return [(int(layer), int(head)) for layer, head in places if sizes[layer, head] >= 0]


def leading_table(layered: Layered, found: HeadEffects) -> pd.DataFrame:
    """Which of the heads with the largest effect matter more than chance, the largest first.

    `found` has fresh random directions for :func:`leading_heads` only; others are nan. Columns
    ``layer`` and ``head`` (from 1); ``effect``; ``low`` and ``high``, the smallest and the largest
    effect of a direction by size; ``p``, the rank of the effect among them by size; ``tail``, its
    chance by :func:`core.analysis.statistics.gamma_p` times the places (layer, head) of the model,
    of which these are the largest; ``matters``, by Holm's rule over p with at most a `LEVEL` chance
    of any false claim, a tail no larger, and an effect of at least `NEGLIGIBLE` of the largest.
    ``table.attrs`` has "measure", "unit" and "replace" of the effects, and "draws", how many.
    """
    import pandas as pd

    layer, head = np.array(leading_heads(found.values)).T
    effect = found.values[layer, head]  # noqa: PD011 - of no data frame
    sizes = np.abs(found.draws[:, layer, head])  # (draw, leader)
    p = rank_p(np.abs(effect), sizes)
    power = 2 if (found.draws[:, layer, head] < 0).any() else 1  # no sign: it is a square
    tail = gamma_p(np.abs(effect) ** power, sizes**power) * found.draws[0].size
    table = pd.DataFrame(
        {
            "layer": np.array(layered.layer_labels)[layer],
            "head": head + 1,
            "effect": effect,
            "low": sizes.min(axis=0),
            "high": sizes.max(axis=0),
            "p": p,
            "tail": np.minimum(tail, 1),
            "matters": holm(p, LEVEL)
            & (tail <= LEVEL)
            & (np.abs(effect) >= NEGLIGIBLE * np.abs(effect).max()),
        }
    )
    table.attrs |= facts_of(found) | {"draws": len(sizes)}
    return table


def leading_carriers(found: Sequence[Exchanged]) -> list[tuple[int, int]]:
    """The heads with the largest mean share, at most `LEADERS`: (layer, head), from 0."""
    return leading_heads(np.maximum(_shares(found).mean(axis=0), 0))


def carriers(
    layered: Layered, found: Sequence[Exchanged], fresh: Sequence[Exchanged]
) -> pd.DataFrame:
    """Which heads carry the difference between two texts, a row per head, largest share first.

    `found` are exchanges of all heads, one for each variant of the two texts; `fresh` are the same
    with random directions for :func:`leading_carriers` only. Variants with the same answer on both
    sides are left out. Columns ``layer`` and ``head`` (from 1); ``share``, the mean over variants;
    ``low`` and ``high``, its 95 % interval (nan for fewer than five); of the leaders, ``control``,
    the largest share of a random direction, and ``p``, the rank of the share among them;
    ``carries``, by p and a tail as in :func:`leading_table`, for a share of at least `MIN_SHARE`.
    On random weights, or with a random direction in place of A's output, 3 % of the pairs of texts
    have any such head. ``table.attrs`` has "variants", how many count, and what that table has.
    """
    import pandas as pd

    shares = _shares(found)
    share, (low, high) = shares.mean(axis=0), statistics.interval_of_mean(shares)
    leaders = tuple(np.array(leading_carriers(found), dtype=int).reshape(-1, 2).T)
    top, draws = share[leaders], _shares(fresh, "draws").mean(axis=0)[:, *leaders]
    control, p, carries = np.full_like(share, np.nan), np.full_like(share, np.nan), share > np.inf
    control[leaders], p[leaders] = draws.max(axis=0), rank_p(top, draws)
    tail = gamma_p(top**2, draws**2) * np.isfinite(share).sum()
    carries[leaders] = holm(p[leaders], LEVEL) & (tail <= LEVEL) & (top >= MIN_SHARE)
    layer, head = np.indices(share.shape)
    grids = {"layer": np.array(layered.layer_labels)[layer], "head": head + 1, "share": share}
    grids |= {"low": low, "high": high, "control": control, "p": p, "carries": carries}
    table = pd.DataFrame({name: grid.ravel() for name, grid in grids.items()})
    table = table.sort_values("share", ascending=False, kind="stable", ignore_index=True)
    variants = sum(not each.same_answer for each in found)
    table.attrs |= facts_of(found[0]) | {"draws": len(draws), "variants": variants}
    return table


def _shares(found: Sequence[Exchanged], field: str = "values") -> Floats:
    """Of each variant that has a way to go, or of all where none has, (variant, ...)."""
    told = [each for each in found if not each.same_answer] or found
    return np.stack([getattr(each, field) for each in told])


def parts_table(
    layered: Layered, heads: Floats, layers: Floats, rest: tuple[float, float], value: float
) -> pd.DataFrame:
    """What is read at the model's end, in parts: a row per head, then the rest.

    `heads` (layer, head), `layers` (layer,), `rest` (embeddings and biases) and their sum `value`
    come from :func:`core.model.interventions.direct.direct_parts`. Columns ``writer`` ("head",
    "layer" for what a layer writes besides its heads, "embeddings", "biases"); ``layer`` and
    ``head`` (from 1, missing where there is none); ``part``; ``share`` of the value.
    """
    import pandas as pd

    layer, head = np.divmod(np.arange(heads.size), heads.shape[1])
    labels = [*layered.layer_labels]
    table = pd.DataFrame(
        {
            "writer": ["head"] * heads.size + ["layer"] * len(layers) + ["embeddings", "biases"],
            "layer": pd.array([*np.array(labels)[layer], *labels, None, None], dtype="Int64"),
            "head": pd.array([*(head + 1), *[None] * (len(layers) + 2)], dtype="Int64"),
            "part": [*heads.ravel(), *layers, *rest],
        }
    )
    table["share"] = table["part"] / value
    return table


def moved_table(before: Trace, after: Trace) -> pd.DataFrame:
    """How much attention moved in each head, a row per head, ordered by layer and head.

    Columns ``layer`` and ``head`` (from 1); ``moved``, half the sum of absolute changes of a row,
    that is, the share of the query's attention that went elsewhere, averaged over tokens;
    ``largest``, the largest change of one weight by size, with its sign, and its ``query`` and
    ``key``, labelled by :func:`core.vocabulary.labels_of`.
    """
    import pandas as pd

    labels, rows = labels_of(before.tokens), []
    for layer, label in enumerate(before.layer_labels):
        for head, change in enumerate(after.attention(layer) - before.attention(layer)):
            sizes = np.abs(change, dtype=np.float64)
            query, key = (int(each) for each in np.unravel_index(sizes.argmax(), sizes.shape))
            moved = float(sizes.sum(axis=-1).mean() / 2)
            largest = float(change[query, key])
            rows.append((label, head + 1, moved, largest, labels[query], labels[key]))
    return pd.DataFrame(rows, columns=["layer", "head", "moved", "largest", "query", "key"])


def largest_effect(table: pd.DataFrame) -> dict[str, Any] | None:
    """The row with the largest effect by size; None if there is none."""
    sizes = table["effect"].abs()
    if not sizes.notna().any():
        return None
    (row,) = table.loc[[sizes.idxmax()]].to_dict("records")
    return {str(name): each for name, each in row.items()}


def _median_of_others(sizes: Floats) -> Floats:
    """The median of the other heads of the layer; nan if there are none."""
    others = np.full_like(sizes, np.nan)
    for layer, head in np.ndindex(sizes.shape):
        other_sizes = np.delete(sizes[layer], head)
        if np.isfinite(other_sizes).any():
            others[layer, head] = np.nanmedian(other_sizes)
    return others
