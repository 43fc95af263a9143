"""The answer in a sentence, the three pictures with the map, their captions and tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.compare.difference import aligned_rows, largest_turn
from core.analysis.compare.noise_floor import ENOUGH
from core.components.compare import CompareView, show_compare
from core.components.reported_state import changes, state_to_send
from core.model.trace import Array
from core.screens.compare.measured import MAX_TOKENS, Comparison, set_pair
from core.ui.downloads import contents, offer_csv
from core.ui.frame.layout import caption_row
from core.ui.heads import HeadTable, offer_table, show_head_table
from core.ui.navigation import set_headline
from core.ui.place import CELL, choose_head, pinned_pair
from core.ui.words.messages import quote
from core.ui.words.numbers import in_a_row, number
from core.ui.words.prose import Prose
from core.vocabulary import head_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


KEY = "compare_view"  # the component's
_LISTED = 8  # words without a partner; of more, only these are named
_words = Prose(__file__)


def show_answer(found: Comparison) -> None:
    """Say in place of the question which head differs most, and how its attention turns."""
    layer, head = found.largest
    a, b = _rows_of(found, layer, head)
    facts, turn = _facts(found, layer, head), largest_turn(b - a)
    if turn is None:
        set_headline(_words("no_answer", facts=facts))
        return
    row, from_, to = turn
    of_a, of_b = [[*map(quote, found.alignment.names), rest] for rest in _alone(found)]
    facts |= {"word": of_a[row], "lost": of_a[from_], "gained": of_b[to]}
    weights = f"{number(a[row, from_])} to {number(b[row, from_])}"
    set_headline(_words("answer", facts=facts, weights=weights))


def _alone(found: Comparison) -> list[str]:
    """The words of A, and those of B, without a partner: a row, cut if long (Markdown)."""
    sides = [list(map(quote, words)) for words in found.alignment.alone]
    return [in_a_row([*words[:_LISTED], "more"] if words[_LISTED:] else words) for words in sides]


def _facts(found: Comparison, layer: int, head: int) -> dict[str, Any]:
    """What is said of a head."""
    index, nearest = layer * found.a.shape[1] + head, found.matchings.get("nearest")
    likeness = ("distance", "low", "high") if nearest is not None else ()
    return {
        **{f"likeness_{name}": number(getattr(nearest, name)[index]) for name in likeness},
        "models": nearest is not None,
        "head": head_name(found.a, layer, head),
        "other": head_name(found.b, *found.head_of_b(layer, head)),
        "distance": number(found.distances[layer, head]),
        "floor": number(found.floor[layer, head], missing="unknown"),
        "over": found.over[layer, head],
        "count": len(found.noise),
        "pairs": len(found.alignment.pairs),
        "passing": int(found.over.sum()),
    }


def _rows_of(found: Comparison, layer: int, head: int) -> tuple[Array, Array]:
    """The aligned rows of a head of A, and of the head of B that it is compared with."""
    groups_a, groups_b = found.alignment.groups
    layer_b, head_b = found.head_of_b(layer, head)
    a = aligned_rows(found.a, groups_a, layer)[head]
    return a, aligned_rows(found.b, groups_b, layer_b)[head_b]


def show_picture(found: Comparison, layer: int, head: int, tokens: int) -> None:
    """Draw a head on both sides, how to read it, and the tables as files."""
    alignment, labels = found.alignment, found.a.layer_labels
    groups, facts = alignment.groups[0], _facts(found, layer, head)
    file = contents("compare", found.a.model)
    a, b = _rows_of(found, layer, head)
    cell = [i for place in pinned_pair(found.a) for i, at in enumerate(groups) if place - 1 in at]
    sent, serial = state_to_send(KEY, {"held": cell if len(cell) == 2 else []})
    view = CompareView(
        names=alignment.names,
        titles=(f"A · {facts['head']}", f"B · {facts['other']}"),
        words=([unit.label for unit in alignment.a], [unit.label for unit in alignment.b]),
        pairs=alignment.pairs,
        corrected=bool(st.session_state["match"]),
        a=a,
        b=b,
        change=b - a,
        layers=labels,
        chosen=(layer, head),
        distance=found.distances,
        over=found.over,
        about=[
            _words("about", facts=_facts(found, *each)) for each in np.ndindex(found.over.shape)
        ],
        held=sent["held"],
        serial=serial,
        picture=file.titled("Two sides compared", place=facts["head"]),
    )
    show_compare(
        view,
        key=KEY,
        on_hold=partial(_hold, groups),
        on_open=lambda layer, head: choose_head(labels[layer], head + 1),
        on_match=set_pair,
    )
    only_a, only_b = _alone(found)
    facts |= {"few": len(found.noise) < ENOUGH, "heads": found.over.size}
    facts |= {"only_a": only_a, "only_b": only_b, "tokens": tokens, "most": MAX_TOKENS}
    with caption_row(_words("reading", facts=facts)):
        offer_csv(partial(_frame, view), file, index=False, float_format="%.6f")


def _hold(groups: Sequence[tuple[int, ...]], held: list[int]) -> None:
    """Store the pinned cell as positions in A, from 1, as other pages do."""
    if changes(KEY, {"held": held}):
        st.session_state[CELL] = [groups[place][0] + 1 for place in held]


def _frame(view: CompareView) -> pd.DataFrame:
    """The three tables, a row for each cell; the last column of the pictures has no name."""
    import pandas as pd

    index = pd.MultiIndex.from_product([view.names, [*view.names, ""]], names=["from", "to"])
    values = {name: getattr(view, name).ravel() for name in ("a", "b", "change")}
    return pd.DataFrame(values, index=index).reset_index()


def show_all_heads(found: Comparison, layer: int, head: int) -> None:
    """Every head in a table that saves as a file; of two models, with the most alike head of B."""
    import pandas as pd

    layers, heads = np.divmod(np.arange(found.distances.size), found.a.shape[1])
    labels = np.array(found.a.layer_labels)
    columns = {"layer": labels[layers], "head": heads + 1, "distance": found.distances.ravel()}
    columns |= {"floor": found.floor.ravel(), "over": found.over.ravel()}
    names = [head_name(found.b, *place) for place in np.ndindex(found.b.shape[:2])]
    for way, matching in found.matchings.items():
        columns[way] = np.array([*names, ""])[matching.partner]  # -1: none is left
        for name in ("distance", "low", "high"):
            columns[f"{way}_{name}"] = getattr(matching, name)
    table = HeadTable(trace=found.a, table=pd.DataFrame(columns), layer=layer, head=head)
    with st.expander("All heads"):
        titles = {name: name.replace("_", ", ") for name in list(columns)[2:]}
        show_head_table(table, titles, key="compare_heads", on_open=choose_head)
        offer_table(table, contents("compare", found.a.model, "all-heads"))
