"""One head as counts of all tokens, finer as one zooms, until its points appear."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.atlas.density import Density, Look
from core.atlas.sources import part_table
from core.components.atlas_cloud import AtlasCloud, CountedHead, show_cloud
from core.components.reported_state import changes, state_to_send
from core.screens.atlas.screen import LABELS, Screen, contents_of, offer_page, token_data
from core.screens.atlas.wording import faithfulness_note, number
from core.ui import controls, python
from core.ui.downloads import offer_csv
from core.ui.words.messages import notice, quote

KEY = "atlas_head_counts"
_LISTED = 200  # rows of the table below the picture; the file has all


def show_counted_head(screen: Screen) -> None:
    """The head's counts, what the enlarged part is made of, and the tokens in it."""
    source = screen.source
    density = python.shown("density", source.density, screen.stage)
    whole = Density(*(each[screen.layer, screen.head] for each in density))
    part = _pick_part()
    look = None
    if part:
        with st.spinner("Looking closer …"):
            corners = np.array(part)
            python.made("part", corners, python.call(np.array, part))
            look = python.shown(
                "look", source.look, screen.layer, screen.head, screen.stage, corners
            )
    matrix = _matrix(screen, whole, part, look)
    show_cloud(matrix, key=KEY, on_part=_take_part)
    reading, saving = st.columns([4, 1])
    reading.caption(_caption(screen, look))
    with saving:
        held = contents_of(screen, screen.file_name)
        note = f"{source.facts.tokens:,} tokens, {screen.stage}"
        offer_page(matrix, f"{screen.name} of {screen.atlas.model}", note, held)
    if look is not None and look.tokens is not None and look.tokens.size:
        _show_tokens(screen, look)


def _matrix(
    screen: Screen,
    density: Density,
    part: list[float],
    look: Look | None,
) -> AtlasCloud:
    sent, serial = state_to_send(KEY, {"part": part})
    tokens = np.zeros(0, np.intp) if look is None or look.tokens is None else look.tokens
    fine = None
    if look is not None and look.tokens is None:
        fine = Density(look.counts, look.part)
    held = contents_of(screen, screen.file_name)
    return AtlasCloud(
        layer_labels=(screen.atlas.layer_labels[screen.layer],),
        heads=1,
        points=np.zeros((1, 0, 2), np.float32) if look is None else look.points[None],
        tones=np.zeros(2 * tokens.size),
        counts=density,
        counted_head=CountedHead(screen.head + 1, sent["part"], serial, fine),
        labelled=screen.switches[LABELS],
        picture=held.titled("Queries and keys over a corpus", place=screen.name),
        **token_data(screen, tokens, screen.source),
    )


def _pick_part() -> list[float]:
    """The part of the head that a link or the picture asks for; nothing for all of it."""
    text = controls.text("part_of_head", "", optional=True)
    if not text:
        return []
    try:
        x0, x1, y0, y1 = (float(each) for each in text.split(","))
        if not (np.isfinite([x0, x1, y0, y1]).all() and x0 < x1 and y0 < y1):
            raise ValueError(text)
    except ValueError:
        notice(
            f"{quote(text)} is not a part of a head: write it as x from, x to, y from, y to."
            " All of it is shown."
        )
        st.session_state["part_of_head"] = ""
        return []
    return [x0, x1, y0, y1]


def _take_part(part: list[float]) -> None:
    text = ",".join(f"{each:.7g}" for each in part)
    shown = [float(each) for each in text.split(",")] if text else []
    if changes(KEY, {"part": shown}):
        controls.pick(part_of_head=text)


def _caption(screen: Screen, look: Look | None) -> str:
    """What is drawn, of how many tokens, and what the plane keeps."""
    head = screen.layer, screen.head
    if look is None:
        drawn = (
            f"**Drawn: counts** of all {screen.source.facts.tokens:,} tokens, {screen.stage}."
            " Zoom in: the part that is seen is counted again in finer cells, until its points"
            " are few enough to be drawn."
        )
    elif look.tokens is None:
        drawn = (
            f"**Drawn: counts in finer cells** of the part that is enlarged, which has"
            f" {look.queries:,} queries and {look.keys:,} keys; around it the counts of the whole"
            " head. Zoom in further for points."
        )
    else:
        drawn = (
            f"**Drawn: points**, all {look.queries:,} queries and {look.keys:,} keys of the part"
            " that is enlarged, above the counts of the whole head."
        )
    share = float(screen.atlas.shares[screen.stage][head][:2].sum())
    plane = screen.atlas.faithfulness[screen.stage]
    figures = float(plane.correlation[head]), float(plane.top1[head])
    kept = faithfulness_note(screen.atlas, head, *figures)
    return f"{drawn} PCA: 2 components keep {number(share)} of the variance.{kept}"


def _show_tokens(screen: Screen, look: Look) -> None:
    """The tokens of the part as a table with their sentences; a file has all of them."""
    make = python.later("table", part_table, screen.source, look)
    table = make()
    held = contents_of(screen, f"{screen.file_name}-part")
    st.dataframe(table.head(_LISTED), key="atlas_part_tokens", hide_index=True, height=320)
    with st.container(horizontal=True, vertical_alignment="center"):
        listed = f"The first {_LISTED} of {len(table):,}" if len(table) > _LISTED else "All"
        st.caption(f"{listed} tokens with a query or a key in the part; the file has all.")
        offer_csv(make, held, index=False)
