"""The picture of the query-key page: one head, raw, translated and normalized."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import streamlit as st

from core.analysis.images.patch_scores import patches_of
from core.analysis.images.points import Tints, places_table, thumbnails, tints_of
from core.analysis.projections.joint_embedding import Projection
from core.analysis.projections.umap_process import ProjectionError
from core.analysis.query_key.clouds import Cloud, Lines, strongest_lines
from core.components.points import Clouds, Panel, show_points
from core.figures.palette import Palette
from core.figures.shades import shades
from core.screens.query_key.choice import Choice, clouds_of, has_looks, scaling_of
from core.screens.query_key.controls import ALL_THREE, SPACE, PictureOptions
from core.screens.query_key.wording import (
    CAPTION,
    axes_note,
    axes_of,
    notes_of,
    red_words,
    title_of,
    verdict,
)
from core.ui import controls
from core.ui.charts import show_chart
from core.ui.downloads import contents, offer_csv
from core.ui.words.messages import escape
from core.ui.words.prose import Prose
from core.vocabulary import STAGES, Stage, labels_of

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
_SLOW = {"UMAP": "UMAP starts its own process, about ten seconds the first time …"}


def show_picture(trace: Trace, choice: Choice, options: PictureOptions, colours: Palette) -> None:
    """Show the clouds and how to read them."""
    if not (options.shown and options.shown_keys):
        st.info(_words("only_special"))
        return
    stages = STAGES if options.stage == ALL_THREE else (cast("Stage", options.stage),)
    in_space = options.projection == SPACE
    projection = cast("Projection", "PCA" if in_space else options.projection)
    try:
        with st.spinner(_SLOW.get(projection, "Projecting queries and keys …"), show_time=True):
            clouds = clouds_of(choice, choice.head, stages, projection, 3 if in_space else 2)
    except ProjectionError as error:
        st.error(escape(str(error)))
        st.button("Try again", key="projection_again")  # any rerun tries again
        return
    lines = head_lines(trace, choice, choice.head)
    tints = tints_of(trace, options.colouring)
    if in_space:
        _show_space(trace, choice, options, clouds, lines, tints, colours)
    else:
        show_points(
            _drawing(trace, choice, options, clouds, lines, tints),
            key="query_key_clouds",
            on_pick=lambda point: controls.pick(
                point="" if point is None else options.points[point]
            ),
        )
    if red := red_words(trace, choice, lines):
        st.caption(red)
    if hidden := int((~np.isin(lines.keys, options.shown_keys)).sum()):
        st.caption(_words("hidden", lines=hidden))
    st.markdown(verdict(scaling_of(choice, choice.head), choice))
    if not has_looks(trace):
        st.caption(CAPTION)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(CAPTION, width="stretch")
        export = contents("queries-and-keys", trace.model)
        offer_csv(places_table(trace, clouds, tints).copy, export, index=False)


def head_lines(trace: Trace, choice: Choice, head: int) -> Lines:
    """Lines from each query to its strongest key, and the chosen ones."""
    weights = trace.attention(choice.layer, head).astype(np.float64)
    return strongest_lines(weights, 1, choice.sources, choice.targets)


def _drawing(
    trace: Trace,
    choice: Choice,
    options: PictureOptions,
    clouds: list[Cloud],
    lines: Lines,
    tints: Tints,
) -> Clouds:
    short = has_looks(trace) and len(clouds) > 1
    export = contents("queries-and-keys", choice.key.model)
    return Clouds(
        panels=[
            Panel(
                title=title_of(cloud, choice),
                notes=[*notes_of(cloud, short=short), axes_note(options.projection, place > 0)],
                points=np.vstack([cloud.picture.queries, cloud.picture.keys]),
                tones=tints.tones,
                lines=lines.table,
            )
            for place, cloud in enumerate(clouds)
        ],
        labels=labels_of(trace.tokens),
        key_labels=labels_of(trace.key_tokens),
        columns=len(clouds),
        colouring="category" if tints.scale == "hue" else tints.scale,
        legend=tints.legend,
        shades=shades(tints.scale, len(tints.legend)),
        sources=choice.sources,
        targets=choice.targets,
        shown=options.shown,
        shown_keys=options.shown_keys,
        pinned=options.point,
        patches=thumbnails(patches_of(trace)) if has_looks(trace) else None,
        picture=export.titled(f"Queries and keys ({options.projection})", place=choice.name()),
    )


def _show_space(
    trace: Trace,
    choice: Choice,
    options: PictureOptions,
    clouds: list[Cloud],
    lines: Lines,
    tints: Tints,
    colours: Palette,
) -> None:
    """A 3-D chart for each cloud, side by side."""
    from core.figures.query_key import space_figure

    labels = labels_of(trace.tokens), labels_of(trace.key_tokens)
    positions = options.shown, options.shown_keys
    for cloud, column in zip(clouds, st.columns(len(clouds)), strict=True):
        title = title_of(cloud, choice)
        axes = axes_of("PCA", 3, turned=cloud is not clouds[0])
        figure = space_figure(cloud.picture, lines, tints, labels, positions, axes, title, colours)
        with column:
            show_chart(figure, key=f"query_key_space_{cloud.stage}", alt=title)
            for note in notes_of(cloud, short=len(clouds) > 1):
                st.caption(note)
