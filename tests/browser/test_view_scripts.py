"""The life of a view, which ends with its element."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

from core.components.packing import pack
from core.components.scripts import ROOT, constant, ordered, scoped

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VIEW = ROOT / "shared" / "view.js"
# Of two updates close together, Streamlit cleans up after the first when the second may have run.
TWO_UPDATES = """
const packed = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))
const parentElement = document.body.appendChild(document.createElement("div"))
const life = { made: 0, ended: 0 }
class Counted extends View {
  constructor(component) {
    super(component)
    life.made += 1
  }
  destroy() {
    super.destroy()
    life.ended += 1
  }
}
const component = { data: packed, parentElement, setStateValue() {}, setTriggerValue() {} }
const first = mount(component, Counted)
if (!isLate) first()
const second = mount(component, Counted)
if (isLate) first()
const standing = { ...life, roots: parentElement.querySelectorAll(".root").length }
parentElement.remove()
second()
return [standing, { ...life, roots: parentElement.querySelectorAll(".root").length }]
"""


@pytest.mark.parametrize("is_late", [False, True])
def test_a_view_outlives_an_update_that_another_overtook(
    browser: Browser, *, is_late: bool
) -> None:
    data = b64encode(pack({"picture": {"name": "x", "facts": {}}})).decode()
    modules = [*map(scoped, ordered(VIEW)), f"const {{ View, mount }} = {constant(VIEW)}"]
    script = "\n".join(["([bytes, isLate]) => {", *modules, TWO_UPDATES, "}"])
    page = browser.new_page()
    standing, gone = page.evaluate(script, [data, is_late])
    page.close()
    assert standing == {"made": 1, "ended": 0, "roots": 1}
    assert gone == {"made": 1, "ended": 1, "roots": 0}
