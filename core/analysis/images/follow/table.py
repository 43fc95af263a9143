"""The table of what each head follows, for one image or several, with a class for each head."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.arrays import Floats, mean_of_finite
from core.analysis.images.follow.following import (
    FEATURES,
    LOOKS,
    PERMUTATIONS,
    PLACES,
    Following,
    follow_alike,
)
from core.analysis.images.follow.permutations import adjusted_p_values, p_values
from core.analysis.images.patch_scores import cls_position, patches_of, register_positions
from core.model.trace import Trace

if TYPE_CHECKING:
    import pandas as pd


# Two families are tested, looks and places, each corrected for all its heads and features; so of
# images that no head follows, at most 5 % give any head such a class.
LEVEL = 0.05
FAMILIES = (LOOKS, PLACES)
# Cohen 1988 (section 3.2) calls 0.3 a medium correlation. A tiny one is soon beyond chance, with
# thousands of pairs, and still says little of what the head does. Beyond chance is not learnt: a
# ViT compares what its patches hold by random weights before any training. So the untrained twin
# is measured beside the model, see `beside_twin`.
MIN_CORRELATION = 0.3
# What heads can be said to follow, and the features of `FEATURES` that count for it.
FOLLOWED = {
    **{FEATURES[place]: (FEATURES[place],) for place in range(LOOKS.start, LOOKS.stop)},
    "position": FEATURES[PLACES],
}
MIN_ITSELF = 0.5  # mean attention of patches to themselves, as of the head pattern "self"
MIN_CLS = 0.6  # mean attention of patches to CLS, as of the head patterns of special tokens


@dataclass(frozen=True, eq=False)
class Masses:
    """Mean attention of patch queries to one thing, (layer, head) each."""

    itself: Floats
    cls: Floats  # 0 in models without
    registers: Floats


@dataclass(frozen=True, eq=False)
class Followed:
    """One image: what its heads follow, and where their attention goes."""

    following: Following
    masses: Masses


def follow_table(
    trace: Trace, permutations: int = PERMUTATIONS, *, twin: Trace | None = None
) -> pd.DataFrame:
    """One row a head: what it follows in this image; see :func:`table_of`.

    `twin` is the trace of the same patches through the model's untrained twin
    (``core.model.untrained_twin``), to be measured beside it.
    """
    return follow_images([trace], permutations, twins=None if twin is None else (twin,))


def follow_images(
    traces: Iterable[Trace],
    permutations: int = PERMUTATIONS,
    *,
    twins: Iterable[Trace] | None = None,
) -> pd.DataFrame:
    """The same over several images of one model, which a head must follow on average.

    `ValueError` for more or fewer twins than traces.
    """
    networks = (traces,) if twins is None else (traces, twins)
    pairs = [followed(*each, permutations=permutations) for each in zip(*networks, strict=True)]
    return table_of([each for each, *_ in pairs], [each for _, *rest in pairs for each in rest])


def followed(*traces: Trace, permutations: int = PERMUTATIONS) -> list[Followed]:
    """What :func:`table_of` needs of one image, seen by one network or by several."""
    found = follow_alike(traces, permutations)
    return [
        Followed(following, attention_masses(trace))
        for following, trace in zip(found, traces, strict=True)
    ]


def table_of(images: Sequence[Followed], twins: Sequence[Followed] = ()) -> pd.DataFrame:
    """One row a head: correlations, their p, and the head's class; `ValueError` without images.

    Columns ``layer`` and ``head``, from 1; for each of `FEATURES` ``<feature>``, the correlation of
    its row-centred scores with closeness, ``<feature>_beyond``, the partial one beyond the other
    features, ``<feature>_p`` of that one-sided, and ``<feature>_p_adjusted`` for all heads of its
    family; then ``itself``, ``cls``, ``registers``, the mean attention that patches give these, and
    ``class``: one of `LOOKS`, "position", "itself", "CLS" or "none". Several images: Fisher's mean
    of their correlations, against the mean of one permutation of each; an image that lacks a
    feature (grey ones lack hue) or has it as a matter of place (`MAX_BY_PLACE`) is left out.

    With `twins`, the same images seen by the untrained twin, its ``<feature>_beyond``,
    ``<feature>_p_adjusted`` and ``class`` follow, each with ``twin_`` before its name; `ValueError`
    for more or fewer of them than images.

    ``attrs``: ``images``; ``permutations``; ``patches`` compared in each image, of ``of`` patches;
    ``by_place``, of each image how much of each look is a matter of place.
    """
    import pandas as pd

    if not images:
        raise ValueError("no image")
    parts = [each.following for each in images]
    if len({part.plain.shape for part in parts}) > 1:
        raise ValueError("images of different models")
    if twins and len(twins) != len(images):
        raise ValueError("the twin saw other images")
    count = min(len(part.chance) for part in parts)
    features, layers, heads = parts[0].plain.shape
    plain = _mean([part.plain for part in parts]).reshape(features, -1)
    beyond = _mean([part.beyond for part in parts]).reshape(features, -1)
    chance = _mean([part.chance[:count] for part in parts]).reshape(count, features, -1)
    adjusted = _adjusted(beyond, chance)
    masses = {
        name: np.mean([getattr(each.masses, name) for each in images], axis=0).ravel()
        for name in ("itself", "cls", "registers")
    }
    columns: dict[str, object] = {
        "layer": np.repeat(parts[0].layer_labels, heads),
        "head": np.tile(np.arange(1, heads + 1), layers),
    }
    for place, feature in enumerate(FEATURES):
        columns[feature] = plain[place]
        columns[f"{feature}_beyond"] = beyond[place]
        columns[f"{feature}_p"] = p_values(beyond[place], chance[:, place])
        columns[f"{feature}_p_adjusted"] = adjusted[place]
    table = pd.DataFrame({**columns, **masses, "class": _classes(beyond, adjusted, masses)})
    table.attrs = {
        "images": len(images),
        "permutations": count,
        "patches": tuple(part.patches for part in parts),
        "of": tuple(part.count for part in parts),
        "by_place": tuple(part.by_place for part in parts),
    }
    if not twins:
        return table
    other = table_of(twins)
    shown = [f"{name}_{part}" for name in FEATURES for part in ("beyond", "p_adjusted")]
    attrs = table.attrs
    table = table.join(other[[*shown, "class"]].add_prefix("twin_"))
    table.attrs = attrs
    return table


def followers(table: pd.DataFrame, what: str, prefix: str = "") -> int:
    """How many heads follow one of `FOLLOWED`, whatever else they follow more or rest on.

    `prefix` is ``"twin_"`` for the heads of the untrained twin.
    """
    passes = [
        (table[f"{prefix}{name}_beyond"] >= MIN_CORRELATION)
        & (table[f"{prefix}{name}_p_adjusted"] <= LEVEL / len(FAMILIES))
        for name in FOLLOWED[what]
    ]
    return int(np.any(passes, axis=0).sum())


def beside_twin(table: pd.DataFrame) -> pd.DataFrame:
    """How many heads follow each of `FOLLOWED`, here and in the untrained twin, and the excess.

    A row for each, with the columns ``heads``, ``twin`` and ``excess`` (heads less those of the
    twin), at the thresholds of this module. `KeyError` for a table that was made without the twin.
    """
    import pandas as pd

    counts = pd.DataFrame(
        {
            "heads": [followers(table, what) for what in FOLLOWED],
            "twin": [followers(table, what, "twin_") for what in FOLLOWED],
        },
        index=list(FOLLOWED),
    )
    counts["excess"] = counts["heads"] - counts["twin"]
    return counts


def attention_masses(trace: Trace) -> Masses:
    """What patch queries give to themselves, to CLS and to registers, head by head."""
    patches, cls = patches_of(trace), cls_position(trace)
    registers = register_positions(trace)
    layers, heads = trace.shape[:2]
    itself, to_cls, to_registers = np.zeros((3, layers, heads))
    for layer in range(layers):
        for head in range(heads):
            weights = trace.attention(layer, head)[patches.tokens]
            itself[layer, head] = np.diagonal(weights[:, patches.tokens]).mean(dtype=np.float64)
            if cls is not None:
                to_cls[layer, head] = weights[:, cls].mean(dtype=np.float64)
            to_registers[layer, head] = weights[:, registers].sum(dtype=np.float64) / patches.count
    return Masses(itself, to_cls, to_registers)


def _mean(values: list[Floats]) -> Floats:
    """Fisher's mean of correlations over images; nan where none has one."""
    if len(values) == 1:
        return values[0]
    with np.errstate(divide="ignore"):
        z = np.arctanh(np.clip(np.stack(values), -1 + 1e-12, 1 - 1e-12))
    return np.tanh(mean_of_finite(z))


def _adjusted(beyond: Floats, chance: Floats) -> Floats:
    """P-values of each feature and head, (feature, head), corrected within their family."""
    adjusted = [
        adjusted_p_values(
            beyond[family].ravel(), chance[:, family].reshape(len(chance), -1)
        ).reshape(beyond[family].shape)
        for family in FAMILIES
    ]
    return np.concatenate(adjusted)


def _classes(beyond: Floats, adjusted: Floats, masses: dict[str, Floats]) -> list[str]:
    """The class of each head: where most of its attention rests, else what it follows most."""
    significant = (adjusted <= LEVEL / len(FAMILIES)) & (beyond >= MIN_CORRELATION)
    strength = np.where(significant, beyond, -np.inf)
    names = np.array([*FEATURES[LOOKS], "position", "position", "position"])
    classes = np.where(significant.any(axis=0), names[strength.argmax(axis=0)], "none")
    classes = np.where(masses["cls"] >= MIN_CLS, "CLS", classes)
    return [str(each) for each in np.where(masses["itself"] >= MIN_ITSELF, "itself", classes)]
