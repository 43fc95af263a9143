"""The life of a view, which ends with its element: sharp pictures, and nothing left open."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import CDPSession, Page, expect

from core.components.packing import pack
from core.components.scripts import ROOT, constant, ordered, scoped
from tests.browser.conftest import PATIENCE_MS, TEXT, arrive, box_of, settle

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Of each view, its canvas once it is drawn.
VIEWS = {
    "Head view": ".st-key-head_view canvas.sheet[data-drawn]:not([data-drawn=no])",
    "Model view": ".st-key-model_view [role=grid] canvas.sheet",
    "Neuron view": ".st-key-neuron_view .body canvas:not(.lines)",
}

KINDS = ("ResizeObserver", "MediaQueryList", "HTMLCanvasElement")
# How many frames are asked for in half a second.
FRAMES = """() => new Promise((done) => {
  const { requestAnimationFrame: usual } = window
  let count = 0
  window.requestAnimationFrame = (call) => usual(call, (count += 1))
  setTimeout(() => done(count, (window.requestAnimationFrame = usual)), 500)
})"""


def visit(page: Page, name: str) -> None:
    """Open the view from the menu and make it ask for a frame."""
    page.get_by_test_id("stSidebarNavLink").filter(has_text=name).click()
    canvas = page.locator(VIEWS[name])
    expect(canvas).to_have_count(1)
    settle(page)
    for other in VIEWS.keys() - {name}:
        expect(page.locator(VIEWS[other])).to_have_count(0)
    box = box_of(canvas)
    width, height = canvas.evaluate("canvas => [canvas.width, canvas.height]")
    assert (width, height) == pytest.approx((2 * box["width"], 2 * box["height"]), abs=2)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30, steps=3)
    page.mouse.move(5, 5)


def leave(page: Page, session: CDPSession) -> dict[str, int]:
    """Go home; what is still held there."""
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Home").click()
    expect(page.get_by_role("heading", name="Headscope", level=1)).to_be_visible()
    expect(page.locator(", ".join(VIEWS.values()))).to_have_count(0)
    settle(page)
    assert page.evaluate(FRAMES) == 0
    held = {}
    for kind in KINDS:  # once garbage is collected
        [prototype] = session.send("Runtime.evaluate", {"expression": f"{kind}.prototype"}).values()
        of = {"prototypeObjectId": prototype["objectId"]}
        alive = session.send("Runtime.queryObjects", of)["objects"]["description"]
        held[kind] = int(alive.removeprefix("Array(").removesuffix(")"))
    metrics = session.send("Performance.getMetrics")["metrics"]
    (held["listeners"],) = (m["value"] for m in metrics if m["name"] == "JSEventListeners")
    return held


@pytest.mark.nightly
def test_pictures_are_sharp_and_many_visits_leave_no_listener_observer_canvas_or_frame(
    app: str, browser: Browser
) -> None:
    page = browser.new_page(device_scale_factor=2)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{app}/head_view?text={quote(TEXT)}&layer=4")
    arrive(page)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    rounds = []
    for _ in range(4):
        for name in VIEWS:
            visit(page, name)
        rounds.append(leave(page, session))
    _, before, _, after = rounds  # what a first visit loads for good is no leak
    assert all(after[kind] <= before[kind] + 3 * (kind == "listeners") for kind in before), before


VIEW = ROOT / "shared" / "view.js"
# Of two updates close together, Streamlit cleans up after the first when the second may have run.
TWO_UPDATES = """
const packed = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))
const parentElement = document.body.appendChild(document.createElement("div"))
let [made, ended] = [0, 0]
class Counted extends View {
  constructor(component) {
    super(component)
    made++
  }
  destroy() {
    super.destroy()
    ended++
  }
}
const count = () => [made, ended, parentElement.querySelectorAll(".root").length]
const component = { data: packed, parentElement, setStateValue() {}, setTriggerValue() {} }
const first = mount(component, Counted)
if (!isLate) first()
const second = mount(component, Counted)
if (isLate) first()
const standing = count()
parentElement.remove()
second()
return [standing, count()]
"""


@pytest.mark.parametrize("is_late", [False, True])
def test_a_view_outlives_an_overtaken_update(browser: Browser, *, is_late: bool) -> None:
    data = b64encode(pack({"picture": {"name": "x", "facts": {}}})).decode()
    modules = [*map(scoped, ordered(VIEW)), f"const {{ View, mount }} = {constant(VIEW)}"]
    page = browser.new_page()
    script = "\n".join(["([bytes, isLate]) => {", *modules, TWO_UPDATES, "}"])
    assert page.evaluate(script, [data, is_late]) == [[1, 0, 1], [1, 1, 0]]
    page.close()
