"""The values of widgets, as Streamlit's page holds and sends them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX

if TYPE_CHECKING:
    from tests.tools.visitors.elements import Element

_TEXTS = {"text_area", "text_input"}
_PICKERS = {"selectbox", "radio"}
_MANY = {"button_group", "multiselect"}
_TRIGGERS = {"button", "menu_button"}
_REPORTS = {"bidi_component", "plotly_chart"}
_FRAME = {"window", "present"}  # their reports last; those of other components are triggers
KINDS = _TEXTS | _PICKERS | _MANY | {"checkbox", "slider", "number_input"}


def options(element: Element) -> list[str]:
    """What can be picked, in the words of the page; empty for a widget without options."""
    found = getattr(element.body, "options", ())
    return [each if isinstance(each, str) else each.content for each in found]


def value_sent(element: Element) -> Any:
    """The value that the script has sent along: what it set, else the default."""
    body, kind = element.body, element.kind
    given = body.set_value
    if kind in _PICKERS:
        names = options(element)
        return body.raw_value if given else names[body.default] if names else None
    if kind in _MANY:
        names = options(element)
        return list(body.raw_values) if given else [names[index] for index in body.default]
    if kind == "slider" and body.options:  # of words
        return list(body.raw_value) if given else [body.options[int(i)] for i in body.default]
    value = body.value if given else body.default
    return list(value) if kind == "slider" else value


def state_of(element: Element, value: Any) -> WidgetState:
    """The message that tells the server this value; for a button any value is a press.

    A picker takes one of its options as the page writes it ("own"), a segmented control or a
    multiple choice one or a list of them, a switch a bool, a slider a number or a list. What a
    component reports is a dict: its reports by name.

    Raises
    ------
    ValueError
        If the widget has not this option, or is switched off: a person could not do it either.
    """
    if getattr(element.body, "disabled", False):
        raise ValueError(f"{element.key} is switched off")
    state = WidgetState(id=element.body.id)
    kind = element.kind
    if kind in _TRIGGERS | _REPORTS:
        _trigger_or_report(state, element, value)
    elif _is_list_of_words(element):
        many = [value] if isinstance(value, str) else value
        state.string_array_value.data[:] = [_known(element, each) for each in many]
    elif kind in KINDS:
        _put(state, kind, _known(element, value) if kind in _PICKERS else value)
    else:
        raise ValueError(f"{element.key} is a {kind}, which visitors cannot use")
    return state


def is_trigger(element: Element) -> bool:
    """Whether a value is sent once and then forgotten."""
    is_view = element.kind == "bidi_component" and element.key not in _FRAME
    return is_view or element.kind in _TRIGGERS


def trigger_id(component: str) -> str:
    """The id of what a component reports once, from its own."""
    return f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{component}__events"


def first_state(element: Element) -> WidgetState | None:
    """The state of a widget that nobody has touched; None where pages send none."""
    if element.kind not in KINDS:
        return None
    value = value_sent(element)
    state = WidgetState(id=element.body.id)
    if _is_list_of_words(element):
        state.string_array_value.data[:] = value
    elif value is not None:
        _put(state, element.kind, value)
    return state


def _is_list_of_words(element: Element) -> bool:
    """Whether the widget's value is a list of words."""
    return element.kind in _MANY or (element.kind == "slider" and bool(element.body.options))


def _put(state: WidgetState, kind: str, value: Any) -> None:
    """Write one value into the field that its kind of widget uses."""
    if kind in _TEXTS | _PICKERS:
        state.string_value = value
    elif kind == "checkbox":
        state.bool_value = value
    elif kind == "number_input":
        state.double_value = value
    else:  # a slider of numbers
        state.double_array_value.data[:] = value if isinstance(value, list) else [value]


def _trigger_or_report(state: WidgetState, element: Element, value: Any) -> None:
    """A press on a button, or what a component or a figure says of itself."""
    if element.kind == "button":
        state.trigger_value = True
    elif element.kind == "menu_button":
        state.string_trigger_value.data = _known(element, value)
    elif is_trigger(element):
        state.id = trigger_id(state.id)
        events = [{"event": name, "value": each} for name, each in value.items()]
        state.json_trigger_value = json.dumps(events)
    elif element.kind == "bidi_component":
        state.json_value = json.dumps(value)
    else:
        state.string_value = json.dumps({"selection": value})


def _known(element: Element, option: str) -> str:
    names = options(element)
    free = getattr(element.body, "accept_new_options", False)
    if option not in names and not free:
        raise ValueError(f"{element.key} has no option {option!r}; it has: {', '.join(names)}")
    return option
