"""Head, model and neuron view: sharp pictures, and nothing left open when the page is left."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.browser.conftest import TEXT, arrive, box_of, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import BrowserContext

SWITCHES = 6  # between pages, after the first two visits of each
# Of each view, its canvas once it is drawn.
VIEWS = {
    "Head view": ".st-key-head_view canvas.sheet[data-drawn]:not([data-drawn=no])",
    "Model view": ".st-key-model_view [role=grid] canvas.sheet",
    "Neuron view": ".st-key-neuron_view .body canvas:not(.lines)",
}

# Counts what a page holds open: observers that observe, listeners of media queries and of window
# and document, animation frames that wait.
COUNTING = """
window.__held = { observers: new Set(), media: 0, global: 0, frames: new Set() }
const observe = ResizeObserver.prototype.observe
ResizeObserver.prototype.observe = function (...all) {
  if (all[0].matches(".root")) __held.observers.add(this) // a view's, not Streamlit's own
  return observe.apply(this, all)
}
const disconnect = ResizeObserver.prototype.disconnect
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
HELD = "() => ({ observers: __held.observers.size, media: __held.media })"


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
    held: dict[str, int] = page.evaluate(HELD)
    metrics = session.send("Performance.getMetrics")["metrics"]
    held["listeners"] = next(
        each["value"] for each in metrics if each["name"] == "JSEventListeners"
    )
    return held


@pytest.mark.nightly
def test_pictures_are_sharp_and_many_visits_leave_no_listener_observer_canvas_or_frame(
    app: str, open_context: Callable[..., BrowserContext]
) -> None:
    context = open_context(device_scale_factor=2)
    context.add_init_script(COUNTING)
    page = context.new_page()
    page.goto(f"{app}/head_view?text={quote(TEXT)}&layer=4")
    arrive(page)
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    names = list(VIEWS)
    for _ in range(2):  # what a first visit loads for good is no leak
        for name in names:
            visit(page, name)
        before = leave(page, session)
    for turn in range(SWITCHES):
        visit(page, names[turn % len(names)])
    after = leave(page, session)
    assert after["observers"] <= before["observers"]
    assert after["media"] <= before["media"]
    assert after["listeners"] <= before["listeners"] + 3, (before, after)
