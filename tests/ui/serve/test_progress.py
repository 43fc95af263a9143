"""A bar moves when it is told to, and between steps only now and then."""

from __future__ import annotations

import pytest

from core.ui.serve import progress


def test_a_bar_moves_between_steps_once_enough_time_has_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("core.ui.serve.progress.time.perf_counter", lambda: now)
    moved: list[tuple[float, str]] = []
    bar = progress.Bar(lambda share, words: moved.append((share, words)))
    bar.step(0.1, "too early")
    now = progress.UPDATE_SECONDS * 2
    bar.step(0.2, "in time")
    bar.step(0.3, "too early again")
    bar.show(1.5, "at once, and not beyond its end")
    assert moved == [(0.2, "in time"), (1.0, "at once, and not beyond its end")]
