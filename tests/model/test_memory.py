"""Free memory, in a container too, is compared with what a model needs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from core.model import load, memory
from core.model.errors import ModelError, OutOfMemoryError
from core.model.memory import container_bytes
from tests.model.test_refusal import failing

if TYPE_CHECKING:
    from pathlib import Path

MB = 10**6


@pytest.mark.parametrize(
    ("groups", "line", "free_mb"),
    [
        # (folder, limit, used, inactive file pages) of each group, in MB
        ([(".", 500, 200, 0)], "0::/", 300),
        ([(".", 500, 460, 400)], "0::/", 440),
        ([(".", None, 200, 0)], "0::/", None),
        # The tightest group counts, and a sibling does not.
        (
            [("pod/app", 900, 100, 0), ("pod", 400, 150, 0), ("other", 10, 10, 0)],
            "0::/pod/app",
            250,
        ),
        # In a container /proc names the host's path, and the mount is the container's own group.
        ([(".", 500, 200, 0)], "0::/docker/0123abc", 300),
        # A path that leaves the mount is not followed.
        ([(".", 500, 200, 0), ("../elsewhere", 1, 0, 0)], "0::/../elsewhere", 300),
        ([(".", 100, 120, 0)], "0::/", 0),
    ],
)
def test_the_tightest_group_around_a_process_leaves_its_limit_minus_what_is_used(
    groups: list[tuple[str, int | None, int, int]],
    line: str,
    free_mb: int | None,
    tmp_path: Path,
) -> None:
    mount, process = tmp_path / "cgroup", tmp_path / "proc-self-cgroup"
    process.write_text(f"1:cpu:/x\n{line}\n", "utf-8")
    for folder, limit, used, inactive in groups:
        group = mount / folder
        group.mkdir(parents=True, exist_ok=True)
        (group / "memory.max").write_text("max" if limit is None else f"{limit * MB}\n")
        (group / "memory.current").write_text(f"{used * MB}\n")
        (group / "memory.stat").write_text(f"anon 5\ninactive_file {inactive * MB}\nslab 7\n")
    expected = None if free_mb is None else free_mb * MB
    assert container_bytes(mount, process) == expected


def test_the_tightest_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=900 * MB))
    monkeypatch.setattr(memory, "container_bytes", lambda: 300 * MB)
    monkeypatch.setattr(memory, "_address_space_available", lambda: None)
    assert memory.available_bytes() == 300 * MB
    monkeypatch.setattr(memory, "_address_space_available", lambda: 100 * MB)
    assert memory.available_bytes() == 100 * MB


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
def test_running_out_of_memory_while_loading_is_recognised(
    error: Exception, means_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.model.running.network.fill", failing(error))
    with pytest.raises(ModelError) as caught:
        load("bundled/minilm")
    assert isinstance(caught.value, OutOfMemoryError) is means_memory
    assert ("not enough memory to load 'bundled/minilm'" in str(caught.value)) is means_memory
