"""Uploads to the real server: never on the disk, few, not more than it holds."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core.ui.serve.uploads import MAX_FILES
from tests.hostile.uploader import Visitor, visitor
from tests.server import process_at

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
def test_an_upload_is_never_written_to_the_disk_and_takes_the_place_of_older_ones(
    quiet_app: str,
) -> None:
    """Looked at when all but the end of 19 MB is sent: what is not received yet is in no buffer.

    Of 14 more such files, which are 266 MB, four stay, and one is arriving, twice.
    """
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
        assert one.put([b"a"], 1, "a\0.txt")[0] == 400  # it would end every run of the page
        taken = process.memory_info().rss
        assert [one.put_megabytes(19)[0] for _ in range(14)] == [204] * 14
        grown = process.memory_info().rss - taken
        assert all(one.put([b"a"], 1)[0] == 204 for _ in range(MAX_FILES))
        # The large ones have gone for them, and the next visitors have room.
    assert opened == before
    assert grown < 230 * MEGABYTE  # 95 of files, and what the app loads after its first page


def test_uploads_under_way_in_number_are_refused(quiet_app: str) -> None:
    """Seven of 19 MB at once, each held back before its end, on a server that holds 100."""
    held: list[int] = []

    def blocks(others: list[Visitor]) -> Iterator[bytes]:
        yield from [bytes(MEGABYTE)] * 18
        if others:
            held.append(others[0].put(blocks(others[1:]), 19 * MEGABYTE)[0])
        yield bytes(MEGABYTE)

    with visitor(quiet_app) as one, visitor(quiet_app) as two, visitor(quiet_app) as three:
        assert one.put(blocks([two, three] * 3), 19 * MEGABYTE)[0] == 204
    assert held == [507, 507, *[204] * 4]
