"""Every benchmark still runs: in its smallest form, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.server import ROOT


@pytest.mark.browser
@pytest.mark.nightly
def test_every_benchmark_runs_to_its_end_and_counts_no_error() -> None:
    command = [sys.executable, "-m", "tests.tools.bench", "--smoke"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
