"""The report of a layer: settings, the search, every head at three stages, in one HTML file."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.attention_table import unique_labels
from core.analysis.query_key.clouds import (
    HeadStage,
    Lines,
    head_stages,
    strongest_lines,
    with_chosen,
)
from core.analysis.query_key.layer_search import regression_of
from core.analysis.query_key.scaling import Stages
from core.components.clouds import Clouds, Panel, clouds_page
from core.figures.query_key.regression_svg import regression_svg
from core.screens.query_key.choice import clouds_of, head_name, scaling_of, search_of
from core.screens.query_key.search_wording import edge_of, regression_title
from core.screens.query_key.wording import (
    CRITERIA,
    DISTANCES,
    MEAN_DISTANCE,
    SCORES,
    notes_of,
    number,
    percent,
    title_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.normalization import GridSearch
    from core.analysis.query_key.scaling import HeadScaling
    from core.model import Trace
    from core.screens.query_key.choice import Choice

_STAGES: tuple[HeadStage, ...] = ("raw", "searched", "normalized")
_READING = """\
<p>Correlation of distance with them (−1 is perfect), and how often the nearest key is the one most
attended to.</p>"""
_PICTURES = (
    f"{MEAN_DISTANCE} Blue lines join each query to that key, red ones the chosen sources to the"
    " chosen targets. “Normalized” is translation and the c of each head."
)
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
    search = search_of(choice)
    stages = tuple(stage for stage in _STAGES if stage in head_stages(search))
    body = "\n".join(
        [
            _STYLE,
            "<h2>Settings</h2>",
            _settings(trace, choice),
            f"<h2>The search as the notebook does it, layer {choice.layer + 1}</h2>",
            _notebook(trace, choice, search),
            f"<h2>Every head: c, and what full space keeps of the {SCORES[choice.target]}</h2>",
            _READING,
            _heads(choice, scalings),
            "<h2>Every head, default beside searched and normalized (PCA)</h2>",
            f"<p>{_PICTURES}</p>",
        ]
    )
    title = f"Queries and keys of layer {choice.layer + 1} · {trace.model}"
    return clouds_page(_clouds(trace, choice, stages), title, _text(choice), body)


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
        ("red, from", _tokens(trace, choice.sources)),
        ("red, to", _tokens(trace, choice.targets)),
    ]
    if trace.dropped:
        rows.append(("tokens cut", str(trace.dropped)))
    if trace.cut_characters:
        rows.append(("characters not read", str(trace.cut_characters)))
    return _table(("setting", "value"), rows)


def _tokens(trace: Trace, positions: Sequence[int]) -> str:
    return ", ".join(f"{trace.tokens[at].display} ({at + 1})" for at in positions) or "no token"


def _notebook(trace: Trace, choice: Choice, search: GridSearch) -> str:
    if not search.defined:
        return "<p>No a and c: the products or the distances of this layer do not vary.</p>"
    ranges = choice.ranges
    rows = [
        ("a tried", f"−{ranges.a:g} to {ranges.a:g}, {ranges.steps} steps"),
        ("c tried", f"−{ranges.c:g} to {ranges.c:g}, {ranges.steps} steps"),
        ("best a", f"{number(search.a, '.4g')} ({edge_of(search)})"),
        ("best c", f"{number(search.c, '.4g')} (the first tried: c cancels from cosine distance)"),
        ("|r|", number(abs(search.correlation), ".5f")),
        ("largest difference of r along c", f"{search.spread_along_c:.0e}"),
        ("improvements found", str(len(search.history))),
    ]
    regression = regression_of(trace, choice.layer, search)
    picture = regression_svg(regression, regression_title(choice.layer, search))
    return f"{_table(('figure', 'value'), rows)}\n{picture}"


def _heads(choice: Choice, scalings: Sequence[HeadScaling]) -> str:
    rows = [
        (
            head_name(choice.layer, head),
            f"{scaling.c:.3g}{' (edge)' if scaling.on_edge else ''}",
            *(number(stage.correlation) for stage in scaling.faithfulness),
            *(percent(stage.top1) for stage in scaling.faithfulness),
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


def _clouds(trace: Trace, choice: Choice, stages: tuple[HeadStage, ...]) -> Clouds:
    labels = unique_labels(tuple(token.display for token in trace.tokens))
    heads = range(trace.shape[1])
    lines = [_lines(trace, choice, head) for head in heads]
    return Clouds(
        panels=[panel for head in heads for panel in _panels(choice, head, stages)],
        labels=labels,
        lines=[np.column_stack([each.queries, each.keys, each.weights]) for each in lines],
        heads=[head_name(choice.layer, head) for head in heads],
        columns=len(stages),
        sources=choice.sources,
        targets=choice.targets,
        shown=range(len(labels)),
        own_scale=True,
    )


def _lines(trace: Trace, choice: Choice, head: int) -> Lines:
    weights = trace.attention(choice.layer, head).astype(np.float64)
    return with_chosen(strongest_lines(weights), weights, choice.sources, choice.targets)


def _panels(choice: Choice, head: int, stages: tuple[HeadStage, ...]) -> list[Panel]:
    return [
        Panel(
            title=title_of(cloud, "PCA", choice, head=head, beside=True),
            notes=notes_of(cloud, "PCA", choice),
            points=np.vstack([cloud.picture.queries, cloud.picture.keys]),
            tones=np.zeros(cloud.norms.size),
            group=head,
        )
        for cloud in clouds_of(choice, stages, head=head)
    ]
