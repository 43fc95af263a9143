"""Memory is counted before a model is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from safetensors.numpy import save_file

from core.model import load, memory
from core.model.catalog import bundled_folder
from core.model.checks.weights import count_weights
from core.model.errors import OutOfMemoryError

if TYPE_CHECKING:
    from pathlib import Path


def test_weights_are_counted_from_the_header_alone(tmp_path: Path) -> None:
    save_file({"a": np.zeros((3, 4), np.float16), "b": np.zeros(5)}, tmp_path / "m.safetensors")
    assert count_weights([tmp_path / "m.safetensors"]) == 17


def test_the_bundled_model_has_as_many_weights_as_its_file_says() -> None:
    assert count_weights([bundled_folder() / "model.safetensors"]) == pytest.approx(
        22_713_216, abs=1000
    )


def test_a_model_that_does_not_fit_is_refused_with_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 50_000_000)
    with pytest.raises(OutOfMemoryError, match=r"needs about 114 MB .* 50 MB are free"):
        load("bundled/minilm")


@pytest.mark.parametrize(
    ("error", "means_memory"),
    [
        (MemoryError(), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to"), True),
        (RuntimeError("CUDA out of memory. Tried to allocate"), True),
        (RuntimeError("shapes do not match"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_running_out_of_memory_is_recognised(error: Exception, means_memory: bool) -> None:
    assert memory.is_out_of_memory(error) is means_memory


def test_memory_that_runs_out_while_loading_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr("core.model.network.fill", fails)
    with pytest.raises(OutOfMemoryError, match="not enough memory to load 'bundled/minilm'"):
        load("bundled/minilm")
