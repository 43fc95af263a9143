"""The real app as a process of its own, and the Chromium that visits it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
_START_SECONDS = 120


@contextmanager
def running_app(log: Path, **environment: str) -> Iterator[str]:
    """Start the app for visitors of this machine; gives its address, writes what it logs."""
    with (
        log.open("wb") as output,
        running_process(output, "--server.address=127.0.0.1", **environment) as (address, _),
    ):
        yield address


@contextmanager
def running_process(
    log: IO[bytes] | int, *options: str, base: str = "", **environment: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """``streamlit run app.py`` on a free port; gives its address once it answers, under `base`."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    command += [f"--server.port={port}", f"--server.baseUrlPath={base}", *options]
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | environment, stdout=log, stderr=log
    )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}{base}/_stcore/health", process)
        yield address, process
    finally:
        process.kill()  # an end that it is asked for takes seconds
        process.wait()


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with status {process.returncode}")
        try:
            with urllib.request.urlopen(address, timeout=1):  # noqa: S310 - our own server
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise TimeoutError(f"no answer from {address}")


ARGUMENTS = [
    "--no-sandbox",
    "--disable-quic",
    "--disable-gpu-rasterization",
    "--disable-gpu-compositing",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
_NAMES = (
    "chromium-headless-shell",  # the same engine, an eighth less work
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


def find_chromium() -> str | None:
    """The executable that HEADSCOPE_CHROMIUM names, else one on the path, else None."""
    return os.environ.get("HEADSCOPE_CHROMIUM") or next(
        filter(None, map(shutil.which, _NAMES)), None
    )
