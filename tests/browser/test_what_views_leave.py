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

# Counts what a page holds open: observers of views, listeners of media queries, frames that wait.
COUNTING = """
window.__held = { observers: new Set(), media: 0, frames: new Set() }
const { observe, disconnect } = ResizeObserver.prototype
ResizeObserver.prototype.observe = function (...all) {
  if (all[0].matches(".root")) __held.observers.add(this) // a view's, not Streamlit's own
  return observe.apply(this, all)
}
ResizeObserver.prototype.disconnect = function () {
  __held.observers.delete(this)
  return disconnect.call(this)
}
for (const [verb, by] of [["addEventListener", 1], ["removeEventListener", -1]]) {
  const usual = EventTarget.prototype[verb]
  EventTarget.prototype[verb] = function (...all) {
    if (this instanceof MediaQueryList) __held.media += by
    return usual.apply(this, all)
  }
}
const request = window.requestAnimationFrame.bind(window)
window.requestAnimationFrame = (call) => {
  const id = request((time) => { __held.frames.delete(id); call(time) })
  __held.frames.add(id)
  return id
}
const cancel = window.cancelAnimationFrame.bind(window)
window.cancelAnimationFrame = (id) => { __held.frames.delete(id); cancel(id) }
"""
OPEN = "() => ({ observers: __held.observers.size, media: __held.media })"


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
    page.wait_for_function("() => __held.frames.size === 0")
    session.send("HeapProfiler.collectGarbage")
    held: dict[str, int] = page.evaluate(OPEN)
    metrics = session.send("Performance.getMetrics")["metrics"]
    (held["listeners"],) = (m["value"] for m in metrics if m["name"] == "JSEventListeners")
    return held


@pytest.mark.nightly
def test_pictures_are_sharp_and_many_visits_leave_no_listener_observer_canvas_or_frame(
    app: str, browser: Browser
) -> None:
    page = browser.new_page(device_scale_factor=2)
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(COUNTING)
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
