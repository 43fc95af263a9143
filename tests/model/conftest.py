"""Tests of models run on one core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="package", autouse=True)
def _one_core_a_model() -> Iterator[None]:
    """Tiny matrices gain nothing from several cores and lose much where others use them."""
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(usual)
