"""A browser, the app, and pages that report what must not happen."""

from __future__ import annotations

import base64
import io
import os
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    expect,
    sync_playwright,
)
from playwright.sync_api import Error as PlaywrightError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.server import ARGUMENTS, find_chromium, running_app
from tests.stand_in_hub import StandInHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray
    from playwright.sync_api import (
        ConsoleMessage,
        Dialog,
        FloatRect,
        Locator,
        Request,
        WebSocket,
    )

Open: TypeAlias = "Callable[..., Page]"  # what `goto`, `open_page` and `open_saved` are

# Streamlit's client looks for its server under the page's own address first.
_PROBED = re.compile(r"/[a-z_]+/_stcore/(health|host-config)$")

_WHOLE_STATE = re.compile(r"(?=.*[?&]model=)(?=.*[?&](text=|packed=|image=))")

_SHORT = 1_000  # bytes: a message that a run has ended is shorter
_AS_BACK = """address => {
  History.prototype.pushState.call(history, null, "", address)
  dispatchEvent(new PopStateEvent("popstate", { state: null }))
}"""

# A cold import takes 8 s on a quiet machine and half a minute beside the other half of the tests.
PATIENCE_MS = 90_000
# So much may be new before it is searched for garbage: pages open in a twelfth less time.
_ROOMY = "--js-flags=--min-semi-space-size=64 --max-semi-space-size=128"
TEXT = "Oh, this book? I've enjoyed it."
# What is held in a picture.
HELD = ".cell.marked, .token[aria-pressed=true], .word[aria-pressed=true], .chip[aria-pressed=true]"

expect.set_options(timeout=PATIENCE_MS)


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by mark
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs a browser."""
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def _playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def _chromium() -> str:
    path = find_chromium()
    if path is None:
        message = "no Chromium on this machine (bash tests/run installs one)"
        if os.environ.get("HEADSCOPE_REQUIRE_BROWSER"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def browser(_playwright: Playwright, _chromium: str) -> Iterator[Browser]:
    """For contexts of a test's own."""
    browser = _playwright.chromium.launch(executable_path=_chromium, args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server") / "log.txt"


@pytest.fixture(scope="session")
def stand_in() -> Iterator[StandInHub]:
    """The only hub that the app can reach. It knows no model at first."""
    with running_hub() as known:
        yield known


@pytest.fixture(scope="session")
def downloaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the app keeps what it downloads."""
    return tmp_path_factory.mktemp("hub")


# In UMAP's place, which compiles for half a minute; tests/analysis has the real one.
UMAP = """
import time
from pathlib import Path

HELD = Path(__file__).with_name("held")

class UMAP:
    def __init__(self, n_components, **settings):
        self.components = n_components

    def fit_transform(self, rows):
        if HELD.exists():
            time.sleep(1)
        return rows[:, : self.components]
"""


@pytest.fixture(scope="session")
def _modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules")
    (folder / "umap.py").write_text(UMAP)
    return folder


@pytest.fixture
def held(_modules: Path) -> Iterator[Path]:
    """While this file exists, UMAP takes a second a head."""
    file = _modules / "held"
    file.touch()
    yield file
    file.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def app(log: Path, stand_in: StandInHub, downloaded: Path, _modules: Path) -> Iterator[str]:
    """Address of one app for all tests that do not need a cold one."""
    with running_app(
        log,
        HF_ENDPOINT=stand_in.address,
        HF_HUB_CACHE=str(downloaded),
        PYTHONPATH=str(_modules),
    ) as address:
        yield address


@pytest.fixture(scope="session")
def _profile(
    _playwright: Playwright, _chromium: str, app: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    """A browser that keeps Streamlit's scripts and one process: pages open in half the time."""
    context = _playwright.chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=_chromium,
        args=[*ARGUMENTS, "--process-per-site", "--force-prefers-reduced-motion", _ROOMY],
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(PATIENCE_MS)
    context.new_page().goto(f"{app}/_stcore/health")  # the process ends with its last page
    yield context
    context.close()


@pytest.fixture
def open_context(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    contexts: list[BrowserContext] = []

    def make(width: int = 1400, height: int = 900, **options: Any) -> BrowserContext:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def open_page(_profile: BrowserContext) -> Iterator[Open]:
    """A new page; what a visit leaves in the browser does not outlive the test."""
    pages: list[Page] = []

    def make(
        scheme: Literal["light", "dark"] = "light", width: int = 1400, height: int = 900
    ) -> Page:
        pages.append(_profile.new_page())
        set_screen(pages[-1], scheme, width, height)
        return pages[-1]

    yield make
    for page in pages:
        close(page)
    _profile.clear_cookies()


def set_screen(page: Page, scheme: Literal["light", "dark"], width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)


def close(page: Page) -> None:
    if not page.is_closed():
        page.evaluate("localStorage.clear()")
        page.close()


@dataclass(eq=False)
class Visit:
    """A page of the app, what went wrong in it, and how many runs it has seen the end of."""

    page: Page
    troubles: list[str]
    runs: int = 0

    def __post_init__(self) -> None:
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._count))

    def _count(self, payload: str | bytes) -> None:
        if isinstance(payload, bytes) and len(payload) < _SHORT:
            kind = ForwardMsg.FromString(payload).WhichOneof("type")
            self.runs += kind == "script_finished"

    def rest(self) -> None:
        """Wait until nothing is under way: a message that comes late brings what was before."""
        runs = -1
        while self.runs != runs:
            runs = self.runs
            self.page.wait_for_timeout(200)
            settle(self.page)

    def follow(self, address: str) -> None:
        """Open an address as Back does, once nothing is under way: no script is loaded anew."""
        self.rest()
        runs = self.runs
        self.page.mouse.move(2, 2)
        self.page.evaluate(_AS_BACK, address)
        for _ in range(PATIENCE_MS // 20):
            if self.runs > runs:
                return
            self.page.wait_for_timeout(20)
        pytest.fail(f"no run has answered {address}")


@pytest.fixture(scope="module")
def _visits(_profile: BrowserContext) -> Iterator[list[Visit]]:
    """The page that the tests of a file visit one after the other."""
    visits: list[Visit] = []
    yield visits
    for visit in visits:
        close(visit.page)


@pytest.fixture
def goto(
    app: str, open_page: Open, _profile: BrowserContext, _visits: list[Visit]
) -> Iterator[Open]:
    """Open a path of the app; at the end nothing may have gone wrong in any page opened so.

    A session goes on from test to test of a file: a link opens as by Back, and what it leaves out
    stays as it was. With `anew` it is a visitor's first page.
    """
    visited: list[Visit] = []

    def visit(
        path: str,
        *,
        scheme: Literal["light", "dark"] = "light",
        width: int = 1400,
        height: int = 900,
        base: str = app,
        anew: bool = False,
    ) -> Page:
        anew = anew or base != app
        if _visits and _visits[0].page.is_closed():
            _visits.clear()
        if _visits and not anew:
            (found,) = _visits
            set_screen(found.page, scheme, width, height)
            found.follow(base + path)
        elif anew:
            found = Visit(open_page(scheme, width, height), [])
        else:
            found = Visit(_profile.new_page(), [])
            set_screen(found.page, scheme, width, height)
            _visits.append(found)
        if found.page.url == "about:blank":
            watch(found.page, base, found.troubles)
            until_answered(found.page, lambda: found.page.goto(base + path))
        visited.append(found)
        arrive(found.page)
        return found.page

    yield visit
    troubles = [each for found in visited for each in found.troubles]
    if troubles:
        _visits.clear()
    assert troubles == []


@pytest.fixture
def open_saved(open_context: Callable[..., BrowserContext], tmp_path: Path) -> Iterator[Open]:
    """Press the button that saves a page's file, and open that from disk with no network to reach.

    No token may have become an element of it, and at the end nothing may have gone wrong in it.
    """
    troubles: list[str] = []
    opened: list[Page] = []

    def save(page: Page, button: str = "Save as HTML") -> Page:
        path = tmp_path / "saved.html"
        save_file(page, button, path)
        assert "<img" not in path.read_text("utf-8")
        context = open_context()
        context.set_offline(offline=True)
        saved = context.new_page()
        watch(saved, path.as_uri(), troubles)
        saved.goto(path.as_uri())
        opened.append(saved)
        return saved

    yield save
    assert [page.locator("img").count() for page in opened] == [0] * len(opened)
    assert troubles == []


@pytest.fixture(scope="session")
def _reader(browser: Browser) -> Callable[[bool], tuple[Page, list[str]]]:
    """The page that opens files, with or without a finger, and what went wrong in it."""

    @cache
    def make(has_touch: bool) -> tuple[Page, list[str]]:
        page, troubles = browser.new_context(has_touch=has_touch).new_page(), list[str]()
        watch(page, "file:", troubles)
        return page, troubles

    return make


@pytest.fixture
def open_file(_reader: Callable[[bool], tuple[Page, list[str]]], tmp_path: Path) -> Iterator[Open]:
    """Open a view without a server, from a file; at the end nothing may have gone wrong in it."""
    found: list[list[str]] = []
    path = tmp_path / "view.html"

    def visit(
        text: str,
        *,
        scheme: Literal["light", "dark"] = "light",
        width: int = 1400,
        height: int = 900,
        has_touch: bool = False,
    ) -> Page:
        path.write_text(text, "utf-8")
        page, troubles = _reader(has_touch)
        found.append(troubles)
        set_screen(page, scheme, width, height)
        page.mouse.move(0, 0)
        page.goto(path.as_uri())
        return page

    yield visit
    troubles = [each for one in found for each in one]
    for one in found:
        one.clear()
    assert troubles == []


def watch(page: Page, base: str, troubles: list[str]) -> None:
    """Note console errors, Plotly's warnings (traces), script errors, dialogs, outside requests."""

    def on_console(message: ConsoleMessage) -> None:
        probed = _PROBED.search(message.location.get("url", ""))
        if message.type in {"error", "trace"} and not probed:
            troubles.append(f"console: {message.text}")

    def on_request(request: Request) -> None:
        if not request.url.startswith((base, "data:", "blob:")):
            troubles.append(f"request: {request.url}")

    def on_dialog(dialog: Dialog) -> None:
        troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("console", on_console)
    page.on("request", on_request)
    page.on("pageerror", lambda error: troubles.append(f"script: {error}"))
    page.on("dialog", on_dialog)


def arrive(page: Page) -> None:
    """Wait, after a page was opened by its address, until it runs no more.

    The browser reports after the first run, which runs the page again and writes the whole state;
    links of tests leave out the model, the text, or that an image is shown.
    """
    wait_for_address(page, _WHOLE_STATE)
    settle(page)


def reload(page: Page) -> None:
    """Open the page's address anew, and wait until it runs no more."""
    until_answered(page, page.reload)
    settle(page)


def until_answered(page: Page, go: Callable[[], object]) -> None:
    """Open an address, and wait until the browser's first report is answered.

    Where the address is whole, nothing can be seen of the run that follows that report.
    """
    reported, answers = list[bool](), list[bool]()

    def on_sent(payload: str | bytes) -> None:
        reported.extend([True] * (isinstance(payload, bytes) and b"watched" in payload))

    def on_received(payload: str | bytes) -> None:
        if reported and isinstance(payload, bytes):
            kind = ForwardMsg.FromString(payload).WhichOneof("type")
            answers.extend([True] * (kind == "script_finished"))

    def on_socket(socket: WebSocket) -> None:
        socket.on("framesent", on_sent)
        socket.on("framereceived", on_received)

    page.on("websocket", on_socket)
    go()
    for _ in range(PATIENCE_MS // 20):
        if answers:
            break
        page.wait_for_timeout(20)
    else:
        pytest.fail("the browser's first report was not answered")
    page.remove_listener("websocket", on_socket)


def settle(page: Page) -> None:
    """Wait until the app has finished its run and its last elements are drawn."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    page.wait_for_function(
        '() => !document.querySelector(\'[data-stale="true"], [data-testid="stSpinner"]\')',
        polling=50,  # every frame would be one more to paint
    )


def follow(page: Page, pattern: str) -> None:
    """Wait until the address holds this and the page has followed."""
    wait_for_address(page, re.compile(pattern))
    settle(page)


def undo_by_back(page: Page, target: Locator, chosen: str) -> None:
    """Press something in a picture, undo that by Back, and press again: it is heard again.

    `chosen` is what a press writes into the address.
    """
    page.evaluate("History.prototype.pushState.call(history, history.state, '', location.href)")
    target.click()
    follow(page, chosen)
    page.go_back()
    expect(page.locator(HELD)).to_have_count(0)
    follow(page, f"^(?!.*{chosen})")
    target.click()
    follow(page, chosen)


def wait_for_address(page: Page, pattern: re.Pattern[str]) -> None:
    """Wait until the address is like this; where it never is, tell what the page shows."""
    try:
        page.wait_for_url(pattern)
    except PlaywrightError as error:
        state = page.get_by_test_id("stApp").get_attribute("data-test-script-state")
        shown = " ".join(page.locator("body").inner_text().split())
        error.add_note(f"{page.url} is {state} and shows: {shown[:1_000]}")
        raise


def choose(page: Page, label: str, option: str) -> None:
    """Pick an option of a box; it is scrolled to before, since scrolling shuts an open list."""
    box = page.get_by_label(label, exact=True).first
    box.hover()
    box.click()
    page.get_by_role("option", name=option, exact=True).click()


def step_to(page: Page, what: str, value: str) -> None:
    """Pick a layer or a head in the stepper's menu."""
    page.get_by_role("combobox", name=what, exact=True).select_option(value)


def open_model_chip(page: Page) -> Locator:
    """Show the choice of a model, and what is said of it."""
    page.locator(".st-key-model_chip").get_by_role("button").first.click()
    return page.get_by_test_id("stPopoverBody")


def box_of(locator: Locator) -> FloatRect:
    """Where an element is on the page."""
    box = locator.bounding_box()
    assert box is not None
    return box


def place(figure: Locator, point: NDArray[np.float64]) -> tuple[float, float]:
    """Where a point must lie on the screen if both axes have the same scale."""
    box = box_of(figure.locator("canvas"))
    scale, x, y = (
        float(figure.get_attribute(f"data-{name}") or "") for name in ("scale", "x", "y")
    )
    return (
        box["x"] + box["width"] / 2 + (point[0] - x) * scale,
        box["y"] + box["height"] / 2 - (point[1] - y) * scale,
    )


def pixels(canvas: Locator) -> NDArray[np.uint8]:
    """What is drawn on a canvas, (row, column, 4): red, green, blue and opacity."""
    url: str = canvas.evaluate("(canvas) => canvas.toDataURL()")
    image = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    return np.asarray(image.convert("RGBA"))


def save_file(page: Page, button: str, path: Path) -> None:
    """Press a button that saves a file."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    download.value.save_as(path)


def count_messages(page: Page) -> Callable[[], int]:
    """How many messages the page sends to its server from now on; a failed test shows them."""
    page.evaluate(
        """() => {
          const isCounting = "sent" in window
          window.sent = []
          if (isCounting) return
          const send = WebSocket.prototype.send
          WebSocket.prototype.send = function (data) {
            window.sent.push(Array.from(new Uint8Array(data)))
            return send.call(this, data)
          }
        }"""
    )

    def count() -> int:
        sent = [BackMsg.FromString(bytes(each)) for each in page.evaluate("window.sent")]
        print(*sent)
        return len(sent)

    return count


def click_head(
    page: Page, chart: str, layer: int, head: int, shape: tuple[int, int] = (6, 12)
) -> None:
    """Click a head's square on the map with that key, of the bundled model's layers x heads.

    Heads run from 0.4 to 0.6 after the last across, and layers down.
    """
    layers, heads = shape
    area = page.locator(f".st-key-{chart} .nsewdrag[data-subplot=xy]")
    area.scroll_into_view_if_needed()
    box = box_of(area)
    x = box["x"] + box["width"] * (head - 0.4) / (heads + 0.2)
    y = box["y"] + box["height"] * (layer - 0.4) / (layers + 0.2)
    click_chart(page, chart, x, y)


def click_chart(page: Page, chart: str, x: float, y: float) -> None:
    """Click a place of a chart, once Plotly has said what is there: before that it hears none."""
    label = page.locator(f".st-key-{chart} .hoverlayer .hovertext").first
    for _ in range(PATIENCE_MS // 200):
        page.mouse.move(x, y - 4)
        page.mouse.move(x, y)
        page.wait_for_timeout(200)
        if label.is_visible():
            break
    page.mouse.click(x, y)
