"""What the shell does when links are clicked: what was typed comes first, and reports wait."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.scripts.conftest import Run, RunWith

# `states` are those of the app at each check; at `input` somebody presses something, or a link.
BODY = """
const listeners = {}
const document = {
  querySelector: () => ({ getAttribute: () => states[at] }),
  addEventListener: (name, run, { signal }) => {
    listeners[name] = run
    signal.addEventListener("abort", () => { delete listeners[name] })
  },
}
const { setInterval: before, clearInterval: clearBefore } = globalThis
let at = 0, check = null, reported = []
globalThis.setInterval = (run) => { check = run; return 1 }
globalThis.clearInterval = () => { check = null }
whenQuiet(document, () => reported.push(at))
for (; at < states.length; at++) {
  if (at === input) listeners.click?.({ type: "click", target: { closest: () => link } })
  check?.()
}
Object.assign(globalThis, { setInterval: before, clearInterval: clearBefore })
return [reported, check === null, Object.keys(listeners).length]
"""
# At `times` (milliseconds) a field is left (None) or the link of that name is clicked.
CLICKS = """
const real = [globalThis.performance, globalThis.setTimeout, globalThis.clearTimeout]
class Element {}
Object.assign(globalThis, { Element, HTMLInputElement: Element, HTMLTextAreaElement: Element })
const listeners = {}, followed = [], timers = new Map()
let now = 0
globalThis.performance = { now: () => now }
globalThis.setTimeout = (run, wait) => { timers.set(run, now + wait); return run }
globalThis.clearTimeout = (run) => timers.delete(run)
const document = { addEventListener: (name, run) => { listeners[name] = run } }
makeLinksWait(document)
function until(time) {
  for (const [run, due] of timers) if (due <= time) { timers.delete(run); now = due; run() }
  now = time
}
for (const [time, name] of times) {
  until(time)
  if (name === null) { listeners.focusout({ target: new Element() }); continue }
  const link = { isConnected: true, click: () => followed.push(name) }
  const target = Object.assign(new Element(), { closest: () => link })
  let prevented = false
  const event = { target, button: 0, isTrusted: true, stopPropagation() {} }
  listeners.click({ ...event, preventDefault: () => { prevented = true } })
  if (!prevented) followed.push(name)
}
until(10_000)
const [performance, setTimeout, clearTimeout] = real
Object.assign(globalThis, { performance, setTimeout, clearTimeout })
return followed
"""
# Keys that are pressed in a field which matches `kind`: those that leave it.
KEYS = """
class HTMLElement {}
class HTMLTextAreaElement extends HTMLElement {}
Object.assign(globalThis, { HTMLElement, HTMLTextAreaElement })
const listeners = {}, left = []
leaveOnEnter({ addEventListener: (name, run) => { listeners[name] = run } })
const { setTimeout: before } = globalThis
globalThis.setTimeout = (run) => run()
for (const key of keys) {
  const field = { matches: (selector) => selector.includes(kind), blur: () => left.push(key.name) }
  const target = Object.assign(new HTMLTextAreaElement(), field)
  listeners.keydown({ target, ...key, preventDefault() {}, stopPropagation() {} })
}
globalThis.setTimeout = before
return left
"""
IDLE, RUNS = "notRunning", "running"


@pytest.fixture(scope="module")
def run(run_with: RunWith) -> Run:
    return run_with("shell/presses", "shared/dom")


@pytest.mark.parametrize(
    ("states", "pressed", "expected"),
    [
        ([RUNS] * 5 + [IDLE] * 9, None, 7),
        ([IDLE, IDLE, RUNS] + [IDLE] * 9, None, 5),
        ([RUNS] * 5 + [IDLE] * 30, 6, 25),
        ([RUNS] * 5 + [IDLE] * 5 + [RUNS] * 4 + [IDLE] * 30, 6, 29),
        ([IDLE] * 9, 8, 2),
        (["rerunRequested"] * 9 + [IDLE] * 3, None, 11),
    ],
)
def test_the_window_reports_once_nothing_runs_and_nothing_was_pressed(
    run: Run, states: list[str], pressed: int | None, expected: int
) -> None:
    assert run(BODY, states=states, input=pressed, link=None) == [[expected], True, 0]


@pytest.mark.parametrize(("begins", "expected"), [(7, 7 + 4 + 2), (40, 40 + 4 + 2), (400, 6 + 299)])
def test_after_a_link_the_window_waits_for_its_page_however_busy_the_server_is(
    run: Run, begins: int, expected: int
) -> None:
    states = [RUNS] * 5 + [IDLE] * (begins - 5) + [RUNS] * 4 + [IDLE] * 30
    assert run(BODY, states=states, input=6, link="a") == [[expected], True, 0]


def test_nothing_is_reported_while_pages_run(run: Run) -> None:
    assert run(BODY, states=[RUNS, IDLE, IDLE] * 9, input=None, link=None)[0] == []


@pytest.mark.parametrize(
    ("times", "followed"),
    [
        ([[0, "home"]], ["home"]),
        ([[0, None], [5, "home"]], ["home"]),
        ([[0, None], [5, "home"], [100, "heatmap"]], ["heatmap"]),
        # The second click comes when the field has sent its text, the first is still waiting.
        ([[0, None], [40, "home"], [270, "heatmap"]], ["heatmap"]),
        ([[0, None], [40, "home"], [300, "heatmap"]], ["home", "heatmap"]),
    ],
)
def test_of_two_links_the_one_clicked_last_is_followed_last(
    run: Run, times: list[list[Any]], followed: list[str]
) -> None:
    assert run(CLICKS, times=times) == followed


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("stTextInputField", ["plain", "shift"]),
        (".st-key-text", ["plain"]),
        (".st-key-lines", []),
    ],
)
def test_enter_leaves_a_field_but_not_while_it_ends_a_word_of_an_input_method(
    run: Run, kind: str, left: list[str]
) -> None:
    keys = [
        {"name": "letter", "key": "a"},
        {"name": "composing", "key": "Enter", "isComposing": True},
        {"name": "just composed", "key": "Enter", "keyCode": 229},
        {"name": "plain", "key": "Enter"},
        {"name": "shift", "key": "Enter", "shiftKey": True},
    ]
    assert run(KEYS, kind=kind, keys=keys) == left


def test_a_link_of_the_menu_holds_what_every_page_reads(run: Run) -> None:
    address = (
        "?text=a+b%26%E6%97%A5%0Ac&pair=%20&model=org%2Fm&layer=2&head=mean&view=picture&hide=1"
    )
    assert parse_qsl(run("return commonOf(address)", address=address)) == [
        *(("text", "a b&日\nc"), ("pair", " "), ("model", "org/m"), ("layer", "2")),
    ]
    assert run("return commonOf(address)", address="") == ""


def test_pieces_and_numbered_labels_run_from_left_to_right_in_every_script(run: Run) -> None:
    texts = ["##ים", "ים\u200e₂", "ש\u200e\u00a01/2", "ים", "it₂", "it is ים", "ים ים\u200e₂"]
    sides = ["ltr", "ltr", "ltr", "auto", "auto", "auto", "auto"]
    assert run("return texts.map(dirOf)", texts=texts) == sides
