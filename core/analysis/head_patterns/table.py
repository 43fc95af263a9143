"""The pattern table: scores of all heads over one text or many, with bootstrap intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from core.analysis.head_patterns.measure import (
    MEASURED,
    Measured,
    Scores,
    mean_scores,
    measure_text,
)
from core.analysis.head_patterns.naming import TOO_SHORT, assign_patterns
from core.analysis.head_patterns.registry import PATTERNS
from core.model.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from core.analysis.head_patterns.induction import Induction

    Floats = NDArray[np.float64]

SCORES = tuple(each.score for each in PATTERNS if each.in_table)
RESAMPLES = 1000
SEED = 20_190_611  # of the bootstrap, so that the same texts give the same intervals
LEVEL = 0.95


def pattern_table(
    traces: Trace | Iterable[Trace] | Iterable[Measured],
    thresholds: Mapping[str, float] | None = None,
    induction: Induction | None = None,
) -> pd.DataFrame:
    """One row a head: its scores, their uniform baseline, and the pattern it follows.

    Parameters
    ----------
    traces : one text, or several of one model; or what `measure_text` made of each.
    thresholds : other values for some of `core.analysis.head_patterns.naming.THRESHOLDS`.
    induction : from `core.analysis.head_patterns.induction.induction_scores`, which needs texts of
        its own; without it that score is nan.

    Returns
    -------
    Columns ``layer`` and ``head``, from 1; then for each score of `SCORES` its value and, as
    ``<score>_uniform``, that of a head with uniform attention on the same texts. Unless said, a
    score is a share of attention, mean over the tokens that have such a pair which the model
    permits, and nan where no token has one; `core.analysis.head_patterns.registry.PATTERNS` says
    where that attention goes. Its ``cls``, ``sep`` and ``punctuation`` are those of Clark et al.
    2019; ``delimiter``, their sum, is ours and names no head.

    Several texts add ``<score>_low`` and ``<score>_high``, a 95 % bootstrap interval over texts.

    ``class`` is the most specific pattern that the head clearly follows, or "none": with its score
    above the threshold and above the uniform baseline, over enough query tokens
    (`core.analysis.head_patterns.naming.NAMING`). Its ``confidence`` is how far the score has
    come from there (0) to all attention (1), nan for "none"; several texts add its ``stability``,
    the share of resamples with the same class. Texts under `minimum_evidence.MIN_TOKENS` tokens
    name heads mostly by accident; the pages do not name any there.

    Raises
    ------
    ValueError
        For no text at all, texts of different models, or a threshold of an unknown pattern.
    """
    if isinstance(traces, Trace):
        return make_table([measure_text(traces)], thresholds, induction)
    measured = [each if isinstance(each, Measured) else measure_text(each) for each in traces]
    return make_table(measured, thresholds, induction, intervals=True)


def make_table(
    measured: Sequence[Measured],
    thresholds: Mapping[str, float] | None = None,
    induction: Induction | None = None,
    *,
    intervals: bool = False,
) -> pd.DataFrame:
    """The table of :func:`core.analysis.head_patterns.pattern_table`, of texts already measured.

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
    scores = add_induction(mean_scores(measured), induction)
    found = assign_patterns(scores.means, scores.uniform, scores.query_tokens, thresholds)
    layers, heads = found.number.shape
    layer, head = np.divmod(np.arange(layers * heads), heads)
    columns: dict[str, NDArray[np.generic]] = {"layer": layer + 1, "head": head + 1}
    low_high = bootstrap(measured, thresholds, induction, found.number) if intervals else None
    for name in SCORES:
        columns[name] = scores.means[name].ravel()
        columns[f"{name}_uniform"] = scores.uniform[name].ravel()
        if low_high is not None and name in MEASURED:
            columns[f"{name}_low"], columns[f"{name}_high"] = (
                part.ravel() for part in low_high[0][name]
            )
    columns |= {"class": found.names.ravel(), "confidence": found.confidence.ravel()}
    if low_high is not None:
        columns["stability"] = low_high[1].ravel()
    return pd.DataFrame(columns)


def add_induction(scores: Scores, induction: Induction | None) -> Scores:
    """The same with the score that is measured on texts of its own; nan where it was not.

    Those texts have tokens enough: the number of query tokens is no limit.
    """
    unknown = np.full_like(scores.means["previous"], np.nan)
    given = (unknown, unknown) if induction is None else (induction.scores, induction.uniform)
    return Scores(
        scores.means | {"induction": given[0]},
        scores.uniform | {"induction": given[1]},
        scores.query_tokens | {"induction": np.full_like(unknown, np.inf)},
    )


def withhold_classes(table: pd.DataFrame) -> pd.DataFrame:
    """The table of a text that is too short to name patterns by: scores stay, names go."""
    held = table.copy()
    held["class"] = TOO_SHORT
    held[[name for name in ("confidence", "stability") if name in held]] = np.nan
    return held


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
            drawn = _resampled(measured, layer, draws.astype(np.float64))
            bounds[:, :, layer] = np.stack([_bounds(each) for each in drawn.means.values()])
            own = None if induction is None else induction.of_layer(layer, RESAMPLES)
            drawn = add_induction(drawn, own)
            again = assign_patterns(drawn.means, drawn.uniform, drawn.query_tokens, thresholds)
            stability[layer] = (again.number == number[layer]).mean(axis=0)
    return dict(zip(MEASURED, bounds, strict=True)), stability


def _resampled(measured: Sequence[Measured], layer: int, draws: Floats) -> Scores:
    """Scores of one layer in each resample, (resample, head) by score."""
    sums, even, counts = (
        np.stack([getattr(each, part)[:, layer] for each in measured]).astype(np.float64)
        for part in ("sums", "uniform", "counts")
    )  # (text, score, head)
    with np.errstate(invalid="ignore"):
        total = np.einsum("rt,tsh->srh", draws, counts, optimize=True)
        means = np.einsum("rt,tsh->srh", draws, sums, optimize=True) / total
        uniform = np.einsum("rt,tsh->srh", draws, even, optimize=True) / total
    parts = (means, uniform, total)
    return Scores(*(dict(zip(MEASURED, part, strict=True)) for part in parts))


def _bounds(values: Floats) -> Floats:
    """The interval that holds `LEVEL` of the resamples, (2, head); those without a score apart."""
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    if np.isfinite(values).all():
        return np.quantile(values, tails, axis=0)
    known = np.isfinite(values).any(axis=0)
    bounds = np.full((2, values.shape[1]), np.nan)
    bounds[:, known] = np.nanquantile(values[:, known], tails, axis=0)
    return bounds
