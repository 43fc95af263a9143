"""The effect table: a row per head, what replacing it changes, its controls, what it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.vocabulary import Layered

if TYPE_CHECKING:
    import pandas as pd

# What a head writes, as a share of the mean head of its layer: below the first it is inactive,
# whatever its lines look like; below the second it writes little. Ours: sink mass alone misses
# heads that write nothing (Sandoval-Segura et al. 2025), and their norms tell them.
INACTIVE, LITTLE = 0.1, 0.5
NEGLIGIBLE = (
    0.01  # of the largest effect: what is smaller is taken for nothing, beyond control or not
)


class HeadEffects(Protocol):
    """What :func:`core.model.effects` gives."""

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


class HeadParts(Protocol):
    """What :func:`core.model.interventions.direct.direct_parts` gives."""

    @property
    def heads(self) -> Floats:
        """What each head writes of the value, (layer, head)."""

    @property
    def layers(self) -> Floats:
        """What each layer writes besides, (layer,)."""

    @property
    def embeddings(self) -> float:
        """What the embeddings are of it."""

    @property
    def biases(self) -> float:
        """What all biases are of it."""

    @property
    def value(self) -> float:
        """What is read: the sum."""

    @property
    def measure(self) -> Any:  # noqa: ANN401 - a name
        """What it measures."""

    @property
    def unit(self) -> str:
        """Its unit."""


def effect_table(
    layered: Layered,
    found: HeadEffects,
    written: Floats | None = None,
    patterns: Sequence[str] | None = None,
    direct: Floats | None = None,
    parts: Floats | None = None,
) -> pd.DataFrame:
    """Whether each head matters on one text, a row per head, in the order of layers and heads.

    Parameters
    ----------
    layered : the trace whose layers these are.
    found : of :func:`core.model.effects`.
    written : (layer, head), of ``core.model.interventions.written.written_norms``.
    patterns : the pattern of each head in the order of rows, as ``pattern_table``'s ``class``.
    direct : (layer, head), of ``core.model.interventions.direct.direct_effects``.
    parts : (layer, head), ``heads`` of ``core.model.interventions.direct.direct_parts``.

    Columns ``layer`` and ``head`` (from 1); ``effect``; ``control``, the largest effect of a random
    direction by size; ``exceeds``, whether the effect is larger than that by size, and no less than
    `NEGLIGIBLE` of the largest effect; ``others``, the median size among the other heads of its
    layer; with `written` ``written`` (a length), ``share`` (of the mean head of its layer) and
    ``inactive`` (whether that is below `INACTIVE`); with `patterns` ``pattern``; with `direct`
    ``direct`` and ``repaired``, the direct effect less the effect: what the rest of the model makes
    up for; with `parts` ``part``, what it writes of the value read at the end. A head that a
    layer does not have is nan. ``table.attrs`` has "measure", "unit" and "replace" of the effects,
    "least", the size below which an effect is negligible, and "chance", the share of heads that
    exceed their control if they are no better than random directions.
    """
    import pandas as pd

    values = found.values  # noqa: PD011 - the name that notebooks use, of no data frame
    layers, heads = values.shape
    layer, head = np.divmod(np.arange(layers * heads), heads)
    sizes = np.abs(values)
    least = NEGLIGIBLE * np.nanmax(sizes)
    columns: dict[str, NDArray[Any]] = {
        "layer": np.array(layered.layer_labels)[layer],
        "head": head + 1,
        "effect": values.ravel(),
        "control": found.control.ravel(),
        "exceeds": ((sizes > found.control) & (sizes >= least)).ravel(),
        "others": _median_of_others(sizes).ravel(),
    }
    if written is not None:
        share = written / np.nanmean(written, axis=1, keepdims=True)
        columns |= {
            "written": written.ravel(),
            "share": share.ravel(),
            "inactive": (share < INACTIVE).ravel(),
        }
    if patterns is not None:
        columns["pattern"] = np.array(patterns)
    if direct is not None:
        columns |= {"direct": direct.ravel(), "repaired": (direct - values).ravel()}
    if parts is not None:
        columns["part"] = parts.ravel()
    table = pd.DataFrame(columns)
    table.attrs |= {
        "measure": found.measure,
        "unit": found.unit,
        "replace": found.replace,
        "least": float(least),
        "chance": expected_by_chance(len(found.draws)),
    }
    return table


def parts_table(layered: Layered, parts: HeadParts) -> pd.DataFrame:
    """What is read at a model's end in parts, a row per head, then the rest.

    Columns ``writer`` ("head", "layer" for what a layer writes besides its heads, "embeddings",
    "biases"); ``layer`` and ``head`` (from 1, missing where there is none); ``part``; ``share`` of
    the value. ``table.attrs`` has "value", "measure" and "unit".
    """
    import pandas as pd

    heads = parts.heads
    layer, head = np.divmod(np.arange(heads.size), heads.shape[1])
    labels = [*layered.layer_labels]
    rest = len(parts.layers)
    table = pd.DataFrame(
        {
            "writer": ["head"] * heads.size + ["layer"] * rest + ["embeddings", "biases"],
            "layer": pd.array([*np.array(labels)[layer], *labels, None, None], dtype="Int64"),
            "head": pd.array([*(head + 1), *[None] * (rest + 2)], dtype="Int64"),
            "part": [*heads.ravel(), *parts.layers, parts.embeddings, parts.biases],
        }
    )
    table["share"] = table["part"] / parts.value
    table.attrs |= {"value": parts.value, "measure": parts.measure, "unit": parts.unit}
    return table


def largest_effect(table: pd.DataFrame) -> dict[str, Any] | None:
    """The row whose effect is largest by size among those that exceed their control."""
    return max(
        (row for row in _rows(table) if row["exceeds"]),
        key=lambda row: abs(row["effect"]),
        default=None,
    )


def loudest_within(table: pd.DataFrame) -> dict[str, Any] | None:
    """The row that writes most among those within their control."""
    return max(
        (row for row in _rows(table) if not row["exceeds"] and "share" in row),
        key=lambda row: float(row["share"]),
        default=None,
    )


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): each for name, each in row.items()} for row in table.to_dict("records")]


def expected_by_chance(draws: int) -> float:
    """The share of heads that exceed all of so many random directions by luck alone.

    Where a head is one more random direction, it is the largest of all as often as any.

    >>> expected_by_chance(4)
    0.2
    """
    return 1 / (1 + draws)


def _median_of_others(sizes: Floats) -> Floats:
    """The median of the other heads of the layer; nan where there are none."""
    others = np.full_like(sizes, np.nan)
    for layer, own in enumerate(sizes):
        for head in range(len(own)):
            rest = np.delete(own, head)
            if np.isfinite(rest).any():
                others[layer, head] = np.nanmedian(rest)
    return others
