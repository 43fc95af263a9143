"""The card for a head: the pattern it follows, what is odd about it, and whether it matters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.anomalies import FLAGS, HeadRow
from core.analysis.head_patterns.naming import MIN_TOKENS, NAMING, NONE, TOO_SHORT
from core.analysis.statistics import OUTLIER
from core.screens.heads.effects import TITLES, replacements_of
from core.screens.heads.measured import Heads
from core.ui.words.numbers import number
from core.ui.words.pattern_words import pattern_names, words_for
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

    from core.model import Trace

_words = Prose(__file__)


def describe_head(heads: Heads, *, odd: bool = True, effect: bool = True) -> str:
    """Everything known about the chosen head, in one paragraph per topic (Markdown)."""
    oddities = odd_sentences(heads.row)
    known = not (heads.short and oddities)  # else the page says that its pattern is unknown
    parts = [
        pattern_sentence(heads) if known else "",
        oddities if odd else "",
        effect_sentence(heads) if effect else "",
    ]
    return "\n\n".join(filter(None, parts))


def pattern_sentence(heads: Heads) -> str:
    """Which pattern the head follows and how far it is from the threshold (Markdown)."""
    name, row = heads.name, heads.row
    followed = row["class"]
    if followed == TOO_SHORT:
        return _words("too_short", head=name, least=MIN_TOKENS)
    if followed == NONE:
        return _no_pattern(heads)
    pattern = NAMING[followed]
    score = pattern.score
    low, high = (row.get(f"{score}_{end}", np.nan) for end in ("low", "high"))
    return _words(
        "pattern",
        head=name,
        pattern=pattern_names(heads.trace)[followed],
        gives=words_for(heads.trace)[followed].gives.format(f"**{number(row[score])}**"),
        limit=number(heads.limits[followed]),
        uniform=number(row[f"{score}_uniform"]) if pattern.baseline == "uniform" else "",
        interval=f"{number(low)} to {number(high)}" if np.isfinite(low) else "",
        stability=row.get("stability"),
        confidence=row["confidence"],
    )


def _no_pattern(heads: Heads) -> str:
    """Why a head follows no pattern (Markdown)."""
    nearest, _ = nearest_pattern(heads.row, heads.limits, heads.query_tokens)
    if not nearest:
        return _words("unmeasured", head=heads.name, this=heads.trace.input.this)
    return _words(
        "no_pattern",
        head=heads.name,
        nearest=pattern_names(heads.trace)[nearest],
        score=heads.row[NAMING[nearest].score],
        limit=heads.limits[nearest],
    )


def nearest_pattern(
    row: Mapping[str, Any], limits: Mapping[str, float], query_tokens: Mapping[str, float]
) -> tuple[str, float]:
    """The pattern that the head comes closest to following, and how far short it falls.

    Only patterns with enough query tokens count; "" and nan if there are none.
    """
    short = {
        name: limits[name] - row[pattern.score]
        for name, pattern in NAMING.items()
        if np.isfinite(limits[name] - row[pattern.score])
        and query_tokens[name] >= pattern.min_query_tokens
    }
    return min(short.items(), key=lambda item: item[1], default=("", float("nan")))


def odd_sentences(row: HeadRow) -> str:
    """One sentence per flag with the reason for it (Markdown); flags of unusual heads first."""
    if not row["flags"]:
        return ""
    pairs = list(zip(row["flags"].split(", "), row["reasons"].split("; "), strict=True))
    pairs.sort(key=lambda pair: pair[0] not in row["unusual_by"].split(", "))
    return "  \n".join(f"**{flag.capitalize()}:** {reason}." for flag, reason in pairs)


def distance(row: HeadRow, flag: str | None = None) -> str:
    """How far a head is from a typical one, by this flag or its most extreme measure (Markdown)."""
    unusual = row["unusual_by"] if flag is None else flag in row["unusual_by"].split(", ")
    z = row["unusual"] if flag is None else row[f"z_{FLAGS[flag].measure}"]
    return f"z = {number(z, '.1f')}{'' if unusual else ', not unusual'}"


def effect_sentence(heads: Heads) -> str:
    """What replacing the head changes on this text (Markdown); empty if unknown."""
    row, facts = heads.row, heads.table.attrs
    if not math.isfinite(row.get("effect", math.nan)):
        return ""
    return _words(
        "effect",
        replaced=replacements_of(heads.key.modality)[facts["replace"]],
        effect=number(row["effect"], ".3g"),
        measured=TITLES[facts["measure"]],
        unit=facts["unit"],
        exceeds=bool(row["exceeds"]),
    )


def show_definition(parts: str) -> None:
    """A link to a view's definition, source and threshold, one paragraph each (Markdown)."""
    with st.popover("Definition", type="tertiary", width="content"):
        st.markdown(parts)


def show_flag_definition(name: str, trace: Trace, subject: str = "") -> None:
    """The same for a flag; `subject` names it where the page is also about something else."""
    least = f"{MIN_TOKENS} {trace.input.queries}"
    flag, limits = FLAGS[name], FLAGS[name].limits
    show_definition(
        _words("definition", subject=subject, flag=flag, limits=limits, z=OUTLIER, least=least)
    )


def values_note(table: pd.DataFrame) -> str:
    """How the value vectors were taken into account, for captions."""
    return _words("values" if table.attrs["values"] == "|f(v)|" else "values_alone")
