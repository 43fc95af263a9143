"""How fine what a patch shows is, whatever its brightness."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.images.frequency import RADIUS, fine_shares

SIDE = 16


def cell(bright: np.ndarray) -> np.ndarray:
    """A grey patch of these values, 0 to 1: uint8 (1, side, side, 3)."""
    grey = np.rint(255 * np.broadcast_to(bright, (SIDE, SIDE))).astype(np.uint8)
    return np.repeat(grey[None, ..., None], 3, axis=3)


def waves(cycles: float, size: float = 0.2, mean: float = 0.5) -> np.ndarray:
    return mean + size * np.sin(2 * np.pi * cycles * (np.arange(SIDE) + 0.5) / SIDE)


def share(bright: np.ndarray) -> float:
    return float(fine_shares(cell(bright))[0])


def test_even_and_smoothly_shaded_patches_have_no_fine_power() -> None:
    assert share(np.full(SIDE, 0.3)) == 0
    assert share(np.linspace(0.2, 0.8, SIDE)) < 0.02
    assert share(np.linspace(0.2, 0.8, SIDE)[:, None]) < 0.02
    assert share(waves(1)) < 0.1


@pytest.mark.parametrize("cycles", [4, 5.5, 8])
def test_waves_beyond_the_radius_are_fine_in_any_direction_size_and_brightness(
    cycles: float,
) -> None:
    assert cycles > RADIUS + 1  # a window spreads a wave over its neighbours
    for bright in (
        waves(cycles),
        waves(cycles)[:, None],
        waves(cycles, size=0.1),
        waves(cycles, mean=0.7),
        (waves(cycles) + waves(cycles)[:, None]) / 2,
    ):
        assert share(bright) > 0.9


def test_one_step_of_rounding_is_no_texture() -> None:
    draw = np.random.default_rng(0)
    assert share(0.5 + draw.integers(0, 2, (SIDE, SIDE)) / 255) < 0.3
    assert share(0.5 + draw.integers(0, 2, (SIDE, SIDE)) / 10) > 0.8


def test_many_patches_are_each_what_they_are_alone() -> None:
    cells = np.random.default_rng(1).integers(0, 256, (700, 4, 4, 3), dtype=np.uint8)
    alone = [fine_shares(cells[place : place + 1])[0] for place in (0, 511, 512, 699)]
    np.testing.assert_allclose(fine_shares(cells)[[0, 511, 512, 699]], alone)
    assert len(fine_shares(cells[:0])) == 0
