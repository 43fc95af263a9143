"""Model downloads: one at a time, measured as they run, stopped when nobody is waiting.

The hub client works in a process of its own (`core.model.downloading.process`) that can be stopped
at any moment; this side watches the disk. Whoever wants a model joins the queue and then says,
every now and then, that they are still waiting.
"""

from __future__ import annotations

import shutil
import threading
import time
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path

from core.model.downloading.child import Child
from core.model.downloading.hub import LOCAL_ADVICE, HubModel
from core.model.errors import DownloadRefusedError, HubUnreachableError, ModelError

WAIT_SECONDS = 10.0  # a download stops after this long without anyone waiting
STALL_SECONDS = 60.0  # and has failed after this long without a byte
LOOK_SECONDS = 0.2  # between two looks at the disk
MARGIN_BYTES = 2_000_000  # allowed beyond the announced size: references, rounding up to blocks
FREE_BYTES = 2_000_000_000  # left free on the disk,
FREE_SHARE = 0.1  # or this share of a small disk
MAX_QUEUE = 8  # models waiting for their turn
_ADVICE = "Pick another model, or run the app on your own machine."


@dataclass(eq=False)
class Download:
    """One model being downloaded, for everyone who waits for it.

    Attributes
    ----------
    model : what is downloaded.
    token : None for this machine's token, False for none.
    arrived : bytes of its files on the disk.
    ahead : the download that is running while this one waits for its turn.
    """

    model: HubModel
    token: bool | None
    arrived: int = 0
    ahead: Download | None = None
    _renewed: float = field(default_factory=time.monotonic)
    _started: bool = False
    _over: threading.Event = field(default_factory=threading.Event)
    _result: Path | ModelError | None = None

    def wait(self, seconds: float) -> Path | None:
        """Say that somebody is waiting, and wait; the model's folder, or None if not complete.

        Raises
        ------
        ModelError
            When the download was refused, stopped or interrupted.
        """
        self.renew()
        _start_first(self)
        self._over.wait(seconds)
        if isinstance(self._result, ModelError):
            raise copy(self._result)  # each waits in a thread of its own, with its own traceback
        return self._result

    def renew(self) -> None:
        """Note that somebody is waiting now."""
        self._renewed = time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, one way or the other."""
        return self._over.is_set()

    def start(self) -> None:
        """Start, once."""
        if not self._started:
            self._started, self.ahead = True, None
            threading.Thread(target=self._run, daemon=True).start()

    def leave_if_abandoned(self) -> None:
        """End before the start if nobody is waiting any more."""
        if not self._started and not self._is_wanted():
            self._finish(_abandoned(self.model))

    def _is_wanted(self) -> bool:
        return time.monotonic() - self._renewed < WAIT_SECONDS

    def _run(self) -> None:
        try:
            self._finish(self._download())
        except Exception as error:  # noqa: BLE001 - those who wait must hear about any failure
            self._finish(_interrupted(self.model, type(error).__name__))

    def _finish(self, result: Path | ModelError) -> None:
        self._result = result
        self._over.set()

    def _download(self) -> Path | ModelError:
        """Run the child process to its end."""
        child = Child(self.model)
        self.arrived = self.model.size - child.missing
        if (refusal := _no_room(self.model, child.cache, child.missing)) is not None:
            return refusal
        child.start(self.token)
        try:
            problem = self._watch(child)
        finally:
            child.stop()
        if problem is not None:
            return problem
        if child.folder is None:
            return _interrupted(self.model, child.failure)
        self.arrived = self.model.size
        return child.folder

    def _watch(self, child: Child) -> ModelError | None:
        """Wait for the child's end, or return what goes wrong before it."""
        growth, changed = 0, time.monotonic()
        while child.is_running(LOOK_SECONDS):
            if (now := child.growth()) != growth:
                growth, changed = now, time.monotonic()
            self.arrived = min(self.model.size, self.model.size - child.missing + max(0, growth))
            if growth > child.missing + MARGIN_BYTES:
                return DownloadRefusedError(
                    "The download of {name} was stopped: it exceeded the"
                    f" {self.model.size_mb:,} MB that the hub had announced.",
                    _ADVICE,
                    self.model.repo,
                )
            if (refusal := _no_room(self.model, child.cache, 0)) is not None:
                return refusal
            if time.monotonic() - changed > STALL_SECONDS:
                return _interrupted(self.model, f"no byte in {STALL_SECONDS:.0f} seconds")
            if not self._is_wanted():
                return _abandoned(self.model)
        return None


_queue: list[Download] = []  # the first one runs
_lock = threading.Lock()


def join(model: HubModel, token: bool | None = None, max_mb: float | None = None) -> Download:
    """The download of a model: a new one, or the one that others are waiting for.

    Raises
    ------
    DownloadRefusedError
        When it is larger than `max_mb`, or the queue is full.
    """
    if max_mb is not None and model.size > max_mb * 1e6:
        raise too_large(model.repo, model.size_mb, max_mb)
    with _lock:
        _drop_ended()
        for each in _queue:
            if each.model == model and each.token == token:
                each.renew()
                return each
        if len(_queue) >= MAX_QUEUE:
            raise DownloadRefusedError(
                f"{len(_queue)} other models are waiting to be downloaded before {{name}}.",
                "Try again in a few minutes, or pick a model that is already here.",
                model.repo,
            )
        _queue.append(Download(model, token))
        return _queue[-1]


def fetch(model: HubModel, token: bool | None = None) -> Path:
    """Download a model, however long that takes; its folder."""
    download = join(model, token)
    while (folder := download.wait(WAIT_SECONDS / 4)) is None:
        pass
    return folder


def too_large(name: str, size_mb: int, max_mb: float) -> DownloadRefusedError:
    """The refusal of a model that exceeds the site's download limit."""
    return DownloadRefusedError(
        f"{{name}} is not on this machine yet: {size_mb:,} MB would have to be downloaded, and this"
        f" site takes {max_mb:,.0f} MB at most.",
        _ADVICE,
        name,
    )


def _start_first(download: Download) -> None:
    """Start the first in the queue, and note that it is ahead of this one."""
    with _lock:
        _drop_ended()
        if _queue:
            _queue[0].start()
            if download is not _queue[0]:
                download.ahead = _queue[0]


def _drop_ended() -> None:
    """Drop downloads that are over, or that were abandoned before they started."""
    for each in _queue:
        each.leave_if_abandoned()
    _queue[:] = [each for each in _queue if not each.is_over]


def _no_room(model: HubModel, folder: Path, needed: int) -> DownloadRefusedError | None:
    """The refusal if a download would leave too little of the disk free."""
    while not folder.exists():
        folder = folder.parent
    disk = shutil.disk_usage(folder)
    reserve = min(FREE_BYTES, FREE_SHARE * disk.total)
    if disk.free - needed >= reserve:
        return None
    return DownloadRefusedError(
        f"The disk has no room for {{name}}: {model.size_mb:,} MB; {disk.free / 1e6:,.0f} MB are"
        f" free, and {reserve / 1e6:,.0f} MB of them must stay free.",
        "Make room on the disk, or pick a model that is already here.",
        model.repo,
    )


def _abandoned(model: HubModel) -> DownloadRefusedError:
    return DownloadRefusedError(
        "The download of {name} was stopped: nobody was waiting for it.",
        "Start it again.",
        model.repo,
    )


def _interrupted(model: HubModel, why: str) -> HubUnreachableError:
    return HubUnreachableError(
        f"The download of {{name}} was interrupted ({why}).",
        f"Try again: complete files are kept. {LOCAL_ADVICE}",
        model.repo,
    )
