"""What the query-key page says: how to read it, what a head's figures mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.analysis.images.frequency import RADIUS
from core.analysis.normalization import GridSearch
from core.analysis.projections.joint_embedding import SEED
from core.analysis.query_key.clouds import Lines
from core.model.trace import Layer
from core.screens.query_key.choice import Choice
from core.screens.query_key.cloud_words import MEAN_DISTANCE
from core.screens.query_key.spans import BEST_STAGE, PictureOptions
from core.ui.words.formulas import BIAS
from core.ui.words.messages import quote
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.vocabulary import HeadStage, labels_of

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
# Names of maps, as people read them and links carry them, and the field each shows.
QUANTITIES = {
    "raw": "raw",
    "translated": "translated",
    "normalized": "normalized",
    "nearest key, raw": "raw_top1",
    "nearest key, normalized": "normalized_top1",
    "c": "c",
}
BESIDE = "Searched vectors have the a and c of the search."
RED_RULE = (
    "A line is red, as in AttentionViz, where the strongest key of a chosen source is a chosen"
    " target"
)
DASHED = "Other chosen pairs are dashed."
MARKS = "Circles are queries, diamonds keys"
FREQUENCY = _words("frequency", radius=RADIUS)


def caption_of(
    projection: str,
    choice: Choice,
    *,
    grid: bool,
    rule: Layer,
    marks: str = MARKS,
    panels: int = 4,
    in_space: bool = False,
    beside: bool = False,
) -> str:
    """How to read the clouds, true for what is drawn and for the layer's `rule`.

    `panels` is how many one head has; `beside` each other of all heads, or a `grid` of one each.
    """
    drag = f" {_words('drag')}" * in_space
    if projection == "biplot":
        return _words("biplot", marks=marks, drag=drag)
    special = [] if rule.softcap is None else [f"its scores are soft-capped at {rule.softcap:g}"]
    special += [] if rule.sink is None else ["its heads have a sink"]
    if beside:
        stages = _words("scale_beside", beside=BESIDE)
    elif grid:
        stages = _words("scale_of_all")
    else:
        stages = _words("stages", special=" and ".join(special), panels=panels)
    return _words(
        "clouds",
        marks=marks,
        projection=projection,
        cosine=choice.distance == "cosine",
        seed=SEED,
        drag=drag,
        mean_distance=MEAN_DISTANCE,
        stages=stages,
        raw_scores=choice.target == "raw",
        bias=BIAS if rule.biased else "",
    )


def marks_of(options: PictureOptions) -> str:
    """What stands for a query, and what for a key."""
    if options.dots:
        return MARKS
    borders = (" with a green border", " with a pink one") * (options.colouring == "type")
    query, key = borders or ("", "")
    return f"Each point is a patch: round{query} for its query, square{key} for its key"


def patch_notes(trace: Trace, options: PictureOptions, stages: Sequence[HeadStage]) -> str:
    """What a caption adds of an image: the stage that was picked, colours, and what is no patch."""
    notes = [_words("kinds_together")]
    if options.stage == BEST_STAGE:
        notes.append(_words("best_stage", stage=stages[0]))
    if options.colouring == "frequency":  # others say it by their names
        notes.append(_words("colours", frequency=FREQUENCY))
    if names := trace.input.specials:
        drawn = len(options.shown) == len(trace.tokens)
        notes.append(_words("special" if drawn else "special_left_out", names=names))
    return " ".join(["", *notes])


def red_words(trace: Trace, choice: Choice, lines: Mapping[int, Lines]) -> str:
    """The rule of red lines, and which are red among the `lines` of each head; "" without pairs."""
    if not (choice.sources and choice.targets):
        return ""
    labels, key_labels = labels_of(trace.tokens), labels_of(trace.key_tokens)
    found = []
    for head, each in lines.items():
        red = each.red(choice.sources, choice.targets)
        ends = zip(each.queries[red], each.keys[red], each.weights[red], strict=True)
        pairs = [f"{quote(labels[i])} → {quote(key_labels[j])} {w:.3f}" for i, j, w in ends]
        found += [f"{choice.name(head)} ({', '.join(pairs)})"] * bool(pairs)
    here = f"here in {', '.join(found)}" if found else "here in none"
    return f"{RED_RULE}: {here}. {DASHED}"


def edge_of(search: GridSearch) -> str:
    """Whether the best a is an optimum."""
    return "on the edge of its range" if search.a_on_edge else "inside its range"


def regression_title(layer: int, search: GridSearch) -> str:
    """The layer (its number), its a and c, and how strong the regression is."""
    a, c = number(search.a, ".3g"), number(search.c, ".3g")
    return f"Layer {layer}: a = {a}, c = {c}, |r| = {abs(search.correlation):.5f}"


def why_undefined(trace: Trace) -> str:
    """Why the search finds nothing, as a clause."""
    return _words("flat_search" if trace.source is None else "cross_search")


def search_words(trace: Trace, search: GridSearch, choice: Choice) -> str:
    """The a and c of the search, and how much they mean (Markdown)."""
    if not search.defined:
        longer = trace.source is None and trace.input.has_words
        return _words("nothing_found", layer=choice.number, why=why_undefined(trace), longer=longer)
    edge = edge_of(search)
    return _words(
        "found",
        layer=choice.number,
        a=number(search.a, ".3g"),
        c=number(search.c, ".3g"),
        place=f"**{edge}**" if search.a_on_edge else edge,
        limit=choice.ranges.a,
        on_edge=search.a_on_edge,
        cosine=choice.distance == "cosine",
    )
