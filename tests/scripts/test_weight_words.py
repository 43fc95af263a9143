"""How scripts write numbers: as the rest does."""

from __future__ import annotations

from core.vocabulary import percent
from tests.scripts.conftest import RunWith

SHARES = (0, 4e-4, 0.001, 0.004, 0.05, 0.0695, 0.099, 0.4312, 0.6, 0.99, 0.994, 0.9995, 1)


def test_a_share_is_written_as_in_sentences(run_with: RunWith) -> None:
    run = run_with("shared/weight_words")
    assert run("return shares.map(percent)", shares=SHARES) == list(map(percent, SHARES))
