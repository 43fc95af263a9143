"""Uploads: a session's oldest files make room, and together sessions keep no more than there is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from core.corpus.decoding import MAX_BYTES
from core.screens.atlas.corpus import images
from core.ui.frame import image_row
from core.ui.serve import uploads
from tests.server import ROOT

MB = 2**20


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> MemoryUploadedFileManager:
    """One that keeps 10 MB of a session, and 40 MB of all."""
    monkeypatch.setenv("HEADSCOPE_UPLOADS_MB", "40")
    monkeypatch.setattr(uploads, "SESSION_MB", 10)
    monkeypatch.setattr(uploads, "MAX_FILES", 4)
    monkeypatch.setattr(MultiPartParser, "spool_max_size", 1)
    monkeypatch.setattr("starlette.formparsers.SpooledTemporaryFile", object)
    manager = MemoryUploadedFileManager("/upload")
    uploads.bound(manager)
    return manager


def put(manager: MemoryUploadedFileManager, session: str, name: str, size: int) -> None:
    manager.add_file(session, UploadedFileRec(name, f"{name}.txt", "text/plain", bytes(size)))


def kept(manager: MemoryUploadedFileManager, session: str) -> list[str]:
    return list(manager.file_storage.get(session, {}))


def test_a_session_keeps_its_four_newest_files(manager: MemoryUploadedFileManager) -> None:
    for number in range(7):
        put(manager, "one", str(number), 100)
    assert kept(manager, "one") == ["3", "4", "5", "6"]


def test_a_session_keeps_files_of_a_bounded_size(
    manager: MemoryUploadedFileManager,
) -> None:
    for name in "abc":
        put(manager, "one", name, 4 * MB)
    assert kept(manager, "one") == ["b", "c"]
    put(manager, "one", "whole", 10 * MB)
    assert kept(manager, "one") == ["whole"]


def test_one_session_never_takes_the_place_of_another(manager: MemoryUploadedFileManager) -> None:
    for session in "abcd":
        put(manager, session, "file", 10 * MB)
    with pytest.raises(HTTPException) as refused:
        put(manager, "e", "file", 1)
    assert refused.value.status_code == 507
    assert "42 MB of uploads" in refused.value.detail
    assert [kept(manager, session) for session in "abcde"] == [["file"]] * 4 + [[]]


def test_who_has_a_file_may_change_it_though_the_server_is_full(
    manager: MemoryUploadedFileManager,
) -> None:
    for session in "abcd":
        put(manager, session, "file", 10 * MB)
    put(manager, "a", "other", 10 * MB)
    assert kept(manager, "a") == ["other"]
    put(manager, "b", "file", 9 * MB)
    assert [len(file.data) for file in manager.get_files("b", ["file"])] == [9 * MB]


def test_what_is_removed_makes_room(manager: MemoryUploadedFileManager) -> None:
    for session in "abcd":
        put(manager, session, "file", 10 * MB)
    manager.remove_file("a", "file")
    put(manager, "e", "file", 10 * MB)
    manager.remove_session_files("b")
    put(manager, "f", "file", 10 * MB)
    with pytest.raises(HTTPException):
        put(manager, "g", "file", 1)


def test_uploads_on_their_way_are_counted_together_until_they_end(
    manager: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "available_bytes", lambda: 10**12)
    first, second = (uploads.ArrivingUpload(max_size=50 * MB) for _ in range(2))
    first.write(bytes(30 * MB))
    with pytest.raises(HTTPException, match="507"):
        second.write(bytes(11 * MB))
    second.close()
    first.close()
    first.close()
    with uploads.ArrivingUpload(max_size=50 * MB) as third:
        third.write(bytes(40 * MB))


def test_a_manager_is_bounded_once_however_often_the_app_runs(
    manager: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr("streamlit.runtime.exists", lambda: True)
    monkeypatch.setattr("streamlit.runtime.get_instance", lambda: instance)
    bounded = manager.add_file
    uploads.limit()
    assert manager.add_file is bounded
    assert MultiPartParser.spool_max_size == 40 * MB
    instance.uploaded_file_mgr = None  # as in a test of a page
    uploads.limit()


def test_one_file_is_as_large_as_the_server_is_told() -> None:
    """As much as pages ask for: of a corpus, and of an image."""
    assert {MAX_BYTES, image_row.MAX_MB * MB, images.MAX_MB * MB} == {20 * MB}
    assert "maxUploadSize = 20" in (ROOT / ".streamlit" / "config.toml").read_text()
