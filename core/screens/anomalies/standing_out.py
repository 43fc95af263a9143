"""Which heads stand out, what is usual, and the list of either."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import FLAGS, Row, flagged, with_flag
from core.screens.anomalies.open_head import open_buttons
from core.screens.anomalies.wording import row_name
from core.ui import controls
from core.ui.words.numbers import in_a_row
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd


_words = Prose(__file__)
_NAMED = 4  # heads named in a sentence
_LISTED = 6  # heads listed at first
_EXAMPLES = 3  # listed where none stands out
_LIMITS = {name: FLAGS[name].limits.threshold for name in FLAGS}
# What heads do that do not stand out by such a flag: those raised at the lower mark are outliers.
_USUAL = ("first-token sink", "null attention", "empty value")
_LONGEST = {"null attention": 1 - _LIMITS["null attention"]}  # what falls short by the threshold


def stand_out_sentence(table: pd.DataFrame) -> str:
    """The heads that stand out, and how many do what is usual in transformers (Markdown)."""
    rows = _standing_out(table).to_dict("records")
    named = [f"{row_name(row)} ({row['stands_out']})" for row in rows[:_NAMED]]
    more = [f"{len(rows) - _NAMED} more"] if len(rows) > _NAMED else []
    return _words(
        "standing_out",
        count=len(rows),
        total=len(table),
        where=table.attrs["where"],
        names=in_a_row([*named, *more]),
        usual=_usual(table),
        flagged=len(flagged(table)),
    )


def _usual(table: pd.DataFrame) -> str:
    """How many heads do what is usual and do not stand out by it (Markdown); may be empty."""
    counted = []
    for name in _USUAL:
        heads = with_flag(table, name)
        share = 100 * _LONGEST.get(name, _LIMITS[name])
        if count := sum(name not in out.split(", ") for out in heads["stands_out"]):
            counted.append(_words("usual_head", count=count, flag=name, share=share))
    return in_a_row(counted)


def show_list(table: pd.DataFrame, odd: pd.DataFrame, *, every_flag: bool) -> None:
    """The heads with a reason each; with `every_flag` first only those that stand out."""
    shown = odd
    if not controls.flag("every", optional=True):
        out = _standing_out(table) if every_flag else odd
        shown = odd.head(_EXAMPLES) if out.empty else out.head(_LISTED)
    for row in shown.to_dict("records"):
        _show_head(row)
    if len(odd) > len(shown) or st.session_state.get("every"):
        controls.flag(
            "every",
            f"List all {len(odd)} heads with a flag",
            optional=True,
            help="Off: the heads that stand out." if every_flag else f"Off: the first {_LISTED}.",
        )


def _show_head(row: Row) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            rank = "stands out" if row["stands_out"] else "usual"
            st.markdown(f"**{row_name(row)}** · {rank}", width="stretch")
            open_buttons(row["layer"], row["head"])
        st.caption(_reasons(row))


def _reasons(row: Row) -> str:
    """Each flag with what it is raised for (Markdown), those that stand out first."""
    pairs = list(zip(row["flags"].split(", "), row["reasons"].split("; "), strict=True))
    pairs.sort(key=lambda pair: pair[0] not in row["stands_out"].split(", "))
    return "  \n".join(f"**{flag.capitalize()}:** {reason}." for flag, reason in pairs)


def _standing_out(table: pd.DataFrame) -> pd.DataFrame:
    odd = flagged(table)
    return odd[odd["stands_out"] != ""]
