"""A browser, the app, and pages that report what must not happen."""

from __future__ import annotations

import base64
import io
import os
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.server import ARGUMENTS, find_chromium, running_app
from tests.stand_in_hub import StandInHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray
    from playwright.sync_api import ConsoleMessage, Dialog, FloatRect, Locator, Request, WebSocket

Open: TypeAlias = "Callable[..., Page]"  # what `goto`, `open_page` and `open_saved` are
Watch: TypeAlias = "Callable[[Page, str], None]"  # of a page, whose address begins so

# Streamlit's client looks for its server under the page's own address first.
_PROBED = re.compile(r"/[a-z_]+/_stcore/(health|host-config)$")

_WHOLE_STATE = re.compile(r"(?=.*[?&]model=)(?=.*[?&](text=|packed=|image=))")

_SETTLED = """() => document.querySelector("[data-test-script-state=notRunning]")
  && !document.querySelector("[data-stale=true], [data-testid=stSpinner]")
  && [...document.querySelectorAll("[data-testid^=stBidi]")]
    .every(({ shadowRoot }) => shadowRoot?.children[1])"""
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
def stand_in() -> Iterator[StandInHub]:
    """The only hub that the app can reach. It knows no model at first."""
    with running_hub() as known:
        yield known


@pytest.fixture(scope="session")
def downloaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the app keeps what it downloads."""
    return tmp_path_factory.mktemp("hub")


@pytest.fixture(scope="session")
def app(
    stand_in: StandInHub, downloaded: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Address of one app for all tests, which has nothing to say of their visits."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    hub = {"HF_ENDPOINT": stand_in.address, "HF_HUB_CACHE": str(downloaded)}
    with running_app(log, **hub) as address:
        yield address
        said = log.read_text()
        odd = re.compile("warn|error|traceback|exception", re.IGNORECASE)
        assert [line for line in said.splitlines() if odd.search(line)] == []


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
    """A page of the app, how many runs it has seen the end of, and at which it first reported."""

    page: Page
    runs: int = 0
    reported_at: int | None = None

    def __post_init__(self) -> None:
        self.page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framesent", self._note_report)
        socket.on("framereceived", self._count)

    def _note_report(self, payload: str | bytes) -> None:
        if self.reported_at is None and isinstance(payload, bytes) and b"watched" in payload:
            self.reported_at = self.runs

    def _count(self, payload: str | bytes) -> None:
        if isinstance(payload, bytes) and len(payload) < _SHORT:
            kind = ForwardMsg.FromString(payload).WhichOneof("type")
            self.runs += kind == "script_finished"

    def open(self, address: str) -> None:
        """Open an address, and wait until the browser's first report is answered.

        Where the address is whole, nothing can be seen of the run that follows that report.
        """
        self.page.goto(address)
        self._wait(lambda: self.reported_at is not None and self.runs > self.reported_at, address)
        arrive(self.page)

    def follow(self, address: str) -> None:
        """Open an address as Back does, once nothing is under way: no script is loaded anew."""
        self.rest()
        runs = self.runs
        self.page.mouse.move(2, 2)
        self.page.evaluate(_AS_BACK, address)
        self._wait(lambda: self.runs > runs, address)
        arrive(self.page)

    def rest(self) -> None:
        """Wait until nothing is under way: a message that comes late brings what was before."""
        runs = -1
        while self.runs != runs:
            runs = self.runs
            self.page.wait_for_timeout(200)
            settle(self.page)

    def _wait(self, is_answered: Callable[[], bool], address: str) -> None:
        for _ in range(PATIENCE_MS // 20):
            if is_answered():
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
    app: str, open_page: Open, watch: Watch, _profile: BrowserContext, _visits: list[Visit]
) -> Open:
    """Open a path of the app.

    A session goes on from test to test of a file: a link opens as by Back, and what it leaves out
    stays as it was. With `anew` it is a visitor's first page.
    """

    def visit(
        path: str,
        *,
        scheme: Literal["light", "dark"] = "light",
        width: int = 1400,
        height: int = 900,
        anew: bool = False,
    ) -> Page:
        if _visits and not _visits[0].page.is_closed() and not anew:
            page = _visits[0].page
            set_screen(page, scheme, width, height)
            _visits[0].follow(app + path)
            return page
        page = open_page(scheme, width, height) if anew else _profile.new_page()
        found = Visit(page)
        if not anew:
            set_screen(page, scheme, width, height)
            _visits[:] = [found]
        watch(page, app)
        found.open(app + path)
        return page

    return visit


@pytest.fixture
def open_saved(browser: Browser, watch: Watch, tmp_path: Path) -> Iterator[Open]:
    """Press the button that saves a page's file, and open that from disk with no network to reach.

    No token may have become an element of it.
    """
    opened: list[Page] = []

    def save(page: Page, button: str = "Save as HTML") -> Page:
        path = tmp_path / "saved.html"
        save_file(page, button, path)
        assert "<img" not in path.read_text("utf-8")
        saved = browser.new_page(offline=True)
        opened.append(saved)
        watch(saved, path.as_uri())
        saved.goto(path.as_uri())
        return saved

    yield save
    for page in opened:
        assert page.locator("img").count() == 0
        page.close()


@pytest.fixture(scope="session")
def _reader(browser: Browser) -> Callable[[bool], Page]:
    """The page that opens files, with or without a finger."""
    return cache(lambda has_touch: browser.new_context(has_touch=has_touch).new_page())


@pytest.fixture
def open_file(_reader: Callable[[bool], Page], watch: Watch, tmp_path: Path) -> Open:
    """Open a view without a server, from a file."""
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
        page = _reader(has_touch)
        watch(page, "file:")
        set_screen(page, scheme, width, height)
        page.mouse.move(0, 0)
        page.goto(path.as_uri())
        return page

    return visit


@pytest.fixture(scope="session")
def _troubles() -> dict[Page, list[str]]:
    """What went wrong in pages, which may outlive a test."""
    return {}


@pytest.fixture
def watch(_troubles: dict[Page, list[str]]) -> Iterator[Watch]:
    """Watch a page, in which nothing may have gone wrong at the end of the test.

    That is console errors, Plotly's warnings (traces), script errors, dialogs, and what it asks for
    at other addresses than its own.
    """

    def watch(page: Page, base: str) -> None:
        if page in _troubles:
            return
        note = _troubles.setdefault(page, []).append

        def on_console(message: ConsoleMessage) -> None:
            is_probe = _PROBED.search(message.location.get("url", ""))
            if message.type in {"error", "trace"} and not is_probe:
                note(f"console: {message.text}")

        def on_request(request: Request) -> None:
            if not request.url.startswith((base, "data:", "blob:")):
                note(f"request: {request.url}")

        def on_dialog(dialog: Dialog) -> None:
            note(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("console", on_console)
        page.on("request", on_request)
        page.on("pageerror", lambda error: note(f"script: {error}"))
        page.on("dialog", on_dialog)

    yield watch
    found = [each for troubles in _troubles.values() for each in troubles]
    for troubles in _troubles.values():
        troubles.clear()
    assert found == []


def arrive(page: Page) -> None:
    """Wait, after a page was opened by its address, until it runs no more.

    The browser reports after the first run, which runs the page again and writes the whole state;
    links of tests leave out the model, the text, or that an image is shown.
    """
    page.wait_for_url(_WHOLE_STATE)
    settle(page)


def settle(page: Page) -> None:
    """Wait until the app has finished its run, and its last elements and components are drawn."""
    page.wait_for_function(_SETTLED, polling=50)  # every frame would be one more to paint
    page.wait_for_timeout(50)  # one run may follow another
    page.wait_for_function(_SETTLED, polling=50)


def follow(page: Page, pattern: str) -> None:
    """Wait until the address holds this and the page has followed."""
    page.wait_for_url(re.compile(pattern))
    settle(page)


def address_of(page: Page) -> str:
    """Its path and all that its link holds."""
    return str(page.evaluate("location.pathname + location.search"))


def undo_by_back(page: Page, target: Locator, chosen: str) -> None:
    """Press something in a picture, undo that by Back, redo it by Forward: the link brings it back.

    `chosen` is what a press writes into the address. What was let go is heard when pressed again.
    """
    page.evaluate("History.prototype.pushState.call(history, history.state, '', location.href)")
    target.click()
    follow(page, chosen)
    for step, count in ((page.go_back, 0), (page.go_forward, 1), (page.go_back, 0)):
        step()
        expect(page.locator(HELD)).to_have_count(count)
        follow(page, chosen if count else f"^(?!.*{chosen})")
    target.click()
    follow(page, chosen)


def choose(page: Page, label: str, option: str) -> None:
    """Pick an option of a box; it is scrolled to before, since scrolling shuts an open list."""
    box = page.get_by_label(label, exact=True).first
    box.hover()
    box.click()
    page.get_by_role("option", name=option, exact=True).click()


def open_model_chip(page: Page) -> Locator:
    """Show the choice of a model, and what is said of it."""
    page.locator(".st-key-model_chip").get_by_role("button").first.click()
    return page.get_by_test_id("stPopoverBody")


def box_of(locator: Locator) -> FloatRect:
    """Where an element is on the page."""
    box = locator.bounding_box()
    assert box is not None
    return box


def middle_of(locator: Locator) -> tuple[float, float]:
    box = box_of(locator)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def place(figure: Locator, point: NDArray[np.float64]) -> tuple[float, float]:
    """Where a point must lie on the screen if both axes have the same scale."""
    left, top = middle_of(figure.locator("canvas"))
    scale, x, y = (float(figure.get_attribute(f"data-{it}") or "") for it in ("scale", "x", "y"))
    return left + (point[0] - x) * scale, top - (point[1] - y) * scale


def pixels(canvas: Locator) -> NDArray[np.uint8]:
    """What is drawn on a canvas, (row, column, 4): red, green, blue and opacity."""
    url = canvas.evaluate("(it) => new Promise(requestAnimationFrame).then(() => it.toDataURL())")
    image = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    return np.asarray(image.convert("RGBA"))


def save_file(page: Page, button: str, path: Path) -> None:
    """Press a button that saves a file."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    download.value.save_as(path)


def click_head(
    page: Page, chart: str, layer: int, head: int, shape: tuple[int, int] = (6, 12)
) -> None:
    """Click a head's square on the map with that key, of the bundled model's layers x heads.

    Heads run from 0.4 to 0.6 after the last across, and layers down.
    """
    layers, heads = shape
    area = page.locator(f".st-key-{chart} .nsewdrag[data-subplot=xy]")
    page.locator(f".st-key-{chart}").scroll_into_view_if_needed()  # charts are drawn in it anew
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
