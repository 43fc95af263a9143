"""What is said of the notebook's search wherever its a and c are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.screens.query_key.wording import number

if TYPE_CHECKING:
    from core.analysis.normalization import GridSearch
    from core.screens.query_key.choice import Choice


def edge_of(search: GridSearch) -> str:
    """Whether the best a is an optimum."""
    return "on the edge of its range" if search.a_on_edge else "inside its range"


def regression_title(layer: int, search: GridSearch) -> str:
    """The layer (from 0), its a and c, and how strong the regression is."""
    a, c = number(search.a, ".3g"), number(search.c, ".3g")
    return f"Layer {layer + 1}: a = {a}, c = {c}, |r| = {abs(search.correlation):.5f}"


def search_words(search: GridSearch, choice: Choice) -> str:
    """The a and c of the fourth stage, and how much they mean (Markdown)."""
    layer = choice.layer + 1
    if not search.defined:
        return (
            f"The search finds no a and c for layer {layer}: the products or the distances of its"
            " same-token pairs do not vary. Take a longer text."
        )
    a, c = number(search.a, ".3g"), number(search.c, ".3g")
    ends = f"−{choice.ranges.a:g} to {choice.ranges.a:g}"
    edge = (
        f"**on the edge of its range** ({ends}): a wider one may do better"
        if search.a_on_edge
        else f"inside its range ({ends})"
    )
    lengths = (
        ""
        if choice.distance == "cosine"
        else ", though lengths in these pictures do: compare which keys are nearest, not how far"
        " they are"
    )
    return (
        f"The search of layer {layer} ends at **a = {a}**, **c = {c}**. This a lies {edge}. This c"
        f" is only the first that was tried: the search's cosine distance does not depend on c"
        f"{lengths}."
    )
