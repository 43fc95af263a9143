"""Attacks in processes with little memory: files, pasted texts, searches, links and folders."""

from __future__ import annotations

from tests.hostile.child import run_attacks

KINDS = ("model_folders", "corpora", "links_to_models", "search")


def test_a_stranger_takes_little_memory_whatever_they_bring() -> None:
    """All kinds in one process, which imports torch once."""
    run_attacks(*(f"tests.hostile.attacks_on_{kind}" for kind in KINDS))
