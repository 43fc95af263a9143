"""Keep uploads in memory, never on disk, and no more of them than the server can hold.

Streamlit keeps every file of a session until that ends, however many, and its parser writes uploads
of more than a megabyte to a temporary file. It counts what it keeps, and refuses nothing: so its
count is read here, and no book is kept beside it.
"""

from __future__ import annotations

import threading
from tempfile import SpooledTemporaryFile
from typing import Any, NoReturn

from streamlit import config, runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from core.model.memory import available_bytes, return_freed_memory
from core.ui.serve.deployment import setting, warn_once

MAX_FILES = 104  # per session: 100 images of an atlas, and four more; their size is limited too
_FREE_SHARE = 4  # all uploads together get a quarter of the memory free when the server starts
_UPLOAD_SHARE = 2  # one upload, copied at its end, gets half of what is free by then
_CHECK_BYTES = 2**22  # how much of an upload arrives between two checks of free memory
_OPTION = "server.maxUploadSize"  # in MB of 2^20 bytes
_FRAMING_BYTES = 2**20  # of a request around its file
_BAD_REQUEST, _INSUFFICIENT_STORAGE = 400, 507  # HTTP status
_LATER = "There is no room for this one: try again later."
_turn = threading.Lock()
_quota: UploadQuota | None = None  # of this server, once it has run the app


class UploadQuota:
    """What bounds the files that Streamlit keeps of all sessions, and the bytes still arriving."""

    def __init__(self, manager: MemoryUploadedFileManager, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.arriving = 0
        self.lock = threading.RLock()
        self._manager, self._add = manager, manager.add_file
        _ = self.room_bytes  # does Streamlit count them?
        manager.add_file = self.add_file  # type: ignore[method-assign]

    @property
    def room_bytes(self) -> int:
        """Bytes not yet used."""
        return self.max_bytes - self._manager._total_bytes  # noqa: SLF001

    def add_file(self, session_id: str, file: UploadedFileRec) -> None:
        """Keep a file, and drop the session's oldest ones if it has too many.

        Raises HTTPException with status 507, if all sessions together would keep too much, and 400
        for a name that would end every run of the page that asked for the file.
        """
        if "\0" in file.name:
            _refuse("The name of this file holds a NUL character.", _BAD_REQUEST)
        size = len(file.data)
        with self.lock:
            files = list(self._manager.file_storage.get(session_id, {}).values())
            sizes = {each.file_id: len(each.data) for each in files}
            replaced = sizes.pop(file.file_id, 0)
            dropped = _excess_files(sizes, size)
            if size > self.room_bytes + replaced + sum(sizes[each] for each in dropped):
                _refuse(f"This server keeps {self.max_bytes / 1e6:,.0f} MB of uploads. {_LATER}")
            for each in (*dropped, file.file_id):  # what is replaced becomes the newest
                self._manager.remove_file(session_id, each)
            self._add(session_id, file)


class ArrivingUpload(SpooledTemporaryFile[bytes]):
    """The part of an upload that has arrived, in memory; refused if it takes too much of that."""

    counted = checked = 0  # bytes: so far, and at the last check of free memory

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Accept the next bytes.

        Raises HTTPException with status 507, if there is no room for more.
        """
        if _quota is not None:
            self._count(len(data), _quota)
        return super().write(data)

    def close(self) -> None:
        """Free the memory."""
        if _quota is not None:
            with _quota.lock:
                _quota.arriving -= self.counted
        self.counted = 0
        super().close()

    def _count(self, size: int, quota: UploadQuota) -> None:
        self.counted += size
        with quota.lock:
            quota.arriving += size
            if quota.arriving > quota.max_bytes:
                _refuse(f"Many uploads are arriving. {_LATER}")
        if self.counted - self.checked >= _CHECK_BYTES:
            self.checked = self.counted
            free = available_bytes()
            if self.counted > free // _UPLOAD_SHARE:
                _refuse(f"Only {free / 1e6:,.0f} MB of memory are free. {_LATER}")


def limit() -> None:
    """Keep uploads in memory and limited, from the first run of the app on. Safe to repeat.

    If Streamlit's internals have changed, uploads stay unlimited, with a warning in the log.
    """
    global _quota  # noqa: PLW0603 - once per process
    if not runtime.exists():
        return
    with _turn:
        try:
            manager = runtime.get_instance().uploaded_file_mgr
            if not isinstance(manager, MemoryUploadedFileManager):  # as in a test of a page
                raise TypeError("files are kept in another way")
            if isinstance(getattr(manager.add_file, "__self__", None), UploadQuota):
                return
            total = _total_bytes()
            config.set_option(_OPTION, max(1, min(limit_mb(), total // 2**20)))
            _quota = UploadQuota(manager, total)
            _stay_in_memory()
            return_freed_memory()
        except (AttributeError, ImportError, TypeError) as error:
            warn_once(f"Uploads are not limited: {error}")


def limit_mb() -> int:
    """The largest upload that this server accepts, in MB of 2^20 bytes."""
    return int(config.get_option(_OPTION))


def limit_bytes() -> int:
    """The largest upload that this server accepts, in bytes."""
    return limit_mb() * 2**20


def _excess_files(sizes: dict[str, int], size: int) -> list[str]:
    """The session's oldest files, which must go when another of `size` bytes arrives."""
    excess: list[str] = []
    total = sum(sizes.values())
    for each, file_size in sizes.items():
        if len(sizes) - len(excess) < MAX_FILES and total + size <= limit_bytes():
            break
        excess.append(each)
        total -= file_size
    return excess


def _refuse(reason: str, status: int = _INSUFFICIENT_STORAGE) -> NoReturn:
    from starlette.exceptions import HTTPException

    raise HTTPException(status, reason)


def _stay_in_memory() -> None:
    """Replace the spool of Starlette's parser, which goes to disk beyond a megabyte."""
    from starlette import formparsers

    parsers: Any = formparsers
    _ = parsers.SpooledTemporaryFile, parsers.MultiPartParser.spool_max_size  # do they exist?
    parsers.SpooledTemporaryFile = ArrivingUpload
    parsers.MultiPartParser.spool_max_size = limit_bytes() + _FRAMING_BYTES


def _total_bytes() -> int:
    """The limit for all sessions: HEADSCOPE_UPLOADS_MB, else a share of free memory."""
    given = setting("UPLOADS_MB") or ""
    return int(given) * 2**20 if given.isdecimal() else available_bytes() // _FREE_SHARE
