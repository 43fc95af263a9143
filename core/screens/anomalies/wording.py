"""What the anomaly page says in several places: thresholds, definitions, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import FLAGS
from core.analysis.anomalies.flags import KINDS, OUTLIER
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS

if TYPE_CHECKING:
    import pandas as pd

    from core.analysis.anomalies import Row
    from core.model import Trace

KIND_NOTES = {
    "attention": "determined by the model's attention itself",
    "space": "the constants a and c can change these without changing one attention weight",
    "weights": "whatever the model is shown",
}
SEVERITY = (
    "how far a head's flagged measures lie from ordinary, in units of the threshold's distance,"
    " summed: a head at one threshold has 1. Of flags with one cause (a sink and its low entropy,"
    " null attention and an empty value, unequal lengths and clouds apart) the strongest counts"
)

UNUSUAL = (
    "how far a head's flagged measures lie from ordinary, the rarer a flag among this model's heads"
    " the more (times log2 of all heads over those that have it). What most heads do adds little."
    " A head stands out by a flag that at most one head in ten has, or as an outlier among the"
    " model's heads (|z| ≥ 3.5); for what is usual in trained transformers only the latter counts"
)


def row_name(row: Row) -> str:
    """The head of a row of the table, as people write it."""
    return f"L{row['layer']} H{row['head']}"


def first_token(trace: Trace) -> str:
    """What the first token is called: of an image CLS, or a patch; else by its place."""
    if trace.patches is None:
        return "the first token"
    return "CLS" if trace.patches.first else "the first patch"


def longer_side(row: Row) -> str:
    """Which vectors of a head are longer, and how many times."""
    value = float(row["norm_log_ratio"])
    longer, shorter = ("queries", "keys") if value > 0 else ("keys", "queries")
    return f"its {longer} are {2 ** abs(value):.1f} times as long as its {shorter}"


def threshold(name: str, *, cross: bool) -> str:
    """When the flag is raised, in words; in `cross` attention queries are counted."""
    flag, limits = FLAGS[name], FLAGS[name].limits
    side = {"above": "from ", "below": "up to ", "both": "from ±"}[limits.side]
    z = {"above": "z ≥ ", "below": "z ≤ −", "both": "|z| ≥ "}[limits.side]
    parts = [f"{side}{limits.threshold:g}"]
    if limits.outlier != limits.threshold:
        parts.append(f"or {side}{limits.outlier:g} for an outlier among the heads ({z}{OUTLIER:g})")
    if flag.condition:
        parts.append(flag.condition)
    if flag.kind != "weights":
        where = "over {} query tokens or more" if cross else "with {} tokens or more"
        parts.append(where.format(MIN_TOKENS))
    return ", ".join(parts)


def show_definition(definition: str, source: str, limit: str) -> None:
    """Definition, source and threshold of a view, in one small paragraph (Markdown)."""
    st.caption(f"**Definition:** {definition}  \n**Source:** {source}  \n**Threshold:** {limit}")


def show_flag_definition(name: str, *, cross: bool) -> None:
    """The same for a flag, and what it depends on."""
    flag = FLAGS[name]
    show_definition(flag.definition, f"{flag.source}.", f"flagged {threshold(name, cross=cross)}.")
    st.caption(f"**{KINDS[flag.kind]}:** {KIND_NOTES[flag.kind]}.")


def too_short_note(table: pd.DataFrame, *, cross: bool = False) -> str:
    """Why a short text, or few queries of `cross` attention, raise no flags (Markdown)."""
    tokens = f"{table.attrs['tokens']:.0f}"
    if cross:
        return (
            f"**Too short to say.** The decoder reads {tokens} tokens: under {MIN_TOKENS} queries"
            " raise no flags, whatever the text. The measures are below."
        )
    return (
        f"**Too short to say.** On {tokens} tokens a few keys decide every"
        f" measure, so under {MIN_TOKENS} tokens no flags are raised. The measures are below."
    )


def values_note(*, exact: bool) -> str:
    """How values count, for captions."""
    if exact:
        return (
            "Values count by |f(v)|, f(v) = v W_O: the length of each token's part in what the head"
            " adds. Parts can cancel, so their lengths exceed the length of the sum."
        )
    return (
        "This model's output projection W_O is not known here, so values count by their own length"
        " |v|, which only approximates the length of their part in what the head adds."
    )
