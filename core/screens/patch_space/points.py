"""Queries and keys of one head as points: the patches themselves, beside their image."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.attention_table import labels_of
from core.analysis.images.patch_points import partners, thumbnails
from core.analysis.projections.error import ProjectionError
from core.analysis.query_key.clouds import MAX_LINES, lines_above, strongest_lines
from core.components.clouds import Clouds, Image, Panel, show_clouds
from core.figures.shades import shades
from core.screens.patch_space.colouring import tints_of
from core.screens.patch_space.wording import points_caption
from core.ui import controls
from core.ui.clouds.choice import STAGE_NAMES, clouds_of, scaling_of
from core.ui.clouds.wording import notes_of, verdict
from core.ui.downloads import contents, csv_later, offer_file
from core.ui.messages import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.query_key.clouds import Cloud, Lines
    from core.model import Trace
    from core.screens.patch_space.colouring import Tints
    from core.screens.patch_space.options import PointOptions
    from core.ui.clouds.choice import Choice

_SLOW = {"UMAP": "UMAP starts its own process, about ten seconds the first time …"}


def show_points(trace: Trace, choice: Choice, options: PointOptions) -> None:
    """The clouds, how to read them, and the file of their places."""
    try:
        with st.spinner(
            _SLOW.get(options.projection, "Projecting queries and keys …"), show_time=True
        ):
            clouds = clouds_of(
                choice, options.stages, options.projection, dimensions=2 + options.in_space
            )
    except ProjectionError as error:
        st.error(escape(str(error)))
        st.button("Try again", key="projection_again")  # any run does
        return
    attention = trace.attention(choice.layer, choice.head)
    lines = _lines(attention.astype(np.float64), options.threshold)
    tints = tints_of(trace, options.colouring)
    show_clouds(
        _clouds(trace, choice, options, clouds, lines, tints),
        key="patch_space_clouds",
        pinned=options.point or None,
        on_pin=lambda point: controls.pick(point=point or ""),
    )
    if lines.left_out:
        st.caption(f"Only the {MAX_LINES:,} strongest lines are drawn, not {lines.left_out:,}.")
    shown_queries = np.isin(lines.queries, options.shown)
    if hidden := int((shown_queries & ~np.isin(lines.keys, options.shown)).sum()):
        st.caption(f"{hidden} lines lead to CLS or registers and are not drawn.")
    st.markdown(verdict(scaling_of(trace, choice, choice.head), choice))
    held = contents("patch-space", trace.model)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(points_caption(trace, choice, options), width="stretch")
        table = places_table(trace, clouds, tints)
        offer_file("Download CSV", csv_later(table.copy, held, index=False), held, ".csv")


def _lines(attention: np.ndarray, threshold: float | None) -> Lines:
    return strongest_lines(attention) if threshold is None else lines_above(attention, threshold)


def _clouds(
    trace: Trace,
    choice: Choice,
    options: PointOptions,
    clouds: Sequence[Cloud],
    lines: Lines,
    tints: Tints,
) -> Clouds:
    held = contents("patch-space", trace.model)
    return Clouds(
        panels=[
            Panel(
                title=f"{choice.name()} · {STAGE_NAMES[cloud.stage]}",
                notes=notes_of(cloud, options.projection, choice, short=len(clouds) > 1),
                points=np.vstack([cloud.picture.queries, cloud.picture.keys]),
                tones=np.tile(tints.tones, 2),
            )
            for cloud in clouds
        ],
        labels=labels_of(trace.tokens),
        lines=[lines.table],
        heads=[choice.name()],
        columns=len(clouds),
        colouring="category" if tints.scale == "hue" else tints.scale,
        legend=tints.legend,
        shades=shades(tints.scale, len(tints.legend)),
        shown=options.shown,
        own_scale=options.own_scale,
        image=_image(trace, choice, dots=options.dots),
        picture=held.titled(f"Patches as points ({options.projection})", place=choice.name()),
    )


def _image(trace: Trace, choice: Choice, *, dots: bool) -> Image | None:
    patches = trace.patches
    if patches is None:
        return None
    return Image(
        thumbnails(patches),
        patches.rows,
        patches.columns,
        patches.first,
        partners(trace.attention(choice.layer, choice.head)),
        dots=dots,
    )


def places_table(trace: Trace, clouds: Sequence[Cloud], tints: Tints) -> pd.DataFrame:
    """A row for every point of every panel: what it is, where it lies, what its colour says."""
    labels, count = labels_of(trace.tokens), len(trace.tokens)
    tokens = [*trace.tokens, *trace.tokens]
    parts = []
    for cloud in clouds:
        points = np.vstack([cloud.picture.queries, cloud.picture.keys])
        columns: dict[str, object] = {
            "stage": cloud.stage,
            "kind": np.repeat(["query", "key"], count),
            "token": [*labels, *labels],
            "row": [token.row + 1 or None for token in tokens],
            "column": [token.column + 1 or None for token in tokens],
        }
        columns |= dict(zip("xyz", points.T, strict=False))
        if tints.scale != "type":
            columns["colour"] = np.tile(tints.tones, 2)
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)
