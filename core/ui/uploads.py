"""What visitors upload: kept in memory, never on disk, and no more of it than a server can hold.

Streamlit keeps every file that a session sends until the session ends, however many, and lets the
parser of an upload write what is longer than a megabyte into a temporary file. What cannot be
bounded here, uploads that are under way, a proxy in front has to bound.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from streamlit import config, runtime
from streamlit.logger import get_logger

from core.model.memory import available_bytes
from core.ui.deployment import setting

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFileManager, UploadedFileRec

MOST_FILES = 4  # of a session: there are two uploaders, of a file each, and a file may be changed
_FREE_SHARE = 4  # all uploads together take at most a fourth of what is free when the server starts
_FRAMING_BYTES = 2**20  # of a request around its file
_FULL = 507  # insufficient storage, as HTTP has it
_LOGGER = get_logger(__name__)
_turn = threading.Lock()
_warned = False
_ledger: Ledger | None = None  # of this server, once it has run the app


class Ledger:
    """How many bytes each session has sent, oldest file first."""

    def __init__(self, manager: UploadedFileManager, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.files: dict[str, dict[str, int]] = {}
        self._lock = threading.RLock()
        self._add, self._remove = manager.add_file, manager.remove_file
        self._remove_all = manager.remove_session_files

    def add_file(self, session_id: str, file: UploadedFileRec) -> None:
        """Keep a file, in place of the session's oldest ones where it has too many.

        Raises
        ------
        HTTPException
            With status 507, when all sessions together would keep too much.
        """
        with self._lock:
            size, others = len(file.data), dict(self.files.get(session_id, {}))
            others.pop(file.file_id, None)
            going = _too_many(others, size)
            leaving = sum(self.files.get(session_id, {}).get(i, 0) for i in (*going, file.file_id))
            if size > self.room_bytes + leaving:
                _refuse(self.most_bytes)
            for each in going:
                self.remove_file(session_id, each)
            self._add(session_id, file)
            sizes = self.files.setdefault(session_id, {})
            sizes.pop(file.file_id, None)
            sizes[file.file_id] = size

    @property
    def room_bytes(self) -> int:
        """That are not taken yet."""
        with self._lock:
            return self.most_bytes - sum(sum(sizes.values()) for sizes in self.files.values())

    def remove_file(self, session_id: str, file_id: str) -> None:
        """Let a file go."""
        with self._lock:
            self.files.get(session_id, {}).pop(file_id, None)
            self._remove(session_id, file_id)

    def remove_session_files(self, session_id: str) -> None:
        """Let all files of a session go."""
        with self._lock:
            self.files.pop(session_id, None)
            self._remove_all(session_id)


def bound() -> None:
    """Keep uploads in memory and bounded, from the first run of the app on; more runs do nothing.

    A Streamlit that is made otherwise goes on unbounded, with a warning in its log.
    """
    global _ledger, _warned  # noqa: PLW0603 - once for the process
    if not runtime.exists():  # as in a test of a page, which uploads nothing
        return
    with _turn:
        try:
            manager = runtime.get_instance().uploaded_file_mgr
            if not isinstance(getattr(manager.add_file, "__self__", None), Ledger):
                _spool_in_memory()
                _ledger = bound_manager(manager, _most_bytes())
        except (AttributeError, ImportError) as error:
            if not _warned:
                _warned = True
                _LOGGER.warning("Uploads are not bounded: %s", error)


def bound_manager(manager: UploadedFileManager, most_bytes: int) -> Ledger:
    """Have a ledger watch what a manager keeps."""
    ledger = Ledger(manager, most_bytes)
    for name in ("add_file", "remove_file", "remove_session_files"):
        setattr(manager, name, getattr(ledger, name))
    return ledger


def limit_mb() -> int:
    """The largest upload that this server accepts, in MB of 2^20.

    That is ``server.maxUploadSize``, or what it keeps of all uploads where that is less.
    """
    largest, kept = int(config.get_option("server.maxUploadSize")), _set_megabytes()
    return max(1, largest if kept is None else min(largest, kept * 10**6 // 2**20))


def room_mb() -> int:
    """The largest upload that fits beside those that are kept now, in MB of 2^20."""
    if _ledger is None:
        return limit_mb()
    return max(0, min(limit_mb(), _ledger.room_bytes // 2**20))


def limit_bytes() -> int:
    """The same in bytes."""
    return limit_mb() * 2**20


def _too_many(sizes: dict[str, int], size: int) -> list[str]:
    """The oldest files that leave when another of `size` bytes comes."""
    going = []
    for each in list(sizes):
        if len(sizes) < MOST_FILES and sum(sizes.values()) + size <= limit_bytes():
            break
        del sizes[each]
        going.append(each)
    return going


def _refuse(most_bytes: int) -> None:
    from starlette.exceptions import HTTPException

    raise HTTPException(
        _FULL,
        f"This server keeps {most_bytes / 1e6:,.0f} MB of uploads, and others fill them now."
        " Try again later.",
    )


def _spool_in_memory() -> None:
    """The parser keeps a part of a request in memory up to this size, and else on the disk."""
    from starlette.formparsers import MultiPartParser

    MultiPartParser.spool_max_size  # noqa: B018 - an AttributeError where it is made otherwise
    MultiPartParser.spool_max_size = limit_bytes() + _FRAMING_BYTES


def _most_bytes() -> int:
    """Of all sessions: HEADSCOPE_UPLOADS_MB, else a share of the memory that is free."""
    given = _set_megabytes()
    if given is not None:
        return given * 10**6
    free = available_bytes()
    return limit_bytes() * MOST_FILES if free is None else free // _FREE_SHARE


def _set_megabytes() -> int | None:
    given = setting("UPLOADS_MB") or ""
    return int(given) if given.isdecimal() else None
