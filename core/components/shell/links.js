// The menu's links. They open the other page with the same text in a new tab too. And a field sends its text when it is
// left, a little later than the click that leaves it takes effect: Streamlit would open the clicked page, then run the
// page before with the new text, and stay there.

// Parameters that mean the same on every page; of layer and head a number, as few pages have means.
const COMMON = ["model", "text", "pair", "packed", "input", "image"]
const OF_MENU = "a:is([data-testid=stSidebarNavLink], [data-testid=stPageLink-NavLink])"
const PLACE = ["layer", "head"]
const WAIT_MS = 250 // a field has sent its text by then, also where the page is busy

/** Links of the menu hold what the address says of every page, for a new tab. @param {Document} document @returns {() => void} */
export function makeLinksCarry(document) {
  const names = ["pointerover", "pointerdown", "focusin"] // before a link is opened or copied
  /** @param {Event} event */
  function onReach({ target }) {
    const link = target instanceof Element && target.closest(OF_MENU)
    if (link instanceof HTMLAnchorElement) link.search = commonOf(document.location.search)
  }
  for (const name of names) document.addEventListener(name, onReach, true)
  return () => {
    for (const name of names) document.removeEventListener(name, onReach, true)
  }
}

/** The part of an address that every page reads. @param {string} search @returns {string} */
export function commonOf(search) {
  const isCommon = (/** @type {[string, string]} */ [name, value]) =>
    COMMON.includes(name) || (PLACE.includes(name) && /^\d+$/.test(value))
  return new URLSearchParams([...new URLSearchParams(search)].filter(isCommon)).toString()
}

/** Links clicked right after a field was left are followed once it has sent its text. @param {Document} document @returns {() => void} */
export function makeLinksWait(document) {
  let left = -Infinity // when a field was last left, in milliseconds
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
      ;(link.isConnected ? link : sameLink(document, link))?.click()
    }, WAIT_MS)
  }
  document.addEventListener("focusout", onLeave, true)
  document.addEventListener("click", onClick, true)
  return () => {
    clearTimeout(timer)
    document.removeEventListener("focusout", onLeave, true)
    document.removeEventListener("click", onClick, true)
  }
}

/** The link that stands for one which was drawn anew meanwhile. @param {Document} document @param {HTMLAnchorElement} link */
function sameLink(document, link) {
  return [...document.querySelectorAll("a")].find((other) => other.pathname === link.pathname)
}
