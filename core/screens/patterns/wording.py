"""What the page of head patterns says about a head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.analysis.head_patterns.evidence import Evidence
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.analysis.head_patterns.naming import NAMING, NONE, TOO_SHORT
from core.analysis.head_patterns.registry import PATTERNS
from core.model import Trace
from core.screens.patterns.view import View
from core.ui.corpus_walk import reads_corpora, show_unread
from core.ui.words.numbers import number
from core.ui.words.pattern_words import pattern_names, words_for
from core.ui.words.prose import Prose

_words = Prose(__file__)


def show_limits(trace: Trace) -> None:
    """Say which part of an encoder-decoder reads the corpus."""
    if trace.input.has_words:
        induction = "" if trace.source else ", like the random sequences of induction,"
        show_unread(trace, f"The sample corpus{induction}")


def why_missing(trace: Trace, pattern: str) -> str:
    """Why a pattern's score has no number on this text, in a sentence."""
    repeated = any(each.name == pattern and each.measured == "repeated" for each in PATTERNS)
    if repeated and not reads_corpora(trace):
        return _words("encoder_alone")
    return words_for(trace)[pattern].missing


def verdict(view: View) -> str:
    """Which pattern the chosen head follows and how far it is from the threshold (Markdown)."""
    trace, name, row = view.trace, view.name, view.row
    followed = row["class"]
    if followed == TOO_SHORT:
        return _words("too_short", head=name, least=MIN_TOKENS)
    if followed == NONE:
        return _no_pattern(view)
    pattern = NAMING[followed]
    score = pattern.score
    low, high = (row.get(f"{score}_{end}", np.nan) for end in ("low", "high"))
    return _words(
        "verdict",
        head=name,
        pattern=pattern_names(trace)[followed],
        gives=words_for(trace)[followed].gives.format(f"**{number(row[score])}**"),
        limit=number(view.limits[followed]),
        uniform=number(row[f"{score}_uniform"]) if pattern.baseline == "uniform" else "",
        interval=f"{number(low)} to {number(high)}" if np.isfinite(low) else "",
        stability=row.get("stability"),
        confidence=row["confidence"],
    )


def _no_pattern(view: View) -> str:
    """Why a head follows no pattern (Markdown)."""
    nearest, _ = nearest_pattern(view.row, view.limits, view.query_tokens)
    if not nearest:
        return _words("unmeasured", head=view.name, this=view.trace.input.this)
    return _words(
        "no_pattern",
        head=view.name,
        nearest=pattern_names(view.trace)[nearest],
        score=view.row[NAMING[nearest].score],
        limit=view.limits[nearest],
    )


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
    words, queries = words_for(trace)[pattern], trace.input.queries
    if not evidence.tokens:
        return _words("no_pair", queries=queries, missing=words.missing)
    share, uniform = (
        number(float(np.nanmean(part))) for part in (evidence.share, evidence.uniform)
    )
    gives, among = words.evident.format(f"**{share}**"), f"{evidence.tokens} of {len(trace.tokens)}"
    return _words("evidence", head=name, gives=gives, among=among, queries=queries, uniform=uniform)
