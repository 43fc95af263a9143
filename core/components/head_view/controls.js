// A control of the head view: a swatch per head. It is {node, few, sync}.

import { labelled } from "../shared/controls.js"
import { describe, make } from "../shared/dom.js"

/**
 * A swatch per head, and all; none and invert are in `few`. `onHeads` gets the heads that are on, from 0, `onPoint` the one pointed at.
 * @param {number} count @param {(heads: number[]) => void} onHeads @param {(head: number | null) => void} onPoint
 */
export function makeSwatches(count, onHeads, onPoint) {
  const node = labelled("Heads")
  node.classList.add("heads")
  const line = describe(make(node, "div", "swatches"), { role: "group", "aria-label": "Heads" })
  /** @type {number[]} */
  let on = []
  const all = Array.from({ length: count }, (_, head) => head)
  /** @type {(head: number) => void} */
  const isolate = (head) => onHeads(on.length === 1 && on[0] === head ? all : [head])
  /** @type {(head: number) => void} */
  const toggle = (head) =>
    onHeads(on.includes(head) ? on.filter((each) => each !== head) : [...on, head])
  const buttons = all.map((head) => {
    const button = make(line, "button", "swatch", String(head + 1))
    button.title = `Head ${head + 1}: press to turn it on or off, twice to show it alone`
    button.onclick = (event) => (event.shiftKey ? isolate(head) : toggle(head))
    button.ondblclick = () => isolate(head)
    button.onpointerenter = (event) => {
      if (event.pointerType === "mouse") onPoint(head)
    }
    button.onpointerleave = () => onPoint(null)
    return button
  })
  make(line, "button", "plain", "All").onclick = () => onHeads(all)
  const few = make(null, "span", "few")
  const choices = { None: () => [], Invert: () => all.filter((head) => !on.includes(head)) }
  for (const [name, heads] of Object.entries(choices))
    make(few, "button", "plain", name).onclick = () => onHeads(heads())
  return {
    node,
    few,
    sync: (/** @type {number[]} */ heads, /** @type {string[]} */ colours) => {
      on = heads
      buttons.forEach((button, head) => {
        button.style.setProperty("--head", colours[head])
        describe(button, { "aria-pressed": on.includes(head) })
      })
    },
  }
}
