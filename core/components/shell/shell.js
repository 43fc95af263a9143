// Watches the window, on every page: the theme, the history, links, and taps on what is explained.

import { make, whenGone } from "../shared/dom.js"
import { leaveOnEnter } from "./fields.js"
import { openHintsOnTap } from "./hints.js"
import { makeDrawer } from "./drawer.js"
import { keepOneEntry } from "./history.js"
import { makeLinksCarry, makeLinksWait } from "./links.js"
import { whenQuiet } from "./quiet.js"

/** @type {WeakMap<HTMLElement, {paper: string, probe: HTMLElement, cleanUps: (() => void)[]}>} */
const watched = new WeakMap()

/** @param {{parentElement: HTMLElement, setStateValue: (name: string, value: boolean) => void, setTriggerValue: (name: string, value: string) => void}} component */
export default function (component) {
  const { parentElement, setStateValue, setTriggerValue } = component
  const before = watched.get(parentElement)
  const watch = before ?? start(parentElement)
  watched.set(parentElement, watch)
  if (!before) watch.cleanUps.push(whenQuiet(document, () => setStateValue("watched", true)))
  const paper = paperOf(watch.probe)
  if (watch.paper !== paper) setTriggerValue("theme", paper)
  watch.paper = paper
  // Menus and boxes hang outside of the app's element, which alone has the theme's scheme.
  document.documentElement.style.colorScheme = getComputedStyle(watch.probe).colorScheme
  return whenGone(parentElement, () => {
    for (const cleanUp of watch.cleanUps) cleanUp()
    watch.probe.remove()
    watched.delete(parentElement)
  })
}

/** @param {HTMLElement} parentElement */
function start(parentElement) {
  const probe = make(parentElement, "span")
  return {
    probe,
    paper: paperOf(probe),
    cleanUps: [
      makeDrawer(parentElement),
      keepOneEntry(window),
      makeLinksCarry(document),
      makeLinksWait(document),
      openHintsOnTap(document),
      leaveOnEnter(document),
    ],
  }
}

/** The theme's background. @param {HTMLElement} probe */
function paperOf(probe) {
  return getComputedStyle(probe).getPropertyValue("--st-background-color").trim()
}
