"""Floors: a floor imports only floors below it. Read from the source, nothing is run."""

from __future__ import annotations

import ast
import graphlib
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.import_graph import (
    MODULES,
    ROOT,
    SOURCES,
    folders,
    import_graph,
    longest_chain,
    tangled,
    tree_of,
)

MAX_CHAIN = 18  # imports, one after the other
MAX_ASKING = 20  # lines
# Folders of a floor, each of which imports only those before it; "." are the floor's own modules.
ORDER = {
    "model": """
        . sample_images trace capture text image encoder_decoder proof running weights
        language interventions opening bundled
    """,
    "analysis": ". projections head_patterns anomalies query_key images effect",
    "atlas": ". engine command_line distributed",
    "ui": "words serve address cache controls frame .",
    "screens/atlas": "corpus . head",
}
# Which floors each floor may import from core; "trace" is core.model.trace alone.
# All may import core.vocabulary, which imports none.
_BELOW = {"ui", "components", "figures", "atlas", "analysis", "model", "trace", "corpus"}
MAY_IMPORT: dict[str, set[str]] = {
    "vocabulary": set(),
    "records": set(),
    "corpus": {"corpus"},
    "model": {"model", "corpus"},
    "analysis": {"analysis", "trace"},
    "atlas": {"atlas", "analysis", "trace"},
    "figures": {"figures", "atlas", "analysis", "trace"},
    "components": {"components", "atlas", "analysis", "trace"},
    "ui": {"ui", "components", "figures", "atlas", "analysis", "model", "trace"},
    "screens": {"screens", *_BELOW},
    "pages": {"screens", *_BELOW},
    "app": {"ui"},
    "command_line": {"atlas", "model", "analysis", "corpus"},  # of the atlas, on many machines too
    "core": {"atlas", "model", "analysis", "corpus"},  # command lines
}
LIBRARIES = {
    "streamlit": {"components", "ui", "screens", "pages", "app"},
    "plotly": {"figures"},
    "torch": {"model"},
    "transformers": {"model"},
    "tokenizers": {"model"},
    "huggingface_hub": {"model"},
    "ray": {"command_line"},
}


def floor_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    if parts[0] == "core":
        if parts[1] in ("vocabulary.py", "records.py"):
            return parts[1].removesuffix(".py")
        if parts[1:3] in (("atlas", "command_line"), ("atlas", "distributed")):
            return "command_line"
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


@cache
def imports() -> list[tuple[Path, str]]:
    return [(path, name) for path in SOURCES for name in imported(tree_of(path))]


def is_permitted(path: Path, name: str) -> bool:
    floor, (root, *rest) = floor_of(path), name.split(".")
    if root != "core":
        return floor in LIBRARIES.get(root, {floor})
    if name in {"core.VERSION", "core.imported_late"} or name.startswith("core.vocabulary."):
        return floor != "vocabulary"
    if name.startswith("core.records."):
        return floor not in {"vocabulary", "records"}
    is_trace = name.startswith("core.model.trace.") and floor != "model"
    return ("trace" if is_trace else rest[0]) in MAY_IMPORT[floor]


def test_a_floor_imports_only_floors_below_it() -> None:
    assert [(path, name) for path, name in imports() if not is_permitted(path, name)] == []


def test_the_vocabulary_imports_only_the_standard_library() -> None:
    names = {name.split(".")[0] for name in imported(tree_of(ROOT / "core" / "vocabulary.py"))}
    assert names <= sys.stdlib_module_names


def test_a_screen_imports_no_other_screen() -> None:
    screens = ROOT / "core" / "screens"
    assert [
        (path, name)
        for path, name in imports()
        if path.is_relative_to(screens)
        and name.startswith("core.screens.")
        and name.split(".")[2] != path.relative_to(screens).parts[0]
    ] == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports for types count: who needs the other's types cannot be read without it."""
    arrows = {
        name: {
            target
            for full in imported(tree_of(path))
            for target in (full, full.rpartition(".")[0])
            if target in MODULES and target != name and not name.startswith(f"{target}.")
        }
        for name, path in MODULES.items()
    }
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_chain_of_imports_is_longer_than_a_person_follows() -> None:
    chain = longest_chain(import_graph())
    assert len(chain) - 1 <= MAX_CHAIN, " -> ".join(chain)


def test_folders_of_a_floor_form_no_circle() -> None:
    assert tangled(folders(import_graph())) == set()


@pytest.mark.parametrize("floor", ORDER)
def test_folders_of_a_floor_have_an_order_and_import_only_those_before_them(floor: str) -> None:
    home, arrows = Path("core") / floor, folders(import_graph())
    order = [(home / name).as_posix() for name in ORDER[floor].split()]
    assert {folder for folder in arrows if Path(folder).is_relative_to(home)} == set(order)
    assert [
        (folder, target)
        for place, folder in enumerate(order)
        for target in arrows[folder] - set(order[:place])
    ] == []


# Most pages call `trace.input` and need not know what it is of.
ASKS_FOR_THE_MODALITY = re.compile(
    r"patches is (not )?None|modality(\(\))? [!=]= [\"']|input\.kind|isinstance\(.*Input\)"
)


def test_few_places_ask_whether_a_text_or_an_image_is_shown() -> None:
    asking = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in SOURCES
        if floor_of(path) != "model"
        for line in path.read_text("utf-8").splitlines()
        if ASKS_FOR_THE_MODALITY.search(line)
    ]
    assert len(asking) <= MAX_ASKING, "\n".join(asking)


def test_torch_and_transformers_are_imported_late() -> None:
    at_import = {
        (path, name)
        for path in ROOT.glob("core/model/**/*.py")
        for node in tree_of(path).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported(ast.Module([node], []))
    }
    needing = {path for path, name in at_import if name.split(".")[0] in {"torch", "transformers"}}
    late = {"capture/watching", "capture/outputs", "interventions/stream"}  # extend one of torch
    assert needing == {ROOT / f"core/model/{name}.py" for name in late}
    modules = [f"{name}.".replace("/", ".") for name in late]
    names = [name for path, name in at_import if path not in needing]
    assert not any(each in name for name in names for each in modules)


def test_every_cache_that_takes_arguments_has_a_bound() -> None:
    cached = [
        (path, node, ast.unparse(decorator))
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if "st.cache_" in ast.unparse(decorator)
    ]
    assert len(cached) > 20
    assert [
        (path, node.name)
        for path, node, decorator in cached
        if ast.unparse(node.args) and "max_entries=" not in decorator
    ] == []


def test_every_chart_says_what_it_shows_to_people_who_do_not_see_it() -> None:
    charts = [
        (path.name, node)
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in {"plotly_chart", "show_chart"}
    ]
    assert len(charts) > 10
    assert [
        f"{name}:{call.lineno}"
        for name, call in charts
        if "alt" not in {keyword.arg for keyword in call.keywords}
    ] == []


def test_ray_is_imported_where_a_cluster_is_asked_for_and_inside_of_functions() -> None:
    cluster = ROOT / "core" / "atlas" / "distributed"
    importing = {path for path, name in imports() if name.split(".")[0] == "ray"}
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
    assert ast.unparse(next(calls)).removeprefix("words = ") == f"open_page('{path.stem}')"
