"""The picture of the query-key page: one head at its stages, or all heads of a layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import streamlit as st

from core.analysis.images.patch_scores import patches_of
from core.analysis.images.points import Tints, partners, places_table, thumbnails, tints_of
from core.analysis.projections.umap_process import ProjectionError
from core.analysis.query_key.clouds import (
    MAX_LINES,
    Cloud,
    Lines,
    best_stage,
    head_stages,
    lines_above,
    strongest_lines,
    with_chosen,
)
from core.components.clouds import Clouds, Image, Panel, show_clouds
from core.figures.shades import shades
from core.screens.query_key.choice import (
    ALL_STAGES,
    ALL_THREE,
    BEST_STAGE,
    BOTH,
    ONE_HEAD,
    Choice,
    PictureOptions,
    clouds_of_heads,
    scaling_of,
    search_of,
)
from core.screens.query_key.wording import (
    axes_of,
    caption_of,
    marks_of,
    notes_of,
    patch_notes,
    red_words,
    search_words,
    title_of,
    verdict,
)
from core.ui import controls, python
from core.ui.downloads import contents, offer_csv
from core.ui.words.messages import escape
from core.ui.words.prose import Prose
from core.vocabulary import STAGES, HeadStage, labels_of

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
GRID_COLUMNS = 4
_SLOW = {"UMAP": "UMAP starts its own process, about ten seconds the first time …"}
_SEARCHED = (ALL_STAGES, BOTH, "searched")  # what the search of the layer has a part in


def show_picture(trace: Trace, choice: Choice, options: PictureOptions) -> None:
    """Clouds and how to read them."""
    if not (options.shown and options.shown_keys):
        st.info(_words("only_special"))
        return
    one_head = options.span == ONE_HEAD
    search_note = ""
    # Where three stages are all, in cross attention, it is said why the search adds none.
    all_there_are = options.stage == ALL_THREE and trace.source is not None
    if options.stage in _SEARCHED or all_there_are:
        search = search_of(choice)
        search_note = search_words(trace, search, choice)
        if not search.defined and options.stage not in (ALL_STAGES, ALL_THREE):
            st.info(search_note)
            return
    heads = range(choice.head, choice.head + 1) if one_head else range(trace.shape[1])
    stages = _stages_of(choice, options)
    try:
        with st.spinner(
            _SLOW.get(options.projection, "Projecting queries and keys …"), show_time=True
        ):
            dimensions = 3 if options.in_space else 2
            clouds = clouds_of_heads(choice, heads, stages, options.projection, dimensions)
    except ProjectionError as error:
        st.error(escape(str(error)))
        st.button("Try again", key="projection_again")  # any run does
        return
    lines = [head_lines(trace, choice, head, options.threshold) for head in heads]
    tints = tints_of(trace, options.colouring, [cloud for each in clouds for cloud in each])
    show_clouds(
        _drawing(trace, choice, options, clouds, lines, tints, heads),
        key="query_key_clouds",
        pinned=options.point or None,
        on_pin=lambda point: controls.pick(point=point or ""),
    )
    _show_line_notes(trace, choice, options, dict(zip(heads, lines, strict=True)))
    if one_head:
        st.markdown(verdict(scaling_of(choice, choice.head), choice))
    if search_note and options.projection != "biplot":
        st.markdown(search_note)
    caption = caption_of(
        options.projection,
        choice,
        rule=trace.layers[choice.layer],
        marks=marks_of(options),
        in_space=options.in_space,
    )
    if not options.pictured:
        st.caption(caption)
    else:
        _offer_places(
            trace, options, clouds[0], tints, f"{caption} {patch_notes(trace, options, stages)}"
        )


def head_lines(trace: Trace, choice: Choice, head: int, threshold: float | None = None) -> Lines:
    """Lines from a `threshold` of attention, or each query's strongest, and the chosen ones."""
    weights = trace.attention(choice.layer, head).astype(np.float64)
    lines = strongest_lines(weights) if threshold is None else lines_above(weights, threshold)
    return with_chosen(lines, weights, choice.sources, choice.targets)


def _stages_of(choice: Choice, options: PictureOptions) -> tuple[HeadStage, ...]:
    if options.stage == BEST_STAGE:
        return (best_stage(scaling_of(choice, choice.head)),)
    if options.stage == ALL_STAGES:
        return head_stages(search_of(choice))
    several: dict[str, tuple[HeadStage, ...]] = {ALL_THREE: STAGES, BOTH: ("raw", "searched")}
    return several.get(options.stage) or (cast("HeadStage", options.stage),)


def _drawing(
    trace: Trace,
    choice: Choice,
    options: PictureOptions,
    clouds: list[list[Cloud]],
    lines: list[Lines],
    tints: Tints,
    heads: Sequence[int],
) -> Clouds:
    panels = [
        (group, place, cloud)
        for group, stages in enumerate(clouds)
        for place, cloud in enumerate(stages)
    ]
    beside, grid = options.span == BOTH, len(heads) > 1
    short = grid or beside or (options.pictured and len(panels) > 1)
    projection = options.projection
    tones = np.broadcast_to(tints.tones, (len(panels), tints.tones.shape[-1]))
    return Clouds(
        panels=[
            Panel(
                title=title_of(cloud, projection, choice, head=heads[group], beside=beside),
                notes=notes_of(cloud, projection, choice, short=short),
                points=np.vstack([cloud.picture.queries, cloud.picture.keys]),
                tones=tone,
                axes=axes_of(projection, 2 + options.in_space, turned=place > 0),
                group=group,
                norms=cloud.norms if options.sized else None,
            )
            for (group, place, cloud), tone in zip(panels, tones, strict=True)
        ],
        labels=labels_of(trace.tokens),
        key_labels=labels_of(trace.key_tokens),
        lines=[each.table for each in lines],
        heads=[choice.name(head) for head in heads],
        columns=GRID_COLUMNS if grid else len(panels),
        together=2 if len(panels) > len(heads) and not options.pictured else 1,
        colouring="category" if tints.scale == "hue" else tints.scale,
        legend=tints.legend,
        shades=shades(tints.scale, len(tints.legend)),
        labelled=options.labelled,
        sources=choice.sources,
        targets=choice.targets,
        shown=options.shown,
        shown_keys=options.shown_keys,
        own_scale=options.own_scale,
        image=_image(trace, choice, options),
        picture=_saved(choice, options, one_head=not grid),
    )


def _image(trace: Trace, choice: Choice, options: PictureOptions) -> Image | None:
    if not options.pictured:
        return None
    attended = partners(trace.attention(choice.layer, choice.head))
    return Image(thumbnails(patches_of(trace)), attended, dots=options.dots)


def _saved(choice: Choice, options: PictureOptions, *, one_head: bool) -> dict[str, Any]:
    """What a saved picture is called and carries inside."""
    part = None if one_head else f"L{choice.number}-{options.span}"
    place = choice.name() if one_head else f"layer {choice.number}"
    held = contents("queries-and-keys", choice.key.model, part)
    return held.titled(f"Queries and keys ({options.projection})", place=place)


def _show_line_notes(
    trace: Trace, choice: Choice, options: PictureOptions, lines: Mapping[int, Lines]
) -> None:
    """Which of the `lines` of each head are red, and how many are not drawn."""
    if red := red_words(trace, choice, lines):
        st.caption(red)
    if left_out := sum(each.left_out for each in lines.values()):
        st.caption(_words("left_out", most=MAX_LINES, left_out=left_out))
    if hidden := sum((~np.isin(each.keys, options.shown_keys)).sum() for each in lines.values()):
        st.caption(_words("hidden", lines=hidden))


def _offer_places(
    trace: Trace, options: PictureOptions, clouds: list[Cloud], tints: Tints, caption: str
) -> None:
    """The caption, and beside it the file of where the patches lie."""
    held = contents("queries-and-keys", trace.model)
    python.made("tints", tints, python.call(tints_of, trace, options.colouring, clouds))
    table = python.shown("table", places_table, trace, clouds, tints)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(caption, width="stretch")
        offer_csv(table.copy, held, index=False)
