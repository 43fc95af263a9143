"""What the page of head patterns says about a head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.analysis.head_patterns.naming import NAMING, NONE, TOO_SHORT
from core.analysis.head_patterns.registry import PATTERNS
from core.ui.corpus_walk import reads_corpora, show_unread
from core.ui.words.inputs import this_input
from core.ui.words.numbers import number
from core.ui.words.pattern_words import pattern_names, score_names, words_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.analysis.head_patterns.evidence import Evidence
    from core.model import Trace

# From here on a score is called above its threshold (0), and far above it (1: all attention).
ABOVE, FAR_ABOVE = 0.1, 0.5


def show_limits(trace: Trace) -> None:
    """What this kind of attention leaves out, and who reads the corpus."""
    if trace.patches is not None:
        st.caption(
            "Patches have no words, marks or sentences, so patterns of these are left out. Left and"
            " right neighbours are patches of one row of the image; the first patch of a row has no"
            " left one, and the last no right one."
        )
        return
    names = score_names(trace)
    if trace.source is not None:
        left_out = [names[each.score] for each in PATTERNS if each.in_table and not each.across]
        st.caption(
            "Cross attention leads from one text to another. Patterns of key tokens are measured:"
            " the first of your text, special ones, full stops and commas. Those of two tokens of"
            f" one text are left out: {', '.join(left_out)}."
        )
    induction = "" if trace.source is not None else ", like the random sequences of induction,"
    show_unread(trace, f"The sample corpus{induction}")


def why_missing(trace: Trace, pattern: str) -> str:
    """Why a pattern's score has no number on this text, in a sentence."""
    repeated = any(each.name == pattern and each.measured == "repeated" for each in PATTERNS)
    if repeated and not reads_corpora(trace):
        return "Repeated random sequences are read by the encoder alone."
    return words_for(trace)[pattern].missing


def verdict(
    trace: Trace,
    name: str,
    row: Mapping[str, Any],
    limits: Mapping[str, float],
    query_tokens: Mapping[str, float],
) -> str:
    """Which pattern a head follows and how far it is from the threshold (Markdown).

    Parameters
    ----------
    row : the head's row of the pattern table.
    limits : by pattern, what its score must exceed.
    query_tokens : by pattern, how many tokens its score is over.
    """
    followed = row["class"]
    if followed == TOO_SHORT:
        return (
            f"**{name}: too short to say.** Under {MIN_TOKENS} tokens heads pass thresholds by"
            " accident: the scores are shown, but no pattern is named."
        )
    if followed == NONE:
        return _no_pattern(trace, name, row, limits, query_tokens)
    pattern = NAMING[followed]
    score = pattern.score
    context = f"threshold {number(limits[followed])}"
    if pattern.baseline == "uniform":
        context += f", uniform baseline {number(row[f'{score}_uniform'])}"
    resampled = ""
    if np.isfinite(row.get(f"{score}_low", np.nan)):
        low, high = number(row[f"{score}_low"]), number(row[f"{score}_high"])
        context += f"; 95 % interval {low} to {high}"
        resampled = f" {row['stability']:.0%} of the resamples gave the same pattern."
    gives = words_for(trace)[followed].gives.format(f"**{number(row[score])}**")
    return (
        f"**{name}: {pattern_names(trace)[followed]}.** It {gives} ({context}):"
        f" {how_far(row['confidence'])}.{resampled}"
    )


def _no_pattern(
    trace: Trace,
    name: str,
    row: Mapping[str, Any],
    limits: Mapping[str, float],
    query_tokens: Mapping[str, float],
) -> str:
    """Why a head follows no pattern (Markdown)."""
    nearest, short = nearest_pattern(row, limits, query_tokens)
    if not nearest:
        return f"**{name}** cannot be measured on {this_input(trace)}."
    names = pattern_names(trace)
    scarce = [
        f"{names[each]} has {number(row[pattern.score])}, but over"
        f" {query_tokens[each]:.0f} query tokens, and {pattern.min_query_tokens} are needed"
        for each, pattern in NAMING.items()
        if 0 < query_tokens[each] < pattern.min_query_tokens and row[pattern.score] > limits[each]
    ]
    evidence = f" Not enough evidence: {'; '.join(scarce)}." if scarce else ""
    return (
        f"**{name}** follows no pattern above its threshold. The nearest is"
        f" {names[nearest]}: {number(row[NAMING[nearest].score])} of the"
        f" {number(limits[nearest])} it takes ({number(short)} short).{evidence}"
    )


def how_far(confidence: float) -> str:
    """How far above its threshold a score is, in words and as a number from 0 to 1."""
    if confidence < ABOVE:
        return f"just above the threshold ({number(confidence)})"
    far = "" if confidence < FAR_ABOVE else "far "
    return f"{far}above the threshold ({number(confidence)} of the way to 1)"


def nearest_pattern(
    row: Mapping[str, Any], limits: Mapping[str, float], query_tokens: Mapping[str, float]
) -> tuple[str, float]:
    """The pattern that the head falls short of by the least, and by how much.

    Only patterns with enough query tokens count; "" and nan where there is none.
    """
    short = {
        name: limits[name] - row[pattern.score]
        for name, pattern in NAMING.items()
        if np.isfinite(limits[name] - row[pattern.score])
        and query_tokens[name] >= pattern.min_query_tokens
    }
    return min(short.items(), key=lambda item: item[1], default=("", float("nan")))


def describe_evidence(name: str, pattern: str, evidence: Evidence, trace: Trace) -> str:
    """The evidence in one sentence (Markdown)."""
    tokens = "tokens" if trace.source is None else "query tokens"
    if not evidence.tokens:
        which = f"token of {this_input(trace)}" if trace.source is None else "query token"
        return f"No {which} has such a pair. {words_for(trace)[pattern].missing}"
    share, uniform = (float(np.nanmean(part)) for part in (evidence.share, evidence.uniform))
    return (
        f"{name} {words_for(trace)[pattern].evident.format(f'**{number(share)}**')}: the mean over"
        f" {evidence.tokens} of {len(trace.tokens)} {tokens}. Uniform baseline: {number(uniform)}."
    )
