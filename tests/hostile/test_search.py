"""The search under attack, with little memory."""

from __future__ import annotations

import pytest

from tests.hostile.child import run_limited

EXTRA_MB = 60  # the expression's own limit is 2 MB; the rest is Python's


@pytest.mark.parametrize("attack", ["expressions", "many_expressions", "phrases"])
def test_a_search_takes_little_memory_whatever_is_asked_for(attack: str) -> None:
    run_limited(f"tests.hostile.attacks_on_search:{attack}", extra_mb=EXTRA_MB)


def test_a_link_with_a_recursive_expression_takes_little_memory() -> None:
    run_limited("tests.hostile.attacks_on_search_page:link")
