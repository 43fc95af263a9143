"""Downloads of models: one at a time, counted while they run, ended when nobody waits.

The hub client works in a process of its own (`core.model.downloading.process`), which can be ended
at any moment; this side looks at what arrives on the disk. Whoever wants a model joins the line and
then says, every now and then, that they still wait.
"""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.model.downloading.child import Child
from core.model.downloading.hub import LOCAL_WAY_OUT
from core.model.errors import DownloadRefusedError, HubUnreachableError, ModelError

if TYPE_CHECKING:
    from pathlib import Path

    from core.model.downloading.hub import HubModel

WAIT_SECONDS = 10.0  # without a sign of anybody who waits, a download ends
STALL_SECONDS = 60.0  # without a byte, it has broken off
LOOK_SECONDS = 0.2  # between two looks at the disk
MARGIN_BYTES = 2_000_000  # beyond what was announced: references, and rounding up to blocks
FREE_BYTES = 2_000_000_000  # left free on the disk,
FREE_SHARE = 0.1  # or this share of a small one
LONGEST_LINE = 8  # models that may wait for their turn
_WAY_OUT = "Pick another model, or run the app on your own machine."


@dataclass(eq=False)
class Download:
    """One model on its way, for all who wait for it.

    Attributes
    ----------
    model, token : what is downloaded, and whether with the token of this machine (None) or without
        any (False).
    arrived : bytes of its files that are on the disk.
    ahead : the download that is under way while this one waits for its turn.
    """

    model: HubModel
    token: bool | None
    arrived: int = 0
    ahead: Download | None = None
    _seen: float = field(default_factory=time.monotonic)
    _begun: bool = False
    _over: threading.Event = field(default_factory=threading.Event)
    _result: Path | ModelError | None = None

    def wait(self, seconds: float) -> Path | None:
        """Say that somebody waits, and wait; the model's folder, or None while it is not complete.

        Raises
        ------
        ModelError
            When the download was refused, stopped or broke off.
        """
        self.renew()
        _advance(self)
        self._over.wait(seconds)
        if isinstance(self._result, ModelError):
            raise self._result
        return self._result

    def renew(self) -> None:
        """Somebody waits for it now."""
        self._seen = time.monotonic()

    @property
    def is_waited_for(self) -> bool:
        """Whether somebody has said so lately."""
        return time.monotonic() - self._seen < WAIT_SECONDS

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in one way or the other."""
        return self._over.is_set()

    def begin(self) -> None:
        """Start, once."""
        if not self._begun:
            self._begun, self.ahead = True, None
            threading.Thread(target=self._run, daemon=True).start()

    def leave_if_unwanted(self) -> None:
        """End before it began, where nobody waits for it any more."""
        if not self._begun and not self.is_waited_for:
            self._finish(_left(self.model.repo))

    def _run(self) -> None:
        try:
            self._finish(self._follow())
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear of it
            self._finish(_broken(self.model.repo, type(error).__name__))

    def _finish(self, result: Path | ModelError) -> None:
        self._result = result
        self._over.set()

    def _follow(self) -> Path | ModelError:
        """Run the child and watch over it to its end."""
        child = Child(self.model, self.token)
        self.arrived = self.model.size - child.missing
        if (full := _no_room(self.model, child.cache, child.missing)) is not None:
            return full
        child.start()
        try:
            problem = self._watch(child)
        finally:
            child.stop()
        if problem is not None:
            return problem
        if child.folder is None:
            return _broken(self.model.repo, child.failure)
        self.arrived = self.model.size
        return child.folder

    def _watch(self, child: Child) -> ModelError | None:
        """Wait for the child's end; what is wrong, as soon as it is."""
        grown, changed = 0, time.monotonic()
        while child.is_running(LOOK_SECONDS):
            now = child.grown()
            if now != grown:
                grown, changed = now, time.monotonic()
            self.arrived = min(self.model.size, self.model.size - child.missing + max(0, grown))
            if grown > child.missing + MARGIN_BYTES:
                return _too_much(self.model)
            if (full := _no_room(self.model, child.cache, 0)) is not None:
                return full
            if time.monotonic() - changed > STALL_SECONDS:
                return _broken(self.model.repo, f"no byte in {STALL_SECONDS:.0f} seconds")
            if not self.is_waited_for:
                return _left(self.model.repo)
        return None


_line: list[Download] = []  # the first one runs
_lock = threading.Lock()


def join(model: HubModel, token: bool | None = None, max_mb: float | None = None) -> Download:
    """The download of a model, its own or the one that others wait for already.

    Raises
    ------
    DownloadRefusedError
        When it is larger than `max_mb`, or too many wait.
    """
    if max_mb is not None and model.size > max_mb * 1e6:
        raise too_large(model.repo, model.size_mb, max_mb)
    with _lock:
        _drop_ended()
        for each in _line:
            if each.model == model and each.token == token:
                each.renew()
                return each
        if len(_line) >= LONGEST_LINE:
            raise DownloadRefusedError(
                model.repo,
                f"{len(_line)} other models are waiting to be downloaded before {{name}}.",
                "Try again in a few minutes, or pick a model that is here.",
            )
        _line.append(Download(model, token))
        return _line[-1]


def fetch(model: HubModel, token: bool | None = None) -> Path:
    """Download a model and wait for it, however long that takes; its folder."""
    download = join(model, token)
    while True:
        folder = download.wait(WAIT_SECONDS / 4)
        if folder is not None:
            return folder


def too_large(name: str, size_mb: int, max_mb: float) -> DownloadRefusedError:
    """The refusal of a model that is larger than a site downloads."""
    return DownloadRefusedError(
        name,
        f"{{name}} is not on this machine yet: {size_mb:,} MB would have to be downloaded, and this"
        f" site takes {max_mb:,.0f} MB at most.",
        _WAY_OUT,
    )


def _advance(download: Download) -> None:
    """Begin the first of the line, and say who is ahead of the others."""
    with _lock:
        _drop_ended()
        if not _line:
            return
        _line[0].begin()
        if download is not _line[0]:
            download.ahead = _line[0]


def _drop_ended() -> None:
    """Leave out of the line what is over, and what nobody waits for and has not begun."""
    for each in _line:
        each.leave_if_unwanted()
    _line[:] = [each for each in _line if not each.is_over]


def _no_room(model: HubModel, folder: Path, needed: int) -> DownloadRefusedError | None:
    """What to say where a download would leave too little of the disk."""
    while not folder.exists():
        folder = folder.parent
    disk = shutil.disk_usage(folder)
    kept = min(FREE_BYTES, FREE_SHARE * disk.total)
    if disk.free - needed >= kept:
        return None
    return DownloadRefusedError(
        model.repo,
        f"The disk has no room for {{name}}: {model.size_mb:,} MB; {disk.free / 1e6:,.0f} MB are"
        f" free, and {kept / 1e6:,.0f} MB of them stay so.",
        "Make room on the disk, or pick a model that is here.",
    )


def _too_much(model: HubModel) -> DownloadRefusedError:
    return DownloadRefusedError(
        model.repo,
        f"The download of {{name}} was stopped: more came than the {model.size_mb:,} MB that the"
        " hub had announced.",
        _WAY_OUT,
    )


def _left(repo: str) -> DownloadRefusedError:
    return DownloadRefusedError(
        repo, "The download of {name} was stopped: nobody waited for it.", "Start it again."
    )


def _broken(repo: str, why: str) -> HubUnreachableError:
    return HubUnreachableError(
        repo,
        f"The download of {{name}} broke off ({why}).",
        f"Try again: files that are complete are kept. {LOCAL_WAY_OUT}",
    )
