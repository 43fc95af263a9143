// A field sends its text when it is left, a little later than the click that leaves it takes effect. Streamlit would
// open the clicked page, then run the page before with the new text, and stay there.

const WAIT_MS = 250 // a field has sent its text by then, also where the page is busy

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
  return [...document.querySelectorAll("a")].find((other) => other.href === link.href)
}
