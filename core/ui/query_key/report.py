"""The report of a layer: settings, the search, every head raw and normalized, in one HTML file."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.attention_table import unique_labels
from core.analysis.clouds import strongest_lines
from core.analysis.normalization import NOTEBOOK_A, NOTEBOOK_C, grid_search
from core.analysis.scaling import Stages
from core.components.clouds import Clouds, Panel, clouds_page
from core.ui import cache
from core.ui.query_key.choice import scaling_of
from core.ui.query_key.wording import (
    CRITERIA,
    DISTANCES,
    SCORES,
    notes_of,
    number,
    percent,
    title_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.clouds import Stage
    from core.analysis.normalization import GridSearch
    from core.analysis.scaling import HeadScaling
    from core.model import Trace
    from core.ui.query_key.choice import Choice

_STAGES: tuple[Stage, ...] = ("raw", "normalized")
_READING = """\
<p>Correlation of distance with them (−1 is perfect), and how often the nearest key is the one most
attended to.</p>"""
_STYLE = """\
<style>
table { border-collapse: collapse; margin: 6px 0 18px; font-size: 14px; }
th, td { border: 1px solid var(--st-border-color); padding: 3px 10px; text-align: right; }
th { background: var(--st-secondary-background-color); }
td:first-child, th:first-child { text-align: left; }
h2 { font-size: 1.05rem; margin: 18px 0 4px; }
</style>"""


def make_report(trace: Trace, choice: Choice) -> str:
    """The whole file; PCA in two dimensions, with the distance and criterion of the page."""
    heads = range(trace.shape[1])
    scalings = [scaling_of(trace, choice, head) for head in heads]
    search = grid_search(
        trace.queries[choice.layer],
        trace.keys[choice.layer],
        np.linspace(*NOTEBOOK_A),
        np.linspace(*NOTEBOOK_C),
    )
    body = "\n".join(
        [
            _STYLE,
            "<h2>Settings</h2>",
            _settings(trace, choice),
            f"<h2>The search as the notebook does it, layer {choice.layer + 1}</h2>",
            _notebook(search),
            f"<h2>Every head: c, and what full space keeps of the {SCORES[choice.target]}</h2>",
            _READING,
            _heads(choice, scalings),
            "<h2>Every head, raw and normalized (PCA)</h2>",
        ]
    )
    title = f"Queries and keys of layer {choice.layer + 1} · {trace.model}"
    return clouds_page(_clouds(trace, choice), title, _text(choice), body)


def _text(choice: Choice) -> str:
    _, text, pair = choice.key
    return text if pair is None else f"{text} | {pair}"


def _settings(trace: Trace, choice: Choice) -> str:
    rows = [
        ("model", trace.model),
        ("text", _text(choice)),
        ("tokens", str(len(trace.tokens))),
        ("layer", str(choice.layer + 1)),
        ("distance", DISTANCES[choice.distance]),
        ("compared with", f"the {SCORES[choice.target]} of all permitted pairs"),
        ("criterion for c", CRITERIA[choice.criterion]),
    ]
    if trace.dropped:
        rows.append(("tokens cut", str(trace.dropped)))
    if trace.cut_characters:
        rows.append(("characters not read", str(trace.cut_characters)))
    return _table(("setting", "value"), rows)


def _notebook(search: GridSearch) -> str:
    edge = "on the edge of its range" if search.a_on_edge else "inside its range"
    rows = [
        ("best a", f"{number(search.a, '.4g')} ({edge})"),
        ("best c", f"{number(search.c, '.4g')} (the first tried: c cancels from cosine distance)"),
        ("|r|", number(abs(search.correlation), ".5f")),
        ("largest difference of r along c", f"{search.spread_along_c:.0e}"),
        ("improvements found", str(len(search.history))),
    ]
    return _table(("figure", "value"), rows)


def _heads(choice: Choice, scalings: Sequence[HeadScaling]) -> str:
    rows = [
        (
            f"L{choice.layer + 1} H{head + 1}",
            f"{scaling.c:.3g}{' (edge)' if scaling.on_edge else ''}",
            *(number(stage.correlation) for stage in scaling.kept),
            *(percent(stage.top1) for stage in scaling.kept),
        )
        for head, scaling in enumerate(scalings)
    ]
    stages = Stages._fields
    return _table(("head", "c", *stages, *(f"nearest key, {stage}" for stage in stages)), rows)


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f'<td dir="auto">{html.escape(cell)}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _clouds(trace: Trace, choice: Choice) -> Clouds:
    labels = unique_labels(tuple(token.display for token in trace.tokens))
    heads = range(trace.shape[1])
    strongest = [
        strongest_lines(trace.attention(choice.layer, head).astype(np.float64)) for head in heads
    ]
    return Clouds(
        panels=[panel for head in heads for panel in _panels(choice, head, len(labels))],
        labels=labels,
        lines=[np.column_stack([each.queries, each.keys, each.weights]) for each in strongest],
        heads=[f"L{choice.layer + 1} H{head + 1}" for head in heads],
        columns=len(_STAGES),
        shown=range(len(labels)),
        own_scale=True,
    )


def _panels(choice: Choice, head: int, tokens: int) -> list[Panel]:
    clouds = cache.clouds(
        choice.key,
        choice.layer,
        head,
        _STAGES,
        "PCA",
        2,
        choice.distance,
        choice.criterion,
        choice.target,
    )
    return [
        Panel(
            title=title_of(cloud, "PCA", choice, head=head),
            notes=notes_of(cloud, "PCA", choice),
            points=np.vstack([cloud.picture.queries, cloud.picture.keys]),
            tones=np.zeros(2 * tokens),
            group=head,
        )
        for cloud in clouds
    ]
