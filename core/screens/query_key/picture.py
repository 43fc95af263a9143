"""The picture of the query-key page: one head at every stage, or all heads of a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.projections.error import ProjectionError
from core.analysis.query_key.clouds import (
    MAX_LINES,
    Cloud,
    Lines,
    head_stages,
    lines_above,
    strongest_lines,
    with_chosen,
)
from core.components.clouds import Clouds, Panel, show_clouds
from core.figures.query_key.clouds import space_figure, space_sizes
from core.figures.shades import shades, shades_on
from core.screens.query_key.controls import BOTH, ONE_HEAD
from core.screens.query_key.wording import caption_of, search_words, title_of
from core.ui import controls
from core.ui.charts import show_chart
from core.ui.clouds.choice import clouds_of, scaling_of, search_of
from core.ui.clouds.wording import notes_of, verdict
from core.ui.downloads import contents
from core.ui.messages import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.figures.palette import Palette
    from core.model import Trace
    from core.screens.query_key.options import PictureOptions
    from core.ui.clouds.choice import Choice

    Floats = NDArray[np.float64]

GRID_COLUMNS = 4
_SLOW = {"UMAP": "UMAP starts its own process, about ten seconds the first time …"}
_KINDS = {"type": "type", "position mod 5": "category"}  # the others are sequential


def show_picture(trace: Trace, choice: Choice, options: PictureOptions, colours: Palette) -> None:
    """Clouds and how to read them."""
    if not (options.shown and options.shown_keys):
        st.info("Every token of this text is a special one: show them again to see the picture.")
        return
    search, one_head = search_of(choice), options.span == ONE_HEAD
    defined = head_stages(search)
    if not set(options.stages) <= set(defined):
        st.info(search_words(trace, search, choice))
        return
    heads = [choice.head] if one_head else list(range(trace.shape[1]))
    stages, dimensions = options.stages or defined, 3 if options.in_space else 2
    try:
        with st.spinner(
            _SLOW.get(options.projection, "Projecting queries and keys …"), show_time=True
        ):
            clouds = [
                clouds_of(choice, stages, options.projection, head=head, dimensions=dimensions)
                for head in heads
            ]
    except ProjectionError as error:
        st.error(escape(str(error)))
        st.button("Try again", key="projection_again")  # any run does
        return
    lines = [head_lines(trace, choice, head, options.threshold) for head in heads]
    if options.in_space:
        _show_space(clouds[0], lines[0], choice, options, colours)
    else:
        _show_panels(clouds, lines, choice, heads, options)
    if left_out := sum(each.left_out for each in lines):
        st.caption(f"Only the {MAX_LINES:,} strongest lines of a head are drawn, not {left_out:,}.")
    if hidden := sum(int((~np.isin(each.keys, options.shown_keys)).sum()) for each in lines):
        st.caption(f"{hidden} lines lead to hidden tokens and are not drawn.")
    if one_head:
        st.markdown(verdict(scaling_of(trace, choice, choice.head), choice))
    if options.projection != "biplot" and (one_head or "searched" in options.stages):
        st.markdown(search_words(trace, search, choice))
    st.caption(
        caption_of(
            options.projection,
            choice,
            grid=not one_head,
            rule=trace.layers[choice.layer],
            beside=options.span == BOTH,
        )
    )


def head_lines(trace: Trace, choice: Choice, head: int, threshold: float | None = None) -> Lines:
    """Lines from a `threshold` of attention, or each query's strongest, and the chosen ones."""
    weights = trace.attention(choice.layer, head).astype(np.float64)
    lines = strongest_lines(weights) if threshold is None else lines_above(weights, threshold)
    return with_chosen(lines, weights, choice.sources, choice.targets)


def _show_panels(
    clouds: list[list[Cloud]],
    lines: list[Lines],
    choice: Choice,
    heads: list[int],
    options: PictureOptions,
) -> None:
    panels = [(group, cloud) for group, stages in enumerate(clouds) for cloud in stages]
    tones, legend = tones_of(options.colouring, [cloud for _, cloud in panels])
    beside, grid = options.span == BOTH, len(heads) > 1
    projection = options.projection
    colouring = _KINDS.get(options.colouring, "sequential")
    show_clouds(
        Clouds(
            panels=[
                Panel(
                    title=title_of(cloud, projection, choice, head=heads[group], beside=beside),
                    notes=notes_of(cloud, projection, choice, short=grid or beside),
                    points=np.vstack([cloud.picture.queries, cloud.picture.keys]),
                    tones=tone,
                    group=group,
                    norms=cloud.norms if options.sized else None,
                )
                for (group, cloud), tone in zip(panels, tones, strict=True)
            ],
            labels=options.labels,
            key_labels=options.key_labels,
            lines=[each.table for each in lines],
            heads=[choice.name(head) for head in heads],
            columns=GRID_COLUMNS if grid else max(map(len, clouds)),
            together=2 if len(panels) > len(heads) else 1,
            colouring=colouring,
            legend=legend,
            shades=shades(colouring, len(legend)),
            labelled=options.labelled,
            sources=choice.sources,
            targets=choice.targets,
            shown=options.shown,
            shown_keys=options.shown_keys,
            own_scale=options.own_scale,
            picture=_saved(choice, options, one_head=not grid),
        ),
        key="query_key_clouds",
        pinned=options.point or None,
        on_pin=lambda point: controls.pick(point=point or ""),
    )


def _saved(choice: Choice, options: PictureOptions, *, one_head: bool) -> dict[str, Any]:
    """What a saved picture is called and carries inside."""
    part = None if one_head else f"L{choice.number}-{options.span}"
    place = choice.name() if one_head else f"layer {choice.number}"
    held = contents("queries-and-keys", choice.key.model, part)
    return held.titled(f"Queries and keys ({options.projection})", place=place)


def _show_space(
    clouds: list[Cloud], lines: Lines, choice: Choice, options: PictureOptions, colours: Palette
) -> None:
    tones, legend = tones_of(options.colouring, clouds)
    norms = np.stack([cloud.norms for cloud in clouds])
    sizes = space_sizes(norms) if options.sized else [None] * len(clouds)
    columns = st.columns(len(clouds))
    for column, cloud, tone, size in zip(columns, clouds, tones, sizes, strict=True):
        figure = space_figure(
            cloud,
            title_of(cloud, options.projection, choice, head=choice.head),
            options.labels,
            lines,
            (choice.sources, choice.targets),
            css_colours(options.colouring, tone, len(options.labels), len(legend), colours),
            options.shown,
            colours,
            sizes=size,
            labelled=options.labelled,
            keys=(options.key_labels, options.shown_keys),
        )
        with column:
            show_chart(figure, key=f"query_key_space_{cloud.stage}", alt=f"{cloud.stage} in space")
            st.caption("  \n".join(notes_of(cloud, options.projection, choice)))
    st.caption(
        "Queries are discs, keys diamonds"
        + (f" and lighter: colours from {legend[0]} to {legend[-1]}." if legend else ".")
        + f" Sizes from norm {norms.min():.3g} to {norms.max():.3g}." * options.sized
        + " Drag a picture to turn it."
    )


def tones_of(colouring: str, clouds: Sequence[Cloud]) -> tuple[list[Floats], tuple[str, ...]]:
    """What each point's colour stands for, (query + key,) a cloud, and the legend."""
    if colouring == "norm":
        longest = max(float(cloud.norms.max()) for cloud in clouds) or 1.0
        return [cloud.norms / longest for cloud in clouds], ("norm 0", f"norm {longest:.3g}")
    picture = clouds[0].picture
    sides = [np.arange(len(own), dtype=np.float64) for own in (picture.queries, picture.keys)]
    legend: tuple[str, ...] = ()
    if colouring == "position":
        tones = np.concatenate([side / max(side.size - 1, 1) for side in sides])
        legend = ("first token", "last token")
    elif colouring == "position mod 5":
        tones = np.concatenate(sides) % 5
        legend = tuple(f"positions {i + 1}, {i + 6}, …" for i in range(5))
    else:
        tones = np.zeros(len(clouds[0].norms))
    return [tones] * len(clouds), legend


def css_colours(
    colouring: str, tones: Floats, queries: int, categories: int, colours: Palette
) -> list[str]:
    """A colour for every query, then for every key: darker and lighter."""
    kind = _KINDS.get(colouring, "sequential")
    kinds = shades_on(colours, kind, categories)
    last = len(kinds[0]) - 1
    steps = np.rint(tones * last if kind == "sequential" else tones).astype(int).clip(0, last)
    halves = np.split(steps, [queries])
    return [
        shade[step] for shade, half in zip(kinds, halves, strict=True) for step in half.tolist()
    ]
