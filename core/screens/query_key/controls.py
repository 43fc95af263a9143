"""Controls of several parts of the query-key page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from core.analysis.projections.joint_embedding import Metric
from core.analysis.query_key.clouds import default_chosen
from core.analysis.query_key.layer_search import NOTEBOOK_RANGE, SearchRange
from core.analysis.query_key.scaling import Criterion
from core.analysis.query_key.target import TargetKind
from core.ui import address, controls
from core.ui.current import found_head
from core.ui.frame.layout import more
from core.ui.words.prose import Prose
from core.ui.words.scores import CRITERIA, DISTANCES, TARGETS

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
_CHOSEN_FOR = "_chosen_for"
_POSITIONS = ("from", "to", "point", "dot")  # parameters whose positions are those of one text


def search_range(*, drawn: bool = False) -> SearchRange:
    """The range of the notebook's search, which its own part has fields for."""
    labels = ("a from − to +", "c from − to +", "Steps of each") if drawn else ("", "", "")
    a, c, steps = NOTEBOOK_RANGE
    return SearchRange(
        controls.number("a_range", 0.01, 100.0, a, labels[0], width=122, optional=True, step=0.5),
        controls.number("c_range", 0.1, 100.0, c, labels[1], width=122, optional=True, step=0.5),
        controls.number("steps", 2, 60, steps, labels[2], width=116, optional=True),
    )


def chosen_tokens(trace: Trace) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Positions of the chosen sources and targets.

    Positions mean nothing in another text: there the choice starts afresh.
    """
    state, sides = st.session_state, (trace.tokens, trace.key_tokens)
    text = (trace.model, trace.attention_type, *(token.text for side in sides for token in side))
    before = state.get(_CHOSEN_FOR)
    if before not in {None, text}:
        for key in _POSITIONS:
            state.pop(key, None)
    use_default = before != text and not (address.asks_for("from") or address.asks_for("to"))
    state[_CHOSEN_FOR] = text
    chosen = []
    for key, side, default in zip(("from", "to"), sides, _first_chosen(trace), strict=True):
        picked = controls.tokens(key, [token.position + 1 for token in side])
        if use_default:
            state[key] = picked = [position + 1 for position in default]
        chosen.append(tuple(position - 1 for position in picked))
    return chosen[0], chosen[1]


def _first_chosen(trace: Trace) -> tuple[list[int], list[int]]:
    """The pair that Home names, which the head on screen joins; else the pair of two words.

    An image has no words to join.
    """
    if not trace.input.has_words:
        return [], []
    found = found_head(trace)
    if found is not None and found.joins_words:
        return [found.query], [found.key]
    return default_chosen(trace)


class Measure(NamedTuple):
    """What distance is between a query and a key, what it is compared with, and how c is picked."""

    distance: Metric
    target: TargetKind
    criterion: Criterion


def pick_measure(*, drawn: bool = False) -> Measure:
    """Distance, scores and the scale c; the widgets only where they are `drawn`."""
    distance = controls.choice(
        "distance",
        DISTANCES,
        "Distance" if drawn else "",
        subject="The distances are",
        help=_words("distance"),
    )
    target = controls.choice(
        "target",
        TARGETS,
        "Scores" if drawn else "",
        subject="The scores are",
        default="centred",
        help=_words("compared"),
    )
    criterion = controls.choice(
        "criterion",
        CRITERIA,
        "Pick the scale c by" if drawn else "",
        subject="The criteria are",
        menu=True,
        width=205,
        help=_words("criterion"),
    )
    return Measure(distance, target, criterion)


def pick_slow() -> bool:
    """Behind the button: whether UMAP and t-SNE are measured too, and the measure."""
    with more():
        slow = controls.flag(
            "slow",
            "Add UMAP and t-SNE",
            help="Both are slow: UMAP takes about ten seconds to start.",
        )
        pick_measure(drawn=True)
    return slow


def pick_space() -> bool:
    """Whether the picture has three dimensions."""
    if st.session_state.get("dims") in {"2", "3"}:  # as on the atlas page
        st.session_state["dims"] += "-D"
    return controls.choice("dims", ["2-D", "3-D"], "Space", subject="The pictures are") == "3-D"


def pick_threshold() -> float | None:
    """The attention from which lines are drawn; None draws each query's strongest."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        join = controls.choice("join", ["strongest", "all above"], "Lines", subject="The lines are")
        if join == "strongest":
            return None
        return controls.number(
            "above", 0.01, 1.0, 0.2, "Attention at least", slider=True, width=150, step=0.01
        )


def pinned_point(queries: int, keys: int) -> str:
    """The pinned query or key as in links, "q3" or "k5"; empty where none is."""
    points = [f"{kind}{i + 1}" for kind, size in (("q", queries), ("k", keys)) for i in range(size)]
    return controls.choice("point", ["", *points], subject="Points are", optional=True)
