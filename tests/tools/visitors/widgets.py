"""The values of widgets, as Streamlit's page holds and sends them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX

if TYPE_CHECKING:
    from tests.tools.visitors.elements import Element

_TEXTS = {"text_area", "text_input"}
_FRAME = {"window", "present"}  # their reports last; those of other components are triggers


def options(element: Element) -> list[str]:
    """What can be picked, in the words of the page; empty for a widget without options."""
    found = getattr(element.body, "options", ())
    return [each if isinstance(each, str) else each.content for each in found]


def value_sent(element: Element) -> Any:
    """The value that the script has sent along: what it set, else the default."""
    body, kind, names = element.body, element.kind, options(element)
    if kind == "selectbox":
        return body.raw_value if body.set_value else names[body.default] if names else None
    if kind == "button_group":
        return list(body.raw_values) if body.set_value else [names[index] for index in body.default]
    return body.value if body.set_value else body.default


def state_of(element: Element, value: Any) -> WidgetState:
    """The message that tells the server this value.

    A picker takes one of its options as the page writes it ("own"), a segmented control one or a
    list of them, a switch a bool. What a component reports is a dict: its reports by name.

    Raises
    ------
    ValueError
        If the widget has not this option, or is switched off: a person could not do it either.
    """
    if getattr(element.body, "disabled", False):
        raise ValueError(f"{element.key} is switched off")
    state, kind = WidgetState(id=element.body.id), element.kind
    if is_trigger(element):
        state.id = trigger_id(state.id)
        events = [{"event": name, "value": each} for name, each in value.items()]
        state.json_trigger_value = json.dumps(events)
    elif kind == "bidi_component":
        state.json_value = json.dumps(value)
    elif kind == "button_group":
        many = [value] if isinstance(value, str) else value
        state.string_array_value.data[:] = [_known(element, each) for each in many]
    elif kind == "checkbox":
        state.bool_value = value
    elif kind == "selectbox" or kind in _TEXTS:
        state.string_value = value if kind in _TEXTS else _known(element, value)
    else:
        raise ValueError(f"{element.key} is a {kind}, which visitors cannot use")
    return state


def is_trigger(element: Element) -> bool:
    """Whether a value is sent once and then forgotten."""
    return element.kind == "bidi_component" and element.key not in _FRAME


def trigger_id(component: str) -> str:
    """The id of what a component reports once, from its own."""
    return f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{component}__events"


def _known(element: Element, option: str) -> str:
    names = options(element)
    free = getattr(element.body, "accept_new_options", False)
    if option not in names and not free:
        raise ValueError(f"{element.key} has no option {option!r}; it has: {', '.join(names)}")
    return option
