"""A component from the .js and .css files in its folder, with all the modules it imports.

A module becomes ``const shared$scales = (function shared$scales() { …; return { luminance } })()``
and an import of it ``const { luminance } = shared$scales``: two modules may use the same name, and
stack traces name the module. Only ``import { a, b as c } from "./file.js"`` and ``export``
before a function, a constant or a class are understood. JSDoc is for tsc and is stripped.
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
    """The component's script, preceded by the modules it imports; assembled once per server."""
    return inlined(ROOT / name / f"{name}.js")


def read_style(name: str) -> str:
    """The shared style sheet, followed by the component's own."""
    sheets = (ROOT / "shared" / "shared.css", ROOT / name / f"{name}.css")
    return "\n".join(sheet.read_text("utf-8") for sheet in sheets)


class Import(NamedTuple):
    """A name that a script imports: the file it comes from, its name there and its local name."""

    path: Path
    name: str
    local: str


def inlined(entry: Path) -> str:
    """The script `entry`, preceded by every module it imports, directly or indirectly.

    Raises
    ------
    FileNotFoundError : an imported file does not exist.
    ValueError : scripts import each other in a circle; a name is not exported, or is used twice
        in one script; an import or export has an unknown form.
    """
    *modules, last = ordered(entry)
    return "\n".join([*map(scoped, modules), _linked(last)])


def ordered(entry: Path) -> list[Path]:
    """All scripts that `entry` needs, each after the ones it imports; `entry` is last."""
    done: dict[Path, None] = {}

    def visit(path: Path, above: tuple[Path, ...]) -> None:
        if path in above:
            circle = " -> ".join(map(_shown, (*above[above.index(path) :], path)))
            raise ValueError(f"Scripts import each other in a circle: {circle}")
        if path not in done:
            for imported in _imports(path):
                visit(imported.path, (*above, path))
            done[path] = None

    visit(entry.resolve(), ())
    return list(done)


def scoped(path: Path) -> str:
    """A module as a constant that holds its exports."""
    name, exports = constant(path), ", ".join(_exports(path))
    return f"const {name} = (function {name}() {{\n{_linked(path)}return {{ {exports} }}\n}})()"


def constant(path: Path) -> str:
    """``shared$scales`` for shared/scales.js: no name in a script has a $, so none is shadowed."""
    return re.sub(r"\W+", "$", _shown(path).removesuffix(".js"))


def _linked(path: Path) -> str:
    """A script's text, with imports taken from constants and no export but the default."""
    _check_names(path)

    def from_constant(line: re.Match[str]) -> str:
        names = [f"{each.name}: {each.local}" for each in _read_import(path, line)]
        return f"const {{ {', '.join(names)} }} = {constant(_target(path, line[2]))}"

    text = _EXPORT.sub("", _IMPORT.sub(from_constant, _TYPES.sub("", path.read_text("utf-8"))))
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


def _target(path: Path, relative: str) -> Path:
    target = (path.parent / relative).resolve()
    if not target.is_file():
        raise FileNotFoundError(f"{_shown(path)} imports {relative}, which does not exist")
    return target


def _exports(path: Path) -> list[str]:
    return [export[1] for export in _EXPORT.finditer(path.read_text("utf-8"))]


def _check_names(path: Path) -> None:
    """Raise ValueError if an imported name is not exported, or a name has two meanings."""
    imports = _imports(path)
    for item in imports:
        if item.name not in _exports(item.path):
            raise ValueError(
                f"{_shown(path)} imports {item.name}, which {_shown(item.path)} does not export"
            )
    names = [each.local for each in imports] + _DECLARED.findall(path.read_text("utf-8"))
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{_shown(path)} has two things of the name {', '.join(repeated)}")


def _shown(path: Path) -> str:
    return relpath(path, ROOT)
