"""The app as a server: visitors without a browser, through a proxy, by another name; uploads."""

from __future__ import annotations

import asyncio
import http.client
import socket
import tempfile
import uuid
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from core.corpus.decoding import MAX_BYTES
from core.model.opening import catalog
from core.screens.atlas.corpus import images
from core.ui.frame import image_row
from tests.components.received import received
from tests.server import ROOT, running_process
from tests.tools.bench.classroom import WORDS, foreign_words, text_of
from tests.tools.visitor import ConnectionLostError, Visitor, run_visit, xsrf_token

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def way_out() -> Iterator[socket.socket]:
    """It stands in for the way out of this machine; who asks there waits to be accepted."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0)
        yield listening


@pytest.fixture(scope="module")
def server(
    way_out: socket.socket, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Address and process of an app as it starts without a browser."""
    proxies = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    environment = dict.fromkeys(proxies, f"http://127.0.0.1:{way_out.getsockname()[1]}")
    environment |= dict.fromkeys(("no_proxy", "NO_PROXY", "HEADSCOPE_MODELS"), "")
    path = tmp_path_factory.mktemp("quiet") / "log.txt"
    with path.open("wb") as log, running_process(log, **environment) as running:
        yield running
    assert "Traceback" not in path.read_text()


@pytest.fixture
def app(server: tuple[str, subprocess.Popen[bytes]]) -> str:
    return server[0]


STRANGE = {"X-Forwarded-For": "192.0.2.7"}
EVERYTHING = f"box: {len(catalog.reading('text'))} and more"
IN_THE_BOX = "box: 2\n"


def visit(app: str, name: str = "", headers: dict[str, str] | None = None) -> str:
    """What Home says to a visitor who calls the server so; first of all how full its box is."""
    shown = []

    async def look() -> None:
        async with Visitor(app, name=name, headers=headers) as visitor:
            await visitor.open("home")
            for each in visitor.screen:
                if each.kind == "selectbox" and each.body.label == "Model":
                    more = " and more" if each.body.accept_new_options else ""
                    shown.append(f"box: {len(each.options)}{more}")
                elif each.kind in {"alert", "markdown"}:
                    shown.append(each.body.body.replace("\\", ""))

    run_visit(look())
    return "\n".join(shown)


def test_only_at_the_machine_itself_every_model_may_be_named_and_nothing_is_asked_outside_of_it(
    app: str, way_out: socket.socket
) -> None:
    shown = visit(app, "localhost")
    assert EVERYTHING in shown
    assert "6 layers" in shown
    assert IN_THE_BOX in visit(app, "", STRANGE)  # through a proxy
    assert IN_THE_BOX in visit(app, "atlas.example.org")
    with pytest.raises(BlockingIOError):
        way_out.accept()


def test_a_page_of_another_site_cannot_speak_to_the_server(app: str) -> None:
    stream = f"{app.replace('http', 'ws', 1)}/_stcore/stream"
    origin = Origin("https://elsewhere.example")
    with pytest.raises(InvalidStatus), connect(stream, origin=origin):
        pass


def test_what_was_sent_a_moment_ago_is_shown_without_being_sent_again(app: str) -> None:
    """Streamlit names it by a number, which the visitor has to know what it stands for."""

    async def visit() -> None:
        async with Visitor(app) as visitor:
            await visitor.open("heatmap", text=text_of("trout"), head="1")
            first = received(visitor.find("heatmap_table").body.bytes)["values"]
            new = await visitor.set("place", {"view": {"head": "2"}})
            again = await visitor.set("place", {"view": {"head": "1"}})
            shown = received(visitor.find("heatmap_table").body.bytes)["values"]
            np.testing.assert_array_equal(shown, first)
            assert again.size < new.size

    run_visit(visit())


def test_what_was_chosen_in_a_picture_does_not_send_the_picture_again(app: str) -> None:
    async def visit() -> None:
        async with Visitor(app) as visitor:
            await visitor.open("neuron_view", text=text_of("trout"), query="2")
            first = visitor.find("neuron_view").body.bytes
            chosen = {"query": 3, "pairKey": 1, "byContribution": True, "serial": 1}
            await visitor.set("neuron_view", {"view": chosen})
            assert "query=4&key_token=2&sort=contribution" in visitor.query
            assert visitor.find("neuron_view").body.bytes == first
            await visitor.set("query", "book")  # by the menu: that the picture must be told
            assert visitor.find("neuron_view").body.bytes != first

    run_visit(visit())


def test_back_is_not_undone_by_what_is_picked_while_it_runs(app: str) -> None:
    """Streamlit ends the run that has begun to read the address, and forgets that it was Back."""

    async def visit() -> None:
        drawn = asyncio.Event()

        def look(data: bytes) -> None:
            if ForwardMsg.FromString(data).WhichOneof("type") in {"delta", "ref_hash"}:
                drawn.set()

        async with Visitor(app, on_message=look) as visitor:
            await visitor.open("heatmap", text=text_of("trout"), layer="4", head="2")
            before = visitor.query
            await visitor.set("place", {"view": {"layer": "5", "head": "3"}})
            assert "layer=5&head=3" in visitor.query
            visitor.query = before
            drawn.clear()
            await visitor.go_back()
            await drawn.wait()
            for _ in range(2):  # the first answer may be the end of the run that Back began
                await visitor.set("words", value=True)
            assert visitor.query == before.replace("words=0", "words=1")

    run_visit(visit())


def test_two_visitors_do_not_see_each_other(app: str) -> None:
    messages: dict[str, bytearray] = {word: bytearray() for word in WORDS[:2]}

    async def visit(word: str) -> None:
        async with Visitor(app, on_message=messages[word].extend) as visitor:
            await visitor.open("heatmap", text=text_of(word))
            for turn in (1, 2):
                await visitor.set("text", text_of(word, turn))
                await visitor.set("place", {"view": {"head": str(turn)}})
            assert visitor.errors() == []

    async def both() -> None:
        await asyncio.gather(*map(visit, messages))

    run_visit(both())
    for word, data in messages.items():
        assert word.encode() in data
        assert foreign_words(bytes(data), word) == set()


MEGABYTE = 2**20


def upload(address: str, session: str, blocks: Iterator[bytes], size: int) -> int:
    """Send a file of `size` bytes; gives the status."""
    start = b'--end\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\n'
    end, token = b"\r\n--end--\r\n", xsrf_token(address)
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    headers = {
        "Content-Type": "multipart/form-data; boundary=end",
        "Content-Length": str(len(start) + size + len(end)),
        "Cookie": f"_streamlit_xsrf={token}",
        "X-Xsrftoken": token,
    }
    path = f"/_stcore/upload_file/{session}/{uuid.uuid4()}"
    with suppress(BrokenPipeError, ConnectionResetError):  # the answer came before all was sent
        connection.request("PUT", path, chain([start], blocks, [end]), headers)
    status = connection.getresponse().status
    connection.close()
    return status


def temporary_files(process: int) -> set[Path]:
    """What a process has open below the folder of temporary files, without a name or with one.

    The checkout may lie there too: modules that are just being imported do not count.
    """
    links = [link for link in Path(f"/proc/{process}/fd").iterdir() if link.is_symlink()]
    names = {link.readlink() for link in links}
    folder = tempfile.gettempdir()
    return {name for name in names if name.is_relative_to(folder) and ROOT not in name.parents}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc lists what a process opens")
def test_an_upload_is_never_written_to_the_disk_and_a_large_one_is_refused(
    server: tuple[str, subprocess.Popen[bytes]],
) -> None:
    """Looked at when all but the end of 19 MB is sent: what is not received yet is in no buffer."""
    (address, process), block = server, bytes(MEGABYTE)
    sessions, opened = list[str](), list[set[Path]]()

    def note(data: bytes) -> None:
        message = ForwardMsg.FromString(data)
        if message.WhichOneof("type") == "new_session":
            sessions.append(message.new_session.initialize.session_id)

    def blocks() -> Iterator[bytes]:
        yield from repeat(block, 18)
        opened.append(temporary_files(process.pid))
        yield block

    async def visit() -> None:
        async with Visitor(address, on_message=note) as visitor:
            await visitor.open("home", text="Hello")
            before = temporary_files(process.pid)
            for size, sent, status in ((19, blocks(), 204), (60, repeat(block, 60), 413)):
                answer = asyncio.to_thread(upload, address, sessions[-1], sent, size * MEGABYTE)
                assert await answer == status
            assert opened == [before]

    run_visit(visit())


def test_one_file_is_as_large_as_the_server_is_told() -> None:
    """As much as pages ask for: of a corpus, and of an image."""
    assert {MAX_BYTES, image_row.MAX_MB * MEGABYTE, images.MAX_MB * MEGABYTE} == {20 * MEGABYTE}
    assert "maxUploadSize = 20" in (ROOT / ".streamlit" / "config.toml").read_text()


def test_at_last_a_server_that_is_asked_to_end_while_it_measures_ends_well(
    server: tuple[str, subprocess.Popen[bytes]],
) -> None:
    """Threads that are in torch as Python ends would abort it. No test uses this server later."""
    address, process = server

    def end(message: bytes) -> None:
        if b"Random directions of the largest" in message:
            process.terminate()

    async def visitor() -> None:
        async with Visitor(address, on_message=end) as guest:
            await guest.open("effect", model="bundled/gpt2-novels", text="the king " * 9)

    with pytest.raises(ConnectionLostError):
        run_visit(visitor())
    assert process.wait(60) == 0
