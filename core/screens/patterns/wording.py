"""What the page of head patterns calls its scores and patterns, and what it says of a head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.classes import NONE, PATTERNS, SCORE_OF, TOO_SHORT
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.analysis.head_patterns.evidence import Evidence

CLASS_NAMES = {
    "previous": "previous token",
    "next": "next token",
    "self": "itself",
    "induction": "induction",
    "same_token": "same token elsewhere",
    "first": "first token",
    "sep": "[SEP] and other special tokens",
    "punctuation": "full stops, commas",
    "other_sentence": "other sentence",
    "broad": "broad",
    NONE: "no pattern",
    TOO_SHORT: "too short to say",
}
SCORE_NAMES = {
    "class": "head pattern",
    "previous": "previous token",
    "next": "next token",
    "self": "itself",
    "first": "first token",
    "cls": "opening special token",
    "sep": "other special tokens",
    "punctuation": "full stops, commas",
    "delimiter": "delimiters (sum of the three)",
    "same_token": "same token elsewhere",
    "other_sentence": "other sentence",
    "distance": "mean distance",
    "entropy": "entropy / ln n",
    "induction": "induction",
}
# The same at the head of a narrow column.
SHORT_NAMES = {
    "previous": "previous",
    "next": "next",
    "self": "itself",
    "first": "first",
    "cls": "opening",
    "sep": "special",
    "punctuation": ". and ,",
    "delimiter": "delimiters",
    "same_token": "same",
    "other_sentence": "other s.",
    "distance": "distance",
    "entropy": "entropy",
    "induction": "induction",
}
# Where words change for how far a score has come from its threshold (0) to all attention (1).
JUST_ABOVE, FAR_ABOVE = 0.1, 0.5
# What a head with the score does: "gives 0.93 of its attention to the token before".
_TO = {
    "previous": "to the token before",
    "next": "to the token after",
    "self": "to the token itself",
    "first": "to the first token",
    "sep": "to special tokens after the first position",
    "punctuation": "to full stops and commas",
    "same_token": "to other copies of the token",
    "other_sentence": "to the other sentence",
}
# Why a score has no number, where the reason is the text and not the model.
MISSING = {
    "next": "In a model that reads left to right no token sees the next one.",
    "cls": "This text does not open with a special token.",
    "sep": "There is no special token after the first position.",
    "punctuation": "The text has no full stop and no comma.",
    "delimiter": "The text has no special token, full stop or comma.",
    "same_token": "No token occurs twice in this text.",
    "other_sentence": "There is one sentence only: add a second one in the sidebar.",
    "induction": "This model takes too few tokens to repeat a sequence.",
    "broad": "No token of this text sees more than one token.",
}


def number(value: float, form: str = ".2f") -> str:
    """A number, or the word for one that is not defined."""
    return format(value, form).replace("-", "−") if np.isfinite(value) else "not defined"


def head_name(layer: int, head: int) -> str:
    """Layer and head, given from 0, as people read them."""
    return f"L{layer + 1} H{head + 1}"


def gives(pattern: str, value: float) -> str:
    """What a head with this score for a class does, as the end of a sentence (Markdown)."""
    shown = f"**{number(value)}**"
    if pattern == "broad":
        return f"spreads its attention to {shown} of the largest entropy there is"
    if pattern == "induction":
        return f"gives {shown} to the token after an earlier copy, on repeated random sequences"
    return f"gives {shown} of its attention {_TO[pattern]}"


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
    score = SCORE_OF[kind]
    beside = (
        f", uniform baseline {number(_number(row[f'{score}_uniform']))}"
        if PATTERNS[kind].above_uniform
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
    return (
        f"**{name}: {CLASS_NAMES[kind]}.** It {gives(kind, _number(row[score]))} (threshold"
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
        f"{CLASS_NAMES[kind]} has {number(_number(row[SCORE_OF[kind]]))}, but over"
        f" {query_tokens[kind]:.0f} query tokens, and {pattern.min_query_tokens} are needed"
        for kind, pattern in PATTERNS.items()
        if 0 < query_tokens[kind] < pattern.min_query_tokens
        and _number(row[pattern.score]) > thresholds[kind]
    ]
    few = f" Too little to go by: {'; '.join(scarce)}." if scarce else ""
    return (
        f"**{name}** follows no pattern above its threshold. Nearest: {CLASS_NAMES[nearest]},"
        f" {number(_number(row[SCORE_OF[nearest]]))} of the {number(thresholds[nearest])} it takes"
        f" ({number(short)} short).{few}"
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
        for kind, pattern in PATTERNS.items()
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
        return "No token of this text has such a pair. " + MISSING.get(pattern, "")
    if pattern == "induction":
        what = "gives {} to what followed an earlier copy, in this very text"
    elif pattern == "broad":
        what = "spreads to {} of the largest entropy"
    else:
        what = "gives {} " + _TO[pattern]
    mean, uniform = float(np.nanmean(found.share)), float(np.nanmean(found.even))
    return (
        f"{name} {what.format(f'**{number(mean)}**')}: the mean over {found.tokens} of {tokens}"
        f" tokens. Uniform baseline: {number(uniform)}."
    )


def _number(value: object) -> float:
    return float(value)  # type: ignore[arg-type]
