"""Attacks in a child with little memory: files, pasted texts, searches, links and folders."""

from __future__ import annotations

import pytest

from tests.hostile.child import run_limited

SEARCH_MB = 60  # the expression's own limit is 2 MB; the rest is Python's


@pytest.mark.parametrize(
    ("attack", "extra_mb"),
    [
        ("attacks_on_corpora:long_texts", 200),
        ("attacks_on_corpora:tiny_texts", 200),
        ("attacks_on_corpora:tables", 200),
        ("attacks_on_corpora:json_lines", 200),
        ("attacks_on_corpora:nobody_waits_for_a_large_file", 200),
        ("attacks_on_links_to_models:name_a_model_in_every_way", 200),
        ("attacks_on_search:ask_in_every_way", SEARCH_MB),
        ("attacks_on_model_folders:take_the_memory_in_every_way", 200),
    ],
)
def test_a_stranger_takes_little_memory_whatever_they_bring(attack: str, extra_mb: int) -> None:
    run_limited(f"tests.hostile.{attack}", extra_mb=extra_mb)
