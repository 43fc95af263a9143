// Presses in the window: keys in fields, links of the menu, explained words; and waiting until there are none.

// Keys in fields. Enter applies what was typed and leaves the field, so that keys belong to the page again; in a text
// Shift + Enter begins a new line.

const LINE = "[data-testid=stTextInputField]"
const TEXT = ":is(.st-key-text, .st-key-pair, .st-key-decoder) textarea" // layout.css has its looks

/** @param {Document} document @param {AbortSignal} [signal] ends it */
export function leaveOnEnter(document, signal) {
  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const { key, shiftKey, target } = event
    const isComposing = event.isComposing || event.keyCode === 229 // that Enter ends a word in an input method
    if (key !== "Enter" || isComposing || !(target instanceof HTMLElement)) return
    if (target.matches(LINE)) setTimeout(() => target.blur())
    if (!target.matches(TEXT) || shiftKey) return
    event.preventDefault()
    event.stopPropagation() // Ctrl + Enter would apply it twice
    target.blur() // which applies it
  }
  /** A text that loses focus shows its beginning, as a one-line field does. @param {FocusEvent} event */
  function onLeave({ target }) {
    if (target instanceof HTMLTextAreaElement && target.matches(TEXT)) target.scrollTo(0, 0)
  }
  document.addEventListener("keydown", onKey, { capture: true, signal })
  document.addEventListener("focusout", onLeave, { signal })
}

// Explained words and "?" open only under a mouse: Streamlit's tooltips ignore a finger, and any mouse events that the
// browser sends just after one. So a tap tells them that a mouse is there, until the next tap elsewhere.

const HINT = '[data-testid="stTooltipHoverTarget"]'
const HINT_MS = 100 // tooltips accept a mouse again after 50

/** Open hints when they are tapped, except those of buttons, because a tap presses the button. @param {Document} document @param {AbortSignal} [signal] */
export function openHintsOnTap(document, signal) {
  /** @type {Element | null} */
  let open = null
  /** @type {number | undefined} */
  let timer
  /** @param {PointerEvent} event */
  function onTap({ pointerType, target }) {
    if (pointerType !== "touch") return
    clearTimeout(timer)
    const hint = hintAt(target)
    const other =
      hint === open || hint?.querySelector('[data-testid^="stBaseButton"]') ? null : hint
    if (open) tell(open, "pointerout")
    open = other
    if (other) timer = setTimeout(() => tell(other, "pointerover"), HINT_MS)
  }
  const options = { capture: true, signal }
  document.addEventListener("pointerup", onTap, options)
  document.addEventListener("pointerdown", spareSwitch, options)
  document.addEventListener("click", spareSwitch, options)
}

/** The "?" in the label of a switch does not switch it. @param {Event} event */
function spareSwitch(event) {
  if (!hintAt(event.target)?.closest("label")?.querySelector('[role="switch"]')) return
  event.stopPropagation()
  if (event.type === "click") event.preventDefault()
}

/** @param {EventTarget | null} target */
function hintAt(target) {
  return target instanceof Element ? target.closest(HINT) : null
}

/** @param {Element} hint @param {string} type */
function tell(hint, type) {
  hint.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerType: "mouse" }))
}

// The menu's links. They keep the text even in a new tab. And because a field sends its text when it loses focus, slightly
// after the click that takes the focus, Streamlit would open the clicked page, then run the previous page with the new
// text, and stay there.

// Parameters that mean the same on every page; layer and head only as numbers, since few pages have means.
const COMMON = ["model", "text", "pair", "packed", "input", "image"]
const OF_MENU = "a:is([data-testid=stSidebarNavLink], [data-testid=stPageLink-NavLink])"
const PLACE = ["layer", "head"]
const WAIT_MS = 250 // a field has sent its text by then, even if the page is busy

/** Give the menu's links the parameters that all pages share, for a new tab. @param {Document} document @param {AbortSignal} [signal] */
export function makeLinksCarry(document, signal) {
  /** @param {Event} event */
  function onReach({ target }) {
    const link = target instanceof Element && target.closest(OF_MENU)
    if (link instanceof HTMLAnchorElement) link.search = commonOf(document.location.search)
  }
  // before a link is opened or copied
  for (const name of ["pointerover", "pointerdown", "focusin"])
    document.addEventListener(name, onReach, { capture: true, signal })
}

/** The part of an address that every page reads. @param {string} search @returns {string} */
export function commonOf(search) {
  const isCommon = (/** @type {[string, string]} */ [name, value]) =>
    COMMON.includes(name) || (PLACE.includes(name) && /^\d+$/.test(value))
  return new URLSearchParams([...new URLSearchParams(search)].filter(isCommon)).toString()
}

/** Follow links clicked right after a field lost focus once it has sent its text. @param {Document} document @param {AbortSignal} [signal] */
export function makeLinksWait(document, signal) {
  let left = -Infinity // when a field last lost focus, in milliseconds
  /** @type {number | undefined} */
  let timer
  /** @param {FocusEvent} event */
  function onLeave({ target }) {
    if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)
      left = performance.now()
  }
  /** @param {MouseEvent} event */
  function onClick(event) {
    const link = event.target instanceof Element ? event.target.closest("a") : null
    const elsewhere =
      event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
    if (!link || !event.isTrusted || elsewhere) return
    clearTimeout(timer) // else the link that was clicked before would be followed last
    if (performance.now() - left > WAIT_MS) return
    event.preventDefault()
    event.stopPropagation()
    timer = setTimeout(() => {
      // A link that has been redrawn meanwhile has been replaced.
      const links = link.isConnected ? [link] : [...document.querySelectorAll("a")]
      links.find(({ pathname }) => pathname === link.pathname)?.click()
    }, WAIT_MS)
  }
  document.addEventListener("focusout", onLeave, { capture: true, signal })
  document.addEventListener("click", onClick, { capture: true, signal })
}

// A report between the click on a link and the page it leads to would bring back the previous page.

const CHECK_MS = 100
const QUIET_CHECKS = 3
const AFTER_INPUT_CHECKS = 20 // the requested run has begun by then, even on a slow connection
const AFTER_LINK_CHECKS = 300 // or until the page of the link has begun, on a server that is busy

/** Run once no page has run for a while, and none has just been requested. @param {Document} document @param {() => void} run @param {AbortSignal} [signal] */
export function whenQuiet(document, run, signal) {
  const ending = new AbortController()
  let left = QUIET_CHECKS // quiet checks that are still needed
  let isLed = false // by a link, to a page that has not begun
  const timer = setInterval(() => {
    const app = document.querySelector('[data-testid="stApp"]')
    const runs = app?.getAttribute("data-test-script-state") !== "notRunning"
    if (runs && isLed) left = QUIET_CHECKS
    isLed &&= !runs
    left = runs ? Math.max(left, QUIET_CHECKS) : left - 1
    if (left > 0) return
    ending.abort()
    run()
  }, CHECK_MS)
  /** @param {Event} event */
  function onInput({ type, target }) {
    const link = type === "click" && /** @type {Element | null} */ (target)?.closest?.("a")
    isLed ||= Boolean(link)
    left = isLed ? AFTER_LINK_CHECKS : AFTER_INPUT_CHECKS
  }
  for (const name of ["pointerdown", "keydown", "click"])
    document.addEventListener(name, onInput, { capture: true, signal: ending.signal })
  ending.signal.addEventListener("abort", () => clearInterval(timer))
  signal?.addEventListener("abort", () => ending.abort())
}
