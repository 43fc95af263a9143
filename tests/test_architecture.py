"""Floors: a floor imports only floors below it. Read from the source, nothing is run."""

from __future__ import annotations

import ast
import functools
import graphlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = [ROOT / "app.py", *sorted(ROOT.glob("pages/*.py")), *sorted(ROOT.glob("core/**/*.py"))]
# Which floors each floor may import from core; "trace" is core.model.trace alone.
MAY_IMPORT = {
    "model": {"model"},
    "analysis": {"analysis", "trace"},
    "figures": {"figures", "analysis", "trace"},
    "components": {"components", "analysis", "trace"},
    "ui": {"ui", "components", "figures", "analysis", "model", "trace"},
    "screens": {"screens", "ui", "components", "figures", "analysis", "model", "trace"},
    "pages": {"screens", "ui", "components", "figures", "analysis", "model", "trace"},
    "app": {"ui"},
    "console": {"console", "model", "analysis", "trace"},  # parts of command lines
    "core": {"console", "model", "analysis", "trace"},  # command lines
}
LIBRARIES = {
    "streamlit": {"components", "ui", "screens", "pages", "app"},
    "plotly": {"figures"},
    "torch": {"model"},
    "transformers": {"model"},
    "tokenizers": {"model"},
    "huggingface_hub": {"model"},
    "ray": {"console"},
}


def floor_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    if parts[0] == "core":
        return parts[1] if len(parts) > 2 else "core"
    return "app" if parts[0] == "app.py" else parts[0]


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imported(tree: ast.AST) -> list[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


IMPORTS = [(path, name) for path in SOURCES for name in imported(tree_of(path))]


def is_permitted(path: Path, name: str) -> bool:
    floor, (root, *rest) = floor_of(path), name.split(".")
    if root != "core":
        return floor in LIBRARIES.get(root, {floor})
    if name == "core.VERSION":
        return True
    is_trace = name.startswith("core.model.trace.") and floor != "model"
    return ("trace" if is_trace else rest[0]) in MAY_IMPORT[floor]


def test_a_floor_imports_only_floors_below_it() -> None:
    assert [(path, name) for path, name in IMPORTS if not is_permitted(path, name)] == []


def test_a_screen_imports_no_other_screen() -> None:
    screens = ROOT / "core" / "screens"
    assert [
        (path, name)
        for path, name in IMPORTS
        if path.is_relative_to(screens)
        and name.startswith("core.screens.")
        and name.split(".")[2] != path.relative_to(screens).parts[0]
    ] == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports for types count: who needs the other's types cannot be read without it."""
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in ROOT.glob("core/**/*.py")
    }
    arrows = {
        name: {
            target
            for full in imported(tree_of(path))
            for target in (full, full.rpartition(".")[0])
            if target in modules and target != name and not name.startswith(f"{target}.")
        }
        for name, path in modules.items()
    }
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_folders_and_modules_can_be_read_in_a_sitting() -> None:
    folders = {path.parent for path in SOURCES}
    assert [folder for folder in folders if len(list(folder.glob("*.py"))) > 15] == []
    assert [path for path in SOURCES if path.read_text("utf-8").count("\n") > 400] == []


def test_torch_and_transformers_are_imported_late() -> None:
    at_import = {
        (path, name)
        for path in ROOT.glob("core/model/**/*.py")
        for node in tree_of(path).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported(ast.Module([node], []))
    }
    needing = {path for path, name in at_import if name.split(".")[0] in {"torch", "transformers"}}
    late = {"watching", "outputs"}  # they extend a class of torch
    assert needing == {ROOT / f"core/model/capture/{name}.py" for name in late}
    assert not any(f"capture.{module}." in name for _, name in at_import for module in late)


def test_ray_is_imported_where_a_cluster_is_asked_for_and_inside_of_functions() -> None:
    cluster = ROOT / "core" / "console" / "cluster"
    importing = {path for path, name in IMPORTS if name.split(".")[0] == "ray"}
    assert {path.parent for path in importing} == {cluster}
    at_import = (
        name
        for path in importing
        for node in tree_of(path).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported(ast.Module([node], []))
    )
    assert [name for name in at_import if name.split(".")[0] == "ray"] == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("pages/*.py")), ids=lambda path: path.name)
def test_a_page_is_a_flat_script_that_opens_itself_first(path: Path) -> None:
    tree = tree_of(path)
    assert path.read_text("utf-8").count("\n") < 150
    assert not any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in ast.walk(tree))
    calls = (
        node
        for node in tree.body
        if isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Call)
    )
    assert ast.unparse(next(calls)) == f"open_page('{path.stem}')"
