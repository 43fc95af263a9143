"""What the patterns page calls its scores and classes, and what it says about a head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_classes import NONE, SCORE_OF

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.analysis.pattern_evidence import Evidence

CLASS_NAMES = {
    "previous": "previous token",
    "next": "next token",
    "self": "itself",
    "induction": "induction",
    "same_token": "same token elsewhere",
    "first": "first token",
    "delimiter": "delimiters",
    "other_sentence": "other sentence",
    "broad": "broad",
    NONE: "no pattern",
}
SCORE_NAMES = {
    "previous": "previous token",
    "next": "next token",
    "self": "itself",
    "first": "first token",
    "cls": "opening special token",
    "sep": "other special tokens",
    "punctuation": "full stops, commas",
    "delimiter": "delimiters",
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
# What a head with the score does: "gives 0.93 of its attention to the token before".
_TO = {
    "previous": "to the token before",
    "next": "to the token after",
    "self": "to the token itself",
    "first": "to the first token",
    "delimiter": "to special tokens, full stops and commas",
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


def verdict(name: str, row: Mapping[str, object], bar: Mapping[str, float]) -> str:
    """Which pattern a head follows and how far it is from the bar (Markdown).

    Parameters
    ----------
    row : the head's row of the pattern table.
    bar : by class, what its score must exceed.
    """
    kind = str(row["class"])
    if kind == NONE:
        nearest, short = nearest_pattern(row, bar)
        if not nearest:
            return f"**{name}** cannot be measured on this text."
        return (
            f"**{name}** follows no pattern above its bar. Nearest: {CLASS_NAMES[nearest]},"
            f" {number(_number(row[SCORE_OF[nearest]]))} of the {number(bar[nearest])} it takes"
            f" ({number(short)} short)."
        )
    score = SCORE_OF[kind]
    chance = "" if kind == "broad" else f", chance {number(_number(row[f'{score}_uniform']))}"
    low, high = (_number(row.get(f"{score}_{end}", np.nan)) for end in ("low", "high"))
    if np.isfinite(low):
        chance += f"; 95 % interval {number(low)} to {number(high)}"
    stable = row.get("stability")
    again = (
        f" The class came again in {stable:.0%} of the resamples."
        if isinstance(stable, float) and np.isfinite(stable)
        else ""
    )
    return (
        f"**{name}: {CLASS_NAMES[kind]}.** It {gives(kind, _number(row[score]))} (bar"
        f" {number(bar[kind])}{chance}). Confidence {number(_number(row['confidence']))}.{again}"
    )


def nearest_pattern(row: Mapping[str, object], bar: Mapping[str, float]) -> tuple[str, float]:
    """The class whose bar the head is the least below, and by how much; "" where none is known."""
    short = {
        kind: bar[kind] - _number(row[score])
        for kind, score in SCORE_OF.items()
        if np.isfinite(bar[kind] - _number(row[score]))
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
    mean, chance = float(np.nanmean(found.share)), float(np.nanmean(found.even))
    return (
        f"{name} {what.format(f'**{number(mean)}**')}: the mean over {found.tokens} of {tokens}"
        f" tokens. A head that attends evenly: {number(chance)}."
    )


def _number(value: object) -> float:
    return float(value)  # type: ignore[arg-type]
