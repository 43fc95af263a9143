"""All heads: the map, the chosen head's scores beside their uniform baseline, and the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.head_patterns.measure import MEASURED
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS
from core.analysis.head_patterns.naming import NAMING, NONE
from core.analysis.head_patterns.table import RESAMPLES, SCORES
from core.figures.patterns import Bar, pattern_colours, pattern_map, ring, score_bars
from core.screens.patterns.wording import number
from core.ui import controls
from core.ui.downloads import csv_later
from core.ui.head_maps import show_head_map, show_heads
from core.ui.words.pattern_words import PATTERN_NAMES, SCORE_NAMES, SCORE_WORDS

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.elements.lib.column_types import ColumnConfig

    from core.figures.palette import Palette
    from core.screens.patterns.found import Found

COLOURINGS = ("class", *SCORES)
_CLASS_OF = {pattern.score: kind for kind, pattern in NAMING.items()}
_ABOUT = {
    "above threshold": "How far above its threshold the score is: 0 at it, 1 at all attention"
}


def show_overview(found: Found, score: str, colours: Palette, theme: str | None) -> None:
    """The map beside the chosen head, then the table."""
    _say_classes(found)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _show_map(found, score, colours, theme)
    with right:
        st.markdown(found.verdict)
        st.button("Look at this head", key="patterns_look", on_click=_look)
        st.plotly_chart(
            score_bars(_bars(found), colours),
            key="patterns_bars",
            config={"displayModeBar": False},
        )
    _show_table(found)


def pick_colouring() -> str:
    """What the map's colours show."""
    return controls.choice(
        "score",
        COLOURINGS,
        "Colour by",
        subject="Heads can be coloured by",
        names=SCORE_NAMES.__getitem__,
        menu=True,
        width=190,
    )


def choose_head(layer: int, head: int) -> None:
    """Choose a head, given from 0; for callbacks, which run before the pickers are drawn."""
    st.session_state.update(layer=str(layer + 1), head=str(head + 1), whole="head")


def _take_row(heads: int) -> None:
    rows = st.session_state["patterns_table"].selection.rows
    if rows:
        choose_head(*divmod(rows[0], heads))


def _look() -> None:
    st.session_state.update(part="one", whole="head")


def _say_classes(found: Found) -> None:
    if found.short:
        st.info(
            f"**Too short to say.** {found.where[0].upper()}{found.where[1:]} is too short to name"
            f" patterns by: under {MIN_TOKENS} tokens, heads that nothing has been taught pass a"
            " threshold by accident, up to a third of them. The scores are below; for patterns,"
            " take a longer text or measure on the sample corpus."
        )
        return
    counts = found.table["class"].value_counts()
    named = [(kind, int(counts[kind])) for kind in NAMING if kind in counts.index]
    total = len(found.table)
    if not named:
        more = "." if found.corpus is not None else ", or measure on the sample corpus."
        st.info(
            f"**No head passes a threshold** on {found.where}. Colour the map by a score to see how"
            f" near they come, lower the thresholds{more}"
        )
        _say_scarce(found)
        return
    with_one = total - int(counts.get(NONE, 0))
    said = ", ".join(f"{count} {PATTERN_NAMES[kind]}" for kind, count in named)
    st.markdown(f"On {found.where} **{with_one} of {total} heads** follow a pattern: {said}.")
    _say_scarce(found)


def _say_scarce(found: Found) -> None:
    """Which patterns the text has too little of to name a head by."""
    tokens = found.query_tokens_of(found.number)
    scarce = [
        f"{PATTERN_NAMES[kind]} ({tokens[kind]:.0f} of {pattern.min_query_tokens})"
        for kind, pattern in NAMING.items()
        if 0 < tokens[kind] < pattern.min_query_tokens
    ]
    if scarce:
        st.caption(f"Too few query tokens to name a head by: {', '.join(scarce)}.")


def _show_map(found: Found, score: str, colours: Palette, theme: str | None) -> None:
    if score == "class":
        figure = pattern_map(
            found.grid("class").astype(np.str_),
            found.grid("confidence").astype(np.float64),
            PATTERN_NAMES,
            pattern_colours(theme, colours),
            colours,
        )
        ring(figure, found.layer, found.head, found.trace.shape[1], colours)
        show_heads(figure, key="patterns_map", on_open=choose_head)
    else:
        values = found.grid(score).astype(np.float64)
        show_head_map(
            values,
            SCORE_NAMES[score],
            colours,
            key="patterns_map",
            on_open=choose_head,
            chosen=(found.layer, found.head),
            bounds=(
                0.0,
                1.0 if score != "distance" else max(1.0, float(np.nanmax(values, initial=0))),
            ),
            title=SCORE_NAMES[score],
        )
    st.caption(_read_map(found, score))


def _read_map(found: Found, score: str) -> str:
    if score == "class" and found.short:
        return (
            "A square is a head. Click one to choose it; a score as colour shows how they differ."
        )
    if score == "class":
        return (
            "A square is a head; its colour and letter are the most specific pattern it clearly"
            " follows. Click one to choose it."
        )
    baseline = found.table[f"{score}_uniform"]
    if baseline.isna().all():
        return f"Not defined here. {SCORE_WORDS[score].missing}"
    low, high = float(baseline.min()), float(baseline.max())
    uniform = number(low) if high - low < 0.005 else f"{number(low)} to {number(high)}"
    if score == "entropy":
        return f"A head with uniform attention has {uniform}, the most there is."
    unit = " tokens" if score == "distance" else ""
    return f"A head with uniform attention has {uniform}{unit} here: the uniform baseline."


def _bars(found: Found) -> list[Bar]:
    row, limits = found.row, found.thresholds_of(found.number)
    tokens = found.query_tokens_of(found.number)
    bars = []
    for name in SCORES:
        if name == "distance":
            continue
        kind = _CLASS_OF.get(name, "")
        value = float(row[name])  # type: ignore[arg-type]
        threshold = limits.get(kind, float("nan"))
        enough = bool(kind) and tokens[kind] >= NAMING[kind].min_query_tokens
        bars.append(
            Bar(
                SCORE_NAMES[name],
                value,
                float(row[f"{name}_uniform"]),  # type: ignore[arg-type]
                threshold if np.isfinite(value) else float("nan"),
                float(row.get(f"{name}_low", np.nan)),  # type: ignore[arg-type]
                float(row.get(f"{name}_high", np.nan)),  # type: ignore[arg-type]
                passes=bool(value > threshold) and enough and not found.short,
            )
        )
    return bars


def _show_table(found: Found) -> None:
    st.subheader("Every head", anchor=False)
    shown = _readable(found.table, chance=controls.flag("chance", default=True))
    heads = found.trace.shape[1]
    st.dataframe(
        shown,
        key="patterns_table",
        hide_index=True,
        height=420,
        placeholder="–",
        on_select=lambda: _take_row(heads),
        selection_mode="single-row",
        column_config=_columns(shown),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        controls.flag(
            "chance",
            "Uniform baseline beside each score",
            default=True,
            help="What a head scores that attends uniformly to all it may see, on the same texts.",
        )
        st.caption(_read_table(found), width="stretch")
        st.download_button(
            "Download CSV",
            csv_later(found.table.copy, index=False, float_format="%.6f"),
            file_name="head_patterns.csv",
            mime="text/csv",
            on_click="ignore",
        )


def _readable(table: pd.DataFrame, *, chance: bool) -> pd.DataFrame:
    """The table with names that people read; intervals are in the download."""
    shown = table[["class", "confidence"]].copy()
    shown.insert(0, "head", "L" + table["layer"].astype(str) + " H" + table["head"].astype(str))
    shown["class"] = shown["class"].map(PATTERN_NAMES)
    shown = shown.rename(columns={"class": "pattern", "confidence": "above threshold"})
    if "stability" in table:
        shown["stability"] = table["stability"]
    for name in SCORES:
        shown[name] = table[name]
        if chance:
            shown[f"{name}_uniform"] = table[f"{name}_uniform"]
    return shown


def _columns(shown: pd.DataFrame) -> dict[str, ColumnConfig]:
    """How each column of numbers is called and written."""
    columns: dict[str, ColumnConfig] = {}
    for name in shown.columns:
        score = name.removesuffix("_uniform")
        words = SCORE_WORDS.get(name)
        label = "uniform" if name != score else words.short if words else name
        about = f"Uniform baseline of: {SCORE_NAMES[score]}" if name != score else _ABOUT.get(name)
        if name not in {"head", "pattern"}:
            columns[name] = st.column_config.NumberColumn(
                label,
                format="%.3f",
                width="small",
                help=about or SCORE_NAMES.get(name),
            )
    return columns


def _read_table(found: Found) -> str:
    missing = [SCORE_NAMES[name] for name in MEASURED if found.table[name].isna().all()]
    empty = f" Empty on this text: {', '.join(missing)}." if missing else ""
    drawn = (
        ""
        if found.corpus is None
        else f" Stability: how often the pattern came again when the sentences were drawn anew"
        f" {RESAMPLES:,} times; the 95 % intervals are in the download."
    )
    return f"Click a column to sort by it, a row to choose the head.{drawn}{empty}"
