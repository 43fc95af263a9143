"""The controls of pages, each declared once.

Declaring a control takes its value from the link, reports and replaces an invalid one, draws the
widget if it has a label, and returns the value. State lives in ``st.session_state`` under the
control's key, which is its name in links. When the page ends, controls are written to the address.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeVar, cast

import streamlit as st

from core.ui import address
from core.ui.address import pending_updates, share
from core.ui.words.messages import notice, quote
from core.ui.words.pages import opened

Option = TypeVar("Option", bound=str)
Number = TypeVar("Number", int, float)

# Controls of the frame, on every page; all others belong to a page.
SHARED = {"input", "model", "text", "pair", "image", "attention", "decoder"}
SHARED |= {"from_language", "to_language", "lesson", "step"}
_NAMED = {"model", "text", "pair", "layer", "head"}  # in every link, even at their defaults
_SUGGESTED, _FOLLOWED = "_suggested", "_followed"
_DECLARED, _DEFAULTS = "_controls", "_defaults"  # by key: those of this run; defaults of all so far
_OF_PAGES = "_defaults_of_pages"  # the same by page, without those of the frame
# Menu widths in pixels: around the text, per letter, and the maximum where options are tokens.
_AROUND_OPTION, _LETTER, _WIDEST = 54, 6.6, 320
_MAX_NAMED = 8  # options that a message lists; of more, the first three and the last


@dataclass(frozen=True)
class Control:
    """A declared control.

    `allowed` holds the options of a choice, the numbers for a list, or the minimum and maximum of
    a number. Links omit an `optional` control while it has its default.
    """

    kind: Literal["choice", "flag", "number", "tokens", "text"]
    key: str
    default: Any
    allowed: tuple[Any, ...] = ()
    optional: bool = False


def begin_run() -> None:
    """Begin a run: read the link, and forget the controls of the previous run."""
    st.session_state[_DECLARED] = {}
    if address.open_link():
        pending_updates.forget()
    pending_updates.restore()


def declared() -> dict[str, Control]:
    """The controls declared so far in this run, by key."""
    controls: dict[str, Control] = st.session_state[_DECLARED]
    return controls


def suggest(place: tuple[int, int] | None) -> None:
    """Make these numbers of a layer and head the defaults, on pages that have them as options."""
    st.session_state[_SUGGESTED] = dict(zip(("layer", "head"), map(str, place or ()), strict=False))


def suggested(key: str, options: Sequence[str]) -> str | None:
    """The default suggested for a control, if it is one of its options."""
    value: str | None = st.session_state.get(_SUGGESTED, {}).get(key)
    return value if value in options else None


def pick(**values: Any) -> None:  # noqa: ANN401 - of controls
    """Set controls by key, as if the visitor had. For callbacks, which run before the page."""
    pending_updates.note(values, st.session_state.get(_DEFAULTS, {}))
    st.session_state.update(values)
    for key in values:
        st.session_state.get(_FOLLOWED, {}).pop(key, None)


def own_keys() -> set[str]:
    """The keys of all controls of pages, of those that this session has seen."""
    return st.session_state.get(_DEFAULTS, {}).keys() - SHARED


def follow(keys: Iterable[str]) -> None:
    """Let controls follow their defaults again, from what they are now. For callbacks."""
    state = st.session_state
    state.setdefault(_FOLLOWED, {}).update({key: state[key] for key in keys})


def stand_at(**values: str) -> bool:
    """Whether these controls have these values, or will have once they are declared."""
    state = st.session_state
    return all(
        (address.asks_for(key) or state.get(key, value)) == value for key, value in values.items()
    )


def initial_values() -> dict[str, Any]:
    """Defaults of the page's own controls, except those that its examples leave alone."""
    exceptions = opened().reset_except
    if exceptions is None:
        return {}
    own = st.session_state.get(_OF_PAGES, {}).get(opened().name, {})
    return {key: default for key, default in own.items() if key not in exceptions}


def publish() -> None:
    """Write the controls of this run to the address, once the page has ended, and fill Share."""
    values = {key: st.session_state.get(key) for key in declared()}
    address.write(
        {
            key: values[key]
            for key, control in declared().items()
            if not (control.optional and values[key] == control.default)
        }
    )
    pending_updates.answered(address.current())
    share.fill_share(short_link())


def short_link() -> dict[str, str]:
    """The address without defaults; what the picture is of (`_NAMED`) stays."""
    omitted = {key: address.to_text(each.default) for key, each in declared().items()}
    return {
        key: text
        for key, text in address.current().items()
        if key in _NAMED or text != omitted.get(key)
    }


class PageEnd(BaseException):
    """Ends a page early: what follows a page still runs."""


def end_page() -> NoReturn:
    """End the page early. Use it, not ``st.stop``, after which the address could not be written."""
    raise PageEnd


def place_on_screen() -> tuple[str, str]:
    """The layer and the head that the page shows, as in links; "" if there are none, or several."""
    state = st.session_state
    layer, head = (state[key] if key in declared() else "" for key in ("layer", "head"))
    several = state["heads"] if "heads" in declared() and not head else []
    return layer, str(*several) if len(several) == 1 and any(several) else head


def _declare(control: Control) -> None:
    """Register a control of this run."""
    declared()[control.key] = control
    state = st.session_state
    state.setdefault(_DEFAULTS, {})[control.key] = control.default
    if control.key not in SHARED:
        own = state.setdefault(_OF_PAGES, {}).setdefault(opened().name, {})
        own[control.key] = control.default
    if control.optional:
        address.may_leave_out(control.key)


def choice(
    key: str,
    options: Sequence[Option] | Mapping[Option, str],
    label: str = "",
    *,
    subject: str,
    default: Option | None = None,
    names: Callable[[Option], str] | None = None,
    menu: bool = False,
    width: int | None = None,
    optional: bool = False,
    **look: Any,  # noqa: ANN401 - of the widget: help, label_visibility
) -> Option:
    """One of `options`, by default the first: segments side by side, or a menu.

    Parameters
    ----------
    options : names in links, or a mapping from these to what people read.
    subject : for the message about a bad link, such as "This model's layers are".
    names : what people read, if `options` does not say it.
    width : of its column, in pixels; for a menu, at least that of its longest option.
    """
    allowed = list(options)
    default = allowed[0] if default is None else default
    _declare(Control("choice", key, default, tuple(allowed), optional))
    _restore_choice(key, allowed, default, subject)
    if names is None:
        names = options.__getitem__ if isinstance(options, Mapping) else str
    widget = st.selectbox if menu else functools.partial(st.segmented_control, required=True)
    if menu and width:
        longest = _LETTER * max(len(names(each)) for each in allowed)
        width = max(width, min(_WIDEST, round(_AROUND_OPTION + longest)))
    _draw(widget, label, allowed, key=key, column=width, format_func=names, **look)
    return cast("Option", st.session_state[key])


def _restore_choice(key: str, allowed: Sequence[str], default: str, subject: str) -> None:
    """Set the choice from the link, else keep it, else use the default, within `allowed`.

    Layer and head follow their defaults, which depend on the text, until the visitor picks.
    """
    state, value = st.session_state, address.take(key)
    followed: dict[str, str] = state.setdefault(_FOLLOWED, {})
    untouched = key in ("layer", "head") and followed.get(key) == state.get(key)
    if value:
        if value not in allowed:
            message = f"This link asks for {key} {quote(value)}. {subject}: {_named(allowed)}."
            notice(f"{message} {quote(default) if default else 'None'} is shown instead.")
        state[key] = value if value in allowed else default
    elif value == "" or untouched:
        state[key] = default
    elif (current := state.get(key)) not in allowed:
        state[key] = default
        if isinstance(current, str) and current.isdigit():  # picked by a visitor, on another model
            notice(f"{subject}: {key} {current} became {quote(default)}.")
    else:
        return
    if state[key] == default:
        followed[key] = default


def _named(options: Sequence[str]) -> str:
    quoted = [quote(option) for option in options if option]
    if len(quoted) <= _MAX_NAMED:
        return ", ".join(quoted)
    return f"{', '.join(quoted[:3])} … {quoted[-1]}"


def flag(
    key: str,
    label: str = "",
    *,
    default: bool = False,
    disabled: bool = False,
    optional: bool = False,
    help: str | None = None,  # noqa: A002 - as Streamlit calls it
) -> bool:
    """A switch, "1" or "0" in links; a disabled one is off, and in no link."""
    state, value = st.session_state, address.take(key)
    if not disabled:
        _declare(Control("flag", key, default, (False, True), optional))
    address.may_leave_out(key)
    if value not in {None, "", "0", "1"}:
        notice(f"This link asks for {key} {quote(str(value))}; a switch is 0 or 1.")
    elif value is not None:
        state[key] = value == "1" if value else default
    if not isinstance(state.get(key), bool):
        state[key] = default
    _draw(st.toggle, label, key=key, disabled=disabled, help=help)
    return bool(state[key]) and not disabled


def number(
    key: str,
    low: Number,
    high: Number,
    default: Number,
    label: str = "",
    *,
    slider: bool = False,
    width: int | None = None,
    optional: bool = False,
    **look: Any,  # noqa: ANN401 - of the widget: step, format, help
) -> Number:
    """A number from `low` to `high`, an integer if the default is: a box, or a slider."""
    _declare(Control("number", key, default, (low, high), optional))
    value, state = address.take(key), st.session_state
    if value == "":
        state[key] = default
    elif value:
        try:
            linked = float(value)
        except ValueError:
            linked = math.nan
        if not low <= linked <= high:
            notice(
                f"This link asks for {key} {quote(value)}, which is a number from {low:g} to"
                f" {high:g}; {default:g} is used."
            )
            linked = default
        state[key] = type(default)(linked)
    current = state.get(key)  # maybe from another model or image, or another page's control
    if not (isinstance(current, int | float) and low <= current <= high):
        state[key] = default
    widget = st.slider if slider else st.number_input
    _draw(widget, label, low, high, key=key, column=width, **look)
    return cast("Number", state[key])


def tokens(
    key: str,
    allowed: Sequence[int],
    label: str = "",
    *,
    names: Callable[[int], str] = str,
    **look: Any,  # noqa: ANN401 - of the widget: placeholder, width
) -> list[int]:
    """Some of the `allowed` numbers, "3,5" in links; usually positions of tokens, from 1."""
    _declare(Control("tokens", key, [], tuple(allowed), optional=True))
    value, state = address.take(key), st.session_state
    if value is not None:
        linked = [part.strip() for part in value.split(",") if part.strip()]
        possible = {str(number): number for number in allowed}
        if not set(linked) <= set(possible):
            notice(f"This link asks for {key} {quote(value)}; some of it is not in this text.")
        state[key] = [possible[part] for part in linked if part in possible]
    current = state.get(key)
    state[key] = [each for each in current if each in allowed] if isinstance(current, list) else []
    _draw(st.multiselect, label, list(allowed), key=key, format_func=names, **look)
    return list(state[key])


def text(
    key: str,
    default: str,
    label: str = "",
    *,
    height: int | Literal["content"] | None = None,
    max_chars: int = address.MAX_TEXT,
    column: int | None = None,
    **look: Any,  # noqa: ANN401 - of the widget: placeholder, width, label_visibility
) -> str:
    """Typed text, cut to the length that pages accept.

    One line, or a box with a `height` in pixels, or one that grows with its lines: see
    ``shell/fields.js``.
    """
    _declare(Control("text", key, default))
    value, state = address.take(key), st.session_state
    if value is not None:
        value = value.replace("\r\n", "\n").replace("\r", "\n")  # as browsers do
        if len(value) > address.MAX_TEXT:
            notice(
                f"The text in this link has {len(value):,} characters;"
                f" the first {address.MAX_TEXT:,} are used."
            )
        value = value[: address.MAX_TEXT]
        state[key] = " ".join(value.splitlines()) if height is None else value
    state.setdefault(key, default)
    if height is not None:
        look["height"] = height
    widget = st.text_input if height is None else st.text_area
    _draw(widget, label, key=key, column=column, max_chars=max_chars, **look)
    return cast("str", state[key])


def _draw(
    widget: Callable[..., object],
    label: str,
    *arguments: object,
    column: int | None = None,
    **look: object,
) -> None:
    """Draw the widget of a control with a label, in its own column if that has a width."""
    if label:
        with contextlib.nullcontext() if column is None else st.container(width=column):
            widget(label, *arguments, persist_state="session", **look)
