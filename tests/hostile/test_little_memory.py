"""Attacks in processes with little memory: files, texts, searches, links, folders, pictures."""

from __future__ import annotations

import pytest

from tests.hostile.child import run_attacks

pytestmark = pytest.mark.slow

KINDS = ("model_folders", "corpora", "links_to_models", "search")


def test_a_stranger_takes_little_memory_whatever_they_bring() -> None:
    """All kinds in one process, which imports torch once."""
    run_attacks(*(f"tests.hostile.attacks_on_{kind}" for kind in KINDS))


def test_a_picture_takes_little_memory_however_large_it_claims_to_be() -> None:
    """In a process of their own, which needs no torch."""
    run_attacks("tests.hostile.attacks_on_pictures")
