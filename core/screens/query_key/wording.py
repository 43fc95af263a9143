"""What the query-key page says: titles, notes, how to read it, what a head's figures mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from core.analysis.projections.joint_embedding import SEED
from core.ui.clouds.choice import STAGE_NAMES
from core.ui.clouds.wording import number
from core.ui.words.formulas import BIAS

if TYPE_CHECKING:
    from core.analysis.normalization import GridSearch
    from core.analysis.query_key.clouds import Cloud, HeadStage
    from core.model import Trace
    from core.model.trace import Layer
    from core.ui.clouds.choice import Choice

    Change = Literal["better", "worse", "the same"]

_BESIDE: dict[HeadStage, str] = {"raw": "default", "searched": "searched"}
# Names of maps, as people read them and links carry them, and the field each shows.
QUANTITIES = {
    "raw": "raw",
    "translated": "translated",
    "normalized": "normalized",
    "nearest key, raw": "raw_top1",
    "nearest key, normalized": "normalized_top1",
    "c": "c",
}
MEAN_DISTANCE = (
    "“Default” shows the raw vectors, “searched” those with the a and c of the search. The mean"
    " distance is from each query to the key it attends to most, in this plane."
)
_MARKS = "Circles are queries, diamonds keys"


def title_of(
    cloud: Cloud, projection: str, choice: Choice, *, head: int, beside: bool = False
) -> str:
    """The head and the stage of a panel; `beside` another stage also its mean distance."""
    name = choice.name(head)
    if projection == "biplot":
        return f"{name} · biplot"
    if beside:
        stage = _BESIDE.get(cloud.stage, cloud.stage)
        return f"{name} {stage}: mean distance {cloud.apart_in_picture:.2f}"
    return f"{name} · {STAGE_NAMES[cloud.stage]}"


def caption_of(
    projection: str,
    choice: Choice,
    *,
    grid: bool,
    rule: Layer,
    beside: bool = False,
) -> str:
    """How to read the clouds, true for what is drawn and for the layer's `rule`."""
    if projection == "biplot":
        return (
            f"{_MARKS}. A biplot shows inner products, not distances: a key far out in a query's"
            " direction is attended to. No two dimensions keep more of the scores, and no a or c"
            " changes it."
        )
    how = {
        "PCA": "PCA of queries and keys together"
        + (", at unit length because cosine was chosen." if choice.distance == "cosine" else "."),
        "UMAP": f"UMAP, 15 neighbours, seed {SEED}: distances between far groups mean little.",
        "t-SNE": f"t-SNE, perplexity up to 30, seed {SEED}: distances between groups mean little.",
    }[projection]
    if beside:
        stages = f"Both panels of a head share a scale, unless each has its own. {MEAN_DISTANCE}"
    elif grid:
        stages = "All heads share a scale, unless each has its own."
    else:
        special = (
            [] if rule.softcap is None else [f"its scores are soft-capped at {rule.softcap:g}"]
        )
        special += [] if rule.sink is None else ["its heads have a sink"]
        same = (
            "Lines are the model's own attention in every panel. As"
            f" {' and '.join(special)}, translated keys would change it: see “How faithful is it?”."
            if special
            else "Attention is the same in every panel: only the picture changes."
        )
        stages = f"{same} Each panel is turned to match the one before."
    target = (
        "Correlations are with the model's own scores at every stage; softmax ignores what they"
        " have in common within a row."
        if choice.target == "raw"
        else "Correlations are within rows, at every stage: scores and distances each lose the mean"
        " of their row, which softmax ignores. Queries with one permitted key are left out."
    )
    return (
        f"{_MARKS}; each line joins a query to a key it attends to, blue to the strongest, red from"
        f" the chosen sources to the chosen targets. {how} {stages} In a good picture near means"
        f" attended, with correlations near −1. {target}{f' {BIAS}' if rule.biased else ''}"
    )


def edge_of(search: GridSearch) -> str:
    """Whether the best a is an optimum."""
    return "on the edge of its range" if search.a_on_edge else "inside its range"


def regression_title(layer: int, search: GridSearch) -> str:
    """The layer (its number), its a and c, and how strong the regression is."""
    a, c = number(search.a, ".3g"), number(search.c, ".3g")
    return f"Layer {layer}: a = {a}, c = {c}, |r| = {abs(search.correlation):.5f}"


def why_undefined(trace: Trace) -> str:
    """Why the search finds nothing, as a clause."""
    if trace.source is not None:
        return (
            "the search compares the query and the key of one token, and in cross attention no"
            " token has both"
        )
    return "the products or the distances of its same-token pairs do not vary"


def search_words(trace: Trace, search: GridSearch, choice: Choice) -> str:
    """The a and c of the search, and how much they mean (Markdown)."""
    layer = choice.number
    if not search.defined:
        longer = " Try a longer text." if trace.source is None and trace.patches is None else ""
        return f"The search finds no a and c for layer {layer}: {why_undefined(trace)}.{longer}"
    a, c = number(search.a, ".3g"), number(search.c, ".3g")
    limits = f"(−{choice.ranges.a:g} to {choice.ranges.a:g})"
    edge = f"{limits}: a wider one may do better" if search.a_on_edge else limits
    place = f"**{edge_of(search)}**" if search.a_on_edge else edge_of(search)
    lengths = (
        ""
        if choice.distance == "cosine"
        else ", but lengths in these pictures do: compare which keys are nearest, not how far they"
        " are"
    )
    return (
        f"The search of layer {layer} ends at **a = {a}**, **c = {c}**. This a lies {place} {edge}."
        " This c is merely the first tried: the search's cosine distance does not depend on c"
        f"{lengths}."
    )
