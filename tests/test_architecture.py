"""Floors: a floor imports only floors below it. Read from the source, nothing is run."""

from __future__ import annotations

import ast
import graphlib
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.import_graph import MODULES, ROOT, SOURCES, folders, import_graph, longest_chain, tree_of

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
    "ui": "words serve address cache controls frame . lessons",
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
    **{key: {"model"} for key in ("torch", "transformers", "tokenizers", "huggingface_hub")},
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


def imported_with(path: Path) -> list[str]:
    """What a module imports as it is imported itself."""
    plain = (node for node in tree_of(path).body if isinstance(node, ast.Import | ast.ImportFrom))
    return [name for node in plain for name in imported(node)]


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


def test_a_floor_imports_only_floors_below_it_and_a_screen_no_other_screen() -> None:
    """The vocabulary imports only the standard library."""
    names = {name.split(".")[0] for name in imported(tree_of(ROOT / "core" / "vocabulary.py"))}
    assert names <= sys.stdlib_module_names
    assert [(path, name) for path, name in imports() if not is_permitted(path, name)] == []
    screens = ROOT / "core" / "screens"
    assert [
        (path, name)
        for path, name in imports()
        if path.is_relative_to(screens)
        and name.startswith("core.screens.")
        and name.split(".")[2] != path.relative_to(screens).parts[0]
    ] == []


def test_nothing_imports_itself_by_way_of_others_and_no_chain_is_longer_than_one_follows() -> None:
    """Imports for types count: who needs the other's types cannot be read without it."""
    modules = {
        name: {
            target
            for full in imported(tree_of(path))
            for target in (full, full.rpartition(".")[0])
            if target in MODULES and target != name and not name.startswith(f"{target}.")
        }
        for name, path in MODULES.items()
    }
    for arrows in (modules, folders(import_graph())):
        try:
            graphlib.TopologicalSorter(arrows).prepare()
        except graphlib.CycleError as error:
            pytest.fail(" -> ".join(error.args[1]))
    chain = longest_chain(import_graph())
    assert len(chain) - 1 <= MAX_CHAIN, " -> ".join(chain)


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


def test_torch_and_transformers_are_imported_late_and_ray_by_its_folder_alone() -> None:
    of_model = {path: imported_with(path) for path in ROOT.glob("core/model/**/*.py")}
    heavy = re.compile(r"(torch|transformers)\b")
    needing = {path for path, names in of_model.items() if any(map(heavy.match, names))}
    late = {"capture/watching", "capture/outputs", "interventions/stream"}  # extend one of torch
    assert needing == {ROOT / f"core/model/{name}.py" for name in late}
    of_late = re.compile("|".join(f"{name}.".replace("/", "[.]") for name in late))
    others = [name for path, names in of_model.items() if path not in needing for name in names]
    assert not any(map(of_late.search, others))
    of_ray = {path for path, name in imports() if name.split(".")[0] == "ray"}
    assert {path.parent for path in of_ray} == {ROOT / "core" / "atlas" / "distributed"}
    assert "ray" not in {name.split(".")[0] for path in of_ray for name in imported_with(path)}


def test_every_cache_has_a_bound_and_every_chart_words_for_those_who_do_not_see_it() -> None:
    nodes = [(path, node) for path in SOURCES for node in ast.walk(tree_of(path))]
    caches = [
        (path, node, ast.unparse(decorator))
        for path, node in nodes
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if "st.cache_" in ast.unparse(decorator)
    ]
    charts = [
        (path, node)
        for path, node in nodes
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in {"plotly_chart", "show_chart"}
    ]
    assert min(len(caches), len(charts)) > 10
    for path, function, decorator in caches:
        assert "max_entries=" in decorator or not ast.unparse(function.args), (path, function.name)
    for path, call in charts:
        assert "alt" in {keyword.arg for keyword in call.keywords}, (path, call.lineno)


@pytest.mark.parametrize("path", sorted(ROOT.glob("pages/*.py")), ids=lambda path: path.name)
def test_a_page_is_a_flat_script_that_opens_itself_first(path: Path) -> None:
    tree = tree_of(path)
    assert path.read_text("utf-8").count("\n") < 150
    assert not any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in ast.walk(tree))
    calls = (each.value for each in tree.body if isinstance(each, ast.Expr | ast.Assign))
    first = next(call for call in calls if isinstance(call, ast.Call))
    assert ast.unparse(first) == f"open_page('{path.stem}')"
