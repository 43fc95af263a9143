"""Calls written as Python: imports, then a line for each variable."""

from __future__ import annotations

import dataclasses
import inspect
import math
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from core.ui.python import Call, Constant, Each, Line, Variable

_WIDTH = 88  # of a line, where its parts permit
_INDENT = " " * 4
_NO_NOTEBOOK = ("core.ui", "core.screens", "core.components", "streamlit")


def to_python(lines: Sequence[Line]) -> str:
    """Python that makes these calls again; `TypeError` for a value that no line gives."""
    writer = _Writer(lines)
    written = list(dict.fromkeys(map(writer.line, lines)))
    return "\n".join([*writer.imports, "", *written]).lstrip() + "\n"


class _Writer:
    """Writes values as Python, and remembers what it has to import."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._names: dict[int, str] = {}
        for each in lines:
            for part, name in _parts(each.result, each.name):
                self._names.setdefault(id(part), name)
        self._modules: dict[str, set[str]] = {}

    @property
    def imports(self) -> list[str]:
        """Sorted lines for all that was written so far."""
        return [
            f"from {module} import {', '.join(sorted(names))}"
            for module, names in sorted(self._modules.items())
        ]

    def line(self, line: Line) -> str:
        start = f"{line.name} = "
        made = line.expression() if callable(line.expression) else line.expression
        return start + self.expression(made, len(start), "")

    def expression(self, value: Call | Each, column: int, indent: str) -> str:
        if isinstance(value, Call):
            return self._call(value, column, indent)
        inner = indent + _INDENT
        made = self._call(value.call, len(inner), inner)
        loop = f"for {value.variable.name} in {self.value(value.values)}"
        start, end = "()" if value.lazy else "[]"
        one = f"{start}{made} {loop}{end}"
        if _fits(one, column):
            return one
        return f"{start}\n{inner}{made}\n{inner}{loop}\n{indent}{end}"

    def _call(self, value: Call, column: int, indent: str) -> str:
        function, arguments = value.function, value.arguments
        if function is getattr:
            return f"{self.value(arguments[0], column, indent)}.{arguments[1]}"
        if function is operator.getitem:
            item = arguments[1] if isinstance(arguments[1], tuple) else arguments[1:]
            return f"{self.value(arguments[0], column, indent)}[{self._series(item)}]"
        owner = getattr(function, "__self__", None)
        if inspect.ismethod(function) and not inspect.isclass(owner):
            function, arguments = function.__func__, (owner, *arguments)
        given = _given(function, arguments, value.options)
        if inspect.isclass(function) or "." not in function.__qualname__:
            head = self.imported(function)
        elif inspect.isclass(owner):  # a class method
            head = f"{self.imported(owner)}.{function.__name__}"
        else:
            head = f"{self.value(given.pop(0)[1], column, indent)}.{function.__name__}"
        parts = [name + self.value(part, len(name), indent) for name, part in given]
        one = f"{head}({', '.join(parts)})"
        if _fits(one, column) or not parts:
            return one
        inner = indent + _INDENT
        parts = [name + self.value(part, len(inner + name), inner) for name, part in given]
        return "".join([f"{head}(\n", *(f"{inner}{part},\n" for part in parts), f"{indent})"])

    def value(self, value: object, column: int = 0, indent: str = "") -> str:
        """A value as an argument; `TypeError` for one that no code can stand for."""
        if isinstance(value, Variable):
            return value.name
        if isinstance(value, Call | Each):
            return self.expression(value, column, indent)
        if isinstance(value, Constant):
            self._modules.setdefault(value.module, set()).add(value.name)
            return value.name
        return _literal(value) or self._names.get(id(value)) or self._composed(value)

    def _composed(self, value: object) -> str:
        if dataclasses.is_dataclass(value) or hasattr(value, "_asdict"):
            return self._record(value)
        if isinstance(value, dict):
            pairs = (f"{self.value(key)}: {self.value(each)}" for key, each in value.items())
            return f"{{{', '.join(pairs)}}}"
        if isinstance(value, list):
            return f"[{self._series(value)}]"
        if isinstance(value, tuple):
            return f"({self._series(value)}{',' * (len(value) == 1)})"
        if callable(value):
            return self.imported(value)
        raise TypeError(f"no line gives this {type(value).__name__}: {value!r:.80}")

    def _series(self, values: Iterable[object]) -> str:
        return ", ".join(map(self.value, values))

    def _record(self, value: Any) -> str:  # noqa: ANN401 - any dataclass or named tuple
        names = (
            list(value._fields)
            if hasattr(value, "_asdict")
            else [each.name for each in _fields(value)]
        )
        return self._call(Call(type(value), tuple(getattr(value, each) for each in names)), 0, "")

    def imported(self, thing: Any) -> str:  # noqa: ANN401 - a function or a class
        """Its name, once it is imported from where it is public."""
        name, module = thing.__name__, thing.__module__
        if name.startswith("_") or module.startswith(_NO_NOTEBOOK):
            raise TypeError(f"a notebook cannot call {module}.{name}")
        if module != "builtins":
            self._modules.setdefault(_public_module(thing), set()).add(name)
        return str(name)


def _fields(record: Any) -> tuple[dataclasses.Field[Any], ...]:  # noqa: ANN401 - any dataclass
    return dataclasses.fields(record)


def _literal(value: object) -> str | None:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value is ...:
        return "..."
    if isinstance(value, slice):
        return ":".join(map(_end, (value.start, value.stop, value.step))).removesuffix(":")
    written = repr(value)
    if isinstance(value, str) and '"' not in written and "\\'" not in written:
        return f'"{written[1:-1]}"'
    return written if value is None or isinstance(value, bool | int | float | str | range) else None


def _end(value: int | None) -> str:
    return "" if value is None else str(value)


def _parts(result: object, name: str) -> Iterator[tuple[object, str]]:
    """A result and what it consists of, each with how it is written."""
    if result is None:
        return
    if dataclasses.is_dataclass(result):
        inner = [(getattr(result, each.name), f".{each.name}") for each in _fields(result)]
    elif hasattr(result, "_asdict"):
        inner = [(each, f".{field}") for field, each in result._asdict().items()]
    elif isinstance(result, dict):
        inner = [(each, f"[{_literal(key)}]") for key, each in result.items()]
    elif isinstance(result, tuple):
        inner = [(each, f"[{place}]") for place, each in enumerate(result)]
    else:
        inner = []
    for part, ending in inner:
        if not (isinstance(part, tuple) and not part):  # there is one empty tuple for all
            yield part, name + ending
    yield result, name


def _public_module(thing: Any) -> str:  # noqa: ANN401 - a function or a class
    """The shortest package that offers it, or its own module."""
    parts = thing.__module__.split(".")
    modules = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return next(
        name for name in modules if getattr(sys.modules.get(name), thing.__name__, None) is thing
    )


def _given(
    function: Callable[..., Any], arguments: Iterable[Any], options: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """The arguments that are not the defaults: nothing or ``name=`` before each, and its value."""
    if getattr(function, "__module__", "builtins") == "builtins":
        return [*(("", each) for each in arguments), *((f"{k}=", v) for k, v in options.items())]
    signature = inspect.signature(function)
    given: list[tuple[str, Any]] = []
    for name, value in signature.bind(*arguments, **options).arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            given += [("", each) for each in value]
        elif parameter.kind is parameter.VAR_KEYWORD:
            given += [(f"{key}=", each) for key, each in value.items()]
        elif not _same(value, parameter.default):
            needed = parameter.default is parameter.empty
            positional = needed and parameter.kind is not parameter.KEYWORD_ONLY
            given.append(("" if positional else f"{name}=", value))
    return given


def _same(value: object, default: object) -> bool:
    """Whether an argument is the default; arrays never are."""
    if value is default:
        return True
    if isinstance(value, list):
        value = tuple(value)
    simple = (bool, int, float, str, tuple)
    alike = isinstance(value, simple) and isinstance(default, simple)
    return alike and isinstance(value, bool) == isinstance(default, bool) and value == default


def _fits(text: str, column: int) -> bool:
    first, *_ = text.split("\n")
    return "\n" not in text and column + len(first) <= _WIDTH
