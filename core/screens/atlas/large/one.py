"""One head of a large atlas: counts of all tokens, finer as one zooms, until its points appear."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from core.components.atlas_matrix import Alone, AtlasMatrix, Counts, matrix_page, show_matrix
from core.components.reported_state import note_report, state_to_send
from core.screens.atlas.head.single import faithfulness_note
from core.screens.atlas.large.drawn import large_of
from core.screens.atlas.screen import LABELS, contents_of, offer_page, switch
from core.screens.atlas.wording import STAGES, number
from core.ui import controls
from core.ui.downloads import csv_later, offer_file
from core.ui.messages import notice, quote

if TYPE_CHECKING:
    from core.analysis.atlas.density import Look
    from core.analysis.atlas.files import LargeAtlas
    from core.screens.atlas.screen import Screen

KEY = "atlas_head_counts"
_LISTED = 200  # rows of the table below the picture; the file has all


def show_one_count(screen: Screen) -> None:
    """The head's counts, what the enlarged part is made of, and the tokens in it."""
    large = large_of(screen.shelf.large)
    labelled = switch(LABELS)
    counts, bounds = (each[screen.layer, screen.head] for each in large.density(screen.stage))
    part = _pick_part()
    look = None
    if part:
        with st.spinner("Looking closer …"):
            look = large.look(screen.layer, screen.head, screen.stage, np.array(part))
    matrix = _matrix(screen, large, (counts, bounds), part, look, labelled=labelled)
    show_matrix(matrix, key=KEY, on_part=_take_part)
    with st.container(horizontal=True, vertical_alignment="center"):
        switch(LABELS, drawn=True)
    reading, saving = st.columns([4, 1])
    reading.caption(_caption(screen, large, look))
    with saving:
        held = contents_of(screen, _name(screen))
        note = f"{large.facts.tokens:,} tokens, {STAGES[screen.stage]}"
        offer_page(matrix_page, matrix, f"{screen.name} of {screen.atlas.model}", note, held)
    if look is not None and look.tokens is not None and look.tokens.size:
        _show_tokens(screen, large, look)


def _matrix(
    screen: Screen,
    large: LargeAtlas,
    density: tuple[Any, Any],
    part: list[float],
    look: Look | None,
    *,
    labelled: bool,
) -> AtlasMatrix:
    counts, bounds = density
    sent, serial = state_to_send(KEY, {"part": part})
    tokens = np.zeros(0, np.intp) if look is None or look.tokens is None else look.tokens
    rows = large.tokens_at(tokens)
    fine = None
    if look is not None and look.tokens is None:
        fine = Counts(look.counts[None], look.part[None])
    sentences, index = np.unique(rows.sentence, return_inverse=True)
    held = contents_of(screen, _name(screen))
    return AtlasMatrix(
        numbers=(screen.atlas.numbers[screen.layer],),
        heads=1,
        points=np.zeros((1, 0, 2), np.float32) if look is None else look.points[None],
        tones=np.zeros(2 * tokens.size),
        labels=list(rows.displays),
        positions=rows.position.tolist(),
        sentence=index.tolist(),
        texts=large.sentences_at(sentences),
        matches=np.zeros(tokens.size, dtype=bool),
        counts=Counts(counts[None], bounds[None]),
        alone=Alone(screen.head + 1, sent["part"], serial, fine),
        labelled=labelled,
        picture=held.titled("Queries and keys over a corpus", place=screen.name),
    )


def _name(screen: Screen) -> str:
    return f"L{screen.atlas.numbers[screen.layer]}H{screen.head + 1}"


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
            f"{quote(text)} is no part of a head: it is written as x from, x to, y from, y to."
            " All of it is shown."
        )
        st.session_state["part_of_head"] = ""
        return []
    return [x0, x1, y0, y1]


def _take_part(part: list[float]) -> None:
    text = ",".join(f"{each:.7g}" for each in part)
    controls.pick(part_of_head=text)
    note_report(KEY, {"part": [float(each) for each in text.split(",")] if text else []})


def _caption(screen: Screen, large: LargeAtlas, look: Look | None) -> str:
    """What is drawn, of how many tokens, and what the plane keeps."""
    head = screen.layer, screen.head
    if look is None:
        drawn = (
            f"**Drawn: counts** of all {large.facts.tokens:,} tokens, {STAGES[screen.stage]}."
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
    kept = faithfulness_note(screen, float(plane.correlation[head]), float(plane.top1[head]))
    return f"{drawn} PCA: 2 components keep {number(share)} of the variance.{kept}"


def _show_tokens(screen: Screen, large: LargeAtlas, look: Look) -> None:
    """The tokens of the part as a table with their sentences; a file has all of them."""
    make = partial(_table, large, look)
    table = make()
    held = contents_of(screen, f"{_name(screen)}-part")
    st.dataframe(table.head(_LISTED), key="atlas_part_tokens", hide_index=True, height=320)
    with st.container(horizontal=True, vertical_alignment="center"):
        listed = f"The first {_LISTED} of {len(table):,}" if len(table) > _LISTED else "All"
        st.caption(f"{listed} tokens with a query or a key in the part; the file has all.")
        offer_file("CSV", csv_later(make, held, index=False), held, ".csv")


def _table(large: LargeAtlas, look: Look) -> pd.DataFrame:
    assert look.tokens is not None  # noqa: S101 - they were found
    rows = large.tokens_at(look.tokens)
    queries, keys = np.split(look.points, 2)
    return pd.DataFrame(
        {
            "token": rows.displays,
            "sentence": rows.sentence + 1,
            "position": rows.position + 1,
            **{f"query {axis}": queries[:, i] for i, axis in enumerate("xy")},
            **{f"key {axis}": keys[:, i] for i, axis in enumerate("xy")},
            "text": large.sentences_at(rows.sentence),
        }
    )
