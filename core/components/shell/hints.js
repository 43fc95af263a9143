// Words that are explained and "?" open under a mouse only: Streamlit's tooltips ignore a finger, and what a browser
// says of a mouse for a moment after one. To a tap they are told that a mouse is there, until the next tap elsewhere.

const HINT = '[data-testid="stTooltipHoverTarget"]'
const WAIT_MS = 100 // tooltips believe in a mouse again after 50

/** Hints open when they are tapped; those of buttons do not, since a tap presses these. @param {Document} document @returns {() => void} */
export function openHintsOnTap(document) {
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
    if (other) timer = setTimeout(() => tell(other, "pointerover"), WAIT_MS)
  }
  const ending = new AbortController()
  const options = { capture: true, signal: ending.signal }
  document.addEventListener("pointerup", onTap, options)
  document.addEventListener("pointerdown", spareSwitch, options)
  document.addEventListener("click", spareSwitch, options)
  return () => {
    clearTimeout(timer)
    ending.abort()
  }
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
