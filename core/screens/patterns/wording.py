"""What the page of head patterns says of a head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.analysis.head_patterns.naming import NAMING, NONE, TOO_SHORT
from core.ui.words.pattern_words import PATTERN_NAMES, WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.analysis.head_patterns.evidence import Evidence

# Where words change for how far a score has come from its threshold (0) to all attention (1).
JUST_ABOVE, FAR_ABOVE = 0.1, 0.5


def number(value: float, form: str = ".2f") -> str:
    """A number, or the word for one that is not defined."""
    return format(value, form).replace("-", "−") if np.isfinite(value) else "not defined"


def head_name(layer: int, head: int) -> str:
    """Layer and head, given from 0, as people read them."""
    return f"L{layer + 1} H{head + 1}"


def verdict(
    name: str,
    row: Mapping[str, object],
    thresholds: Mapping[str, float],
    query_tokens: Mapping[str, float],
) -> str:
    """Which pattern a head follows and how far it is from the threshold (Markdown).

    Parameters
    ----------
    row : the head's row of the pattern table.
    thresholds : by pattern, what its score must exceed.
    query_tokens : by pattern, how many tokens its score is over.
    """
    kind = str(row["class"])
    if kind == TOO_SHORT:
        return (
            f"**{name}: too short to say.** Under {MIN_TOKENS} tokens heads pass thresholds by"
            " accident; the scores are shown, but name no pattern."
        )
    if kind == NONE:
        return _nothing(name, row, thresholds, query_tokens)
    pattern = NAMING[kind]
    score = pattern.score
    beside = (
        f", uniform baseline {number(_number(row[f'{score}_uniform']))}"
        if pattern.baseline == "uniform"
        else ""
    )
    low, high = (_number(row.get(f"{score}_{end}", np.nan)) for end in ("low", "high"))
    if np.isfinite(low):
        beside += f"; 95 % interval {number(low)} to {number(high)}"
    stable = row.get("stability")
    again = (
        f" It was the head's pattern again in {stable:.0%} of the resamples."
        if isinstance(stable, float) and np.isfinite(stable)
        else ""
    )
    gives = WORDS[kind].gives.format(f"**{number(_number(row[score]))}**")
    return (
        f"**{name}: {PATTERN_NAMES[kind]}.** It {gives} (threshold"
        f" {number(thresholds[kind])}{beside}): {how_far(_number(row['confidence']))}.{again}"
    )


def _nothing(
    name: str,
    row: Mapping[str, object],
    thresholds: Mapping[str, float],
    query_tokens: Mapping[str, float],
) -> str:
    """Why a head follows no pattern (Markdown)."""
    nearest, short = nearest_pattern(row, thresholds, query_tokens)
    if not nearest:
        return f"**{name}** cannot be measured on this text."
    scarce = [
        f"{PATTERN_NAMES[kind]} has {number(_number(row[pattern.score]))}, but over"
        f" {query_tokens[kind]:.0f} query tokens, and {pattern.min_query_tokens} are needed"
        for kind, pattern in NAMING.items()
        if 0 < query_tokens[kind] < pattern.min_query_tokens
        and _number(row[pattern.score]) > thresholds[kind]
    ]
    few = f" Too little to go by: {'; '.join(scarce)}." if scarce else ""
    return (
        f"**{name}** follows no pattern above its threshold. Nearest: {PATTERN_NAMES[nearest]},"
        f" {number(_number(row[NAMING[nearest].score]))} of the {number(thresholds[nearest])} it"
        f" takes ({number(short)} short).{few}"
    )


def how_far(confidence: float) -> str:
    """How far above its threshold a score is, in words and as a number from 0 to 1."""
    shown = number(confidence)
    if confidence < JUST_ABOVE:
        return f"just above the threshold ({shown})"
    if confidence < FAR_ABOVE:
        return f"above the threshold ({shown} of the way to 1)"
    return f"far above the threshold ({shown} of the way to 1)"


def nearest_pattern(
    row: Mapping[str, object], thresholds: Mapping[str, float], query_tokens: Mapping[str, float]
) -> tuple[str, float]:
    """The pattern whose threshold the head is the least below, and by how much.

    Only of patterns that have query tokens enough; "" where there is none.
    """
    short = {
        kind: thresholds[kind] - _number(row[pattern.score])
        for kind, pattern in NAMING.items()
        if np.isfinite(thresholds[kind] - _number(row[pattern.score]))
        and query_tokens[kind] >= pattern.min_query_tokens
    }
    if not short:
        return "", float("nan")
    nearest = min(short, key=short.__getitem__)
    return nearest, short[nearest]


def say_evidence(name: str, pattern: str, found: Evidence, tokens: int) -> str:
    """The evidence in one sentence (Markdown)."""
    if not found.tokens:
        return "No token of this text has such a pair. " + WORDS[pattern].missing
    mean, uniform = float(np.nanmean(found.share)), float(np.nanmean(found.uniform))
    evident = WORDS[pattern].evident.format(f"**{number(mean)}**")
    return (
        f"{name} {evident}: the mean over {found.tokens} of {tokens} tokens."
        f" Uniform baseline: {number(uniform)}."
    )


def _number(value: object) -> float:
    return float(value)  # type: ignore[arg-type]
