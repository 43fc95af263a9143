"""The pattern table: scores of all heads over one text or many, with bootstrap intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from core.analysis.head_classes import classify
from core.analysis.pattern_measure import MEASURED, Measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from core.analysis.induction import Induction

    Floats = NDArray[np.float64]

SCORES = (*MEASURED, "induction")
RESAMPLES = 1000
SEED = 20_190_611  # of the bootstrap, so that the same texts give the same intervals
LEVEL = 0.95


def make_table(
    measured: Sequence[Measured],
    thresholds: Mapping[str, float] | None = None,
    induction: Induction | None = None,
    *,
    intervals: bool = False,
) -> pd.DataFrame:
    """The table of :func:`core.analysis.head_patterns.pattern_table` of texts already measured.

    Raises
    ------
    ValueError
        For no text, or texts of models that differ in layers or heads.
    """
    shapes = {each.sums.shape for each in measured}
    if len(shapes) != 1:
        raise ValueError(
            "texts of different models cannot share a table" if shapes else "there is no text"
        )
    scores = add_induction(*mean_scores(measured), induction)
    found = classify(*scores, thresholds)
    layers, heads = found.number.shape
    layer, head = np.divmod(np.arange(layers * heads), heads)
    columns: dict[str, NDArray[np.generic]] = {"layer": layer + 1, "head": head + 1}
    low_high = bootstrap(measured, thresholds, induction, found.number) if intervals else None
    for name in SCORES:
        columns[name] = scores[0][name].ravel()
        columns[f"{name}_uniform"] = scores[1][name].ravel()
        if low_high is not None and name in MEASURED:
            columns[f"{name}_low"], columns[f"{name}_high"] = (
                part.ravel() for part in low_high[0][name]
            )
    columns |= {"class": found.names.ravel(), "confidence": found.confidence.ravel()}
    if low_high is not None:
        columns["stability"] = low_high[1].ravel()
    return pd.DataFrame(columns)


def mean_scores(measured: Sequence[Measured]) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Means over the tokens of all texts, and those of an even head; (layer, head) by score."""
    counts = np.sum([each.counts for each in measured], axis=0)
    with np.errstate(invalid="ignore"):  # 0 / 0 is nan: no token has such a pair
        means = np.sum([each.sums for each in measured], axis=0) / counts
        even = np.sum([each.even for each in measured], axis=0) / counts
    return dict(zip(MEASURED, means, strict=True)), dict(zip(MEASURED, even, strict=True))


def add_induction(
    scores: dict[str, Floats], even: dict[str, Floats], induction: Induction | None
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """The same with the score that is measured on texts of its own; nan where it was not."""
    unknown = np.full_like(scores["previous"], np.nan)
    given = (unknown, unknown) if induction is None else (induction.scores, induction.even)
    return scores | {"induction": given[0]}, even | {"induction": given[1]}


def bootstrap(
    measured: Sequence[Measured],
    thresholds: Mapping[str, float] | None,
    induction: Induction | None,
    number: NDArray[np.int_],
) -> tuple[dict[str, Floats], Floats]:
    """What other texts like these might have given: texts are drawn anew, with replacement.

    Returns
    -------
    Bounds of the 95 % percentile interval of each score, (2, layer, head) by name; and the share of
    resamples in which a head has the class `number` again, (layer, head). nan for a single text,
    which says nothing about others.

    Efron and Tibshirani 1993, chapter 13; `RESAMPLES` resamples from the seed `SEED`.
    """
    layers, heads = number.shape
    bounds = np.full((len(MEASURED), 2, layers, heads), np.nan)
    stability = np.full((layers, heads), np.nan)
    texts = len(measured)
    if texts > 1:
        draws = np.random.default_rng(SEED).multinomial(texts, np.full(texts, 1 / texts), RESAMPLES)
        for layer in range(layers):
            means, even = _resampled(measured, layer, draws.astype(np.float64))
            bounds[:, :, layer] = np.stack([_bounds(each) for each in means.values()])
            own = None if induction is None else induction.of_layer(layer, RESAMPLES)
            again = classify(*add_induction(means, even, own), thresholds).number
            stability[layer] = (again == number[layer]).mean(axis=0)
    return dict(zip(MEASURED, bounds, strict=True)), stability


def _resampled(
    measured: Sequence[Measured], layer: int, draws: Floats
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Scores of one layer in each resample, and those of an even head; (resample, head) by name."""
    sums, even, counts = (
        np.stack([getattr(each, part)[:, layer] for each in measured]).astype(np.float64)
        for part in ("sums", "even", "counts")
    )  # (text, score, head)
    with np.errstate(invalid="ignore"):
        total = np.einsum("rt,tsh->srh", draws, counts, optimize=True)
        means = np.einsum("rt,tsh->srh", draws, sums, optimize=True) / total
        evens = np.einsum("rt,tsh->srh", draws, even, optimize=True) / total
    return dict(zip(MEASURED, means, strict=True)), dict(zip(MEASURED, evens, strict=True))


def _bounds(values: Floats) -> Floats:
    """The interval that holds `LEVEL` of the resamples, (2, head); those without a score apart."""
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    if np.isfinite(values).all():
        return np.quantile(values, tails, axis=0)
    known = np.isfinite(values).any(axis=0)
    bounds = np.full((2, values.shape[1]), np.nan)
    bounds[:, known] = np.nanquantile(values[:, known], tails, axis=0)
    return bounds
