"""All heads: the map of what they follow, the chosen head's correlations, and the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from core.analysis.images.follow.following import FEATURES
from core.analysis.images.follow.table import FOLLOWED, beside_twin
from core.analysis.layers import rows_of
from core.figures.head_map import ring
from core.figures.images.following import follow_map
from core.figures.palette import Palette
from core.model import Trace
from core.screens.query_key.following import WHERE
from core.screens.query_key.selectivity_words import (
    CLASS_NAMES,
    FEATURE_NAMES,
    by_place_note,
    class_sentence,
    follow_caption,
    missing_hue,
    twin_sentence,
)
from core.screens.query_key.spans import ONE_HEAD
from core.ui import controls
from core.ui.downloads import contents, csv_later, offer_file
from core.ui.head_maps import show_gaps, show_head_map, show_heads
from core.ui.selectors import choose_head
from core.ui.words.numbers import number
from core.vocabulary import head_name

_MASSES = {"itself": "attention to itself", "cls": "attention to CLS"}
_open_points = partial(choose_head, part="picture", span=ONE_HEAD)


@dataclass(frozen=True, eq=False)
class Follows:
    """What the heads of a model follow; `table` has a row per head, layer and head are from 0."""

    trace: Trace
    table: pd.DataFrame
    source: str
    layer: int
    head: int

    @property
    def row(self) -> dict[str, Any]:
        """The chosen head's row of the table."""
        place = self.layer * self.trace.shape[1] + self.head
        return {str(name): value for name, value in self.table.iloc[place].items()}

    @property
    def sentence(self) -> str:
        """What the chosen head follows (Markdown)."""
        name = head_name(self.trace, self.layer, self.head)
        sentence = class_sentence(name, self.row, WHERE[self.source])
        return " ".join(filter(None, (sentence, twin_sentence(self.table, self.row["class"]))))

    def grid(self, column: str) -> NDArray[Any]:
        """A column of the table as (layer, head)."""
        return self.table[column].to_numpy().reshape(self.trace.shape[:2])


def pick_colouring(trace: Trace) -> str:
    """What the map's colours show."""
    has_cls = any(token.text == "[CLS]" for token in trace.tokens)
    names = {
        "class": "what it follows",
        **FEATURE_NAMES,
        "itself": _MASSES["itself"],
        **({"cls": _MASSES["cls"]} if has_cls else {}),
    }
    return controls.choice(
        "map", names, "Colour by", subject="Heads can be coloured by", menu=True, width=180
    )


def show_selectivity(follows: Follows, colouring: str, colours: Palette) -> None:
    """The map beside the chosen head, then the table."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _show_map(follows, colouring, colours)
        st.markdown(_counts(follows))
        st.table(_twin_table(follows))
    with right:
        st.markdown(follows.sentence)
        st.table(_head_table(follows.row))
        st.button(
            "Show its points",
            key="query_key_open",
            on_click=_open_points,
            args=(follows.trace.layer_labels[follows.layer], follows.head + 1),
        )
    notes = (follow_caption, by_place_note, missing_hue)
    st.caption(" ".join(filter(None, (note(follows.table) for note in notes))))
    _show_table(follows)


def _show_map(follows: Follows, colouring: str, colours: Palette) -> None:
    trace = follows.trace
    if colouring == "class":
        rows = rows_of(trace)
        classes = follows.grid("class").astype(np.str_)
        figure = follow_map(classes, strengths(follows), rows, CLASS_NAMES, colours)
        ring(figure, rows, (follows.layer, follows.head), trace.shape[1], colours)
        show_heads(
            figure,
            "Map of all heads: what they follow",
            key="query_key_follow",
            on_open=_open_points,
        )
        show_gaps(trace)
        return
    is_mass = colouring in _MASSES
    values = follows.grid(colouring if is_mass else f"{colouring}_beyond").astype(np.float64)
    name = _MASSES[colouring] if is_mass else f"correlation with {FEATURE_NAMES[colouring]}"
    show_head_map(
        trace,
        values,
        name if is_mass else f"{name} beyond the rest",
        colours,
        key="query_key_follow",
        on_open=_open_points,
        chosen=(follows.layer, follows.head),
        bounds=(0.0, 1.0) if is_mass else (-1.0, 1.0),
        signed=not is_mass,
        title="share" if is_mass else "r",
    )


def strengths(follows: Follows) -> NDArray[np.float64]:
    """What decided each head's class, (layer, head): a share of attention, or a correlation."""
    beyond = np.stack([follows.grid(f"{each}_beyond") for each in FEATURES]).astype(np.float64)
    known = np.where(np.isfinite(beyond), beyond, -np.inf)
    classes = follows.grid("class")
    result = known.max(axis=0)
    for name, features in FOLLOWED.items():
        strongest = known[[FEATURES.index(each) for each in features]].max(axis=0)
        result = np.where(classes == name, strongest, result)
    result = np.where(classes == "itself", follows.grid("itself"), result)
    return np.where(classes == "CLS", follows.grid("cls"), result).astype(np.float64)


def _counts(follows: Follows) -> str:
    """How many heads are in each class (Markdown)."""
    counts = follows.table["class"].value_counts().to_dict()
    named = [f"{counts[each]} {CLASS_NAMES[each]}" for each in CLASS_NAMES if each in counts]
    return (
        f"On {WHERE[follows.source]}, of {len(follows.table)} heads, each by what it follows most:"
        f" {', '.join(named)}. Heads that follow something at all, beside the model's untrained"
        " twin:"
    )


def _twin_table(follows: Follows) -> pd.DataFrame:
    """How many heads follow each feature, here and in the untrained twin."""
    counts = beside_twin(follows.table).rename(index=CLASS_NAMES)
    excess = [f"{each:+d}".replace("-", "−") for each in counts["excess"]]
    counts = counts.astype(str).assign(excess=excess)  # words all, so that columns align alike
    return counts.rename(columns={"heads": "trained", "twin": "untrained twin"})


def _head_table(row: dict[str, Any]) -> pd.DataFrame:
    """The chosen head's correlations: alone, beyond the rest, and their p."""
    columns = {
        "correlation": [number(row[each]) for each in FEATURES],
        "beyond the rest": [number(row[f"{each}_beyond"]) for each in FEATURES],
        "p": [number(row[f"{each}_p"], ".3f") for each in FEATURES],
        "adjusted p": [number(row[f"{each}_p_adjusted"], ".3f") for each in FEATURES],
    }
    return pd.DataFrame(columns, index=[FEATURE_NAMES[each] for each in FEATURES])


def _show_table(follows: Follows) -> None:
    st.header("Every head", anchor=False)
    table = follows.table
    shown = pd.DataFrame({"head": _heads(table), "follows": table["class"].map(CLASS_NAMES)})
    for each in FEATURES:
        shown[FEATURE_NAMES[each]] = table[f"{each}_beyond"]
        shown[f"p {FEATURE_NAMES[each]}"] = table[f"{each}_p_adjusted"]
    shown["itself"], shown["CLS"] = table["itself"], table["cls"]
    st.dataframe(
        shown,
        key="query_key_followers",
        hide_index=True,
        height=420,
        placeholder="–",
        on_select=partial(_choose_row, follows.trace.layer_labels, follows.trace.shape[1]),
        selection_mode="single-row",
        column_config={
            name: st.column_config.NumberColumn(name, format="%.3f", width="small")
            for name in map(str, shown.columns[2:])
        },
    )
    held = contents(
        "what-heads-follow",
        follows.trace.model,
        "",
        text=follows.source == "image",
        measured_on=WHERE[follows.source],
        permutations=table.attrs["permutations"],
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "Correlations are those beyond the rest; p is adjusted for all heads. Click a column to"
            " sort by it, a row to choose the head. The file has all columns.",
            width="stretch",
        )
        offer_file(
            "Download CSV",
            csv_later(table.copy, held, index=False, float_format="%.6f"),
            held,
            ".csv",
        )


def _heads(table: pd.DataFrame) -> pd.Series[str]:
    return "L" + table["layer"].astype(str) + " H" + table["head"].astype(str)


def _choose_row(layer_labels: Sequence[int], heads: int) -> None:
    rows = st.session_state["query_key_followers"].selection.rows
    if rows:
        layer, head = divmod(rows[0], heads)
        choose_head(layer_labels[layer], head + 1)
