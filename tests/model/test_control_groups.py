"""What a container leaves of its memory, read from fake trees of both versions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from core.model.machine import control_groups, memory
from core.model.machine.control_groups import available_bytes, own_groups

if TYPE_CHECKING:
    from pathlib import Path

MB = 10**6
NO_LIMIT_V1 = 9_223_372_036_854_771_712


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    return tmp_path / "cgroup"


def member_of(tmp_path: Path, *lines: str) -> Path:
    file = tmp_path / "proc-self-cgroup"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return file


def v1(folder: Path, limit: int, used: int, cache: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.limit_in_bytes").write_text(f"{limit}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"cache 5\ntotal_inactive_file {cache}\nrss 7\n")


def v2(folder: Path, limit: int | str, used: int, cache: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 5\ninactive_file {cache}\nactive_file 7\n")


def test_version_1_leaves_the_limit_less_what_is_used(groups: Path, tmp_path: Path) -> None:
    v1(groups / "memory", 500 * MB, 200 * MB)
    assert available_bytes(groups, member_of(tmp_path, "4:memory:/")) == 300 * MB


def test_version_2_leaves_the_limit_less_what_is_used(groups: Path, tmp_path: Path) -> None:
    v2(groups, 500 * MB, 200 * MB)
    assert available_bytes(groups, member_of(tmp_path, "0::/")) == 300 * MB


def test_pages_of_files_that_nobody_uses_are_free_in_both_versions(
    groups: Path, tmp_path: Path
) -> None:
    v1(groups / "memory", 500 * MB, 450 * MB, cache=400 * MB)
    assert available_bytes(groups, member_of(tmp_path, "4:memory:/")) == 450 * MB
    v2(groups, 500 * MB, 460 * MB, cache=400 * MB)
    assert available_bytes(groups, member_of(tmp_path, "4:memory:/", "0::/")) == 440 * MB


def test_no_limit_is_a_huge_number_in_version_1_and_a_word_in_version_2(
    groups: Path, tmp_path: Path
) -> None:
    v1(groups / "memory", NO_LIMIT_V1, 200 * MB)
    v2(groups, "max", 200 * MB)
    assert available_bytes(groups, member_of(tmp_path, "4:memory:/", "0::/")) is None


@pytest.mark.parametrize("version", [1, 2])
def test_the_tightest_of_the_groups_around_a_process_counts(
    version: int, groups: Path, tmp_path: Path
) -> None:
    make, top = (v1, groups / "memory") if version == 1 else (v2, groups)
    make(top / "pod" / "app", 900 * MB, 100 * MB)
    make(top / "pod", 400 * MB, 150 * MB)
    make(top / "another", 10 * MB, 10 * MB)
    line = "4:cpu,memory:/pod/app" if version == 1 else "0::/pod/app"
    assert available_bytes(groups, member_of(tmp_path, line)) == 250 * MB


def test_a_group_that_is_seen_as_the_mount_itself_is_read(groups: Path, tmp_path: Path) -> None:
    """In a container /proc names the host's path, and the mount is the container's own group."""
    v1(groups / "memory", 500 * MB, 200 * MB)
    member = member_of(tmp_path, "4:memory:/docker/0123abc", "3:cpu:/docker/0123abc")
    assert available_bytes(groups, member) == 300 * MB


def test_version_2_beside_version_1_is_read_from_its_own_mount(
    groups: Path, tmp_path: Path
) -> None:
    v2(groups / "unified" / "app", 300 * MB, 100 * MB)
    v1(groups / "memory", NO_LIMIT_V1, 0)
    assert available_bytes(groups, member_of(tmp_path, "1:memory:/", "0::/app")) == 200 * MB


def test_a_path_that_leaves_the_mount_is_not_followed(groups: Path, tmp_path: Path) -> None:
    v2(groups, 500 * MB, 200 * MB)
    v2(tmp_path / "elsewhere", 1 * MB, 0)
    assert available_bytes(groups, member_of(tmp_path, "0::/../elsewhere")) == 300 * MB


def test_more_used_than_allowed_leaves_nothing(groups: Path, tmp_path: Path) -> None:
    v2(groups, 100 * MB, 120 * MB)
    assert available_bytes(groups, member_of(tmp_path, "0::/")) == 0


def test_files_that_cannot_be_understood_are_no_limit(groups: Path, tmp_path: Path) -> None:
    v2(groups, "??", 1)
    assert available_bytes(groups, member_of(tmp_path, "0::/")) is None
    assert available_bytes(groups, tmp_path / "gone") is None


def test_a_process_is_in_one_group_of_each_version() -> None:
    assert own_groups("12:cpu,cpuacct:/a\n5:memory:/b/c\n0::/d:e\n") == ("/b/c", "/d:e")
    assert own_groups("") == ("", "")


def test_the_tightest_limit_of_the_system_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=900 * MB))
    monkeypatch.setattr(control_groups, "available_bytes", lambda: 300 * MB)
    monkeypatch.setattr(memory, "_address_space_available", lambda: None)
    assert memory.available_bytes() == 300 * MB
