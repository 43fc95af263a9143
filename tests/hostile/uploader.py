"""A visitor without a browser: opens a session as Streamlit's client does, and sends files."""

from __future__ import annotations

import http.client
import uuid
from contextlib import contextmanager, suppress
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from tests.tools.visitor import xsrf_token

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
