// A report that comes between the click on a link and the page it leads to would bring back the page that is left.

const CHECK_MS = 100
const QUIET_CHECKS = 3
const AFTER_INPUT_CHECKS = 20 // what was asked for has begun by then, also on a slow line
const AFTER_LINK_CHECKS = 300 // or until the page of the link has begun, on a server that is busy
const INPUTS = ["pointerdown", "keydown", "click"]

/** Run once no page has run for a while, and nobody has just asked for one. @param {Document} document @param {() => void} run @returns {() => void} */
export function whenQuiet(document, run) {
  let left = QUIET_CHECKS // how often more nothing must run
  let isLed = false // by a link, to a page that has not begun
  const timer = setInterval(() => {
    const app = document.querySelector('[data-testid="stApp"]')
    const runs = app?.getAttribute("data-test-script-state") !== "notRunning"
    if (runs && isLed) left = QUIET_CHECKS
    isLed &&= !runs
    left = runs ? Math.max(left, QUIET_CHECKS) : left - 1
    if (left > 0) return
    stop()
    run()
  }, CHECK_MS)
  /** @param {Event} event */
  function onInput({ type, target }) {
    const link = type === "click" && /** @type {Element | null} */ (target)?.closest?.("a")
    isLed ||= Boolean(link)
    left = isLed ? AFTER_LINK_CHECKS : AFTER_INPUT_CHECKS
  }
  function stop() {
    clearInterval(timer)
    for (const name of INPUTS) document.removeEventListener(name, onInput, true)
  }
  for (const name of INPUTS) document.addEventListener(name, onInput, true)
  return stop
}
