// A report that comes between the click on a link and the page it leads to would bring back the page that is left.

const CHECK_MS = 100
const QUIET_CHECKS = 3
const AFTER_INPUT_CHECKS = 20 // a page that was asked for has begun by then, also on a slow line
const INPUTS = ["pointerdown", "keydown", "click"]

/** Run once no page has run for a while, and nobody has just asked for one. @param {Document} document @param {() => void} run @returns {() => void} */
export function whenQuiet(document, run) {
  let left = QUIET_CHECKS // how often more nothing must run
  const timer = setInterval(() => {
    const app = document.querySelector('[data-testid="stApp"]')
    const runs = app?.getAttribute("data-test-script-state") !== "notRunning"
    left = runs ? Math.max(left, QUIET_CHECKS) : left - 1
    if (left > 0) return
    stop()
    run()
  }, CHECK_MS)
  function onInput() {
    left = AFTER_INPUT_CHECKS
  }
  function stop() {
    clearInterval(timer)
    for (const name of INPUTS) document.removeEventListener(name, onInput, true)
  }
  for (const name of INPUTS) document.addEventListener(name, onInput, true)
  return stop
}
