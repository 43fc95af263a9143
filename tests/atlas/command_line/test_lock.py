"""Two commands for one atlas: the second is refused at once, and a killed one blocks nobody."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.atlas.command_line.output import locked
from core.atlas.command_line.terminal import BuildError

ROOT = Path(__file__).parents[3]
HOLD = """
import sys
from pathlib import Path
from core.atlas.command_line.output import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_until_the_first_is_done_or_dead(tmp_path: Path) -> None:
    folder = tmp_path / "atlas.partial"
    for kill in (False, True):
        with subprocess.Popen(
            [sys.executable, "-c", HOLD, str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as other:
            assert other.stdout is not None
            assert other.stdin is not None
            assert other.stdout.readline() == b"held\n"
            with pytest.raises(BuildError, match="Another command is writing"), locked(folder):
                pass
            if kill:
                other.kill()
            else:
                other.stdin.close()
            other.wait(30)
        with locked(folder):
            pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_only_has_the_name_of_a_lock_stays(tmp_path: Path) -> None:
    folder, own = tmp_path / "atlas.partial", tmp_path / "atlas.partial.lock"
    own.write_text("mine")
    with pytest.raises(BuildError, match="is not a lock of this command"), locked(folder):
        pass
    assert own.read_text() == "mine"
    link = tmp_path / "other.partial.lock"
    link.symlink_to(own)
    with pytest.raises(BuildError, match="move it away"), locked(tmp_path / "other.partial"):
        pass
    assert link.is_symlink()
