"""The answer in a sentence, the three pictures with the map, their captions and tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.compare.alignment import Unit
from core.analysis.compare.difference import Difference, difference, largest_turn
from core.components.compare import CompareView, show_compare
from core.components.reported_state import changes, state_to_send
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

    from core.model import Trace

KEY = "compare_view"  # the component's
_words = Prose(__file__)


def show_answer(found: Comparison) -> None:
    """Say in place of the question which head differs most, and how its attention turns."""
    layer, head = found.largest
    facts = _facts(found, layer, head)
    if not found.alignment.pairs:
        return set_headline(_words("nothing_shared"))
    if not found.distances.any():
        return set_headline(_words("equal"))
    if not found.over.any():
        return set_headline(_words("under_floor", facts=facts))
    return set_headline(_words("differ", facts=facts, turn=_turn_of(found, layer, head)))


def _facts(found: Comparison, layer: int, head: int) -> dict[str, Any]:
    """What is said of a head, in the fields of words."""
    floor = found.floor.values  # noqa: PD011 - of no data frame
    return {
        "models": found.nearest is not None,
        "head": head_name(found.a, layer, head),
        "other": head_name(found.b, *found.head_of_b(layer, head)),
        "distance": number(found.distances[layer, head]),
        "floor": number(floor[layer, head], missing="unknown"),
        "over": found.over[layer, head],
        "count": found.floor.count,
    }


def _turn_of(found: Comparison, layer: int, head: int) -> str:
    """How the attention of one word turns from one word to another (Markdown)."""
    other = found.head_of_b(layer, head)
    turn = largest_turn(difference(found.a, found.b, found.alignment, (layer, head), other))
    if turn is None:
        return ""
    a, b = found.alignment.a, found.alignment.b
    rows, columns = found.alignment.pairs[turn.row], found.alignment.pairs
    rest = len(columns)
    lost = gained = None
    if turn.from_ < rest:
        lost = a[columns[turn.from_][0]].label
    else:
        lost = _strongest_alone(found.a, a, {i for i, _ in columns}, a[rows[0]], (layer, head))
    if turn.to < rest:
        gained = b[columns[turn.to][1]].label
    else:
        gained = _strongest_alone(found.b, b, {j for _, j in columns}, b[rows[1]], other)
    return _words(
        "turn",
        word=quote(a[rows[0]].label),
        lost=quote(lost),
        gained=quote(gained),
        before=number(turn.lost[0]),
        after=number(turn.lost[1]),
    )


def _strongest_alone(
    trace: Trace, units: Sequence[Unit], paired: set[int], query: Unit, place: tuple[int, int]
) -> str:
    """The word without a partner that a word attends to most; "" if all have one (a sink)."""
    row = trace.attention(*place)[list(query.positions)].mean(axis=0)
    alone = [unit for i, unit in enumerate(units) if i not in paired]
    return max(alone, key=lambda unit: row[list(unit.positions)].sum()).label if alone else ""


def show_picture(found: Comparison, layer: int, head: int, tokens: int) -> None:
    """Draw a head on both sides, how to read it, and the tables as files."""
    other, alignment = found.head_of_b(layer, head), found.alignment
    names = head_name(found.a, layer, head), head_name(found.b, *other)
    file = contents("compare", found.a.model)
    shown = _difference(found, layer, head)
    groups = alignment.groups_a
    cell = [
        next((i for i, group in enumerate(groups) if place - 1 in group), -1)
        for place in pinned_pair(found.a)
    ]
    sent, serial = state_to_send(KEY, {"held": [] if -1 in cell else cell})
    view = CompareView(
        names=alignment.names,
        titles=(f"A · {names[0]}", f"B · {names[1]}"),
        words=([unit.label for unit in alignment.a], [unit.label for unit in alignment.b]),
        pairs=alignment.pairs,
        corrected=bool(st.session_state["match"]),
        weights=(shown.a, shown.b, shown.change),
        layer_labels=found.a.layer_labels,
        chosen=(layer, head),
        distances=found.distances,
        over=found.over,
        about=[
            _words("about", facts=_facts(found, *place))
            for place in np.ndindex(found.distances.shape)
        ],
        held=sent["held"],
        serial=serial,
        picture=file.titled("Two sides compared", place=names[0]),
    )
    labels = found.a.layer_labels
    show_compare(
        view,
        key=KEY,
        on_hold=partial(_hold, groups),
        on_open=lambda layer, head: choose_head(labels[layer], head + 1),
        on_match=set_pair,
    )
    reading = _words(
        "reading",
        models=found.nearest is not None,
        count=found.floor.count,
        few=found.floor.few,
        over=int(found.over.sum()),
        heads=found.over.size,
        only_a=in_a_row([*map(quote, alignment.only_a)]),
        only_b=in_a_row([*map(quote, alignment.only_b)]),
        tokens=tokens,
        most=MAX_TOKENS,
    )
    with caption_row(reading):
        offer_csv(partial(_frame, shown), file, index=False, float_format="%.6f")


def _difference(found: Comparison, layer: int, head: int) -> Difference:
    if not found.alignment.pairs:
        empty = np.zeros((0, 1), dtype=np.float32)
        return Difference((), empty, empty, 0.0)
    other = found.head_of_b(layer, head)
    return difference(found.a, found.b, found.alignment, (layer, head), other)


def _hold(groups: Sequence[tuple[int, ...]], held: tuple[int, ...]) -> None:
    """Store the pinned cell as positions in A, from 1, as other pages do."""
    if changes(KEY, {"held": list(held)}):
        st.session_state[CELL] = [groups[place][0] + 1 for place in held]


def _frame(shown: Difference) -> pd.DataFrame:
    """The three tables, a row for each cell; the last column of the pictures has no name."""
    import pandas as pd

    columns = [*shown.names, ""]
    index = pd.MultiIndex.from_product([shown.names, columns], names=["from", "to"])
    values = {"a": shown.a.ravel(), "b": shown.b.ravel(), "change": shown.change.ravel()}
    return pd.DataFrame(values, index=index).reset_index()


def show_all_heads(found: Comparison, layer: int, head: int) -> None:
    """Every head in a table that saves as a file; of two models, with the most alike head of B."""
    import pandas as pd

    layers, heads = np.divmod(np.arange(found.distances.size), found.a.shape[1])
    columns = {
        "layer": np.array(found.a.layer_labels)[layers],
        "head": heads + 1,
        "distance": found.distances.ravel(),
        "floor": found.floor.values.ravel(),  # noqa: PD011 - of no data frame
        "over": found.over.ravel(),
    }
    for way, matching in (("nearest", found.nearest), ("matched", found.matched)):
        if matching is not None:
            columns[way] = np.array([_name_in_b(found.b, each) for each in matching.partner])
            for name in ("distance", "low", "high"):
                columns[f"{way}_{name}"] = getattr(matching, name)
    table = HeadTable(trace=found.a, table=pd.DataFrame(columns), layer=layer, head=head)
    titles = {
        "distance": "distance here",
        "floor": "noise floor",
        "over": "over it",
        "nearest": "most alike in B",
        "nearest_distance": "over the corpus",
        "nearest_low": "from",
        "nearest_high": "to",
        "matched": "one to one",
    }
    with st.expander("All heads"):
        show_head_table(table, titles, key="compare_heads", on_open=choose_head)
        offer_table(table, contents("compare", found.a.model, "all-heads"))


def _name_in_b(b: Trace, number_of_head: int) -> str:
    return "" if number_of_head < 0 else head_name(b, *divmod(int(number_of_head), b.shape[1]))
