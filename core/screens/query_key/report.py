"""The report of a layer: settings, the search, every head at three stages, in one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.normalization import regression_of
from core.analysis.query_key.scaling import Stages
from core.components.points import Clouds, Panel, points_page
from core.figures.query_key import regression_svg
from core.screens.query_key.choice import Choice, clouds_of, scaling_of, search_of
from core.screens.query_key.picture import head_lines
from core.screens.query_key.wording import (
    CRITERIA,
    DASHED,
    DISTANCES,
    MEAN_DISTANCE,
    RED_RULE,
    axes_of,
    edge_of,
    notes_of,
    regression_title,
    title_of,
    why_undefined,
)
from core.ui.words.prose import fill_page
from core.vocabulary import HeadStage, labels_of

if TYPE_CHECKING:
    from core.model import Token, Trace


def make_report(trace: Trace, choice: Choice, facts: Mapping[str, Any]) -> str:
    """The whole file; PCA in two dimensions, with the distance and criterion of the page."""
    search = search_of(choice)
    shown = (choice.key.text, choice.key.pair, choice.key.target, facts.get("image"))
    text = " | ".join(filter(None, shown))
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
    heads = range(trace.shape[1])
    return Clouds(
        panels=[
            Panel(
                title=title_of(cloud, choice, head),
                notes=notes_of(cloud),
                points=np.vstack([cloud.picture.queries, cloud.picture.keys]),
                tones=np.zeros(len(labels) + len(key_labels)),
                axes=axes_of("PCA", 2, turned=place > 0),
                group=head,
            )
            for head in heads
            for place, cloud in enumerate(clouds_of(choice, head, stages))
        ],
        labels=labels,
        key_labels=key_labels,
        lines=[head_lines(trace, choice, head).table for head in heads],
        heads=[choice.name(head) for head in heads],
        columns=len(stages),
        sources=choice.sources,
        targets=choice.targets,
        shown=range(len(labels)),
        shown_keys=range(len(key_labels)),
    )
