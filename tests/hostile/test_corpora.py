"""No file and no pasted text takes the server down."""

from __future__ import annotations

import pytest

from tests.hostile.child import run_limited

# Several in one child: to import torch takes longer than all of them together.
ATTACKS = ("long_texts", "tiny_texts", "tables", "json_lines", "nobody_waits_for_a_large_file")


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_corpus_takes_little_memory_however_it_is_made(attack: str) -> None:
    run_limited(f"tests.hostile.attacks_on_corpora:{attack}")
