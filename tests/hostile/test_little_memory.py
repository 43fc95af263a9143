"""Attacks in processes with little memory: files, pasted texts, searches, links and folders."""

from __future__ import annotations

import pytest

from tests.hostile.child import run_attacks


@pytest.mark.parametrize("kind", ["corpora", "links_to_models", "search", "model_folders"])
def test_a_stranger_takes_little_memory_whatever_they_bring(kind: str) -> None:
    run_attacks(f"tests.hostile.attacks_on_{kind}")
