"""The picture of the query-key page: clouds of one head at three stages, or of a layer's heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import streamlit as st

from core.analysis.attention_table import unique_labels
from core.analysis.clouds import (
    MOST_LINES,
    STAGES,
    Cloud,
    Lines,
    Stage,
    default_chosen,
    lines_above,
    strongest_lines,
)
from core.analysis.joint_embedding import SEED, Projection
from core.analysis.projection_error import ProjectionError
from core.components.clouds import Clouds, Panel, show_clouds
from core.figures.query_key import space_figure, space_sizes
from core.figures.shades import shades, shades_on
from core.ui import address, cache
from core.ui.messages import escape
from core.ui.query_key.choice import SHARED, scaling_of
from core.ui.query_key.wording import caption_of, notes_of, title_of, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.figures.palette import Palette
    from core.model import Trace
    from core.ui.query_key.choice import Choice

    Floats = NDArray[np.float64]

PROJECTIONS = ["PCA", "biplot", "UMAP", "t-SNE"]
COLOURINGS = ["type", "position", "position mod 5", "norm"]
GRID_COLUMNS = 4
_SLOW = {"UMAP": "UMAP starts its own process, about ten seconds the first time …"}
_KINDS = {"type": "type", "position mod 5": "category"}  # the others are sequential
_CHOSEN_FOR = "_chosen_for"
KEYS = (
    "span",
    "stage",
    "projection",
    "dims",
    "colour",
    "join",
    "above",
    "from",
    "to",
    "point",
    "hide",
    "scale",
    "sizes",
    "labels",
)


def show_picture(trace: Trace, choice: Choice, colours: Palette) -> None:
    """Controls, clouds and how to read them."""
    _restore(trace)
    labels = unique_labels(tuple(token.display for token in trace.tokens))
    _draw_controls(trace, labels)
    state = st.session_state
    grid, solid = state["span"] == "all heads", state["dims"] == "3-D"
    left_out = {"stage"} if not grid else set()
    left_out |= {"above"} if state["join"] == "strongest" else set()
    address.publish(*SHARED, *_written(left_out))
    shown = [token.position for token in trace.tokens if not (state["hide"] and token.special)]
    if not shown:
        st.info("Every token of this text is a special one: show them again to see the picture.")
        return
    heads = range(trace.shape[1]) if grid else [choice.head]
    try:
        found = _compute(choice, heads, 3 if solid and not grid else 2)
    except ProjectionError as error:
        st.error(escape(str(error)))
        st.button("Try again", key="projection_again")  # any run does
        return
    lines = [_lines(trace, choice.layer, head) for head in heads]
    if solid and not grid:
        _show_space(found[0], choice, labels, lines[0], shown, colours)
    else:
        _show_panels(found, choice, list(heads), labels, lines, shown)
    left = sum(each.left_out for each in lines)
    if left:
        st.caption(f"The {MOST_LINES:,} strongest lines a head are drawn; {left:,} are left out.")
    hidden = sum(int((~np.isin(each.keys, shown)).sum()) for each in lines)
    if hidden:
        st.caption(f"{hidden} lines lead to hidden tokens and are not drawn.")
    if not grid:
        st.markdown(verdict(scaling_of(trace, choice), choice))
    softcap = trace.layers[choice.layer].softcap
    st.caption(caption_of(state["projection"], choice, grid=grid, seed=SEED, softcap=softcap))


def _restore(trace: Trace) -> None:
    address.restore_choice("span", ["one head", "all heads"], "one head", "The spans are")
    address.restore_choice("stage", list(STAGES), "normalized", "The stages are")
    address.restore_choice("projection", PROJECTIONS, "PCA", "The projections are")
    if st.session_state.get("dims") in {"2", "3"}:  # as the atlas has them
        st.session_state["dims"] += "-D"
    address.restore_choice("dims", ["2-D", "3-D"], "2-D", "The pictures are")
    address.restore_choice("colour", COLOURINGS, "type", "Colours can show")
    address.restore_choice("join", ["strongest", "all above"], "strongest", "The lines are")
    address.restore_number("above", 0.01, 1.0, 0.2)
    address.restore_flag("hide")
    address.restore_flag("scale")
    address.restore_flag("sizes")
    address.restore_flag("labels", default=True)
    positions = [token.position + 1 for token in trace.tokens]
    # Positions mean nothing in another text: there, what is chosen begins anew.
    same_text = (trace.model, *(token.text for token in trace.tokens))
    fresh = st.session_state.get(_CHOSEN_FOR) not in {None, same_text}
    if fresh:
        for key in ("from", "to", "point"):
            st.session_state.pop(key, None)
    first = _CHOSEN_FOR not in st.session_state
    st.session_state[_CHOSEN_FOR] = same_text
    asked = address.asks_for("from") or address.asks_for("to")
    for key, chosen in zip(("from", "to"), default_chosen(trace), strict=True):
        address.restore_numbers(key, positions)
        if (fresh or first) and not asked:
            st.session_state[key] = [position + 1 for position in chosen]
    points = [f"{kind}{position}" for kind in "qk" for position in positions]
    address.restore_choice("point", ["", *points], "", "Points are")


def _written(left_out: set[str]) -> list[str]:
    state = st.session_state
    usual = {"point": "", "sizes": False, "labels": True}  # which no link has to carry
    left_out = left_out | {key for key, value in usual.items() if state[key] == value}
    return [key for key in KEYS if key not in left_out]


def _draw_controls(trace: Trace, labels: Sequence[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "Show", ["one head", "all heads"], key="span", required=True, persist_state="session"
        )
        if st.session_state["span"] == "all heads":
            with st.container(width=150):
                st.selectbox("Stage", list(STAGES), key="stage", persist_state="session")
        with st.container(width=130):
            st.selectbox("Projection", PROJECTIONS, key="projection", persist_state="session")
        if st.session_state["span"] == "one head":
            st.segmented_control(
                "Space", ["2-D", "3-D"], key="dims", required=True, persist_state="session"
            )
        with st.container(width=160):
            st.selectbox("Colour by", COLOURINGS, key="colour", persist_state="session")
        st.segmented_control(
            "Lines", ["strongest", "all above"], key="join", required=True, persist_state="session"
        )
        if st.session_state["join"] == "all above":
            with st.container(width=150):
                st.slider(
                    "Attention at least", 0.01, 1.0, key="above", step=0.01, persist_state="session"
                )
    positions = [token.position + 1 for token in trace.tokens]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for key, label in (("from", "Red lines from"), ("to", "to")):
            st.multiselect(
                label,
                positions,
                key=key,
                format_func=lambda position: labels[position - 1],
                placeholder="no token",
                width=232,
                persist_state="session",
            )
        st.toggle("Hide special tokens", key="hide", persist_state="session")
        st.toggle(
            "Own scales",
            key="scale",
            persist_state="session",
            help="Each panel as large as its points, instead of one scale for all.",
        )
        st.toggle(
            "Size by norm",
            key="sizes",
            persist_state="session",
            help="The longer a query or key, at the stage shown, the larger its point.",
        )
        st.toggle("Labels", key="labels", persist_state="session")


def _compute(choice: Choice, heads: Sequence[int], dimensions: int) -> list[list[Cloud]]:
    """For each head its clouds: all stages of one head, or one stage of all heads."""
    projection = cast("Projection", st.session_state["projection"])
    stages = STAGES if len(heads) == 1 else (cast("Stage", st.session_state["stage"]),)
    with st.spinner(_SLOW.get(projection, "Projecting queries and keys …"), show_time=True):
        return [
            cache.clouds(
                choice.key,
                choice.layer,
                head,
                stages,
                projection,
                dimensions,
                choice.distance,
                choice.criterion,
                choice.target,
            )
            for head in heads
        ]


def _lines(trace: Trace, layer: int, head: int) -> Lines:
    weights = trace.attention(layer, head).astype(np.float64)
    if st.session_state["join"] == "strongest":
        return strongest_lines(weights)
    return lines_above(weights, st.session_state["above"])


def _show_panels(
    found: list[list[Cloud]],
    choice: Choice,
    heads: list[int],
    labels: Sequence[str],
    lines: list[Lines],
    shown: list[int],
) -> None:
    state = st.session_state
    flat = [(group, cloud) for group, clouds in enumerate(found) for cloud in clouds]
    tones, legend = tones_of(state["colour"], [cloud for _, cloud in flat], len(labels))
    names = [f"L{choice.layer + 1} H{head + 1}" for head in heads]
    grid = len(heads) > 1
    panels = [
        Panel(
            title=title_of(cloud, state["projection"], choice, head=heads[group]),
            notes=notes_of(cloud, state["projection"], choice, short=grid),
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
            heads=names,
            columns=GRID_COLUMNS if grid else 3,
            colouring=colouring,
            legend=legend,
            shades=shades(colouring, len(legend)),
            labelled=state["labels"],
            sources=[position - 1 for position in state["from"]],
            targets=[position - 1 for position in state["to"]],
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
    sources = [position - 1 for position in state["from"]]
    targets = [position - 1 for position in state["to"]]
    red = np.isin(lines.queries, sources) & np.isin(lines.keys, targets)
    norms = np.stack([cloud.norms for cloud in clouds])
    sizes = space_sizes(norms) if state["sizes"] else [None] * len(clouds)
    columns = st.columns(len(clouds))
    for column, cloud, tone, size in zip(columns, clouds, tones, sizes, strict=True):
        figure = space_figure(
            cloud,
            title_of(cloud, state["projection"], choice, head=choice.head),
            labels,
            lines,
            red,
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
