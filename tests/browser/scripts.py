"""Functions of the components' scripts, for tests that run them in a page of their own."""

from __future__ import annotations

from core.components.scripts import ROOT, constant, ordered, scoped


def as_globals(*scripts: str) -> str:
    """A script that makes global what these scripts, such as "shared/scales", export."""
    paths = [ROOT / f"{script}.js" for script in scripts]
    modules = dict.fromkeys(each for path in paths for each in ordered(path))
    exports = ", ".join(map(constant, paths))
    return "\n".join([*map(scoped, modules), f"Object.assign(globalThis, {exports})"])
