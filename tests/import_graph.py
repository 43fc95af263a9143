"""Which of our modules each imports as it is imported itself, read from the source."""

from __future__ import annotations

import ast
import functools
import graphlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = [ROOT / "app.py", *sorted(ROOT.glob("pages/*.py")), *sorted(ROOT.glob("core/**/*.py"))]
Graph = Mapping[str, set[str]]


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for path in SOURCES}


def at_import(body: Iterable[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Import statements that run with the module: not those in functions, nor for types alone."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from at_import(node.orelse)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            for part in ("body", "orelse", "handlers", "finalbody"):
                yield from at_import(getattr(node, part, ()))


@functools.cache
def late_names(module: str) -> dict[str, str]:
    """Where the names stand that a package imports when it is asked for them."""
    return {
        alias.name: node.module or ""
        for block in tree_of(MODULES[module]).body
        if isinstance(block, ast.If) and MODULES[module].name == "__init__.py"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def ours(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The modules of ours that a statement imports, by way of faces that import late too."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in MODULES)
    elif node.module in MODULES:
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            late = late_names(node.module).get(alias.name, "")
            yield next((name for name in (full, late) if name in MODULES), node.module)


@functools.cache
def import_graph() -> Graph:
    return {
        name: {target for node in at_import(tree_of(path).body) for target in ours(node)} - {name}
        for name, path in MODULES.items()
    }


def longest_chain(graph: Graph) -> list[str]:
    """Modules of which each imports the next one; an import fewer than modules."""
    chains: dict[str, list[str]] = {}
    for name in graphlib.TopologicalSorter(graph).static_order():
        below = max((chains[target] for target in graph[name]), key=len, default=[])
        chains[name] = [name, *below]
    return max(chains.values(), key=len)


def folders(graph: Graph) -> dict[str, set[str]]:
    """Which folders of its own floor each folder imports, by their paths below the root."""
    arrows: dict[str, set[str]] = {}
    for name, targets in graph.items():
        start = MODULES[name].relative_to(ROOT).parent
        ends = {MODULES[target].relative_to(ROOT).parent for target in targets}
        arrows.setdefault(start.as_posix(), set()).update(
            end.as_posix() for end in ends - {start} if end.parts[:2] == start.parts[:2]
        )
    return arrows
