"""The controls of pages, each declared once.

A declaration takes its value from the link, checks it, draws the widget, puts its name down for the
address and returns the value. Without a label nothing is drawn: for what a picture sets, or what
must be known before the widget's place comes. When the page has ended, all that was declared in
this run is written into the address, and nothing else is.

State lives in ``st.session_state`` under the control's key, which is also its name in links. Values
of a link are untrusted: what is not possible is told and replaced.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, cast, overload

import streamlit as st

from core.ui import address
from core.ui.messages import notice, quote

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Protocol

    class HasHeads(Protocol):
        """A trace or an atlas: a model's name, and (layers, heads, ...)."""

        @property
        def model(self) -> str:
            """The name it was loaded by."""

        @property
        def shape(self) -> tuple[int, ...]:
            """Layers, heads, and more."""


Layer = int | Literal["mean"]
Option = TypeVar("Option", bound=str)
Number = TypeVar("Number", int, float)
Summary = TypeVar("Summary", bound=str)
_HEAD_LABELS = {"mean": "mean of heads", "median": "median of heads", "max": "maximum of heads"}
_DECLARED = "_controls"
_MAX_NAMED = 8  # options that a message names; of more, the first three and the last


@dataclass(frozen=True)
class Control:
    """What was declared.

    Attributes
    ----------
    allowed : the options of a choice, the numbers of a list, lowest and highest of a number.
    optional : links leave it out while it has its default.
    """

    kind: Literal["choice", "flag", "number", "tokens", "text"]
    key: str
    default: Any
    allowed: tuple[Any, ...] = ()
    optional: bool = False


def open_link() -> None:
    """Begin a run: take a link in, and forget what the run before declared."""
    st.session_state[_DECLARED] = {}
    address.open_link()


def declared() -> dict[str, Control]:
    """The controls of this run so far, by key."""
    controls: dict[str, Control] = st.session_state[_DECLARED]
    return controls


def publish() -> None:
    """Write the controls of this run into the address, once the page has ended."""
    state = st.session_state
    address.write(
        {
            key: state.get(key)
            for key, control in declared().items()
            if not (control.optional and state.get(key) == control.default)
        }
    )


def end_page() -> NoReturn:
    """End the page early. After ``st.stop`` nothing could be written into the address any more."""
    publish()
    st.stop()


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
    """One of `options`, the first at first: segments side by side, or a menu.

    Parameters
    ----------
    options : names in links, or those with what people read.
    subject : what has these options, for the message on a bad link: "This model's layers are".
    names : what people read, where `options` does not say it.
    width : of the column it stands in, in pixels.
    """
    usual = next(iter(options)) if default is None else default
    _declare(Control("choice", key, usual, tuple(options), optional))
    _check_choice(key, tuple(options), usual, subject)
    if label:
        if names is None:
            names = options.__getitem__ if isinstance(options, Mapping) else str
        look |= {"key": key, "format_func": names, "persist_state": "session"}
        with _column(width):
            if menu:
                st.selectbox(label, list(options), **look)
            else:
                st.segmented_control(label, list(options), required=True, **look)
    return cast("Option", st.session_state[key])


def flag(
    key: str,
    label: str = "",
    *,
    default: bool = False,
    disabled: bool = False,
    optional: bool = False,
    help: str | None = None,  # noqa: A002 - as Streamlit calls it
) -> bool:
    """A switch, "1" or "0" in links; one that is disabled is off, and in no link."""
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
    if label:
        st.toggle(label, key=key, persist_state="session", disabled=disabled, help=help)
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
    """A number from `low` to `high`, whole where the default is: a box, or a slider."""
    _declare(Control("number", key, default, (low, high), optional))
    value, state = address.take(key), st.session_state
    if value == "" and optional:
        state[key] = default
    elif value:
        asked = _number(value)
        if asked is None or not low <= asked <= high:
            notice(
                f"This link asks for {key} {quote(value)}, which is a number from {low:g} to"
                f" {high:g}; {default:g} is used."
            )
            asked = default
        state[key] = type(default)(asked)
    state.setdefault(key, default)
    if label:
        look |= {"key": key, "persist_state": "session"}
        with _column(width):
            (st.slider if slider else st.number_input)(label, low, high, **look)
    return cast("Number", state[key])


def tokens(
    key: str,
    allowed: Sequence[int],
    label: str = "",
    *,
    place: str = "in this text",
    names: Callable[[int], str] = str,
    column: int | None = None,
    **look: Any,  # noqa: ANN401 - of the widget: placeholder, width
) -> list[int]:
    """Some of the numbers `allowed`, "3,5" in links; most often positions of tokens, from 1.

    Parameters
    ----------
    place : where all that are allowed can be found, for the message.
    column : width of the column it stands in, in pixels.
    """
    _declare(Control("tokens", key, [], tuple(allowed), optional=True))
    value, state = address.take(key), st.session_state
    if value is not None:
        wanted = [part.strip() for part in value.split(",") if part.strip()]
        possible = {str(number): number for number in allowed}
        if not set(wanted) <= set(possible):
            notice(f"This link asks for {key} {quote(value)}; some of it is not {place}.")
        state[key] = [possible[part] for part in wanted if part in possible]
    state[key] = [number for number in state.get(key, []) if number in allowed]
    if label:
        look |= {"key": key, "format_func": names, "persist_state": "session"}
        with _column(column):
            st.multiselect(label, list(allowed), **look)
    return list(state[key])


def text(
    key: str,
    default: str,
    label: str = "",
    *,
    height: int | None = None,
    max_chars: int = address.MAX_TEXT,
    column: int | None = None,
    **look: Any,  # noqa: ANN401 - of the widget: placeholder, width, label_visibility
) -> str:
    """What is typed: a line, or a box of a `height` in pixels; cut to what the pages take."""
    _declare(Control("text", key, default))
    value, state = address.take(key), st.session_state
    if value is not None:
        if len(value) > address.MAX_TEXT:
            notice(
                f"The text in this link has {len(value):,} characters;"
                f" the first {address.MAX_TEXT:,} are used."
            )
        state[key] = value[: address.MAX_TEXT]
    state.setdefault(key, default)
    if label:
        look |= {"key": key, "max_chars": max_chars, "persist_state": "session"}
        with _column(column):
            if height is None:
                st.text_input(label, **look)
            else:
                st.text_area(label, height=height, **look)
    return cast("str", state[key])


@overload
def layer(trace: HasHeads, *, width: int | None = ..., drawn: bool = ...) -> int: ...


@overload
def layer(trace: HasHeads, *, mean: Literal[True], width: int | None = ...) -> Layer: ...


def layer(
    trace: HasHeads, *, mean: bool = False, width: int | None = None, drawn: bool = True
) -> Layer:
    """A layer from 0, the last one at first; or "mean" where a page offers it."""
    layers = trace.shape[0]
    picked = choice(
        "layer",
        [*(["mean"] if mean else []), *map(str, range(1, layers + 1))],
        "Layer" if drawn else "",
        subject=f"{trace.model} has {layers} layers",
        default=str(layers),
        names=lambda option: "mean of layers" if option == "mean" else f"layer {option}",
        menu=True,
        width=width,
    )
    return "mean" if picked == "mean" else int(picked) - 1


@overload
def head(trace: HasHeads, *, width: int | None = ..., drawn: bool = ...) -> int: ...


@overload
def head(
    trace: HasHeads, *, summaries: tuple[Summary, ...], width: int | None = ...
) -> Summary | int: ...


def head(
    trace: HasHeads,
    *,
    summaries: tuple[str, ...] = (),
    width: int | None = None,
    drawn: bool = True,
) -> str | int:
    """A head from 0, or one of `summaries` ("mean", "median", "max"), of which the first at first.

    Without summaries it is the first head at first.
    """
    heads = trace.shape[1]
    picked = choice(
        "head",
        [*summaries, *map(str, range(1, heads + 1))],
        "Head" if drawn else "",
        subject=f"{trace.model} has {heads} heads a layer",
        names=lambda option: _HEAD_LABELS.get(option, f"head {option}"),
        menu=True,
        width=width,
    )
    return picked if picked in summaries else int(picked) - 1


def _declare(control: Control) -> None:
    declared()[control.key] = control
    if control.optional:
        address.may_leave_out(control.key)


def _column(width: int | None) -> AbstractContextManager[Any]:
    return contextlib.nullcontext() if width is None else st.container(width=width)


def _check_choice(key: str, options: Sequence[str], default: str, subject: str) -> None:
    """Set the choice from the link if it is one of `options`; else keep it, else the default."""
    state, value = st.session_state, address.take(key)
    current = state.get(key)
    if value == "":  # links leave it out while it has its default
        value = default
    if value is not None and value not in options:
        notice(
            f"This link asks for {key} {quote(value)}. {subject}: {_named(options)}."
            f" {quote(default)} is shown instead."
        )
        value = default
    if value is not None:
        state[key] = value
    elif current not in options:
        state[key] = default
        if isinstance(current, str) and current.isdigit():  # picked by a person, for another model
            notice(f"{subject}: {key} {current} became {quote(default)}.")


def _named(options: Sequence[str]) -> str:
    quoted = [quote(option) for option in options]
    if len(quoted) <= _MAX_NAMED:
        return ", ".join(quoted)
    return f"{', '.join(quoted[:3])} … {quoted[-1]}"


def _number(written: str) -> float | None:
    try:
        return float(written)
    except ValueError:
        return None
