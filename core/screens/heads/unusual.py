"""The page on which heads are unusual: the answer, a map, a card for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.anomalies import FLAGS, HeadRow, flagged, with_flag
from core.analysis.anomalies.flags import FLAG_KINDS, RANDOM_SHARE
from core.analysis.anomalies.measures import MEASURES
from core.analysis.head_patterns.naming import MIN_TOKENS
from core.analysis.layer_payload import LayerPayload, drawn_size
from core.analysis.statistics import OUTLIER
from core.components.head_view import show_one_head
from core.figures.palette import Palette, token_colours
from core.screens.heads.card import (
    describe_head,
    distance,
    odd_sentences,
    show_definition,
    show_flag_definition,
    values_note,
)
from core.screens.heads.measured import Heads
from core.screens.heads.screen import show_numbers, show_overview
from core.ui import controls
from core.ui.downloads import contents
from core.ui.heads import show_head_map
from core.ui.navigation import set_headline
from core.ui.place import choose_head
from core.ui.presets import Preset
from core.ui.words.numbers import number
from core.ui.words.pages import go_to
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

_words = Prose(__file__)
MATHEMATICS = _words("mathematics_of_unusual")
ANY = "any flag"
_LISTED = 3  # heads
_MAX_BYTES = 4_000_000  # of a layer that is sent to draw a head's lines


def pick_flag(table: pd.DataFrame) -> str | None:
    """Choose which flag to look for; None for any."""
    counts = {name: f"{name} ({len(with_flag(table, name))})" for name in FLAGS}
    choice = controls.choice(
        "flag",
        {ANY: "all measures", **counts},
        "Look for",
        subject="The flags are",
        menu=True,
        width=200,
    )
    return None if choice == ANY else choice


def show_unusual(heads: Heads, colours: Palette, flag: str | None) -> None:
    """Show the answer, and a map of one measure or of all, beside a card per head."""
    table, trace = heads.table, heads.trace
    odd = flagged(table) if flag is None else with_flag(flagged(table), flag)
    set_headline(_of_all(table) if flag is None else _of_flag(table, odd, flag))
    listed = [_at(heads, row) for row in _listed(odd, flag)]

    def draw_map() -> None:
        _show_map(heads, flag, colours)
        if flag is None:
            st.caption(_words("squares"), help=_words("unusual"))
        else:
            kind = FLAGS[flag].kind
            st.caption(f"**{FLAG_KINDS[kind]}:** {_words('kind', kind=kind)}.")
            show_flag_definition(flag, trace)
        if trace.source is not None:
            st.caption(_words("of_your_text"))
        if table.attrs["too_short"] and (flag is None or FLAGS[flag].kind != "weights"):
            tokens, queries = table.attrs["tokens"], trace.input.queries
            st.info(_words("few_tokens", tokens=tokens, queries=queries, least=MIN_TOKENS))

    def draw_cards() -> None:
        for head in listed:
            _show_card(head, flag)
        if more := len(odd) - len(listed):
            st.caption(f"{more} more: see the table.")

    where = table.attrs["where"]
    export = contents("anomalies", trace.model, "", text=not heads.over_corpus, on=where)
    chosen = listed[0] if listed else heads
    show_overview(chosen, colours, export, draw_map, draw_cards, border=False)
    show_definition(_words("every_measure", values=values_note(table)))


def _listed(odd: pd.DataFrame, flag: str | None) -> Sequence[HeadRow]:
    """The first rows of `odd`; with no flag chosen, of its unusual heads, if there are any."""
    unusual = odd[odd["unusual_by"] != ""]
    rows = unusual if flag is None and len(unusual) else odd
    return rows.head(_LISTED if flag or len(unusual) else 1).to_dict("records")


def _at(heads: Heads, row: HeadRow) -> Heads:
    layer = heads.trace.layer_labels.index(row["layer"])
    return replace(heads, layer=layer, head=int(row["head"]) - 1)


def _show_card(heads: Heads, flag: str | None) -> None:
    layer, head = heads.row["layer"], heads.row["head"]
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{heads.name}** · {distance(heads.row, flag)}", width="stretch")
            key = f"open_{layer}_{head}_head_view"
            place = layer, head
            st.button("Open in Head view", key=key, type="tertiary", on_click=_open, args=place)
        st.caption(odd_sentences(heads.row))
        _show_lines(heads)
        show_numbers(heads, describe_head(heads, odd=False))


def _open(layer: int, head: int) -> None:
    choose_head(layer, head, heads=[head])
    go_to("head_view")


def _show_lines(heads: Heads) -> None:
    trace, layer = heads.trace, heads.layer
    if drawn_size(trace, layer) > _MAX_BYTES:
        return
    colours = {theme: token_colours(trace.shape[1], theme) for theme in ("light", "dark")}
    lines, place = {layer: LayerPayload.drawn(trace, layer)}, (layer, heads.head)
    key = f"anomalies_lines_{trace.layer_labels[layer]}_{heads.head + 1}"
    show_one_head(trace, lines, place, colours, key=key)


def _of_all(table: pd.DataFrame) -> str:
    """Which heads are unusual, and what makes the first one so (Markdown)."""
    unusual = flagged(table).query("unusual_by != ''").to_dict("records")
    by = [name for row in unusual for name in row["unusual_by"].split(", ")]  # first head first
    return _words(
        "headline",
        count=len(unusual),
        total=len(table),
        random=math.ceil(RANDOM_SHARE * len(table)),
        first=f"L{unusual[0]['layer']} H{unusual[0]['head']}" if unusual else "",
        by=by[0] if by else "",
        of_model={FLAGS[name].kind for name in by} <= {"weights"},
        where=table.attrs["where"],
        short=table.attrs["too_short"],
    )


def _of_flag(table: pd.DataFrame, odd: pd.DataFrame, name: str) -> str:
    """How many heads have a flag, and the range of its measure over all heads (Markdown)."""
    flag = FLAGS[name]
    values = table[flag.measure].dropna()
    low, high = (number(value, missing="") for value in (values.min(), values.max()))
    return _words(
        "of_flag",
        count=len(odd),
        total=len(table),
        flag=flag,
        title=flag.record.title,
        where=table.attrs["where"],
        short=flag.kind != "weights" and table.attrs["too_short"],
        low=low,
        high=high,
    )


def _show_map(heads: Heads, name: str | None, colours: Palette) -> None:
    """A map of how far heads are from the others, or of one measure; a click opens a head."""
    measure = "unusual" if name is None else FLAGS[name].measure
    record, values = MEASURES[measure], heads.grid(measure).astype(np.float64)
    least = OUTLIER if name is None else FLAGS[name].limits.threshold
    look: dict[str, Any] = record.look
    if record.bounds is None:  # the scale reaches at least the threshold
        reach = float(np.nanmax(np.abs(values), initial=least))
        look |= {"bounds": (-reach if record.side == "both" else 0.0, reach)}
    below = name is not None and FLAGS[name].limits.side == "below"
    look["reverse"] = below and not look.get("signed", False)
    show_head_map(
        heads.trace,
        values,
        record.title,
        colours,
        key="anomalies_map",
        on_open=lambda layer, head: choose_head(layer, head, anomaly="moved"),
        large=True,
        **look,
    )


def examples(heads: Heads) -> list[Preset]:
    """Presets; only patches can have high norms, and cross attention has no hidden states."""
    terms = heads.trace.input
    resting = heads.table.nlargest(1, "first_attention").iloc[0]
    place = {name: str(resting[name]) for name in ("layer", "head")}
    first = f"Why heads rest on {terms.first}"
    presets = [Preset(first, _words("beneath"), {"anomaly": "moved", "latent": True, **place})]
    if terms.kind == "image":
        presets.append(Preset("High-norm patches", _words("high_norm"), {"anomaly": "odd"}))
    if terms.kind != "cross":
        presets.append(Preset("Massive activations", _words("massive"), {"anomaly": "states"}))
    return presets
