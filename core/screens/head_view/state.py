"""The head view's state: in the link, in the session, and in the component that people click.

The component changes its own picture at once and reports the state a moment later; the report goes
into the session, and from there into the link. Only a state that comes from elsewhere (a link, an
example, back and forward) is sent to the component, under a new number: what is sent otherwise
stays the same to the last byte, so that Streamlit need not send it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.ui import address

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
PARAMETERS = (*CHOICES, *SWITCHES, *NUMBERS)
_SENT = "_head_view_sent"
_NEAR = "_head_view_near"


def restore_view(trace: Trace, weightings: Sequence[str]) -> dict[str, Any]:
    """The state, from the link where it names one, checked against what this text allows.

    Parameters
    ----------
    weightings : those of WEIGHTINGS that this model has.
    """
    layers, heads, size, _ = trace.shape
    _isolate_linked_head(heads)
    two = any(token.segment for token in trace.tokens)
    numbers = [str(layer) for layer in range(1, layers + 1)]
    address.restore_choice("layer", numbers, numbers[-1], f"{trace.model} has {layers} layers")
    sentences = "The sentence filters are" if two else "With one sentence the filter is"
    address.restore_choice("pairs", FILTERS if two else FILTERS[:1], "all", sentences)
    address.restore_choice("least", LEAST, "auto", "The thresholds are")
    address.restore_choice("weigh", weightings, "attention", "The weights are")
    for switch in SWITCHES:
        address.restore_flag(switch)
    address.restore_numbers("heads", range(heads + 1))
    for key in ("without", "from", "to"):
        address.restore_numbers(key, range(1, size + 1))
    state = st.session_state
    for key in NUMBERS:
        state[key] = sorted(set(state[key]))
    state["heads"] = _plain_heads(state["heads"], heads)
    state["from"] = state["from"][:1]
    state["to"] = [] if state["from"] else state["to"][:1]  # one token is pinned, on one side
    return {key: state[key] for key in PARAMETERS}


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
