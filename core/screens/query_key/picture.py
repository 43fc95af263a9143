"""The picture of the query-key page: clouds of one head at four stages, or of a layer's heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import streamlit as st

from core.analysis.attention_table import unique_labels
from core.analysis.projections.error import ProjectionError
from core.analysis.projections.joint_embedding import SEED, Projection
from core.analysis.query_key.clouds import (
    MAX_LINES,
    Cloud,
    HeadStage,
    Lines,
    head_stages,
    lines_above,
    strongest_lines,
    with_chosen,
)
from core.components.clouds import Clouds, Panel, show_clouds
from core.figures.query_key.clouds import space_figure, space_sizes
from core.figures.shades import shades, shades_on
from core.screens.query_key.choice import clouds_of, head_name, scaling_of, search_of
from core.screens.query_key.picture_controls import (
    ALL_HEADS,
    BOTH,
    ONE_HEAD,
    draw_controls,
)
from core.screens.query_key.search_wording import search_words
from core.screens.query_key.wording import caption_of, notes_of, title_of, verdict
from core.ui.messages import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.analysis.normalization import GridSearch
    from core.figures.palette import Palette
    from core.model import Trace
    from core.screens.query_key.choice import Choice

    Floats = NDArray[np.float64]

GRID_COLUMNS = 4
BESIDE: tuple[HeadStage, ...] = ("raw", "searched")  # of each head of the layer
_SLOW = {"UMAP": "UMAP starts its own process, about ten seconds the first time …"}
_KINDS = {"type": "type", "position mod 5": "category"}  # the others are sequential


def show_picture(trace: Trace, choice: Choice, colours: Palette) -> None:
    """Controls, clouds and how to read them."""
    labels = unique_labels(tuple(token.display for token in trace.tokens))
    draw_controls(trace, labels)
    shown = _shown(trace)
    if not shown:
        st.info("Every token of this text is a special one: show them again to see the picture.")
        return
    search = search_of(choice)
    stages = _stages(search)
    if not stages:
        st.info(search_words(search, choice))
        return
    heads = [choice.head] if st.session_state["span"] == ONE_HEAD else list(range(trace.shape[1]))
    try:
        found = _compute(choice, heads, stages)
    except ProjectionError as error:
        st.error(escape(str(error)))
        st.button("Try again", key="projection_again")  # any run does
        return
    lines = [_lines(trace, choice, head) for head in heads]
    if _solid():
        _show_space(found[0], choice, labels, lines[0], shown, colours)
    else:
        _show_panels(found, choice, heads, labels, lines, shown)
    _say_what_is_missing(lines, shown)
    _say_how_to_read(trace, choice, search)


def _shown(trace: Trace) -> list[int]:
    hide = st.session_state["hide"]
    return [token.position for token in trace.tokens if not (hide and token.special)]


def _solid() -> bool:
    return st.session_state["span"] == ONE_HEAD and st.session_state["dims"] == "3-D"


def _stages(search: GridSearch) -> tuple[HeadStage, ...]:
    """What is drawn of each head; nothing where that asks for an a and c that were not found."""
    span = st.session_state["span"]
    there = head_stages(search)
    if span == ONE_HEAD:
        return there
    wanted = BESIDE if span == BOTH else (cast("HeadStage", st.session_state["stage"]),)
    return wanted if set(wanted) <= set(there) else ()


def _say_what_is_missing(lines: Sequence[Lines], shown: Sequence[int]) -> None:
    left = sum(each.left_out for each in lines)
    if left:
        st.caption(f"The {MAX_LINES:,} strongest lines a head are drawn; {left:,} are left out.")
    hidden = sum(int((~np.isin(each.keys, shown)).sum()) for each in lines)
    if hidden:
        st.caption(f"{hidden} lines lead to hidden tokens and are not drawn.")


def _say_how_to_read(trace: Trace, choice: Choice, search: GridSearch) -> None:
    state = st.session_state
    if state["span"] == ONE_HEAD:
        st.markdown(verdict(scaling_of(trace, choice), choice))
    one_stage = state["span"] == ALL_HEADS and state["stage"] != "searched"
    if state["projection"] != "biplot" and not one_stage:
        st.markdown(search_words(search, choice))
    st.caption(
        caption_of(
            state["projection"],
            choice,
            grid=state["span"] != ONE_HEAD,
            seed=SEED,
            softcap=trace.layers[choice.layer].softcap,
            beside=state["span"] == BOTH,
        )
    )


def _compute(
    choice: Choice, heads: Sequence[int], stages: tuple[HeadStage, ...]
) -> list[list[Cloud]]:
    """For each head its clouds: all stages of one head, or one stage or two of all heads."""
    projection = cast("Projection", st.session_state["projection"])
    dimensions = 3 if _solid() else 2
    with st.spinner(_SLOW.get(projection, "Projecting queries and keys …"), show_time=True):
        return [
            clouds_of(choice, stages, projection, head=head, dimensions=dimensions)
            for head in heads
        ]


def _lines(trace: Trace, choice: Choice, head: int) -> Lines:
    weights = trace.attention(choice.layer, head).astype(np.float64)
    lines = (
        strongest_lines(weights)
        if st.session_state["join"] == "strongest"
        else lines_above(weights, st.session_state["above"])
    )
    return with_chosen(lines, weights, choice.sources, choice.targets)


def _show_panels(
    found: list[list[Cloud]],
    choice: Choice,
    heads: list[int],
    labels: Sequence[str],
    lines: list[Lines],
    shown: list[int],
) -> None:
    state = st.session_state
    projection = state["projection"]
    flat = [(group, cloud) for group, clouds in enumerate(found) for cloud in clouds]
    tones, legend = tones_of(state["colour"], [cloud for _, cloud in flat], len(labels))
    beside, grid = state["span"] == BOTH, len(heads) > 1
    panels = [
        Panel(
            title=title_of(cloud, projection, choice, head=heads[group], beside=beside),
            notes=notes_of(cloud, projection, choice, short=grid or beside),
            points=np.vstack([cloud.picture.queries, cloud.picture.keys]),
            tones=tone,
            group=group,
            norms=cloud.norms if state["sizes"] else None,
        )
        for (group, cloud), tone in zip(flat, tones, strict=True)
    ]
    colouring = _KINDS.get(state["colour"], "sequential")
    show_clouds(
        Clouds(
            panels=panels,
            labels=labels,
            lines=[np.column_stack([e.queries, e.keys, e.weights]) for e in lines],
            heads=[head_name(choice.layer, head) for head in heads],
            columns=GRID_COLUMNS if grid else max(len(clouds) for clouds in found),
            together=2 if len(flat) > len(heads) else 1,
            colouring=colouring,
            legend=legend,
            shades=shades(colouring, len(legend)),
            labelled=state["labels"],
            sources=choice.sources,
            targets=choice.targets,
            shown=shown,
            own_scale=state["scale"],
        ),
        key="query_key_clouds",
        pinned=state["point"] or None,
        on_pin=_set_point,
    )


def _set_point(point: str | None) -> None:
    st.session_state["point"] = point or ""


def _show_space(
    clouds: list[Cloud],
    choice: Choice,
    labels: Sequence[str],
    lines: Lines,
    shown: list[int],
    colours: Palette,
) -> None:
    state = st.session_state
    tones, legend = tones_of(state["colour"], clouds, len(labels))
    norms = np.stack([cloud.norms for cloud in clouds])
    sizes = space_sizes(norms) if state["sizes"] else [None] * len(clouds)
    columns = st.columns(len(clouds))
    for column, cloud, tone, size in zip(columns, clouds, tones, sizes, strict=True):
        figure = space_figure(
            cloud,
            title_of(cloud, state["projection"], choice, head=choice.head),
            labels,
            lines,
            (choice.sources, choice.targets),
            _css(state["colour"], tone, len(legend), colours),
            shown,
            colours,
            sizes=size,
            labelled=state["labels"],
        )
        with column:
            st.plotly_chart(figure, key=f"query_key_space_{cloud.stage}")
            st.caption("  \n".join(notes_of(cloud, state["projection"], choice)))
    said = "Queries are discs, keys diamonds"
    said += f" and lighter: colours from {legend[0]} to {legend[-1]}." if legend else "."
    if state["sizes"]:
        said += f" Sizes from norm {norms.min():.3g} to {norms.max():.3g}."
    st.caption(f"{said} Drag a picture to turn it.")


def tones_of(
    colouring: str, clouds: Sequence[Cloud], count: int
) -> tuple[list[Floats], tuple[str, ...]]:
    """What each point's colour stands for, (2 token,) a cloud, and the legend."""
    place = np.arange(count)
    if colouring == "position":
        tone = place / max(count - 1, 1)
        return [np.tile(tone, 2)] * len(clouds), ("first token", "last token")
    if colouring == "position mod 5":
        legend = tuple(f"positions {i + 1}, {i + 6}, …" for i in range(5))
        return [np.tile(place % 5, 2).astype(np.float64)] * len(clouds), legend
    if colouring == "norm":
        longest = max(float(cloud.norms.max()) for cloud in clouds) or 1.0
        return [cloud.norms / longest for cloud in clouds], ("norm 0", f"norm {longest:.3g}")
    return [np.zeros(2 * count)] * len(clouds), ()


def _css(colouring: str, tones: Floats, categories: int, colours: Palette) -> list[str]:
    """A colour for every query, then for every key: darker and lighter."""
    kind = _KINDS.get(colouring, "sequential")
    kinds = shades_on(colours, kind, categories)
    last = len(kinds[0]) - 1
    steps = np.rint(tones * last if kind == "sequential" else tones).astype(int).clip(0, last)
    return [
        shade[step]
        for shade, half in zip(kinds, np.split(steps, 2), strict=True)
        for step in half.tolist()
    ]
