"""One head over the corpus: its cloud, what was chosen in it, and the sentence of a token."""

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
from core.screens.atlas.head.attention_lines import sentence_lines
from core.screens.atlas.head.sentence import show_sentence
from core.screens.atlas.layouts import layout_alone
from core.screens.atlas.options import LABELS, LINES, SIZES, dimensions, switches
from core.screens.atlas.progress import tell_failed
from core.screens.atlas.screen import Screen, token_data
from core.screens.atlas.wording import NOT_MEASURED, STAGE_WORDS, number
from core.ui import controls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.model import Trace
    from core.model.trace import Array

MOST_DRAWN = 10_000  # tokens of the single view: twice as many points
_CHOSEN, _LISTED = "_atlas_chosen", 12
_SEED = 0


def show_one_head(screen: Screen) -> None:
    """The cloud beside the sentence of the token that is picked."""
    if "atlas_cloud" not in st.session_state:  # a new cloud has no lasso
        st.session_state.pop(_CHOSEN, None)
    dimensions()
    switches(SIZES, LABELS, LINES)
    size = len(screen.atlas.tokens)
    picked = controls.number("token", 0, size, 0) - 1
    if picked >= size:  # picked in a larger corpus
        st.session_state["token"] = 0
        picked = -1
    left, right = st.columns([3, 2], gap="medium")
    with right:
        trace = None
        if picked >= 0:
            trace = show_sentence(screen, picked)
        else:
            _show_hint()
    with left:
        shown = _draw(screen, picked, trace)
    with right:
        if shown is not None:
            _show_chosen(screen, shown)


def _show_hint() -> None:
    st.info(
        "**Click a point** to see its token in its sentence, and what this head attends to"
        " there, as lines in the cloud too. **Lasso** a cluster to see which tokens it is made of."
    )


def _draw(screen: Screen, picked: int, trace: Trace | None) -> NDArray[np.intp] | None:
    try:
        tokens, points, said = _points(screen, picked)
    except ProjectionError as error:
        tell_failed(str(error))  # any run tries again, so that of the button does
        return None
    lines = None
    if st.session_state[LINES] and picked >= 0 and trace is not None:
        lines = sentence_lines(screen, trace, picked, tokens)
    said += _lines_said(screen, picked, lines)
    cloud = _cloud(screen, tokens, points, picked, lines)
    show_cloud(
        cloud,
        key="atlas_cloud",
        on_pick=lambda index: _pick(tokens, index),
        on_choose=lambda chosen: st.session_state.update({_CHOSEN: (tokens, chosen)}),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        dimensions(drawn=True)
        switches(SIZES, LABELS, LINES, drawn=True)
    reading, saving = st.columns([3, 1])
    reading.caption(said)
    saving.download_button(
        "Save as HTML",
        partial(cloud_page, cloud, f"{screen.name} of {screen.atlas.model}", _plain(said)),
        file_name=f"atlas-layer-{screen.layer + 1}-head-{screen.head + 1}.html",
        mime="text/html",
        on_click="ignore",
        width="stretch",
    )
    return tokens


def _points(screen: Screen, picked: int) -> tuple[NDArray[np.intp], Array, str]:
    """The tokens that are drawn, their points, and what there is to say of both."""
    atlas, at = screen.atlas, (screen.layer, screen.head)
    size = len(atlas.tokens)
    axes = int(st.session_state["dims"])
    if screen.projection != "PCA":
        layout = layout_alone(screen.shelf, atlas, at, screen.stage, screen.projection, axes)
        kept = layout.kept
        said = (
            f"{screen.projection} of {_part(layout.tokens.size, size)} tokens (whole sentences),"
            f" {STAGE_WORDS[screen.stage]}; seed 0."
        )
        return layout.tokens, layout.points, said + _trusted(kept.correlation, kept.top1, screen)
    tokens = _drawn(screen, picked)
    both = np.concatenate([tokens, tokens + size])
    points = atlas.points[screen.stage][screen.layer, screen.head][both, :axes]
    share = float(atlas.shares[screen.stage][screen.layer, screen.head][:axes].sum())
    trust = atlas.faithfulness[screen.stage]
    said = (
        f"PCA of {_part(tokens.size, size)} tokens, {STAGE_WORDS[screen.stage]}; {axes}"
        f" components keep {number(share)} of the variance."
    )
    return (
        tokens,
        points,
        said + _trusted(float(trust.correlation[at]), float(trust.top1[at]), screen),
    )


def _drawn(screen: Screen, picked: int) -> NDArray[np.intp]:
    """All tokens, or of a large corpus a sample with the picked sentence and what was found."""
    columns = screen.atlas.tokens
    size = len(columns)
    if size <= MOST_DRAWN:
        return np.arange(size)
    generator = np.random.default_rng(_SEED)
    wanted = [generator.permutation(size)[:MOST_DRAWN]]
    if picked >= 0:
        wanted.append(columns.of_sentence(int(columns.sentence[picked])))
    if screen.found:
        matches = np.flatnonzero(screen.found.matches.tokens)
        wanted.append(matches[: MOST_DRAWN // 4])
    return np.unique(np.concatenate(wanted))[: 2 * MOST_DRAWN]


def _lines_said(screen: Screen, picked: int, lines: NDArray[np.float64] | None) -> str:
    """Where lines were asked for and are not all there, why."""
    if not st.session_state[LINES] or picked < 0:
        return ""
    if lines is None:
        return (
            " No attention lines: they need the model, and beside the cloud it says why that is"
            " not at hand."
        )
    if screen.projection != "PCA" and not len(lines):
        return f" No attention lines: {screen.projection} left this sentence out."
    return ""


def _cloud(
    screen: Screen,
    tokens: NDArray[np.intp],
    points: Array,
    picked: int,
    lines: NDArray[np.float64] | None,
) -> AtlasCloud:
    both = np.concatenate([tokens, tokens + len(screen.atlas.tokens)])
    tones = point_tones(screen.atlas, screen.colour).numbers
    here = np.flatnonzero(tokens == picked)
    return AtlasCloud(
        points=points,
        tones=(tones[screen.layer, screen.head] if tones.ndim > 1 else tones)[both],
        picked=int(here[0]) if here.size else None,
        title=screen.name,
        norms=screen.atlas.norms[screen.layer, screen.head][both]
        if st.session_state[SIZES]
        else None,
        lines=lines,
        labelled=bool(st.session_state[LABELS]),
        **token_data(screen, tokens),
    )


def _pick(tokens: NDArray[np.intp], index: int | None) -> None:
    st.session_state["token"] = 0 if index is None else int(tokens[index]) + 1


def _show_chosen(screen: Screen, shown: NDArray[np.intp]) -> None:
    """What a lasso holds: the commonest tokens, and where they stand.

    As in the cloud, the choice stays in another head, and is let go with other tokens.
    """
    of, chosen = st.session_state.get(_CHOSEN, (None, []))
    if not chosen or not np.array_equal(of, shown):
        return
    points = np.array(chosen, dtype=np.intp)
    columns = screen.atlas.tokens
    which = shown[points % shown.size]
    queries = int((points < shown.size).sum())
    st.markdown(
        f"**In the lasso:** {queries:,} queries and {points.size - queries:,} keys; mean position"
        f" {number(float(columns.position[which].mean()) + 1, '.1f')} in their sentences."
    )
    st.dataframe(
        _counts(columns.displays, which), key="atlas_lasso", hide_index=True, height="content"
    )


def _counts(displays: Sequence[str], which: NDArray[np.intp]) -> pd.DataFrame:
    inside = Counter(displays[i] for i in which)
    everywhere = Counter(displays)
    common = inside.most_common(_LISTED)
    return pd.DataFrame(
        {
            "token": [shown for shown, _ in common],
            "points": [count for _, count in common],
            "of all": [f"{count / (2 * everywhere[shown]):.0%}" for shown, count in common],
        }
    )


def _part(count: int, size: int) -> str:
    return f"all {size:,}" if count == size else f"{count:,} of {size:,}"


def _trusted(correlation: float, top1: float, screen: Screen) -> str:
    baseline = float(screen.atlas.measured.top1[screen.layer, screen.head])
    if not np.isfinite(baseline):
        return f" {NOT_MEASURED}"
    return (
        f" Within rows, distance in the plane and scores correlate with r = {number(correlation)};"
        f" the nearest key is the most attended one for {top1:.0%} of the queries, of a uniform"
        f" guess for {baseline:.0%}."
    )


def _plain(said: str) -> str:
    return said.replace("**", "")
