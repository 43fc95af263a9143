"""The report of a layer: settings, the search, every head at three stages, in one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.normalization import GridSearch
from core.analysis.query_key.clouds import head_stages
from core.analysis.query_key.layer_search import regression_of
from core.analysis.query_key.scaling import Stages
from core.components.clouds import Clouds, Panel, clouds_page
from core.figures.query_key.regression_svg import regression_svg
from core.screens.query_key.choice import Choice, clouds_of, scaling_of, search_of
from core.screens.query_key.cloud_words import (
    MEAN_DISTANCE,
    axes_of,
    notes_of,
    percent,
    signed,
    title_of,
)
from core.screens.query_key.picture import head_lines
from core.screens.query_key.wording import (
    BESIDE,
    DASHED,
    RED_RULE,
    edge_of,
    regression_title,
    why_undefined,
)
from core.ui.words.numbers import number
from core.ui.words.scores import CRITERIA, DISTANCES, SCORES
from core.vocabulary import HeadStage, labels_of

if TYPE_CHECKING:
    from core.model import Token, Trace

_STAGES: tuple[HeadStage, ...] = ("raw", "searched", "normalized")
_PAGE = """\
<style>
table {{ border-collapse: collapse; margin: 6px 0 18px; font-size: 14px; }}
th, td {{ border: 1px solid var(--st-border-color); padding: 3px 10px; text-align: right; }}
th {{ background: var(--st-secondary-background-color); }}
td:first-child, th:first-child {{ text-align: left; }}
h2 {{ font-size: 1.05rem; margin: 18px 0 4px; }}
</style>
<h2>Settings</h2>
{settings}
<h2>The search over all heads of layer {layer}</h2>
{search}
<h2>Every head: c, and how faithful full space is to the {scores}</h2>
<p>Correlation of distance with the scores (−1 is perfect), and how often the nearest key is the
one most attended to.</p>
{heads}
<h2>Every head, raw beside searched and normalized (PCA)</h2>
<p>{reading} “Normalized” is translation and the c of each head.</p>"""


def make_report(trace: Trace, choice: Choice, facts: Mapping[str, Any]) -> str:
    """The whole file; PCA in two dimensions, with the distance and criterion of the page."""
    search = search_of(choice)
    shown = (choice.key.text, choice.key.pair, choice.key.target, facts.get("image"))
    text = " | ".join(filter(None, shown))
    body = _PAGE.format(
        settings=_settings(trace, choice, text),
        layer=choice.number,
        search=_search(trace, choice, search),
        scores=SCORES[choice.target],
        heads=_heads(trace, choice),
        reading=f"{BESIDE} {MEAN_DISTANCE} Blue lines join both. {RED_RULE}. {DASHED}",
    )
    title = f"Queries and keys of layer {choice.number} · {trace.model}"
    stages = tuple(stage for stage in _STAGES if stage in head_stages(search))
    return clouds_page(_clouds(trace, choice, stages), title, text, body, facts)


def _settings(trace: Trace, choice: Choice, text: str) -> str:
    def names(tokens: Sequence[Token], positions: Sequence[int]) -> str:
        labels = labels_of(tokens)
        return ", ".join(labels[i] for i in positions) or "no token"

    rows = [
        ("model", trace.model),
        (choice.key.modality, text),
        ("tokens", str(len(trace.tokens))),
        ("layer", str(choice.number)),
        ("distance", DISTANCES[choice.distance]),
        ("compared with", f"the {SCORES[choice.target]} of all permitted pairs"),
        ("criterion for c", CRITERIA[choice.criterion]),
        ("chosen sources", names(trace.tokens, choice.sources)),
        ("chosen targets", names(trace.key_tokens, choice.targets)),
    ]
    if trace.dropped:
        rows.append(("tokens cut", str(trace.dropped)))
    if trace.cut_characters:
        rows.append(("characters not read", str(trace.cut_characters)))
    return _table(("setting", "value"), rows)


def _search(trace: Trace, choice: Choice, search: GridSearch) -> str:
    if not search.defined:
        return f"<p>No a and c: {why_undefined(trace)}.</p>"
    ranges = choice.ranges
    rows = [
        ("a tried", f"−{ranges.a:g} to {ranges.a:g}, {ranges.steps} steps"),
        ("c tried", f"−{ranges.c:g} to {ranges.c:g}, {ranges.steps} steps"),
        ("best a", f"{number(search.a, '.4g')} ({edge_of(search)})"),
        ("best c", f"{number(search.c, '.4g')} (the first tried: c cancels from cosine distance)"),
        ("|r|", number(abs(search.correlation), ".5f")),
        ("largest difference of r along c", f"{search.spread_along_c:.0e}"),
        ("improvements", str(len(search.history))),
    ]
    regression = regression_of(trace, choice.layer, search)
    picture = regression_svg(regression, regression_title(choice.number, search))
    return f"{_table(('figure', 'value'), rows)}\n{picture}"


def _heads(trace: Trace, choice: Choice) -> str:
    rows = []
    for head in range(trace.shape[1]):
        scaling = scaling_of(trace, choice, head)
        rows.append(
            (
                choice.name(head),
                f"{scaling.c:.3g}{' (edge)' if scaling.on_edge else ''}",
                *(signed(stage.correlation) for stage in scaling.faithfulness),
                *(percent(stage.top1) for stage in scaling.faithfulness),
            )
        )
    stages = Stages._fields
    return _table(("head", "c", *stages, *(f"nearest key, {stage}" for stage in stages)), rows)


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    import pandas as pd

    with pd.option_context("display.max_colwidth", None):
        table = pd.DataFrame(rows, columns=list(names)).to_html(index=False, border=0)
    return str(table).replace("<td>", '<td dir="auto">')  # tokens may read from the right


def _clouds(trace: Trace, choice: Choice, stages: tuple[HeadStage, ...]) -> Clouds:
    labels, key_labels = labels_of(trace.tokens), labels_of(trace.key_tokens)
    heads = range(trace.shape[1])
    return Clouds(
        panels=[
            Panel(
                title=title_of(cloud, "PCA", choice, head=head, beside=True),
                notes=notes_of(cloud, "PCA", choice),
                points=np.vstack([cloud.picture.queries, cloud.picture.keys]),
                tones=np.zeros(cloud.norms.size),
                axes=axes_of("PCA", 2, turned=place > 0),
                group=head,
            )
            for head in heads
            for place, cloud in enumerate(clouds_of(choice, stages, head=head))
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
        own_scale=True,
    )
