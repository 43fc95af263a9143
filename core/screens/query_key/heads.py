"""All heads as squares of a map, and the report on a layer as one HTML file.

The report has the settings, the search, and every head at all three stages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.normalization import regression_of
from core.analysis.query_key.scaling import MIN_RELIABLE, Stages
from core.components.points import Clouds, Panel, points_page
from core.figures.palette import Palette
from core.figures.query_key import regression_svg
from core.screens.query_key.choice import (
    Choice,
    clouds_of,
    scaling_of,
    scaling_of_heads,
    search_of,
)
from core.screens.query_key.picture import head_lines
from core.screens.query_key.wording import (
    CRITERIA,
    DASHED,
    DISTANCES,
    MEAN_DISTANCE,
    RED_RULE,
    axes_note,
    edge_of,
    notes_of,
    regression_title,
    title_of,
    why_undefined,
)
from core.ui.downloads import contents, offer_file
from core.ui.heads import show_head_map
from core.ui.place import choose_head
from core.ui.words.prose import Prose, fill_page
from core.vocabulary import HeadStage, labels_of

if TYPE_CHECKING:
    from core.model import Token, Trace

_words = Prose(__file__)


def show_all_heads(trace: Trace, choice: Choice, colours: Palette) -> None:
    """Show the map of correlations after normalization, with means, flags and the report."""
    scaling = scaling_of_heads(choice)
    show_head_map(
        trace,
        scaling.normalized,
        "normalized, r =",
        colours,
        key="query_key_map",
        on_open=partial(choose_head, part="picture"),
        chosen=(choice.layer, choice.head),
        bounds=(-1, 1),
        title="r",
        signed=True,
        reverse=True,
    )
    defined = np.isfinite(scaling.raw) & np.isfinite(scaling.normalized)
    if not defined.any():
        st.markdown(_words("no_head", modality=choice.key.modality))
    else:
        st.markdown(
            _words(
                "means",
                count=int(defined.sum()),
                raw=np.nanmean(scaling.raw),
                translated=np.nanmean(scaling.translated),
                normalized=np.nanmean(scaling.normalized),
                keys=(np.nanmean(scaling.raw_top1), np.nanmean(scaling.normalized_top1)),
                helped=int((scaling.normalized[defined] < scaling.raw[defined]).sum()),
                helped_keys=int(
                    (scaling.normalized_top1[defined] > scaling.raw_top1[defined]).sum()
                ),
            )
        )
    st.caption(
        _words(
            "map",
            distance=DISTANCES[choice.distance],
            criterion=CRITERIA[choice.criterion],
            on_edge=int(scaling.on_edge.sum()),
            few=int(scaling.few.sum()),
            needed=MIN_RELIABLE,
        )
    )
    export = contents("queries-and-keys", trace.model, f"L{choice.number}")
    offer_file(
        f"Report of layer {choice.number} (HTML)",
        lambda: make_report(trace, choice, export.facts),
        export,
        ".html",
        help=_words("report"),
    )


def make_report(trace: Trace, choice: Choice, facts: Mapping[str, Any]) -> str:
    """The HTML of the report; PCA in two dimensions, with the page's distance and criterion."""
    search = search_of(choice)
    texts = (choice.key.text, choice.key.pair, choice.key.target, facts.get("image"))
    text = " | ".join(filter(None, texts))
    picture = ""
    if search.defined:
        regression = regression_of(trace, choice.layer, search)
        picture = regression_svg(regression, regression_title(choice.number, search))
    body = fill_page(
        Path(__file__).with_name("report.html"),
        trace=trace,
        choice=choice,
        text=text,
        distance=DISTANCES[choice.distance],
        criterion=CRITERIA[choice.criterion],
        sources=_names(trace.tokens, choice.sources),
        targets=_names(trace.key_tokens, choice.targets),
        search=search,
        edge=edge_of(search),
        picture=picture,
        undefined=why_undefined(trace),
        stages=Stages._fields,
        scalings=[scaling_of(choice, head) for head in range(trace.shape[1])],
        reading=f"{MEAN_DISTANCE} Blue lines join both. {RED_RULE}. {DASHED}",
    )
    title = f"Queries and keys of layer {choice.number} · {trace.model}"
    searched: tuple[HeadStage, ...] = ("searched",) if search.defined else ()
    stages = ("raw", *searched, "normalized")
    return points_page(_clouds(trace, choice, stages), title, text, body, facts)


def _names(tokens: Sequence[Token], positions: Sequence[int]) -> str:
    labels = labels_of(tokens)
    return ", ".join(labels[place] for place in positions) or "no token"


def _clouds(trace: Trace, choice: Choice, stages: tuple[HeadStage, ...]) -> Clouds:
    labels, key_labels = labels_of(trace.tokens), labels_of(trace.key_tokens)
    return Clouds(
        panels=[
            Panel(
                title=title_of(cloud, choice, head),
                notes=[*notes_of(cloud), axes_note("PCA", place > 0)],
                points=np.vstack([cloud.picture.queries, cloud.picture.keys]),
                tones=np.zeros(len(labels) + len(key_labels)),
                lines=head_lines(trace, choice, head).table,
            )
            for head in range(trace.shape[1])
            for place, cloud in enumerate(clouds_of(choice, head, stages))
        ],
        labels=labels,
        key_labels=key_labels,
        columns=len(stages),
        sources=choice.sources,
        targets=choice.targets,
        shown=range(len(labels)),
        shown_keys=range(len(key_labels)),
    )
