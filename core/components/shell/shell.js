// Watches the window, on every page: the theme, the history, and clicks that end typing.

import { make } from "../shared/dom.js"
import { keepOneEntry } from "./history.js"
import { makeLinksWait } from "./links.js"

const CHECK_MS = 100
const IDLE_CHECKS = 3
/** @type {WeakMap<HTMLElement, {paper: string, probe: HTMLElement, cleanUps: (() => void)[]}>} */
const watched = new WeakMap()

/** @param {{parentElement: HTMLElement, setStateValue: (name: string, value: boolean) => void, setTriggerValue: (name: string, value: string) => void}} component */
export default function (component) {
  const { parentElement, setStateValue, setTriggerValue } = component
  const before = watched.get(parentElement)
  const watch = before ?? start(parentElement)
  watched.set(parentElement, watch)
  if (!before) watch.cleanUps.push(whenIdle(() => setStateValue("watched", true)))
  const paper = paperOf(watch.probe)
  if (watch.paper !== paper) setTriggerValue("theme", paper)
  watch.paper = paper
  return () => {
    for (const cleanUp of watch.cleanUps) cleanUp()
    watch.probe.remove()
    watched.delete(parentElement)
  }
}

/** @param {HTMLElement} parentElement */
function start(parentElement) {
  const probe = make(parentElement, "span")
  return { probe, paper: paperOf(probe), cleanUps: [keepOneEntry(window), makeLinksWait(document)] }
}

/** The theme's background. @param {HTMLElement} probe */
function paperOf(probe) {
  return getComputedStyle(probe).getPropertyValue("--st-background-color").trim()
}

/**
 * Run once no page has run for a while: a message that comes between two pages would bring the first of them back.
 * @param {() => void} run @returns {() => void}
 */
function whenIdle(run) {
  let idle = 0 // how often in a row nothing ran
  const timer = setInterval(() => {
    const app = document.querySelector('[data-testid="stApp"]')
    idle = app?.getAttribute("data-test-script-state") === "running" ? 0 : idle + 1
    if (idle < IDLE_CHECKS) return
    clearInterval(timer)
    run()
  }, CHECK_MS)
  return () => clearInterval(timer)
}
