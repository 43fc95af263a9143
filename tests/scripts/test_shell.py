"""What the shell does when links are clicked: what was typed comes first, and reports wait."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.scripts.conftest import Run, RunWith

# A document whose events have any target, and a clock that goes on by hand.
WINDOW = """
const { mock } = process.getBuiltinModule("node:test")
class Element {}
Object.assign(globalThis, { Element, HTMLInputElement: Element, HTMLTextAreaElement: Element })
globalThis.HTMLElement = Element
const document = new EventTarget()
const fire = (type, target, facts = {}) => {
  const event = new Event(type, { cancelable: true })
  for (const [name, value] of Object.entries({ target, button: 0, isTrusted: true, ...facts }))
    Object.defineProperty(event, name, { value })
  return document.dispatchEvent(event)
}
mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] })
mock.method(performance, "now", Date.now)
const node = (facts) => Object.assign(new Element(), facts)
try {
"""
END = "\n} finally { mock.timers.reset(); mock.restoreAll() }"
# `states` are those of the app at each check; at `input` somebody presses something, or a link.
WATCH = """
  let at = 0
  const reported = []
  document.querySelector = () => ({ getAttribute: () => states[at] })
  whenQuiet(document, () => reported.push(at))
  for (; at < states.length; at++) {
    if (at === input) fire("click", { closest: () => link })
    mock.timers.tick(100)
  }
  const { getEventListeners } = process.getBuiltinModule("node:events")
  return [reported, getEventListeners(document, "click").length]
"""
# At `times` (milliseconds) a field is left (None) or the link of that name is clicked.
CLICKS = """
  const followed = []
  makeLinksWait(document)
  for (const [time, name] of times) {
    mock.timers.tick(time - Date.now())
    if (name === null) fire("focusout", node({}))
    const link = { isConnected: true, click: () => followed.push(name) }
    if (name !== null && fire("click", node({ closest: () => link }))) followed.push(name)
  }
  mock.timers.tick(10_000)
  return followed
"""
# Keys that are pressed in a field which matches `kind`: those that leave it.
KEYS = """
  const left = []
  leaveOnEnter(document)
  for (const key of keys) {
    const blur = () => left.push(key.name)
    fire("keydown", node({ matches: (selector) => selector.includes(kind), blur }), key)
    mock.timers.tick(1)
  }
  return left
"""
IDLE, RUNS = "notRunning", "running"


@pytest.fixture(scope="module")
def run(run_with: RunWith) -> Run:
    run = run_with("shell/presses", "shared/dom")
    return lambda body, **values: run(WINDOW + body + END, **values)


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
    assert run(WATCH, states=states, input=pressed, link=None) == [[expected], 0]


@pytest.mark.parametrize(("begins", "expected"), [(7, 7 + 4 + 2), (40, 40 + 4 + 2), (400, 6 + 299)])
def test_after_a_link_the_window_waits_for_its_page_however_busy_the_server_is(
    run: Run, begins: int, expected: int
) -> None:
    states = [RUNS] * 5 + [IDLE] * (begins - 5) + [RUNS] * 4 + [IDLE] * 30
    assert run(WATCH, states=states, input=6, link="a") == [[expected], 0]
    assert run(WATCH, states=[RUNS, IDLE, IDLE] * 9, input=None, link=None)[0] == []


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
    address = "?text=a+b%26%E6%97%A5%0Ac&pair=%20&model=org%2Fm&layer=2&head=mean&view=x&hide=1"
    assert parse_qsl(run("return commonOf(address)", address=address)) == [
        *(("text", "a b&日\nc"), ("pair", " "), ("model", "org/m"), ("layer", "2")),
    ]
    assert run("return commonOf(address)", address="") == ""


def test_pieces_and_numbered_labels_run_from_left_to_right_in_every_script(run: Run) -> None:
    texts = ["##ים", "ים\u200e₂", "ש\u200e\u00a01/2", "ים", "it₂", "it is ים", "ים ים\u200e₂"]
    sides = ["ltr", "ltr", "ltr", "auto", "auto", "auto", "auto"]
    assert run("return texts.map(dirOf)", texts=texts) == sides
