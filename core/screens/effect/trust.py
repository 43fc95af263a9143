"""Can this be trusted? Methods that judge heads, on models whose heads are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.effect.trust import ATTENDS, POINTS, trust_table
from core.model.bundled.planted import PLANTED
from core.ui import python
from core.ui.downloads import contents, offer_csv
from core.ui.navigation import ask
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

_words = Prose(__file__)
METHODS = {
    "attention": "attention weight",
    "norm": "length of what it writes",
    "direct": "direct effect: what it writes to the end",
    "zero": "replaced by zero",
    "mean": "replaced by its mean",
    "resample": "replaced by another text's",
    "attribution": "attribution patching",
}


@st.cache_resource(max_entries=1, show_spinner="Judging the heads of six planted models …")
def judged_table() -> pd.DataFrame:
    """What each method finds of what was planted."""
    from core.model.bundled.planted.judging import judged

    return trust_table(list(map(judged, PLANTED.values())), *_truth())


def _truth() -> tuple[list[list[bool]], list[list[bool]], list[list[str]]]:
    """Of each planted model, whether each head is needed, or idle, and what it is called."""
    needed = [[head.needed for head in model.heads] for model in PLANTED.values()]
    idle = [[head.role == "idle" for head in model.heads] for model in PLANTED.values()]
    names = [[f"{head.role} {head.label}" for head in model.heads] for model in PLANTED.values()]
    return needed, idle, names


def rows_of(table: pd.DataFrame) -> list[str]:
    """The table of methods as Markdown, a line each."""
    active = f"against the {table.attrs['others'] - table.attrs['idle']} active ones"
    lines = [
        f"| method | area under ROC | {active} | finds | misses | points to in error |",
        "|:--|--:|--:|--:|:--|:--|",
    ]
    for row in table.to_dict("records"):
        areas = f"{row['auc']:.2f} | {row['auc_active']:.2f}"
        numbers = f"{areas} | {row['found']} of {row['needed']}"
        names = f"{row['missed'] or '–'} | {row['wrong'] or '–'}"
        lines.append(f"| {METHODS[row['method']]} | {numbers} | {names} |")
    return lines


def show_trust() -> None:
    """The answer, a row for each method, and what was planted."""
    from core.model.bundled.planted.judging import judged

    table = judged_table()
    each = python.each_of(
        "planted",
        python.call(dict.values, python.Constant("core.model.bundled.planted", "PLANTED")),
        lambda planted: python.call(judged, planted),
    )
    python.made("table", table, python.call(trust_table, each, *_truth()))
    rows = {row["method"]: row for row in table.to_dict("records")}
    ask(
        _words(
            "trust",
            models=len(PLANTED),
            needed=rows["mean"]["needed"],
            found=rows["mean"]["found"],
            wrong=len(rows["attention"]["wrong"].split(", ")) if rows["attention"]["wrong"] else 0,
        )
    )
    st.markdown("\n".join(rows_of(table)))
    st.caption(
        _words(
            "points",
            share=POINTS,
            weight=ATTENDS,
            idle=table.attrs["idle"],
            others=table.attrs["others"],
        )
    )
    st.caption(_words("traps"))
    held = contents("effect", "planted", "trust", text=False)
    offer_csv(table.copy, held, index=False)
    with st.expander("What was planted"):
        for name, model in PLANTED.items():
            st.markdown(f"**{name.rpartition('-')[2]}**: {model.about}")
