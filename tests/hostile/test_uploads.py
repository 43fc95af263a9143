"""Uploads to the real server are never on the disk."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core.corpus.decoding import MAX_BYTES
from core.screens.atlas.corpus import images
from core.ui.frame import image_row
from tests.hostile.uploader import visitor
from tests.server import ROOT, process_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psutil

pytestmark = pytest.mark.slow

MEGABYTE = 2**20


def temporary_files(process: psutil.Process) -> list[str]:
    """What a process has open below the folder of temporary files, without a name or with one.

    The checkout may lie there too: modules that are just being imported do not count.
    """
    folder = Path(f"/proc/{process.pid}/fd")
    names = [str(link.readlink()) for link in folder.iterdir() if link.is_symlink()]
    checkout = str(Path(__file__).parents[2])
    return [
        name
        for name in names
        if name.startswith(tempfile.gettempdir()) and not name.startswith(checkout)
    ]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc lists what a process opens")
def test_an_upload_is_never_written_to_the_disk(quiet_app: str) -> None:
    """Looked at when all but the end of 19 MB is sent: what is not received yet is in no buffer."""
    process = process_at(quiet_app)
    before = temporary_files(process)
    opened: list[str] = []

    def blocks(count: int) -> Iterator[bytes]:
        for _ in range(count - 1):
            yield bytes(MEGABYTE)
        opened.extend(temporary_files(process))
        yield bytes(MEGABYTE)

    with visitor(quiet_app) as one:
        assert one.put(blocks(19), 19 * MEGABYTE)[0] == 204
        assert one.put_megabytes(60)[0] == 413
    assert opened == before


def test_one_file_is_as_large_as_the_server_is_told() -> None:
    """As much as pages ask for: of a corpus, and of an image."""
    assert {MAX_BYTES, image_row.MAX_MB * MEGABYTE, images.MAX_MB * MEGABYTE} == {20 * MEGABYTE}
    assert "maxUploadSize = 20" in (ROOT / ".streamlit" / "config.toml").read_text()
