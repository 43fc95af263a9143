"""Every chart says what it shows to people who do not see it."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]


def calls(path: Path, names: set[str]) -> list[ast.Call]:
    """Every call of a function or method of these names in a file."""
    return [
        node
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and names & {getattr(node.func, "attr", ""), getattr(node.func, "id", "")}
    ]


def test_every_chart_has_a_name() -> None:
    files = [path for folder in ("core", "pages") for path in (ROOT / folder).rglob("*.py")]
    charts = [
        (path.name, call) for path in files for call in calls(path, {"plotly_chart", "show_chart"})
    ]
    assert len(charts) > 10
    unnamed = [
        f"{name}:{call.lineno}"
        for name, call in charts
        if "alt" not in {keyword.arg for keyword in call.keywords}
    ]
    assert unnamed == []
