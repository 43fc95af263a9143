"""Calls written as Python."""

from __future__ import annotations

import operator
from pathlib import Path

import numpy as np
import pytest

from core.analysis.normalization import key_translation
from core.analysis.query_key.layer_search import SearchRange, search_layer
from core.model import load, trace_text
from core.ui import python
from core.ui.python.writing import to_python
from core.ui.words.messages import quote


def written(*lines: tuple[str, object, python.Call | python.Each]) -> str:
    with python.recording():
        for name, result, expression in lines:
            python.made(name, result, expression)
        return to_python(python.kept())


def test_what_is_imported_comes_from_where_it_is_public() -> None:
    code = written(
        ("model", None, python.call(load, "bundled/minilm")),
        ("trace", None, python.call(trace_text, python.MODEL, "Hi.")),
    )
    assert code == (
        "from core.model import load, trace_text\n\n"
        'model = load("bundled/minilm")\n'
        'trace = trace_text(model, "Hi.")\n'
    )


def test_arguments_that_are_the_default_are_left_out() -> None:
    usual = python.call(search_layer, python.TRACE, 3, SearchRange())
    assert "search_layer(trace, 3)\n" in written(("search", None, usual))
    wide = python.call(search_layer, python.TRACE, 3, SearchRange(a=1.0))
    code = written(("search", None, wide))
    assert "search_layer(trace, 3, ranges=SearchRange(a=1.0))" in code
    assert "from core.analysis.query_key.layer_search import SearchRange, search_layer" in code


def test_a_result_is_written_as_the_variable_that_holds_it() -> None:
    stages = {"raw": (np.zeros(2), np.ones(2))}
    (queries, keys) = stages["raw"]
    code = written(
        ("stages", stages, python.call(dict)),
        ("vectors", stages["raw"], python.call(operator.getitem, stages, "raw")),
        ("a", None, python.call(key_translation, queries, keys)),
        ("rest", None, python.call(operator.getitem, queries, (..., slice(1, None)))),
        ("third", None, python.call(operator.getitem, queries, (slice(None, 9, 3), slice(4)))),
    )
    assert 'vectors = stages["raw"]' in code
    assert "a = key_translation(vectors[0], vectors[1])" in code
    assert "rest = vectors[0][..., 1:]" in code
    assert "third = vectors[0][:9:3, :4]" in code


def test_methods_attributes_and_loops() -> None:
    each = python.each_of("name", range(2), lambda name: python.call(Path, name), lazy=True)
    read = python.call(Path.read_text, python.call(Path, "a.txt"), encoding="utf-8")
    code = written(
        ("paths", None, each),
        ("text", None, read),
        ("parent", None, python.call(getattr, python.call(Path, "a"), "parent")),
    )
    assert "paths = (Path(name) for name in range(0, 2))" in code
    assert 'text = Path("a.txt").read_text(encoding="utf-8")' in code
    assert 'parent = Path("a").parent' in code


def test_an_array_that_no_line_gives_is_refused() -> None:
    with pytest.raises(TypeError, match="no line gives this ndarray"):
        written(("a", None, python.call(key_translation, np.zeros(2), np.zeros(2))))


def test_only_what_a_notebook_can_call_is_written() -> None:
    with pytest.raises(TypeError, match="a notebook cannot call"):
        written(("a", None, python.call(quote, "it")))


@pytest.mark.parametrize("text", ['"', "'", "\"'", "\\", "a\nb", "\N{BELL}", "\ud800", "{x}"])
def test_any_text_is_written_as_itself(text: str) -> None:
    code = written(("text", None, python.call(str, text)))
    names: dict[str, object] = {}
    exec(code, names)  # noqa: S102 - it is what is tested
    assert names["text"] == text


def test_nothing_is_kept_outside_of_a_page() -> None:
    assert python.shown("total", sum, [1, 2]) == 3
    assert python.kept() == []
