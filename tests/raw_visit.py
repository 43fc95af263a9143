"""A visit by Streamlit's own protocol: headers as one likes, and no browser."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

if TYPE_CHECKING:
    from streamlit.proto.Element_pb2 import Element

_SECONDS = 120  # for a page of a cold server on a busy machine


def visit(app: str, name: str = "", headers: dict[str, str] | None = None, **link: str) -> str:
    """What the home page shows a client of Streamlit's protocol: the model box, then all messages.

    `name` is what the address bar calls the server.
    """
    port = urlsplit(app).port
    wanted = BackMsg()
    wanted.rerun_script.query_string = urlencode(link)
    wanted.rerun_script.page_name = "home"
    shown: list[str] = []
    with (
        socket.create_connection(("127.0.0.1", port or 0)) as line,
        connect(
            f"ws://{name or '127.0.0.1'}:{port}/_stcore/stream",
            sock=line,
            additional_headers=headers or {},
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=None,
        ) as stream,
    ):
        stream.send(wanted.SerializeToString())
        while True:
            message = ForwardMsg()
            message.ParseFromString(stream.recv(timeout=_SECONDS))  # type: ignore[arg-type]
            if message.WhichOneof("type") == "delta":
                shown.append(_words(message.delta.new_element))
            done = message.WhichOneof("type") == "script_finished"
            if done and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return "\n".join(filter(None, shown))


def _words(element: Element) -> str:
    if element.WhichOneof("type") == "selectbox" and element.selectbox.label == "Model":
        free = " and more" if element.selectbox.accept_new_options else ""
        return f"box: {len(element.selectbox.options)}{free}"
    if element.WhichOneof("type") == "alert":
        return str(element.alert.body).replace("\\", "")
    return str(element.markdown.body) if element.WhichOneof("type") == "markdown" else ""
