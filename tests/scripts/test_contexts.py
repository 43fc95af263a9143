"""Which tokens of a context are shown."""

from __future__ import annotations

import pytest

from tests.scripts.conftest import Run, RunWith


@pytest.fixture(scope="module")
def run(run_with: RunWith) -> Run:
    return run_with("contexts/excerpt")


@pytest.mark.parametrize(
    ("size", "query", "key", "shown"),
    [
        (60, 5, 50, list(range(60))),
        (200, 100, 102, [-1, *range(86, 117), -1]),
        (200, 0, 199, [*range(15), -1, *range(185, 200)]),
        (61, 30, 29, [-1, *range(15, 45), -1]),
    ],
)
def test_a_long_sentence_is_cut_around_its_query_token_and_its_key(
    run: Run, size: int, query: int, key: int, shown: list[int]
) -> None:
    tokens = [f"t{i}" for i in range(size)]
    context = {"tokens": tokens, "query": query, "key": key, "number": 1}
    assert run("return excerptOf(context)", context=context) == shown
