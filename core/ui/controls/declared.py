"""What was declared in this run; controls as a link and callbacks set them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import streamlit as st

from core.ui import address
from core.ui.address import pending_updates
from core.ui.cache import first_model
from core.ui.python import share
from core.ui.words.pages import opened

# The frame's, which every page has; all others are a page's own.
SHARED = {"input", "model", "text", "pair", "image", "side", "attention", "decoder"}
SUGGESTED, FOLLOWED = "_suggested", "_followed"
_DECLARED, _DEFAULTS = "_controls", "_defaults"  # of this run; all that ever were, by key
_OF_PAGES = "_defaults_of_pages"  # the same by page, without those of the frame


@dataclass(frozen=True)
class Control:
    """What was declared.

    `allowed` are the options of a choice, the numbers of a list, or the lowest and the highest of a
    number. Links leave an `optional` one out while it has its default.
    """

    kind: Literal["choice", "flag", "number", "tokens", "text"]
    key: str
    default: Any
    allowed: tuple[Any, ...] = ()
    optional: bool = False


def open_link() -> None:
    """Begin a run: read the link, and forget the controls of the previous run."""
    st.session_state[_DECLARED] = {}
    if address.open_link():
        pending_updates.forget()
    pending_updates.restore()


def declared() -> dict[str, Control]:
    """The controls of this run so far, by key."""
    controls: dict[str, Control] = st.session_state[_DECLARED]
    return controls


def suggest(**values: str) -> None:
    """Make these the defaults of controls, by key, where a page offers them."""
    st.session_state[SUGGESTED] = values


def pick(**values: Any) -> None:  # noqa: ANN401 - of controls
    """Set controls by key, as if the visitor had. For callbacks, which run before the page."""
    pending_updates.note(values, st.session_state.get(_DEFAULTS, {}))
    st.session_state.update(values)
    for key in values:
        st.session_state.get(FOLLOWED, {}).pop(key, None)


def start() -> dict[str, Any]:
    """The page's own controls as they are at first, but for those that its examples leave alone."""
    kept = opened().reset_except
    if kept is None:
        return {}
    own = st.session_state.get(_OF_PAGES, {}).get(opened().name, {})
    return {key: default for key, default in own.items() if key not in kept}


def publish() -> None:
    """Write the controls of this run to the address, once the page has ended, and share it."""
    values = {key: st.session_state.get(key) for key in declared()}
    address.write(
        {
            key: values[key]
            for key, control in declared().items()
            if not (control.optional and values[key] == control.default)
        }
    )
    pending_updates.answered(address.current())
    share.fill()


def end_page() -> NoReturn:
    """End the page early. After ``st.stop`` nothing could be written to the address any more."""
    publish()
    first_model.finish()
    st.stop()


def declare(control: Control) -> None:
    """Note a control of this run."""
    declared()[control.key] = control
    state = st.session_state
    state.setdefault(_DEFAULTS, {})[control.key] = control.default
    if control.key not in SHARED:
        own = state.setdefault(_OF_PAGES, {}).setdefault(opened().name, {})
        own[control.key] = control.default
    if control.optional:
        address.may_leave_out(control.key)
