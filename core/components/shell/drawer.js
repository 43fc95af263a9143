// On a phone the picture comes first: its controls are in a drawer, which this button opens (core/ui/style/phone.css).

import { describe, make } from "../shared/dom.js"

const MARK = "data-drawer"

/** @param {HTMLElement} parent @returns {() => void} */
export function makeDrawer(parent) {
  const root = document.documentElement
  const button = make(parent, "button")
  /** @param {boolean} open */
  function show(open) {
    root.toggleAttribute(MARK, open)
    button.textContent = open ? "Show the picture" : "Controls"
    describe(button, { "aria-expanded": open })
  }
  button.onclick = () => show(!root.hasAttribute(MARK))
  show(false)
  return () => {
    root.removeAttribute(MARK)
    button.remove()
  }
}
