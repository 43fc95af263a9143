// Watches the window, on every page: the theme, the history, links, and taps on explained words.

import { setAttrs, el, onDisconnect } from "../shared/dom.js"
import {
  leaveOnEnter,
  makeLinksCarry,
  makeLinksWait,
  openHintsOnTap,
  whenQuiet,
} from "./presses.js"

const MARK = "data-drawer"
const EXAMPLE = "[class*=_preset_] button, [class*=st-key-lesson_]" // in core/ui/presets.py and core/ui/lessons/running.py

/** @type {WeakMap<HTMLElement, {paper: string, probe: HTMLElement, ending: AbortController}>} */
const watched = new WeakMap()

/** @param {{parentElement: HTMLElement, setStateValue: (name: string, value: boolean) => void, setTriggerValue: (name: string, value: string) => void}} component */
export default function (component) {
  const { parentElement, setStateValue, setTriggerValue } = component
  const before = watched.get(parentElement)
  const watch = before ?? start(parentElement)
  watched.set(parentElement, watch)
  if (!before) whenQuiet(document, () => setStateValue("watched", true), watch.ending.signal)
  const paper = paperOf(watch.probe)
  if (watch.paper !== paper) setTriggerValue("theme", paper)
  watch.paper = paper
  // Menus and dialogs are outside the app's element, and only that has the theme's colour scheme.
  document.documentElement.style.colorScheme = getComputedStyle(watch.probe).colorScheme
  return onDisconnect(parentElement, () => {
    watch.ending.abort()
    watch.probe.remove()
    watched.delete(parentElement)
  })
}

/** @param {HTMLElement} parentElement */
function start(parentElement) {
  const [probe, ending] = [el(parentElement, "span"), new AbortController()]
  makeDrawer(parentElement, ending.signal)
  keepOneEntry(window, ending.signal)
  for (const watch of [makeLinksCarry, makeLinksWait, openHintsOnTap, leaveOnEnter])
    watch(document, ending.signal)
  return { paper: paperOf(probe), probe, ending }
}

/** The theme's background. @param {HTMLElement} probe */
function paperOf(probe) {
  return getComputedStyle(probe).getPropertyValue("--st-background-color").trim()
}

/** On a phone the picture comes first: its controls are in a drawer, which this button opens (core/ui/style/phone.css). @param {HTMLElement} parent @param {AbortSignal} signal */
function makeDrawer(parent, signal) {
  const root = document.documentElement
  const button = el(parent, "button")
  /** @param {boolean} open */
  function show(open) {
    root.toggleAttribute(MARK, open)
    button.textContent = open ? "Show the picture" : "Controls"
    setAttrs(button, { "aria-expanded": open })
  }
  button.onclick = () => show(!root.hasAttribute(MARK))
  show(false)
  signal.addEventListener("abort", () => {
    root.removeAttribute(MARK)
    button.remove()
  })
}

// Streamlit adds an entry to the history whenever the address's parameters change. Back would go through every control
// that was touched; people expect it to leave the page, or to undo an example or a step, which change many at once.

/** Until `signal` aborts, a new address on the same page replaces the history entry, unless an example or a step of a lesson led to it. @param {Window} window @param {AbortSignal} signal */
function keepOneEntry({ document, history, location }, signal) {
  const push = history.pushState
  let isExample = false
  let before = "" // the address that was last replaced, unless something was clicked since
  /** @param {MouseEvent} event */
  function onClick({ target }) {
    before = ""
    if (target instanceof Element) isExample = target.closest(EXAMPLE) !== null
  }
  /** @param {any} state @param {string} title @param {string | URL | null} [address] */
  function pushPage(state, title, address) {
    const { origin, pathname, search } = new URL(address ?? "", location.href)
    const stays = origin === location.origin && pathname === location.pathname
    const replaces = stays && !isExample
    const left = location.href
    if (replaces) history.replaceState(state, title, address)
    else {
      // If a page runs fast, Streamlit writes its parameters before it has left the previous page.
      if (before && !stays && search === location.search) history.replaceState(state, title, before)
      push.call(history, state, title, address)
    }
    before = replaces ? left : ""
    isExample = false
  }
  history.pushState = pushPage
  document.addEventListener("click", onClick, { capture: true, signal })
  signal.addEventListener("abort", () => {
    if (history.pushState === pushPage) history.pushState = push
  })
}
