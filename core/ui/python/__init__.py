"""The calls that a page makes, kept while it runs."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


@dataclass(frozen=True)
class Variable:
    """What an earlier line, or a loop, has given a name."""

    name: str


@dataclass(frozen=True)
class Constant:
    """What a module offers under this name."""

    module: str
    name: str


@dataclass(frozen=True, eq=False)
class Call:
    """A call that is written where it stands. Also ``getattr``, ``getitem`` and methods."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Each:
    """A call for each of some values, which it takes by the variable's name.

    As a list; or, where it is `lazy`, as a generator.
    """

    call: Call
    variable: Variable
    values: object
    lazy: bool = False


@dataclass(frozen=True, eq=False)
class Line:
    """A variable, what gives it, and what that gave; None where it was not kept."""

    name: str
    expression: Call | Each | Callable[[], Call]
    result: object


MODEL, TRACE = Variable("model"), Variable("trace")
_lines: ContextVar[list[Line] | None] = ContextVar("headscope_python_lines", default=None)


def call(function: Callable[..., Any], *arguments: object, **options: object) -> Call:
    """A call as it would be made: ``call(f, 1, by=2)`` is ``f(1, by=2)``."""
    return Call(function, arguments, options)


def each_of(
    variable: str, values: object, make: Callable[[Variable], Call], *, lazy: bool = False
) -> Each:
    """``[f(head) for head in range(2)]`` is ``each_of("head", range(2), lambda h: call(f, h))``."""
    name = Variable(variable)
    return Each(make(name), name, values, lazy)


@contextlib.contextmanager
def recording() -> Iterator[None]:
    """Keep what is called inside, and let go of it at the end."""
    token = _lines.set([])
    try:
        yield
    finally:
        _lines.reset(token)


def shown(
    name: str,
    function: Callable[Arguments, Result],
    *arguments: Arguments.args,
    **options: Arguments.kwargs,
) -> Result:
    """Make a call, keep it as what gives the variable `name`, and return its result."""
    return made(name, function(*arguments, **options), Call(function, arguments, options))


def later(
    name: str,
    function: Callable[Arguments, Result],
    *arguments: Arguments.args,
    **options: Arguments.kwargs,
) -> Callable[[], Result]:
    """The same for a call that is made when a file is asked for; returns what makes it."""
    made(name, None, Call(function, arguments, options))
    return functools.partial(function, *arguments, **options)


def made(name: str, result: Result, expression: Call | Each | Callable[[], Call]) -> Result:
    """Keep a call that was made elsewhere, in a cache or under a bar, with its result.

    A function gives a call whose parts are not imported before somebody looks.
    """
    lines = _lines.get()
    if lines is not None:
        lines.append(Line(name, expression, result))
    return result


def item(name: str, values: Any, place: object) -> Any:  # noqa: ANN401 - of any container
    """``values[place]``, kept as what gives the variable `name`."""
    return made(name, values[place], call(operator.getitem, values, place))


def kept() -> list[Line]:
    """The calls so far, in order."""
    return list(_lines.get() or [])
