"""One visitor: a connection, what is on the screen, and what a person can do there."""

from __future__ import annotations

import asyncio
import time
import urllib.request
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from tests.tools.visitors.elements import Screen
from tests.tools.visitors.widgets import is_trigger, options, state_of, value_sent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from streamlit.proto.ClientState_pb2 import ClientState
    from streamlit.proto.WidgetStates_pb2 import WidgetState


PATIENCE_S = 120.0
_OPENING_S = 60.0  # a server that loads its first model answers no handshake for seconds
_RUNS_KEPT = 2  # for which a message is remembered, as ``global.maxCachedMessageAge`` has it
_DONE = {ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR}


class ConnectionLostError(Exception):
    """The server has ended the connection, or never took it."""


@dataclass(frozen=True)
class Answer:
    """What one action brought."""

    seconds: float  # from the request until the script had ended and all of it was here
    size: int  # bytes received in that time
    arrived: Mapping[str, float]  # seconds until the first element of each key was here


class Visitor:
    """A visitor with a session of its own. Use it in ``async with``, one action at a time.

    Parameters
    ----------
    address : of the app on this machine, e.g. "http://127.0.0.1:8501".
    patience : seconds to wait for an answer before TimeoutError.
    on_message : gets every message as it came, before it is read.
    """

    def __init__(
        self,
        address: str,
        *,
        patience: float = PATIENCE_S,
        on_message: Callable[[bytes], object] | None = None,
    ) -> None:
        self.address = address.rstrip("/")
        self.patience = patience
        self.screen = Screen()
        self.query = ""  # what stands behind the ? of the address now
        self.page = ""  # hash of the page's script
        self.failures: list[str] = []  # of the protocol: a page not found, a script with no syntax
        self._on_message = on_message
        self._states: dict[str, WidgetState] = {}
        self._remembered: dict[str, tuple[ForwardMsg, int]] = {}  # by hash, with the run's number
        self._run, self._runs = "", 0
        self._fragments: frozenset[str] = frozenset()
        self._received = 0
        self._asked, self._arrived = 0.0, dict[str, float]()
        self._connection: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._answered: asyncio.Future[None] | None = None
        self._in_fragment = False  # whether a fragment's run is the answer
        self._clocks: dict[str, asyncio.Task[None]] = {}  # of fragments that run again by time

    async def __aenter__(self) -> Self:
        """Connect as Streamlit's page does: a token in a cookie and in the protocol's header."""
        parts = urlsplit(self.address)
        try:
            token = await asyncio.to_thread(xsrf_token, self.address)
            self._connection = await connect(
                f"ws://{parts.netloc}{parts.path}/_stcore/stream",
                subprotocols=["streamlit", token] if token else ["streamlit"],  # type: ignore[list-item]
                origin=f"{parts.scheme}://{parts.netloc}",  # type: ignore[arg-type]
                additional_headers={"Cookie": f"_streamlit_xsrf={token}"} if token else None,
                open_timeout=_OPENING_S,
                ping_interval=None,  # browsers send none
                max_size=None,
            )
        except (OSError, InvalidHandshake, TimeoutError) as error:
            raise ConnectionLostError(str(error)) from error
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave: the server keeps the session for two minutes, as for a page that was closed."""
        for clock in self._clocks.values():
            clock.cancel()
        if self._reader is not None:
            self._reader.cancel()
        if self._connection is not None:
            await self._connection.close()

    async def open(self, page: str = "", **parameters: str) -> Answer:
        """Follow a link: the page of that name with its parameters. For a new visitor.

        Then the window is watched, as a browser reports, and the page writes its address.
        """
        self.query = urlencode(parameters)
        request = BackMsg()
        request.rerun_script.page_name = page
        answer = await self._ask(request)
        await self.set("window", {"watched": True})
        return answer

    async def set(self, key: str, value: Any) -> Answer:
        """Give the widget of that key a value, and wait for the answer.

        See :func:`tests.tools.visitors.widgets.state_of` for values. Raises KeyError, ValueError
        where the page has no such widget or option, TimeoutError and ConnectionLostError.
        """
        element = self.screen.find(key)
        state = state_of(element, value)
        self._states[state.id] = state
        request = BackMsg()
        request.rerun_script.fragment_id = element.fragment
        try:
            return await self._ask(request)
        finally:
            if is_trigger(element):
                self._states.pop(state.id, None)

    async def go_back(self) -> None:
        """Say that the address has become what `query` is, and do not wait for the answer."""
        assert self._connection is not None
        request = BackMsg()
        request.rerun_script.is_history_navigation = True
        self._describe(request.rerun_script)
        await self._connection.send(request.SerializeToString())

    def errors(self) -> list[str]:
        """Exceptions and red boxes on the screen, and failures of the script as a whole."""
        return [*self.failures, *(error for element in self.screen if (error := element.error))]

    def options(self, key: str) -> list[str]:
        """What a picker offers, in the words of the page."""
        return options(self.screen.find(key))

    def value(self, key: str) -> Any:
        """The value a widget has now."""
        element = self.screen.find(key)
        state = self._states.get(element.body.id)
        if state is None:
            return value_sent(element)
        value: Any = getattr(state, state.WhichOneof("value") or "")
        return list(value.data) if hasattr(value, "data") else value

    async def _ask(self, request: BackMsg) -> Answer:
        """Ask for a run of the script with all that was set; until its end is here."""
        if self._connection is None:
            raise ConnectionLostError("use the visitor in `async with`")
        self._describe(request.rerun_script)
        self._in_fragment = bool(request.rerun_script.fragment_id)
        self._answered = asyncio.get_running_loop().create_future()
        before, start = self._received, time.perf_counter()
        self._asked, self._arrived = start, {}
        try:
            await self._connection.send(request.SerializeToString())
            await asyncio.wait_for(self._answered, self.patience)
        except ConnectionClosed as error:
            raise ConnectionLostError(str(error)) from error
        finally:
            self._answered = None
        taken = time.perf_counter() - start
        return Answer(taken, self._received - before, self._arrived)

    def _describe(self, state: ClientState) -> None:
        """Fill in what every request carries."""
        state.query_string = self.query
        if not state.page_name:
            state.page_script_hash = self.page
        state.widget_states.widgets.extend(self._states.values())
        state.cached_message_hashes.extend(self._remembered)
        state.context_info.timezone = "UTC"
        state.context_info.locale = "en"
        state.context_info.url = self.address
        state.context_info.color_scheme = "light"

    async def _read(self) -> None:
        """Take in messages until the connection ends."""
        assert self._connection is not None
        try:
            async for data in self._connection:
                assert isinstance(data, bytes)
                self._received += len(data)
                if self._on_message is not None:
                    self._on_message(data)
                self._take(ForwardMsg.FromString(data))
        except ConnectionClosed:
            pass
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(ConnectionLostError("the server closed the connection"))

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            known, _ = self._remembered[message.ref_hash]
            self._remembered[message.ref_hash] = known, self._runs
            self._draw(message, known)
        elif kind == "delta":
            if message.metadata.cacheable:
                self._remembered[message.hash] = message, self._runs
            self._draw(message, message)
        elif kind == "new_session":
            self._begin_run(message)
        elif kind == "navigation":
            self.page = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "page_not_found":
            self.failures.append(f"no page is called {message.page_not_found.page_name!r}")
        elif kind == "session_event":
            event = message.session_event
            if event.WhichOneof("type") == "script_compilation_exception":
                self.failures.append(event.script_compilation_exception.message)
        elif kind == "auto_rerun":
            self._start_clock(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            self._stop_clocks(message.stop_auto_rerun.fragment_ids)
        elif kind == "script_finished":
            self._end_run(message)

    def _draw(self, message: ForwardMsg, known: ForwardMsg) -> None:
        """Put an element where the message says; its content may be known from before."""
        key = self.screen.take(tuple(message.metadata.delta_path), known.delta, self._run)
        self._arrived.setdefault(key, time.perf_counter() - self._asked)

    def _begin_run(self, message: ForwardMsg) -> None:
        run = message.metadata.run
        self._run, self._fragments = run.script_run_id, frozenset(run.fragment_ids)
        if not self._fragments:
            self.page = message.new_session.page_script_hash
            self._stop_clocks(list(self._clocks))

    def _end_run(self, message: ForwardMsg) -> None:
        """At the end of a run, what it has not drawn again goes, and so do its widgets' values."""
        status = message.script_finished
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return
        self.screen.end_run(self._run, self._fragments)
        self._keep_values()
        if not self._fragments:
            self._runs += 1
            oldest = self._runs - _RUNS_KEPT
            self._remembered = {
                hash_: entry for hash_, entry in self._remembered.items() if entry[1] >= oldest
            }
        waiting = self._answered is not None and not self._answered.done()
        if waiting and (status in _DONE or self._in_fragment):
            assert self._answered is not None
            self._answered.set_result(None)

    def _keep_values(self) -> None:
        """What the visitor set lasts until the script sets another value, or drops the widget."""
        bodies = {getattr(element.body, "id", ""): element.body for element in self.screen}
        self._states = {
            name: state
            for name, state in self._states.items()
            if name in bodies and not getattr(bodies[name], "set_value", False)
        }

    def _start_clock(self, fragment: str, seconds: float) -> None:
        self._stop_clocks([fragment])
        self._clocks[fragment] = asyncio.create_task(self._run_again(fragment, seconds))

    def _stop_clocks(self, fragments: list[str] | Any) -> None:
        for fragment in fragments:
            if (clock := self._clocks.pop(fragment, None)) is not None:
                clock.cancel()

    async def _run_again(self, fragment: str, seconds: float) -> None:
        """Ask for the fragment every so often, but not while the visitor waits for an answer."""
        while True:
            await asyncio.sleep(seconds)
            if self._answered is None and self._connection is not None:
                request = BackMsg()
                request.rerun_script.fragment_id = fragment
                request.rerun_script.is_auto_rerun = True
                self._describe(request.rerun_script)
                await self._connection.send(request.SerializeToString())


def xsrf_token(address: str) -> str:
    """The token that the server gives with its health, "" where it gives none."""
    with urllib.request.urlopen(f"{address}/_stcore/health", timeout=_OPENING_S) as answer:  # noqa: S310 - loopback
        cookies: Iterator[str] = iter(answer.headers.get_all("Set-Cookie") or ())
    for cookie in cookies:
        if (morsel := SimpleCookie(cookie).get("_streamlit_xsrf")) is not None:
            return morsel.value
    return ""
