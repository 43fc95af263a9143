"""The app as a visitor meets it: a `streamlit run` of its own, on a free port, and its memory."""

from __future__ import annotations

import atexit
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

import psutil

from tests.server import running_process
from tests.tools.bench import extent

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLING_S = 0.02  # how often memory is looked at; loading a model takes 100 times as long


@dataclass(frozen=True)
class Server:
    """A running app."""

    url: str  # without a slash at the end
    process: psutil.Process  # knows its children, too
    started: float  # `time.time()` when the process was asked for, in seconds

    def rss(self) -> int:
        """Resident memory of the server and its children, in bytes.

        A child that has not begun its own program shares the server's memory.
        """
        total, own = 0, self.process.cmdline()
        for process in (self.process, *self.process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # a child that has just ended
                if process == self.process or process.cmdline() != own:
                    total += process.memory_info().rss
        return total


@contextmanager
def running_app(
    log: IO[bytes] | int = subprocess.DEVNULL, atlases: Path | None = None
) -> Iterator[Server]:
    """``streamlit run app.py``, stopped at the end; yields when it answers.

    A new one that nobody has asked yet; the least that can be measured shares one.

    Parameters
    ----------
    log : where to what it logs goes.
    atlases : the folder from :func:`folder_of_atlases` that it offers by name.
    """
    if extent.SMOKE:
        yield _shared_app()
        return
    with _new_app(log, atlases) as server:
        yield server


@contextmanager
def folder_of_atlases() -> Iterator[Path]:
    """A temporary folder for a server to offer; the shared one offers its own from its start."""
    if extent.SMOKE:
        yield _shared_folder()
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@contextmanager
def _new_app(log: IO[bytes] | int, atlases: Path | None) -> Iterator[Server]:
    started = time.time()
    environment = {} if atlases is None else {"HEADSCOPE_ATLASES": str(atlases)}
    with running_process(log, "--server.address=127.0.0.1", **environment) as (url, process):
        yield Server(url, psutil.Process(process.pid), started)


@cache
def _shared_app() -> Server:
    """One server for all benchmarks in their smallest form."""
    stack = ExitStack()
    server = stack.enter_context(_new_app(subprocess.DEVNULL, _shared_folder()))
    atexit.register(stack.close)
    return server


@cache
def _shared_folder() -> Path:
    stack = ExitStack()
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    atexit.register(stack.close)
    return Path(folder)


@dataclass
class MemoryWatch:
    """Samples a server's memory from a thread of its own; `peak`, in bytes, since `begin`."""

    server: Server
    peak: int = 0
    _end: threading.Event = field(default_factory=threading.Event)

    def begin(self) -> None:
        """Forget the peak so far."""
        self.peak = 0
        self.look()

    def look(self) -> int:
        """Memory now, in bytes; counts towards the peak."""
        now = self.server.rss()
        self.peak = max(self.peak, now)
        return now

    def _watch(self) -> None:
        while not self._end.wait(SAMPLING_S):
            self.look()


@contextmanager
def watching_memory(server: Server) -> Iterator[MemoryWatch]:
    """Keep the largest memory of the server seen in this block."""
    watch = MemoryWatch(server)
    thread = threading.Thread(target=watch._watch, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        watch._end.set()
        thread.join()
