"""Floors: a floor imports only floors below it. Read from the source, nothing is run."""

from __future__ import annotations

import ast
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
    "core": {"console", "model", "analysis", "trace"},  # command lines
}
LIBRARIES = {
    "streamlit": {"components", "ui", "screens", "pages", "app"},
    "plotly": {"figures"},
    "torch": {"model"},
    "transformers": {"model"},
    "tokenizers": {"model"},
    "huggingface_hub": {"model"},
}


def floor_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    if parts[0] == "core":
        return parts[1] if len(parts) > 2 else "core"
    return "app" if parts[0] == "app.py" else parts[0]


def imported(tree: ast.AST) -> list[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_floor_imports_only_floors_below_it(path: Path) -> None:
    here = floor_of(path)
    for name in imported(ast.parse(path.read_text("utf-8"))):
        root, *rest = name.split(".")
        assert here in LIBRARIES.get(root, {here}), f"{here} imports {root}"
        if root == "core":
            there = "trace" if name.startswith("core.model.trace.") else rest[0]
            there = "model" if there == "trace" and here == "model" else there
            assert there in MAY_IMPORT[here], f"{here} imports {name}"


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("core/screens/**/*.py")), ids=lambda path: path.name
)
def test_a_screen_imports_no_other_screen(path: Path) -> None:
    own = path.relative_to(ROOT / "core" / "screens").parts[0]
    for name in imported(ast.parse(path.read_text("utf-8"))):
        if name.startswith("core.screens."):
            assert name.split(".")[2] == own, f"{path.name} imports {name}"


def modules() -> dict[str, Path]:
    """Every module of core by its dotted name."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(ROOT.glob("core/**/*.py"))
    }


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports for types count: who needs the other's types cannot be read without it."""
    known = modules()
    arrows = {
        name: {
            target
            for full in imported(ast.parse(path.read_text("utf-8")))
            for target in (full, full.rpartition(".")[0])
            if target in known and target != name and not name.startswith(f"{target}.")
        }
        for name, path in known.items()
    }
    sorter = graphlib.TopologicalSorter(arrows)
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_folder_has_at_most_fifteen_modules() -> None:
    folders = {path.parent for path in SOURCES}
    crowded = {
        folder.relative_to(ROOT).as_posix(): len(modules)
        for folder in folders
        if len(modules := list(folder.glob("*.py"))) > 15
    }
    assert crowded == {}


@pytest.mark.parametrize("path", sorted(ROOT.glob("core/model/**/*.py")), ids=lambda p: p.name)
def test_torch_and_transformers_are_imported_late(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    at_import = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    for node in at_import:
        names = imported(ast.Module([node], []))
        assert not any(name.split(".")[0] in {"torch", "transformers"} for name in names)


@pytest.mark.parametrize("path", sorted(ROOT.glob("pages/*.py")), ids=lambda path: path.name)
def test_a_page_is_a_flat_script_that_opens_itself_first(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") < 150
    tree = ast.parse(text)
    assert not any(
        isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
        for node in ast.walk(tree)
    )
    first_call = next(
        node
        for node in tree.body
        if isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Call)
    )
    assert ast.unparse(first_call) == f"open_page('{path.stem}')"


def test_modules_can_be_read_in_a_sitting() -> None:
    long = [path.name for path in SOURCES if path.read_text("utf-8").count("\n") > 400]
    assert long == []
