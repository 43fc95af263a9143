"""What visitors upload: kept in memory, never on disk, and no more of it than a server can hold.

Streamlit keeps every file that a session sends until the session ends, however many, and lets the
parser of an upload write what is longer than a megabyte into a temporary file. Uploads are small
beside models and atlases, and it must not be them that fill the memory.
"""

from __future__ import annotations

import threading
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, NoReturn

from streamlit import config, runtime
from streamlit.logger import get_logger
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from core.model.machine.memory import available_bytes, return_freed_memory
from core.ui.site.deployment import setting

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec

MOST_FILES = 4  # of a session: there are two uploaders, of a file each, and a file may be changed
_FREE_SHARE = 4  # all uploads together take at most a fourth of what is free when the server starts
_LEFT_SHARE = 2  # one on its way, of which there is a copy at its end, half of what is free by then
_LOOK_EVERY = 2**22  # bytes of an upload after which the free memory is looked at
_OPTION = "server.maxUploadSize"  # in MB of 2^20
_FRAMING_BYTES = 2**20  # of a request around its file
_FULL = 507  # insufficient storage, as HTTP has it
_LOGGER = get_logger(__name__)
_turn = threading.Lock()
_warned = False
_ledger: Ledger | None = None  # of this server, once it has run the app


class Ledger:
    """How many bytes each session has sent, oldest file first, and how many are on their way."""

    def __init__(self, manager: MemoryUploadedFileManager, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.files: dict[str, dict[str, int]] = {}
        self.under_way = 0
        self.lock = threading.RLock()
        self._add, self._remove = manager.add_file, manager.remove_file
        self._remove_all = manager.remove_session_files

    @property
    def room_bytes(self) -> int:
        """That are not taken yet."""
        with self.lock:
            return self.most_bytes - sum(sum(sizes.values()) for sizes in self.files.values())

    def add_file(self, session_id: str, file: UploadedFileRec) -> None:
        """Keep a file, in place of the session's oldest ones where it has too many.

        Raises
        ------
        HTTPException
            With status 507, when all sessions together would keep too much.
        """
        with self.lock:
            sizes = self.files.get(session_id, {})
            others = {each: size for each, size in sizes.items() if each != file.file_id}
            going = _too_many(others, len(file.data))
            leaving = sum(sizes.get(each, 0) for each in (*going, file.file_id))
            if len(file.data) > self.room_bytes + leaving:
                _refuse(f"This server keeps {self.most_bytes / 1e6:,.0f} MB of uploads.")
            for each in going:
                self.remove_file(session_id, each)
            self._add(session_id, file)
            sizes = self.files.setdefault(session_id, {})
            sizes.pop(file.file_id, None)
            sizes[file.file_id] = len(file.data)

    def remove_file(self, session_id: str, file_id: str) -> None:
        """Let a file go."""
        with self.lock:
            self.files.get(session_id, {}).pop(file_id, None)
            self._remove(session_id, file_id)

    def remove_session_files(self, session_id: str) -> None:
        """Let all files of a session go."""
        with self.lock:
            self.files.pop(session_id, None)
            self._remove_all(session_id)


class UploadUnderWay(SpooledTemporaryFile[bytes]):
    """What has arrived of an upload, in memory; it ends where it takes too much of that."""

    taken = looked = 0  # bytes: counted, and counted when the free memory was looked at

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Take in the next bytes.

        Raises
        ------
        HTTPException
            With status 507, when there is no room for more.
        """
        if _ledger is not None:
            self._count(len(data), _ledger)
        return super().write(data)

    def close(self) -> None:
        """Let it go."""
        if _ledger is not None:
            with _ledger.lock:
                _ledger.under_way -= self.taken
        self.taken = 0
        super().close()

    def _count(self, size: int, ledger: Ledger) -> None:
        self.taken += size
        with ledger.lock:
            ledger.under_way += size
            if ledger.under_way > ledger.most_bytes:
                _refuse("Many uploads are on their way.")
        if self.taken - self.looked >= _LOOK_EVERY:
            self.looked = self.taken
            free = available_bytes()
            if free is not None and self.taken > free // _LEFT_SHARE:
                _refuse(f"Only {free / 1e6:,.0f} MB of memory are free.")


def bound() -> None:
    """Keep uploads in memory and bounded, from the first run of the app on; more runs do nothing.

    A Streamlit that is made otherwise goes on unbounded, with a warning in its log.
    """
    global _ledger, _warned  # noqa: PLW0603 - once for the process
    if not runtime.exists():
        return
    with _turn:
        try:
            manager = runtime.get_instance().uploaded_file_mgr
            if not isinstance(manager, MemoryUploadedFileManager):  # as in a test of a page
                raise TypeError("files are kept in another way")
            if isinstance(getattr(manager.add_file, "__self__", None), Ledger):
                return
            most = _most_bytes()
            config.set_option(_OPTION, max(1, min(limit_mb(), most // 2**20)))
            _ledger = bound_manager(manager, most)
            _stay_in_memory()
            return_freed_memory()
        except (AttributeError, ImportError, TypeError) as error:
            if not _warned:
                _warned = True
                _LOGGER.warning("Uploads are not bounded: %s", error)


def bound_manager(manager: MemoryUploadedFileManager, most_bytes: int) -> Ledger:
    """Have a ledger watch what a manager keeps."""
    ledger = Ledger(manager, most_bytes)
    for name in ("add_file", "remove_file", "remove_session_files"):
        setattr(manager, name, getattr(ledger, name))
    return ledger


def limit_mb() -> int:
    """The largest upload that this server accepts, in MB of 2^20."""
    return int(config.get_option(_OPTION))


def limit_bytes() -> int:
    """The same in bytes."""
    return limit_mb() * 2**20


def room_mb() -> int:
    """The largest upload that fits beside those that are kept now, in MB of 2^20."""
    if _ledger is None:
        return limit_mb()
    return max(0, min(limit_mb(), _ledger.room_bytes // 2**20))


def _too_many(sizes: dict[str, int], size: int) -> list[str]:
    """The oldest files, which leave when another of `size` bytes comes."""
    going: list[str] = []
    left = sum(sizes.values())
    for each, of_file in sizes.items():
        if len(sizes) - len(going) < MOST_FILES and left + size <= limit_bytes():
            break
        going.append(each)
        left -= of_file
    return going


def _refuse(reason: str) -> NoReturn:
    from starlette.exceptions import HTTPException

    raise HTTPException(_FULL, f"{reason} There is no room for this one now: try again later.")


def _stay_in_memory() -> None:
    """The parser of a request spools each file of it, to the disk from a megabyte on."""
    from starlette import formparsers

    parsers: Any = formparsers
    _ = parsers.SpooledTemporaryFile, parsers.MultiPartParser.spool_max_size  # are they there?
    parsers.SpooledTemporaryFile = UploadUnderWay
    parsers.MultiPartParser.spool_max_size = limit_bytes() + _FRAMING_BYTES


def _most_bytes() -> int:
    """Of all sessions: HEADSCOPE_UPLOADS_MB, else a share of the memory that is free."""
    given = setting("UPLOADS_MB") or ""
    if given.isdecimal():
        return int(given) * 2**20
    free = available_bytes()
    return limit_bytes() * MOST_FILES if free is None else free // _FREE_SHARE
