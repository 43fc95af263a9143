"""A disk that fills up while an atlas is built: said, whatever was being written."""

from __future__ import annotations

import errno
import json
import subprocess
from argparse import Namespace
from typing import TYPE_CHECKING

import pytest

from core import atlas_build
from core.atlas import open_large
from core.atlas.whole_file import write_whole
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import FolderOf

DISK_KB = 4096
PAGE = 4096  # bytes, in which a disk in memory is given out
TEXTS = SENTENCES * 4


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB, in memory; only root may have one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_KB}k", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def pages_taken(disk: Path) -> int:
    return sum(-(-path.stat().st_size // PAGE) for path in disk.rglob("*") if path.is_file())


def test_a_part_on_a_full_disk_is_the_systems_own_error_and_leaves_nothing(disk: Path) -> None:
    with pytest.raises(OSError, match="No space left") as full:
        write_whole(disk / "part", bytes(DISK_KB * 1024 + 1))
    assert full.value.errno == errno.ENOSPC
    assert list(disk.iterdir()) == []


@pytest.mark.nightly
def test_wherever_the_disk_fills_up_it_is_said_and_the_same_command_goes_on(
    disk: Path,
    folder_of: FolderOf,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Room for so many pages and no more: first for the parts, which stay, then for the file."""
    corpus, out, filler = tmp_path / "lines.jsonl", disk / "atlas.atlas", disk / "filler"
    corpus.write_text("\n".join(json.dumps({"text": text}) for text in TEXTS), "utf-8")
    usage = Namespace(free=10**9)  # as when another program takes the room meanwhile
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    monkeypatch.setattr("os.fsync", lambda _: None)  # which takes long on a busy machine
    given = ["--model", str(folder_of("bert")), "--corpus", str(corpus), "--out", str(out)]
    given += ["--batch-tokens", "200", "--part-tokens", "400"]
    failed = []
    for room in (0, 5, 20, 60, 0, 10, 60, 100, 400):
        filler.write_bytes(bytes(DISK_KB * 1024 - (pages_taken(disk) + room) * PAGE - PAGE))
        status = atlas_build.main(given)
        said = capsys.readouterr().err.strip().splitlines()
        if status == 0:
            break
        failed.append(room)
        assert said[-1].startswith("error: The disk is full.")
        assert not out.exists()
        filler.unlink()
    assert len(failed) > 5
    assert open_large(out).facts.sentences == len(TEXTS)
