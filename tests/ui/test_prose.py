"""Every text of a screen has its fields filled, and is used; what people typed is quoted."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from jinja2 import UndefinedError, meta, nodes

from core.ui.words.messages import escape, quote
from core.ui.words.prose import Prose, environment
from tests.import_graph import SOURCES, tree_of

CORE = Path(__file__).parents[2] / "core"
FILES = sorted(CORE.glob("[su]*/**/words*.md"))
assert len(FILES) > 5


@cache
def blocks(path: Path) -> dict[str, set[str]]:
    """The blocks of a file, and the fields of each."""
    parsed = environment().parse(path.read_text("utf-8"))
    found = {}
    for block in parsed.find_all(nodes.Block):
        body = nodes.Template(block.body)
        body.set_environment(environment())
        found[block.name] = set(meta.find_undeclared_variables(body))
    return found


class Value(float):
    """A number for a field, also of those that hold several."""

    def __getitem__(self, index: int) -> float:
        return float(self)


def names_in(expression: ast.expr) -> Iterator[str]:
    """The blocks that a call may name: it says them, or picks one of two."""
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        yield expression.value
    elif isinstance(expression, ast.IfExp):
        yield from names_in(expression.body)
        yield from names_in(expression.orelse)
    else:
        raise TypeError(f"line {expression.lineno}: a block's name must be written out")


def calls(module: Path) -> Iterator[tuple[Path, str, set[str]]]:
    """Of each call in a module: the file, the block, the fields it fills."""
    files: dict[str, Path] = {}
    for node in ast.walk(tree_of(module)):
        match node:
            case ast.Assign([ast.Name(target)], ast.Call(ast.Name("open_page"), [name])):
                files[target] = CORE / "screens" / ast.literal_eval(name) / "words.md"
            case ast.Assign([ast.Name(target)], ast.Call(ast.Name("Prose"), [_, *names])):
                file = ast.literal_eval(names[0]) if names else "words.md"
                files[target] = module.with_name(file)
    for node in ast.walk(tree_of(module)):
        match node:
            case ast.Call(ast.Name(called), [block, *_], keywords) if called in files:
                for each in names_in(block):
                    yield files[called], each, {str(keyword.arg) for keyword in keywords}


@cache
def all_calls() -> list[tuple[Path, str, set[str]]]:
    return [call for module in SOURCES for call in calls(module)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_every_text_is_shown_somewhere_with_all_its_fields_and_no_other(path: Path) -> None:
    filled = defaultdict[str, list[set[str]]](list)
    for file, block, fields in all_calls():
        if file == path:
            filled[block].append(fields)
    if path.parent.parent.name == "screens" and blocks(path).get("mathematics") == set():
        filled["mathematics"] = [set()]  # the end of every page shows it
    assert set(filled) == set(blocks(path))
    prose = Prose(str(path), path.name)
    for block, fields in blocks(path).items():
        assert all(each == fields for each in filled[block]), block
        text = prose(block, **dict.fromkeys(fields, Value(0.5)))
        assert text.strip() == text != ""
        if fields:
            with pytest.raises((UndefinedError, TypeError)):
                prose(block)


def test_one_paragraph_is_one_line_and_a_number_has_a_true_minus_sign(tmp_path: Path) -> None:
    text = (
        "{% block one %}\nA sentence of\n{{ value|number }} lines.\n{% endblock %}\n"
        "{% block two %}\nOne\nparagraph.\n\nAnother.\n{% endblock %}\n"
    )
    (tmp_path / "words.md").write_text(text)
    prose = Prose(str(tmp_path / "module.py"))
    assert prose("one", value=-0.123) == "A sentence of −0.12 lines."
    assert prose("two") == "One\nparagraph.\n\nAnother."
    with pytest.raises(KeyError):
        prose("three")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`", "`` ` ``"),
        ("a``b", "``` a``b ```"),
        ("![](http://a.b/c.png)", "`![](http://a.b/c.png)`"),
        ("$x$ :red[x]", "`$x$ :red[x]`"),
        ("a\n\n# b", "`a # b`"),
        ("", "` `"),
    ],
)
def test_a_quote_is_inline_code_that_ends_where_it_should(text: str, shown: str) -> None:
    assert quote(text) == shown
    assert len(quote("x" * 500)) < 70


def test_escaped_text_has_no_bare_markdown_character() -> None:
    assert escape("**a** [b](c) $d$ :red[e]") == (r"\*\*a\*\* \[b\]\(c\) \$d\$ \:red\[e\]")
