"""A component from the .js and .css files in its folder, with all modules that it imports.

A module becomes ``const shared$scales = (function shared$scales() { …; return { luminance } })()``
and an import of it ``const { luminance } = shared$scales``: two may use the same name, and stack
traces say where they come from. Only ``import { a, b as c } from "./file.js"`` and ``export``
before a function, a constant or a class are understood. JSDoc is for tsc and does not travel.
"""

from __future__ import annotations

import re
from functools import cache
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

ROOT = Path(__file__).parent
_IMPORT = re.compile(r'^import \{([^{}]*)\} from "(\.[^"]*)"$', re.MULTILINE)
_DECLARATION = r"(?:async )?(?:function|const|class) ([\w$]+)"
_EXPORT = re.compile(rf"^export (?={_DECLARATION})", re.MULTILINE)
_DECLARED = re.compile(rf"^(?:export )?{_DECLARATION}", re.MULTILINE)
_TYPES = re.compile(r"^ */\*\*(?:(?!\*/).)*\*/\n", re.MULTILINE | re.DOTALL)
_UNKNOWN = re.compile(r"^(?:import|export(?! default function))\b.*$", re.MULTILINE)


def register_component(name: str) -> ComponentRenderer:
    """Register the component in the folder `name`, which has ``<name>.js`` and ``<name>.css``."""
    return st.components.v2.component(
        f"headscope_{name}", js=read_script(name), css=read_style(name)
    )


@cache
def read_script(name: str) -> str:
    """The component's script after the modules that it imports, put together once a server."""
    return inlined(ROOT / name / f"{name}.js")


def read_style(name: str) -> str:
    """The component's style sheet after what all of them share."""
    sheets = (ROOT / "shared" / "shared.css", ROOT / name / f"{name}.css")
    return "\n".join(sheet.read_text("utf-8") for sheet in sheets)


class Import(NamedTuple):
    """One name that a script imports: from which file, its name there and its local name."""

    path: Path
    name: str
    local: str


def inlined(entry: Path) -> str:
    """The script `entry` after every module that it imports, directly or not.

    Raises
    ------
    FileNotFoundError : an imported file does not exist.
    ValueError : scripts import each other in a circle; a name is not exported, or is used twice
        in one script; an import or export has an unknown form.
    """
    *modules, last = ordered(entry)
    return "\n".join([*map(scoped, modules), _linked(last)])


def ordered(entry: Path) -> list[Path]:
    """All scripts that `entry` needs, each after those that it imports; `entry` is the last."""
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
    name, exports = constant(path), ", ".join(_exports(path))
    return f"const {name} = (function {name}() {{\n{_linked(path)}return {{ {exports} }}\n}})()"


def constant(path: Path) -> str:
    """``shared$scales`` for shared/scales.js: names in scripts have no $, so none is hidden."""
    return re.sub(r"\W+", "$", _shown(path).removesuffix(".js"))


def _linked(path: Path) -> str:
    """The text of a script that takes its imports from constants and exports only a default."""
    _check_names(path)

    def taken(line: re.Match[str]) -> str:
        names = [f"{each.name}: {each.local}" for each in _read_import(path, line)]
        return f"const {{ {', '.join(names)} }} = {constant(_target(path, line[2]))}"

    text = _EXPORT.sub("", _IMPORT.sub(taken, _TYPES.sub("", path.read_text("utf-8"))))
    if unknown := _UNKNOWN.search(text):
        raise ValueError(f"{_shown(path)}: cannot inline “{unknown[0]}”")
    return text


def _imports(path: Path) -> list[Import]:
    lines = _IMPORT.finditer(path.read_text("utf-8"))
    return [each for line in lines for each in _read_import(path, line)]


def _read_import(path: Path, line: re.Match[str]) -> list[Import]:
    target = _target(path, line[2])
    names = [name.split(" as ") for name in re.split(r"\s*,\s*", line[1].strip(" \n,"))]
    return [Import(target, name[0], name[-1]) for name in names]


def _target(path: Path, written: str) -> Path:
    target = (path.parent / written).resolve()
    if not target.is_file():
        raise FileNotFoundError(f"{_shown(path)} imports {written}, which does not exist")
    return target


def _exports(path: Path) -> list[str]:
    return [export[1] for export in _EXPORT.finditer(path.read_text("utf-8"))]


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
