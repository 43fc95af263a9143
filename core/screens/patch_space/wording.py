"""What the page says: how to read the points, and what a head's correlations mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.images.follow_table import (
    FAMILIES,
    LEVEL,
    MIN_CLS,
    MIN_CORRELATION,
    MIN_ITSELF,
)
from core.analysis.projections.joint_embedding import SEED
from core.ui.words.numbers import number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import pandas as pd

    from core.model import Trace
    from core.screens.patch_space.options import PointOptions
    from core.ui.clouds.choice import Choice

MAX_P = LEVEL / len(FAMILIES)  # adjusted for all heads and the features of a family
CLASS_NAMES = {
    "hue": "hue",
    "brightness": "brightness",
    "position": "position",
    "itself": "itself",
    "CLS": "CLS",
    "none": "none of these",
}
FEATURE_NAMES = {
    "hue": "hue",
    "brightness": "brightness",
    "row": "same row",
    "column": "same column",
    "distance": "nearness",
}
_SEVERAL = ("CLS and registers", "are", "count")
_PROJECTIONS = {
    "UMAP": f"UMAP, 15 neighbours, seed {SEED}: distances between far groups mean little.",
    "t-SNE": f"t-SNE, perplexity up to 30, seed {SEED}: distances between groups mean little.",
}


def points_caption(trace: Trace, choice: Choice, options: PointOptions) -> str:
    """How to read the points, true for what is drawn."""
    marks = (
        "Discs are queries, diamonds keys"
        if options.dots
        else "Each point is a patch: round with a green border for its query, square with a pink"
        " one for its key"
        if options.colouring == "type"
        else "Each point is a patch: round for its query, square for its key"
    )
    drag = " Drag to turn (Shift and an arrow key does too)." if options.in_space else ""
    unit = ", at unit length because cosine was chosen" if choice.distance == "cosine" else ""
    how = _PROJECTIONS.get(options.projection, f"PCA of queries and keys together{unit}.")
    lines = (
        "A line joins a query to the key it attends to most"
        if options.threshold is None
        else f"Lines join queries to keys with attention of at least {options.threshold:.2f}"
    )
    return (
        f"{marks}. {lines}. {how}{drag} Where a head sorts patches, those of one kind lie"
        " together, and near means attended. Attention is the same at every stage."
        f"{_others(trace, options)}"
    )


def _others(trace: Trace, options: PointOptions) -> str:
    """What is said of the tokens that are no patches."""
    specials = sum(token.special for token in trace.tokens)
    if not specials:
        return ""
    names, are, count = ("CLS", "is", "counts") if specials == 1 else _SEVERAL
    if len(options.shown) == len(trace.tokens):
        return f" {names} {are} drawn as a mark, no patch."
    return (
        f" {names} {count} in every projection and figure but {are} not drawn, unless you ask for"
        " it (More)."
    )


def class_sentence(name: str, row: Mapping[str, Any], where: str) -> str:
    """What a head follows, in words (Markdown); `row` is its row of the table."""
    found = row["class"]
    if found == "none":
        best = max(FEATURE_NAMES, key=lambda each: _or_least(row[f"{each}_beyond"]))
        value = number(row[f"{best}_beyond"])
        p = row[f"{best}_p_adjusted"]
        return (
            f"**{name}** follows none of these on {where}: its highest correlation beyond the rest"
            f" is {value}, with {FEATURE_NAMES[best]} (adjusted p = {number(p, '.3f')}; needed:"
            f" {MIN_CORRELATION:g} and p of at most {MAX_P:g})."
        )
    if found in {"itself", "CLS"}:
        share = row["itself" if found == "itself" else "cls"]
        whom = "itself" if found == "itself" else "CLS"
        return f"**{name}** rests on **{whom}** on {where}: a patch gives it {share:.0%}."
    names = ("row", "column", "distance") if found == "position" else (found,)
    best = max(names, key=lambda each: _or_least(row[f"{each}_beyond"]))
    return (
        f"**{name}** follows **{CLASS_NAMES[found]}** on {where}: its scores correlate"
        f" {number(row[f'{best}_beyond'])} with {FEATURE_NAMES[best]} beyond the rest (adjusted p ="
        f" {number(row[f'{best}_p_adjusted'], '.3f')})."
    )


def follow_caption(table: pd.DataFrame) -> str:
    """How the classes are found, with what was measured: permutations, patches, images."""
    images, moved = table.attrs["images"], table.attrs["permutations"]
    patches, of = table.attrs["patches"][0], table.attrs["of"][0]
    sample = f" of a random {patches} of its {of:,} patches" if patches < of else ""
    several = f", averaged over {images} images (Fisher's z)" if images > 1 else ""
    return (
        "A head **follows** hue, brightness or position when its scores, less the mean of their"
        f" row, correlate over all pairs{sample} with closeness in it{several}, at least"
        f" {MIN_CORRELATION:g} beyond what the other features explain (a partial correlation), and"
        f" beyond chance: adjusted p of at most {MAX_P:g}. Chance is the same correlation with the"
        f" image moved over its grid in {moved} other ways (for position: with patches shuffled),"
        " which keeps neighbours together; p is adjusted for all heads at once (Westfall and"
        f" Young). **Itself** and **CLS**: patches give that at least {MIN_ITSELF:.0%} and"
        f" {MIN_CLS:.0%} of their attention. On an image whose colour is a matter of place, such as"
        " stripes or a gradient, moving changes little, and no head can be said to follow hue."
        " Beyond chance is not learnt: untrained heads compare what patches hold as well, so"
        " compare with an untrained twin."
    )


def missing_hue(table: pd.DataFrame) -> str:
    """Said where no head has a correlation with hue."""
    if table["hue"].notna().any():
        return ""
    return "Hue is not defined here: nearly all patches are grey."


def _or_least(value: float) -> float:
    return value if value == value else -2.0  # noqa: PLR0124 - nan is not itself
