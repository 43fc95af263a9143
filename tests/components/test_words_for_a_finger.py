"""Words that reach a phone speak of pressing and pointing, which a finger can do as well."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OF_A_MOUSE = re.compile(r"\b(double-|shift-)?(click(s|ed|ing)?|hover(s|ed|ing)?)\b", re.IGNORECASE)
# What is in quotation marks, which comments and names of one word are not
QUOTED = re.compile(r'/\*.*?\*/|//[^\n]*|"((?:[^"\\\n]|\\.)*)"|`([^`]*)`', re.DOTALL)
# What a script says where there is a mouse, or in a file, which is opened on a desk
ELSEWHERE = re.compile(r'\b(mouse|file):\s*"[^"]*"')


def _texts(path: Path) -> Iterator[str]:
    source = path.read_text("utf-8")
    if path.suffix == ".js":
        yield from map(" ".join, QUOTED.findall(ELSEWHERE.sub("", source)))
    elif path.suffix == ".py":
        tree = ast.parse(source)
        described = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and node not in described:
                yield str(node.value)
    else:
        yield re.sub(r"{%.*?%}|^name = .*$", "", source, flags=re.MULTILINE)


@pytest.mark.parametrize("kind", ["js", "py", "md", "toml"])
def test_nobody_is_told_to_click_or_hover(kind: str) -> None:
    paths = [path for folder in ("core", "pages") for path in (ROOT / folder).rglob(f"*.{kind}")]
    assert paths
    sentences = {(path, text) for path in paths for text in _texts(path) if " " in text.strip()}
    assert {(path, text) for path, text in sentences if OF_A_MOUSE.search(text)} == set()
