"""Temporary folders: what a killed process leaves is removed, what another uses is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from core.model.checks import temporary
from core.model.checks.temporary import clear_left_folders, temporary_folder

if TYPE_CHECKING:
    from pathlib import Path

HOLD = """
from core.model.checks.temporary import temporary_folder
with temporary_folder() as folder:
    (folder / "vocab.txt").write_text("a")
    print(folder.name, flush=True)
    input()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a killed process leaves no lock to look at")
def test_the_folder_of_a_killed_load_goes_at_the_next_start(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        folder = tmp_path / process.stdout.readline().strip()
        clear_left_folders(tmp_path)
        assert (folder / "vocab.txt").exists()  # it is in use
        process.send_signal(signal.SIGKILL)
    assert (folder / "vocab.txt").exists()
    clear_left_folders(tmp_path)
    assert not folder.exists()


def test_the_first_folder_of_a_process_clears_what_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "headscope-load-left"
    left.mkdir()
    (left / ".in-use").touch()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    temporary._clear_once.cache_clear()
    with temporary_folder() as folder:
        assert list(tmp_path.iterdir()) == [folder]
    assert list(tmp_path.iterdir()) == []


def test_nothing_else_is_removed(tmp_path: Path) -> None:
    """A link, a file and a new folder stay; one that was never locked goes by its age."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "headscope-load-link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "headscope-load-file").touch()
    (tmp_path / "headscope-load-new").mkdir()
    (tmp_path / "headscope-load-old").mkdir()
    os.utime(tmp_path / "headscope-load-old", (1, 1))
    clear_left_folders(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["elsewhere", *(f"headscope-load-{name}" for name in ("file", "link", "new"))]
