"""Keep uploads in memory, never on disk, and no more of them than the server can hold.

``server.maxUploadSize`` limits one file. Streamlit keeps every file of a session until that ends,
however many, and Starlette's parser would write a large one to a temporary file.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from tempfile import SpooledTemporaryFile
from typing import Any

from starlette import formparsers
from starlette.exceptions import HTTPException
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from core.model.memory import available_bytes
from core.ui.serve.deployment import setting

SESSION_MB, MAX_FILES = 100, 104  # of a session: 100 images of an atlas, and four more files
_FREE_SHARE = 4  # all uploads together get a quarter of the memory free when the server starts
_FULL, _BAD_REQUEST = 507, 400  # HTTP status


class ArrivingUpload(SpooledTemporaryFile[bytes]):
    """The part of an upload that has arrived, in memory; refused if all of them take too much."""

    arriving = max_bytes = 0  # of all uploads
    _counted = 0  # of this one

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Accept the next bytes; raises HTTPException with status 507 without room for them."""
        self._counted += len(data)
        ArrivingUpload.arriving += len(data)
        if self.arriving > self.max_bytes:
            raise HTTPException(_FULL, "Many uploads are arriving: try again later.")
        return super().write(data)

    def close(self) -> None:
        """Free the memory."""
        ArrivingUpload.arriving -= self._counted
        self._counted = 0
        super().close()


def limit() -> None:
    """Keep uploads in memory and limited, from the first run of the app on. Safe to repeat."""
    if runtime.exists():
        manager = runtime.get_instance().uploaded_file_mgr
        if isinstance(manager, MemoryUploadedFileManager):  # not in a test of a page
            bound(manager)


@functools.cache
def bound(manager: MemoryUploadedFileManager) -> None:
    """Limit what arrives and what is kept to HEADSCOPE_UPLOADS_MB, or to a share of memory."""
    given = setting("UPLOADS_MB") or ""
    most = int(given) * 2**20 if given.isdecimal() else available_bytes() // _FREE_SHARE
    parsers: Any = formparsers
    parsers.SpooledTemporaryFile, ArrivingUpload.max_bytes = ArrivingUpload, most
    parsers.MultiPartParser.spool_max_size = most  # goes to the disk beyond
    add = manager.add_file

    def add_within(session_id: str, file: UploadedFileRec) -> None:
        """Keep a file, and drop the session's oldest ones if it has too many.

        Raises HTTPException with status 507, if all sessions together would keep too much, and 400
        for a name that would end every run of the page that asked for the file.
        """
        if "\0" in file.name:
            raise HTTPException(_BAD_REQUEST, "The name of this file holds a NUL character.")
        manager.remove_file(session_id, file.file_id)  # what is replaced becomes the newest
        size, storage = len(file.data), manager.file_storage
        while own := [*storage.get(session_id, {}).values()]:
            if len(own) < MAX_FILES and _size(own) + size <= SESSION_MB * 2**20:
                break
            manager.remove_file(session_id, own[0].file_id)
        if sum(_size(files.values()) for files in [*storage.values()]) + size > most:
            reason = f"This server keeps {most / 1e6:,.0f} MB of uploads: try again later."
            raise HTTPException(_FULL, reason)
        add(session_id, file)

    manager.add_file = add_within  # type: ignore[method-assign]


def _size(files: Iterable[UploadedFileRec]) -> int:
    return sum(len(file.data) for file in files)
