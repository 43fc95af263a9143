"""Headscope: what a transformer attends to, and how far to trust the picture."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

VERSION = "1.0.0"  # the newest in the changelog; files that people save carry it


def imported_late(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package (PEP 562) that imports each name when it is first asked for.

    `modules` are those of the package, each with its names, apart by spaces. For packages with many
    names, so that a page imports only what it shows.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def find(name: str) -> Any:  # noqa: ANN401 - whatever the package offers
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return find
