"""A visitor of the app without a browser: the project's own client of Streamlit's protocol.

    async with Visitor("http://127.0.0.1:8501") as visitor:
        await visitor.open("heatmap", text="leaves fall in autumn")
        answer = await visitor.set("place", {"view": {"head": "3"}})
        print(answer.seconds, visitor.errors())

A visitor does what Streamlit's page does between the server and the screen: it keeps the elements
that it is sent, holds the values that were set, and asks for a run of the script with all of them.
It draws nothing, fetches no media, fonts or scripts, and leaves fragments that run by the clock
alone.
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState, ContextInfo
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

Place = tuple[int, ...]  # the root (main, sidebar, ...), then the index in each container

_PATIENCE_S = 300.0  # for an answer
_OPENING_S = 60.0  # a server that loads its first model answers no handshake for seconds
_DONE = {ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR}
_FRAME = {"window", "present"}  # their reports last; those of other components are triggers


class ConnectionLostError(Exception):
    """The server has ended the connection, or never took it."""


@dataclass(frozen=True)
class Answer:
    """What one action brought."""

    seconds: float  # from the request until the script had ended and all of it was here
    size: int  # bytes received in that time
    arrived: dict[str, float]  # seconds until the first element of each key was here


@dataclass(frozen=True)
class Element:
    """One element of the page."""

    kind: str  # as the message's field is called: "markdown", "selectbox", "bidi_component", ...
    body: Any  # the message of that kind
    fragment: str  # that it was drawn in, "" outside of all
    run: str  # of the script that sent it

    @property
    def key(self) -> str:
        """The key that the script gave it; "" where it gave none."""
        # "$$ID-<hash>-<key>", with "None" for no key
        parts = getattr(self.body, "id", "").split("-", 2)
        return parts[2] if len(parts) == 3 and parts[2] != "None" else ""

    @property
    def error(self) -> str:
        """What it says when it is an exception or a red box, else ""."""
        if self.kind == "exception":
            return f"{self.body.type}: {self.body.message}"
        is_red = self.kind == "alert" and self.body.format == Alert.ERROR
        return str(self.body.body) if is_red else ""

    @property
    def options(self) -> list[str]:
        """What can be picked, in the words of the page; empty for a widget without options."""
        found = getattr(self.body, "options", ())
        return [each if isinstance(each, str) else each.content for each in found]

    @property
    def is_trigger(self) -> bool:
        """Whether a value is sent once and then forgotten."""
        return self.kind == "bidi_component" and self.key not in _FRAME

    def state(self, value: Any) -> WidgetState:
        """The message that tells the server this value; see :meth:`Visitor.set`."""
        if getattr(self.body, "disabled", False):
            raise ValueError(f"{self.key} is switched off")
        state = WidgetState(id=self.body.id)
        if self.is_trigger:
            state.id = trigger_id(state.id)
            events = [{"event": name, "value": each} for name, each in value.items()]
            state.json_trigger_value = json.dumps(events)
        elif self.kind == "bidi_component":
            state.json_value = json.dumps(value)
        elif self.kind == "button_group":
            state.string_array_value.data[:] = [self._known(value)]
        elif self.kind == "checkbox":
            state.bool_value = value
        else:  # a text, or one of the options
            state.string_value = self._known(value) if self.kind == "selectbox" else value
        return state

    def _known(self, option: str) -> str:
        if option not in self.options and not getattr(self.body, "accept_new_options", False):
            raise ValueError(f"{self.key} has no option {option!r} of {self.options}")
        return option


class Visitor:
    """A visitor with a session of its own. Use it in ``async with``, one action at a time.

    Parameters
    ----------
    address : of the app on this machine, e.g. "http://127.0.0.1:8501".
    on_message : gets every message as it came, before it is read.
    name : what the address bar calls the server.
    headers : sent with the first request, as a proxy adds them.
    """

    def __init__(
        self,
        address: str,
        *,
        on_message: Callable[[bytes], object] | None = None,
        name: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.address = address.rstrip("/")
        self.query = ""  # what stands behind the ? of the address now
        self.page = ""  # hash of the page's script
        self.failures: list[str] = []  # of the protocol: a page not found, a script with no syntax
        self._on_message, self._name, self._headers = on_message, name, headers or {}
        self._elements: dict[Place, Element] = {}
        self._states: dict[str, WidgetState] = {}
        self._remembered: dict[str, ForwardMsg] = {}  # by hash
        self._run, self._fragments = "", frozenset[str]()
        self._asked, self._received, self._arrived = 0.0, 0, dict[str, float]()
        self._connection: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._answered: asyncio.Future[None] | None = None
        self._in_fragment = False  # whether a fragment's run is the answer

    async def __aenter__(self) -> Self:
        """Connect as Streamlit's page does: a token in a cookie and in the protocol's header."""
        parts = urlsplit(self.address)
        host = f"{self._name or parts.hostname}:{parts.port}"
        try:
            token = await asyncio.to_thread(xsrf_token, self.address)
            cookie = {"Cookie": f"_streamlit_xsrf={token}"} if token else {}
            self._connection = await connect(
                f"ws://{host}{parts.path}/_stcore/stream",
                host=parts.hostname,
                port=parts.port,
                subprotocols=["streamlit", token] if token else ["streamlit"],  # type: ignore[list-item]
                origin=f"{parts.scheme}://{host}",  # type: ignore[arg-type]
                additional_headers={**cookie, **self._headers},
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

        A picker takes one of its options as the page writes it ("own"), a switch a bool. What a
        component reports is a dict: its reports by name. Raises KeyError, ValueError where the page
        has no such widget or option or it is switched off (a person could not do it either),
        TimeoutError and ConnectionLostError.
        """
        element = self.find(key)
        state = element.state(value)
        self._states[state.id] = state
        request = BackMsg()
        request.rerun_script.fragment_id = element.fragment
        try:
            return await self._ask(request)
        finally:
            if element.is_trigger:
                self._states.pop(state.id, None)

    async def go_back(self) -> None:
        """Say that the address has become what `query` is, and do not wait for the answer."""
        assert self._connection is not None
        request = BackMsg()
        request.rerun_script.is_history_navigation = True
        self._describe(request.rerun_script)
        await self._connection.send(request.SerializeToString())

    @property
    def screen(self) -> list[Element]:
        """The elements in the order of the page."""
        return [self._elements[place] for place in sorted(self._elements)]

    def find(self, key: str) -> Element:
        """The widget or component of that key. Raises KeyError where there is none."""
        here = {element.key: element for element in reversed(self.screen)}
        if key in here:
            return here[key]
        raise KeyError(f"nothing on this page has the key {key!r}; there are: {sorted(here)}")

    def errors(self) -> list[str]:
        """Exceptions and red boxes on the screen, and failures of the script as a whole."""
        return [*self.failures, *(error for element in self.screen if (error := element.error))]

    async def _ask(self, request: BackMsg) -> Answer:
        """Ask for a run of the script with all that was set; until its end is here."""
        assert self._connection is not None
        self._describe(request.rerun_script)
        self._in_fragment = bool(request.rerun_script.fragment_id)
        answered = self._answered = asyncio.get_running_loop().create_future()
        before, self._asked, self._arrived = self._received, time.perf_counter(), {}
        try:
            await self._connection.send(request.SerializeToString())
            await asyncio.wait_for(answered, _PATIENCE_S)
        except ConnectionClosed as error:
            raise ConnectionLostError(str(error)) from error
        finally:
            self._answered = None
        return Answer(time.perf_counter() - self._asked, self._received - before, self._arrived)

    def _describe(self, state: ClientState) -> None:
        """Fill in what every request carries."""
        state.query_string = self.query
        if not state.page_name:
            state.page_script_hash = self.page
        state.widget_states.widgets.extend(self._states.values())
        state.cached_message_hashes.extend(self._remembered)
        about = ContextInfo(timezone="UTC", locale="en", color_scheme="light", url=self.address)
        state.context_info.MergeFrom(about)

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
            known = self._remembered[message.ref_hash]
            self._draw(tuple(message.metadata.delta_path), known.delta)
        elif kind == "delta":
            if message.metadata.cacheable:
                self._remembered[message.hash] = message
            self._draw(tuple(message.metadata.delta_path), message.delta)
        elif kind == "new_session":
            run = message.metadata.run
            self._run, self._fragments = run.script_run_id, frozenset(run.fragment_ids)
            if not self._fragments:
                self.page = message.new_session.page_script_hash
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
        elif kind == "script_finished":
            self._end_run(message.script_finished)

    def _draw(self, place: Place, delta: Delta) -> None:
        """Put an element in its place; a new one ends what was inside of it, a container it."""
        if delta.WhichOneof("type") == "new_element":
            kind = delta.new_element.WhichOneof("type") or "empty"
            element = Element(kind, getattr(delta.new_element, kind), delta.fragment_id, self._run)
            self._arrived.setdefault(element.key, time.perf_counter() - self._asked)
            others = {at: each for at, each in self._elements.items() if at[: len(place)] != place}
            self._elements = {**others, place: element}
        elif delta.WhichOneof("type") == "add_block":
            self._elements.pop(place, None)

    def _end_run(self, status: int) -> None:
        """What this run has not drawn again goes: of its fragments, or of the whole page.

        What the visitor set lasts until the script sets another value, or drops the widget.
        """
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return
        self._elements = {
            place: element
            for place, element in self._elements.items()
            if element.run == self._run
            or (self._fragments and element.fragment not in self._fragments)
        }
        bodies = {getattr(each.body, "id", ""): each.body for each in self._elements.values()}
        self._states = {
            name: state
            for name, state in self._states.items()
            if name in bodies and not getattr(bodies[name], "set_value", False)
        }
        if self._answered and (status in _DONE or self._in_fragment) and not self._answered.done():
            self._answered.set_result(None)


def run_visit(visit: Coroutine[Any, Any, None]) -> None:
    """Run a visit to its end, in a thread of its own: Playwright keeps a loop in the main one."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(asyncio.run, visit).result()


def trigger_id(component: str) -> str:
    """The id of what a component reports once, from its own."""
    return f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{component}__events"


def xsrf_token(address: str) -> str:
    """The token that the server gives with its health, "" where it gives none."""
    with urllib.request.urlopen(f"{address}/_stcore/health", timeout=_OPENING_S) as answer:  # noqa: S310 - loopback
        cookies: Iterator[str] = iter(answer.headers.get_all("Set-Cookie") or ())
    for cookie in cookies:
        if (morsel := SimpleCookie(cookie).get("_streamlit_xsrf")) is not None:
            return morsel.value
    return ""
