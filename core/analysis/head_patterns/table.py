"""The pattern table: scores of all heads over one text or many, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.analysis.head_patterns.induction import Induction
from core.analysis.head_patterns.measure import (
    SCORES_ON_TEXT,
    Scores,
    TextScores,
    mean_scores,
    measure_text,
    named_scores,
)
from core.analysis.head_patterns.naming import TOO_SHORT, assign_patterns
from core.analysis.head_patterns.registry import PATTERNS
from core.analysis.statistics import percentiles, times_drawn
from core.model.trace import Trace

if TYPE_CHECKING:
    import pandas as pd


SCORES = tuple(each.score for each in PATTERNS)


def pattern_table(
    traces: Trace | TextScores | Iterable[Trace] | Iterable[TextScores],
    induction: Induction | None = None,
) -> pd.DataFrame:
    """One row per head: its scores, their uniform baselines, and the pattern it follows.

    `traces` are one text, or several of one model, or the results of `measure_text` for them;
    `induction` is from `induction_scores`, which needs texts of its own: without it that score is
    nan. Raises `ValueError` for no text, or texts of different models.

    Columns ``layer`` and ``head``, from 1; then each score of `SCORES` and its uniform baseline on
    the same texts, ``<score>_uniform``. Unless noted, a score is a share of attention, averaged
    over the tokens that have such a permitted pair, and nan if no token has one;
    `registry.PATTERNS` says where that attention goes. Its ``cls``, ``sep`` and ``punctuation`` are
    those of Clark et al. 2019; ``delimiter``, their sum, is ours and names no head. In cross
    attention every score is nan except entropy and those that ask nothing of the query token
    (`registry.Pattern.across`); first, special and punctuation are the key tokens. Several texts
    add ``<score>_low`` and ``<score>_high``, a 95 % bootstrap interval over texts.

    ``class`` is the most specific pattern that the head clearly follows, or "none": its score is
    above the threshold and above the uniform baseline, over enough query tokens. ``confidence`` is
    how far the score is on the way from there (0) to all attention (1), nan for "none"; several
    texts add ``stability``, the share of resamples with the same pattern. Below
    `naming.MIN_TOKENS` tokens most names are accidents; the pages show none there.
    """
    import pandas as pd

    single = isinstance(traces, Trace | TextScores)
    texts = [traces] if isinstance(traces, Trace | TextScores) else traces
    measured = [each if isinstance(each, TextScores) else measure_text(each) for each in texts]
    shapes = {each.sums.shape for each in measured}
    if len(shapes) != 1:
        raise ValueError(
            "texts of different models cannot share a table" if shapes else "there is no text"
        )
    scores = add_induction(mean_scores(measured), induction)
    assigned = assign_patterns(scores.means, scores.uniform, scores.query_tokens)
    layers, heads = assigned.number.shape
    layer, head = np.divmod(np.arange(layers * heads), heads)
    layer_labels = np.array(measured[0].layer_labels)
    columns: dict[str, NDArray[np.generic]] = {"layer": layer_labels[layer], "head": head + 1}
    intervals: dict[str, Floats] = {}
    if not single:
        intervals, stability = _bootstrap(measured, induction, assigned.number)
    for name in SCORES:
        columns[name] = scores.means[name].ravel()
        columns[f"{name}_uniform"] = scores.uniform[name].ravel()
        if name in intervals:
            columns[f"{name}_low"], columns[f"{name}_high"] = intervals[name].reshape(2, -1)
    columns |= {"class": assigned.names.ravel(), "confidence": assigned.confidence.ravel()}
    if intervals:
        columns["stability"] = stability.ravel()
    return pd.DataFrame(columns)


def add_induction(scores: Scores, induction: Induction | None) -> Scores:
    """The scores with the induction score added, which has its own texts; nan where it is None.

    Those texts are long enough, so its number of query tokens is no limit.
    """
    unknown = np.full_like(scores.means["previous"], np.nan)
    means, uniform = (
        (unknown, unknown) if induction is None else (induction.scores, induction.uniform)
    )
    return Scores(
        scores.means | {"induction": np.broadcast_to(means, unknown.shape)},
        scores.uniform | {"induction": np.broadcast_to(uniform, unknown.shape)},
        scores.query_tokens | {"induction": np.full_like(unknown, np.inf)},
    )


def withhold_names(table: pd.DataFrame) -> pd.DataFrame:
    """The table of a text that is too short to name patterns: scores stay, names go."""
    withheld = table.copy()
    withheld["class"], withheld["confidence"] = TOO_SHORT, np.nan
    return withheld


def _bootstrap(
    measured: Sequence[TextScores],
    induction: Induction | None,
    number: NDArray[np.int_],
) -> tuple[dict[str, Floats], Floats]:
    """What other texts like these might have given, by resampling texts with replacement.

    The 95 % percentile interval of each score, (2, layer, head) by name, and the share of resamples
    in which a head has the pattern `number` again, (layer, head); nan for a single text (Efron and
    Tibshirani 1993, chapter 13).
    """
    texts = len(measured)
    bounds = {name: np.full((2, *number.shape), np.nan) for name in SCORES_ON_TEXT}
    stability = np.full(number.shape, np.nan)
    if texts == 1:
        return bounds, stability
    draws = times_drawn(texts)
    for layer in range(len(number)):
        sums = (
            np.einsum(
                "rt,tsh->srh",
                draws,
                np.stack([getattr(each, part)[:, layer] for each in measured]).astype(np.float64),
                optimize=True,
            )
            for part in ("sums", "uniform", "counts")
        )  # (score, resample, head) each
        resampled = named_scores(SCORES_ON_TEXT, *sums)
        for name, means in resampled.means.items():
            bounds[name][:, layer] = percentiles(means)
        of_layer = induction and Induction(induction.scores[layer], induction.uniform[layer])
        resampled = add_induction(resampled, of_layer)
        again = assign_patterns(resampled.means, resampled.uniform, resampled.query_tokens)
        stability[layer] = (again.number == number[layer]).mean(axis=0)
    return bounds, stability
