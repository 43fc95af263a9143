"""Uploads to the real server are never on the disk."""

from __future__ import annotations

import http.client
import tempfile
import uuid
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from core.corpus.decoding import MAX_BYTES
from core.screens.atlas.corpus import images
from core.ui.frame import image_row
from tests.server import ROOT, process_at
from tests.tools.visitor import xsrf_token

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import psutil

pytestmark = pytest.mark.slow

_COOKIE = "_streamlit_xsrf"
_BOUNDARY = "-----file"
_BLOCK = bytes(2**20)


class Visitor:
    """One session, and what it needs to be let in."""

    def __init__(self, address: str, session: str, token: str) -> None:
        self.host = urlsplit(address).netloc
        self.session, self.token = session, token

    def put(self, blocks: Iterable[bytes], size: int, called: str = "a.txt") -> tuple[int, str]:
        """Send a file of `size` bytes; gives the status and what the server says."""
        start = (
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="f"; filename="{called}"\r\n'
            "Content-Type: text/plain\r\n\r\n"
        ).encode()
        end = f"\r\n--{_BOUNDARY}--\r\n".encode()
        connection = http.client.HTTPConnection(self.host, timeout=60)
        headers = {
            "Content-Type": f"multipart/form-data; boundary={_BOUNDARY}",
            "Content-Length": str(len(start) + size + len(end)),
            "Cookie": f"{_COOKIE}={self.token}",
            "X-Xsrftoken": self.token,
        }
        path = f"/_stcore/upload_file/{self.session}/{uuid.uuid4()}"
        with suppress(BrokenPipeError, ConnectionResetError):  # the answer came before all was sent
            connection.request("PUT", path, chain([start], blocks, [end]), headers)
        answer = connection.getresponse()
        said = answer.read().decode()
        connection.close()
        return answer.status, said

    def put_megabytes(self, count: int) -> tuple[int, str]:
        """Send a file of so many."""
        return self.put((_BLOCK for _ in range(count)), count * len(_BLOCK))


@contextmanager
def visitor(address: str) -> Iterator[Visitor]:
    """A session that has run the app once, until the block ends; the server has then its model.

    The example's text would be drawn without it, and what is loaded later is no visitor's doing.
    """
    token = xsrf_token(address)
    stream = address.replace("http", "ws", 1) + "/_stcore/stream"
    with connect(stream, max_size=None, additional_headers={"Cookie": f"{_COOKIE}={token}"}) as ws:
        ask = BackMsg()
        ask.rerun_script.query_string = "text=Hello"
        ws.send(ask.SerializeToString())
        session = ""
        while True:
            told = ForwardMsg.FromString(ws.recv(timeout=60))
            if told.WhichOneof("type") == "new_session":
                session = told.new_session.initialize.session_id
            if told.WhichOneof("type") == "script_finished" and not told.script_finished:
                break  # well; the first run ends early, for the one with the window's measures
        yield Visitor(address, session, token)


MEGABYTE = 2**20


def temporary_files(process: psutil.Process) -> list[str]:
    """What a process has open below the folder of temporary files, without a name or with one.

    The checkout may lie there too: modules that are just being imported do not count.
    """
    folder = Path(f"/proc/{process.pid}/fd")
    names = [str(link.readlink()) for link in folder.iterdir() if link.is_symlink()]
    checkout = str(Path(__file__).parents[2])
    return [
        name
        for name in names
        if name.startswith(tempfile.gettempdir()) and not name.startswith(checkout)
    ]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc lists what a process opens")
def test_an_upload_is_never_written_to_the_disk(quiet_app: str) -> None:
    """Looked at when all but the end of 19 MB is sent: what is not received yet is in no buffer."""
    process = process_at(quiet_app)
    before = temporary_files(process)
    opened: list[str] = []

    def blocks(count: int) -> Iterator[bytes]:
        for _ in range(count - 1):
            yield bytes(MEGABYTE)
        opened.extend(temporary_files(process))
        yield bytes(MEGABYTE)

    with visitor(quiet_app) as one:
        assert one.put(blocks(19), 19 * MEGABYTE)[0] == 204
        assert one.put_megabytes(60)[0] == 413
    assert opened == before


def test_one_file_is_as_large_as_the_server_is_told() -> None:
    """As much as pages ask for: of a corpus, and of an image."""
    assert {MAX_BYTES, image_row.MAX_MB * MEGABYTE, images.MAX_MB * MEGABYTE} == {20 * MEGABYTE}
    assert "maxUploadSize = 20" in (ROOT / ".streamlit" / "config.toml").read_text()
