"""ES modules as one script: what an entry imports stands before it, each module in its own scope.

A Streamlit component takes one script, and a saved file must open without internet. So a module
becomes ``const shared$scales = (function shared$scales() { ...; return { luminance } })()`` and an
import of it ``const { luminance } = shared$scales``: two modules may use the same name, and stack
traces still say where they come from. Understood are ``import { a, b as c } from "./file.js"`` and
``export`` before a function, a constant or a class; anything else is refused. Comments that begin
with two stars are types for tsc, which tests/run checks; they do not travel.
"""

from __future__ import annotations

import re
from os.path import relpath
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent
_IMPORT = re.compile(r'^import \{([^{}]*)\} from "(\.[^"]*)"$', re.MULTILINE)
_DECLARATION = r"(?:async )?(?:function|const|class) ([\w$]+)"
_EXPORT = re.compile(rf"^export (?={_DECLARATION})", re.MULTILINE)
_DECLARED = re.compile(rf"^(?:export )?{_DECLARATION}", re.MULTILINE)
_TYPES = re.compile(r"^ */\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)
_LEFT_OVER = re.compile(r"^(?:import|export(?! default function))\b.*$", re.MULTILINE)


class Import(NamedTuple):
    """One name that a script takes from another: the file, its name there, its name here."""

    path: Path
    name: str
    local: str


def inlined(entry: Path) -> str:
    """The script `entry` after every module that it imports, directly or not.

    Raises
    ------
    FileNotFoundError : an imported file does not exist.
    ValueError : scripts import each other in a circle; a name is not exported, or stands for two
        things in one script; an import or export has a form that is not understood.
    """
    *modules, last = ordered(entry)
    return "\n".join([*map(scoped, modules), _linked(last)])


def ordered(entry: Path) -> list[Path]:
    """`entry` as the last of all scripts that it needs, each after those that it imports."""
    done: dict[Path, None] = {}

    def visit(path: Path, above: tuple[Path, ...]) -> None:
        if path in above:
            circle = " -> ".join(map(_shown, (*above[above.index(path) :], path)))
            raise ValueError(f"Scripts import each other in a circle: {circle}")
        if path not in done:
            for each in _imports(path):
                visit(each.path, (*above, path))
            done[path] = None

    visit(entry.resolve(), ())
    return list(done)


def scoped(path: Path) -> str:
    """A module as a constant that holds what it exports."""
    name = constant(path)
    return (
        f"const {name} = (function {name}() {{\n{_linked(path)}"
        f"return {{ {', '.join(_exports(path))} }}\n}})()"
    )


def constant(path: Path) -> str:
    """``shared$scales`` for shared/scales.js: no name of a script has a $, so none is hidden."""
    return re.sub(r"\W+", "$", _shown(path).removesuffix(".js"))


def _linked(path: Path) -> str:
    """The text of a script with its imports taken from constants, and no ``export`` but default."""
    _check_names(path)
    text = _TYPES.sub("", path.read_text("utf-8"))
    text = _EXPORT.sub("", _IMPORT.sub(lambda found: _taken(path, found), text))
    if left_over := _LEFT_OVER.search(text):
        raise ValueError(f"{_shown(path)}: cannot inline “{left_over[0]}”")
    return text


def _taken(path: Path, found: re.Match[str]) -> str:
    names = [
        each.name if each.name == each.local else f"{each.name}: {each.local}"
        for each in _read_import(path, found)
    ]
    return f"const {{ {', '.join(names)} }} = {constant(_target(path, found[2]))}"


def _imports(path: Path) -> list[Import]:
    found = _IMPORT.finditer(path.read_text("utf-8"))
    return [each for line in found for each in _read_import(path, line)]


def _read_import(path: Path, found: re.Match[str]) -> list[Import]:
    target = _target(path, found[2])
    names = [name.split(" as ") for name in re.split(r"\s*,\s*", found[1].strip(" \n,"))]
    return [Import(target, name[0], name[-1]) for name in names]


def _target(path: Path, written: str) -> Path:
    target = (path.parent / written).resolve()
    if not target.is_file():
        raise FileNotFoundError(f"{_shown(path)} imports {written}, which does not exist")
    return target


def _exports(path: Path) -> list[str]:
    return [found[1] for found in _EXPORT.finditer(path.read_text("utf-8"))]


def _check_names(path: Path) -> None:
    """Every imported name is exported, and no name of the script stands for two things."""
    imports = _imports(path)
    for each in imports:
        if each.name not in _exports(each.path):
            raise ValueError(
                f"{_shown(path)} imports {each.name}, which {_shown(each.path)} does not export"
            )
    names = [each.local for each in imports] + _DECLARED.findall(path.read_text("utf-8"))
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{_shown(path)} has two things of the name {', '.join(twice)}")


def _shown(path: Path) -> str:
    return relpath(path, ROOT)
