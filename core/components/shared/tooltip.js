// A note beside the mouse. Lines are [text, colour], set as text.

import { make } from "./dom.js"

/**
 * @typedef {object} Tip
 * @property {(event: {clientX: number, clientY: number}, title: string, lines: (string | null)[][]) => void} show each line a text and perhaps a colour
 * @property {() => void} hide
 */

/** @param {ParentNode} parent @returns {Tip} */
export function makeTip(parent) {
  const tip = make(parent, "div", "tip")
  tip.hidden = true
  return {
    show(event, title, lines) {
      const rows = lines.map(([text, colour]) => {
        const row = make(null, "span", "", text ?? "")
        if (!colour) return row
        const dot = make(null, "i")
        dot.style.background = colour
        row.prepend(dot)
        return row
      })
      tip.replaceChildren(make(null, "b", "", title), ...rows)
      tip.hidden = false
      const { width, height } = tip.getBoundingClientRect()
      const beyond = event.clientX + 16 + width > window.innerWidth
      tip.style.left = `${Math.max(4, beyond ? event.clientX - 12 - width : event.clientX + 16)}px`
      tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, window.innerHeight - height - 6))}px`
    },
    hide() { tip.hidden = true },
  }
}
