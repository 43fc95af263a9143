"""The command with --ray says what stops it; Ray is needed by nothing else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core import atlas_build
from core.atlas.distributed.session import LOCAL, ClusterError, Workers, joined

if TYPE_CHECKING:
    from tests.conftest import FolderOf


def command(folder_of: FolderOf, corpus: Path, out: Path, *more: str) -> list[str]:
    given = ["--model", str(folder_of("bert")), "--corpus", str(corpus), "--out", str(out)]
    return [*given, "--part-tokens", "100", *more]


def test_without_ray_the_command_says_what_to_install(
    folder_of: FolderOf,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "a.txt").write_text("It rains.")
    given = command(folder_of, tmp_path / "a.txt", tmp_path / "a.atlas", "--ray", "local")
    assert atlas_build.main(given) == 2
    assert "pip install -r core/atlas/distributed/requirements.txt" in capsys.readouterr().err


@pytest.mark.nightly
def test_a_cluster_that_is_not_there_is_told_in_one_line(
    folder_of: FolderOf,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("ray", reason="Ray is optional, and not installed here")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))  # where a running cluster leaves its address
    (tmp_path / "a.txt").write_text("It rains.")
    for address, words in (
        ("auto", "`ray start` has not been given"),
        ("127.0.0.1:9", "No Ray at 127.0.0.1:9"),
        ("ray://head:10001", "ray job submit"),
    ):
        given = command(folder_of, tmp_path / "a.txt", tmp_path / "a.atlas", "--ray", address)
        assert atlas_build.main(given) == 2
        (line,) = [one for one in capsys.readouterr().err.splitlines() if one.startswith("error")]
        assert words in line


@pytest.mark.nightly
def test_a_cluster_that_ended_without_a_word_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="Ray is optional, and not installed here")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text("127.0.0.1:9\n")
    with pytest.raises(ClusterError, match=r"No Ray at auto: .*refused"), joined("auto"):
        pass


@pytest.mark.nightly
def test_a_worker_that_asks_for_more_cores_than_there_are_does_not_wait_for_ever() -> None:
    pytest.importorskip("ray", reason="Ray is optional, and not installed here")
    with joined(LOCAL, cores=1_000) as workers:
        assert workers == Workers(1, 1_000, 0)
