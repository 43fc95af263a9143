"""The head view's state: in the link, in the session, and in the component that people click.

The component changes its own picture at once and reports the state a moment later; the report goes
into the session, and from there into the link. Only a state that comes from elsewhere (a link, an
example, back and forward) is sent to the component, under a new number: what is sent otherwise
stays the same to the last byte, so that Streamlit need not send it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.ui import controls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from core.model import Trace

KEY = "head_view"  # of the component
FILTERS = ("all", "aa", "ab", "ba", "bb")
LEAST = ("auto", "0", "0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.9")
WEIGHTINGS = ("attention", "value", "transformed")
CHOICES = ("layer", "pairs", "least", "weigh")
SWITCHES = ("hide", "renorm", "what")
NUMBERS = ("heads", "without", "from", "to")  # heads: none listed is all, 0 is none
_SENT = "_head_view_sent"
_NEAR = "_head_view_near"


def restore_view(trace: Trace, weightings: Sequence[str]) -> dict[str, Any]:
    """The state, from the link where it names one, checked against what this text allows.

    Parameters
    ----------
    weightings : those of WEIGHTINGS that this model has.
    """
    heads, size = trace.shape[1:3]
    _isolate_linked_head(heads)
    two = any(token.segment for token in trace.tokens)
    chosen = {
        "layer": str(controls.layer(trace, drawn=False) + 1),
        "pairs": controls.choice(
            "pairs",
            FILTERS if two else FILTERS[:1],
            subject="The sentence filters are" if two else "With one sentence the filter is",
        ),
        "least": controls.choice("least", LEAST, subject="The thresholds are"),
        "weigh": controls.choice("weigh", weightings, subject="The weights are"),
    }
    switches = {key: controls.flag(key) for key in SWITCHES}
    numbers = {
        key: sorted(set(controls.tokens(key, range(int(key != "heads"), most + 1))))
        for key, most in (("heads", heads), *((key, size) for key in NUMBERS[1:]))
    }
    numbers["heads"] = _plain_heads(numbers["heads"], heads)
    numbers["from"] = numbers["from"][:1]
    numbers["to"] = [] if numbers["from"] else numbers["to"][:1]  # one token is pinned, on a side
    st.session_state.update(numbers)
    return {**chosen, **switches, **numbers}


def _isolate_linked_head(heads: int) -> None:
    """A link that names a head, as links to the table do, shows that head alone."""
    linked = st.query_params.get("head", "")
    if "heads" not in st.query_params and linked in map(str, range(1, heads + 1)):
        st.session_state["heads"] = [int(linked)]


def _plain_heads(numbers: list[int], count: int) -> list[int]:
    """The one way to write a choice of heads: [] for all, [0] for none."""
    on = [number for number in numbers if number > 0]
    if not on:
        return numbers[:1]
    return [] if len(on) == count else on


def take_report(view: object) -> None:
    """Put what the component reports into the session; anything that is no state is ignored."""
    if not isinstance(view, dict):
        return
    kinds = [*((key, str) for key in CHOICES), *((key, bool) for key in SWITCHES)]
    taken = {key: view[key] for key, kind in kinds if isinstance(view.get(key), kind)}
    for key in NUMBERS:
        numbers = view.get(key)
        if isinstance(numbers, list) and all(type(number) in (int, float) for number in numbers):
            taken[key] = [int(number) for number in numbers]
    st.session_state.update(taken)
    _keep_near(view.get("near"))
    sent = st.session_state.get(_SENT)
    if sent is not None:
        shown = {key: value for key, value in view.items() if key != "near"}
        st.session_state[_SENT] = {**sent, "shown": shown}


def _keep_near(asked: object) -> None:
    """Remember the layers that are wanted beside the one shown, until another one is shown."""
    state = st.session_state
    layer, _ = state.get(_NEAR, ("", ()))
    if isinstance(asked, list) and asked:
        state[_NEAR] = (state["layer"], tuple(map(str, asked)))
    elif layer != state["layer"]:
        state.pop(_NEAR, None)


def near_layers(layer: str) -> tuple[int, ...]:
    """The neighbours of that layer that the component has asked for; all from 0."""
    shown, asked = st.session_state.get(_NEAR, ("", ()))
    here = int(layer) - 1
    beside = (here - 1, here + 1)
    return tuple(each for each in beside if shown == layer and str(each + 1) in asked)


def view_to_send(view: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """The state to send to the component and its number.

    They stay what they were while the component shows `view` already.
    """
    sent: dict[str, Any] | None = st.session_state.get(_SENT)
    mounted = (st.session_state.get(KEY) or {}).get("view") is not None
    # A component that is drawn anew, as after another page, begins with what it is sent.
    shown = None if sent is None else sent["shown"] if mounted else sent["view"]
    if sent is None or shown != view:
        serial = 0 if sent is None else sent["serial"]
        sent = {"view": dict(view), "serial": serial + 1, "shown": dict(view)}
        st.session_state[_SENT] = sent
    return sent["view"], sent["serial"]
