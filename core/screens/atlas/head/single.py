"""One head over the corpus: its cloud, a lasso's tokens, and the sentence of a chosen token."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.atlas.colours import point_tones
from core.analysis.projections.error import ProjectionError
from core.components.atlas_cloud import AtlasCloud, cloud_page, show_cloud
from core.screens.atlas.head.sentence import sentence_lines, show_sentence
from core.screens.atlas.layouts import layout_alone, show_failed
from core.screens.atlas.screen import (
    LABELS,
    LINES,
    SIZES,
    Screen,
    dimensions,
    switch,
    token_data,
)
from core.screens.atlas.wording import NOT_MEASURED, STAGES, number
from core.ui import controls
from core.ui.downloads import offer_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model import Trace
    from core.model.trace import Array

    Indices = NDArray[np.intp]

MAX_DRAWN = 10_000  # tokens in the single view: twice as many points
_LASSO, _LISTED = "_atlas_chosen", 12
_SEED = 0


def show_one_head(screen: Screen) -> None:
    """The cloud beside the sentence of the chosen token."""
    if "atlas_cloud" not in st.session_state:  # a new cloud has no lasso
        st.session_state.pop(_LASSO, None)
    axes, switches = dimensions(), {key: switch(key) for key in (SIZES, LABELS, LINES)}
    size = len(screen.atlas.tokens)
    picked = controls.number("token", 0, size, 0) - 1
    if picked >= size:  # chosen in a larger corpus
        st.session_state["token"] = 0
        picked = -1
    left, right = st.columns([3, 2], gap="medium")
    trace = None
    with right:
        if picked >= 0:
            trace = show_sentence(screen, picked)
        else:
            st.info(
                "**Click a point** to see its token in its sentence, and what this head attends to"
                " there, as lines in the cloud too. **Lasso** a cluster to see its tokens."
            )
    with left:
        tokens = _draw(screen, picked, trace, axes, switches)
    with right:
        if tokens is not None:
            _show_lasso(screen, tokens)


def _draw(
    screen: Screen, picked: int, trace: Trace | None, axes: int, switches: dict[str, bool]
) -> Indices | None:
    """The cloud and its controls; the tokens in it, or None where it could not be laid out."""
    try:
        tokens, points, note = _points(screen, picked, axes)
    except ProjectionError as error:
        show_failed(str(error))  # any rerun tries again, so the button's does
        return None
    atlas, head = screen.atlas, (screen.layer, screen.head)
    lines = None
    if switches[LINES] and picked >= 0:
        if trace is not None:
            lines = sentence_lines(screen, trace, picked, tokens)
            if screen.projection != "PCA" and not len(lines):
                note += f" No attention lines: {screen.projection} left this sentence out."
        else:
            note += (
                " No attention lines: they need the model, and beside the cloud it says why that is"
                " not available."
            )
    both = np.concatenate([tokens, tokens + len(atlas.tokens)])
    tones = point_tones(atlas, screen.colour).numbers
    index = np.flatnonzero(tokens == picked)
    cloud = AtlasCloud(
        points=points,
        tones=(tones[head] if tones.ndim > 1 else tones)[both],
        picked=int(index[0]) if index.size else None,
        title=screen.name,
        norms=atlas.norms[head][both] if switches[SIZES] else None,
        lines=lines,
        labelled=switches[LABELS],
        **token_data(screen, tokens),
    )
    show_cloud(
        cloud,
        key="atlas_cloud",
        on_pick=lambda index: st.session_state.update(
            token=0 if index is None else int(tokens[index]) + 1
        ),
        on_choose=lambda chosen: st.session_state.update({_LASSO: (tokens, chosen)}),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        dimensions(drawn=True)
        for key in switches:
            switch(key, drawn=True)
    reading, saving = st.columns([3, 1])
    reading.caption(note)
    with saving:
        offer_file(
            "Save as HTML",
            partial(cloud_page, cloud, f"{screen.name} of {atlas.model}", note.replace("**", "")),
            f"atlas-layer-{atlas.numbers[screen.layer]}-head-{screen.head + 1}.html",
            width="stretch",
        )
    return tokens


def _points(screen: Screen, picked: int, axes: int) -> tuple[Indices, Array, str]:
    """The tokens that are drawn, their points, and a note on both."""
    atlas, head, stage = screen.atlas, (screen.layer, screen.head), screen.stage
    size = len(atlas.tokens)
    if screen.projection != "PCA":
        layout = layout_alone(screen, axes)
        note = (
            f"{screen.projection} of {_part(layout.tokens.size, size)} tokens (whole sentences),"
            f" {STAGES[stage]}; seed 0."
        )
        figures = layout.faithfulness
        note += faithfulness_note(screen, figures.correlation, figures.top1)
        return layout.tokens, layout.points, note
    tokens = _sample(screen, picked)
    points = atlas.points[stage][head][np.concatenate([tokens, tokens + size]), :axes]
    share = float(atlas.shares[stage][head][:axes].sum())
    note = (
        f"PCA of {_part(tokens.size, size)} tokens, {STAGES[stage]}; {axes} components keep"
        f" {number(share)} of the variance."
    )
    plane = atlas.faithfulness[stage]
    note += faithfulness_note(screen, float(plane.correlation[head]), float(plane.top1[head]))
    return tokens, points, note


def _sample(screen: Screen, picked: int) -> Indices:
    """All tokens, or a sample of a large corpus with the chosen sentence and the matches."""
    columns = screen.atlas.tokens
    size = len(columns)
    if size <= MAX_DRAWN:
        return np.arange(size)
    generator = np.random.default_rng(_SEED)
    wanted = [generator.permutation(size)[:MAX_DRAWN]]
    if picked >= 0:
        wanted.append(columns.of_sentence(int(columns.sentence[picked])))
    if screen.search:
        wanted.append(np.flatnonzero(screen.search.matches.tokens)[: MAX_DRAWN // 4])
    return np.unique(np.concatenate(wanted))[: 2 * MAX_DRAWN]


def _show_lasso(screen: Screen, tokens: Indices) -> None:
    """The most common tokens in the lasso, and where they are.

    The lasso stays when the head changes, and goes when the drawn tokens do, as in the cloud.
    """
    lasso_tokens, chosen = st.session_state.get(_LASSO, (None, []))
    if not chosen or not np.array_equal(lasso_tokens, tokens):
        return
    points = np.array(chosen, dtype=np.intp)
    columns = screen.atlas.tokens
    inside = tokens[points % tokens.size]
    queries = int((points < tokens.size).sum())
    st.markdown(
        f"**In the lasso:** {queries:,} queries and {points.size - queries:,} keys; mean position"
        f" {number(float(columns.position[inside].mean()) + 1, '.1f')} in their sentences."
    )
    totals = Counter(columns.displays)
    common = Counter(columns.displays[i] for i in inside).most_common(_LISTED)
    table = {
        "token": [token for token, _ in common],
        "points": [count for _, count in common],
        "of all": [f"{count / (2 * totals[token]):.0%}" for token, count in common],
    }
    st.dataframe(pd.DataFrame(table), key="atlas_lasso", hide_index=True, height="content")


def _part(count: int, size: int) -> str:
    return f"all {size:,}" if count == size else f"{count:,} of {size:,}"


def faithfulness_note(screen: Screen, correlation: float, top1: float) -> str:
    """What the picture keeps of this head's attention, in a sentence."""
    baseline = float(screen.atlas.measured.top1[screen.layer, screen.head])
    if not np.isfinite(baseline):
        return f" {NOT_MEASURED}"
    return (
        f" Within rows, distance in the plane and scores correlate with r = {number(correlation)};"
        f" the nearest key is the most attended one for {top1:.0%} of the queries (uniform"
        f" baseline: {baseline:.0%})."
    )
