// A row of heads: click toggles one, double click (or Shift) isolates it, and all, none, invert.

import { make } from "../shared/dom.js"
import { labelled } from "./controls.js"

// `onHeads` gets the heads that are on, from 0; `onPoint` the head pointed at, or null.
/** @param {(heads: number[]) => void} onHeads @param {(head: number | null) => void} onPoint */
export function makeSwatches(onHeads, onPoint) {
  const node = labelled("Heads")
  node.classList.add("heads")
  const line = make(node, "div", "swatches")
  line.setAttribute("role", "group")
  line.setAttribute("aria-label", "Heads")
  /** @type {{on: number[], count: number, buttons: HTMLButtonElement[]}} */
  const state = { on: [], count: 0, buttons: [] }
  const all = () => Array.from({ length: state.count }, (_, head) => head)
  const others = () => all().filter((head) => !state.on.includes(head))
  /** @type {(head: number) => void} */
  const isolate = (head) => onHeads(state.on.length === 1 && state.on[0] === head ? all() : [head])
  /** @type {(head: number) => void} */
  const toggle = (head) => onHeads(state.on.includes(head) ? state.on.filter((each) => each !== head) : [...state.on, head])
  const few = make(null, "span", "few")
  for (const [name, heads] of Object.entries({ All: all, None: () => [], Invert: others })) {
    make(few, "button", "plain", name).onclick = () => onHeads(heads())
  }
  /** @type {(count: number) => void} */
  const build = (count) => {
    state.count = count
    state.buttons = all().map((head) => {
      const button = make(null, "button", "swatch", String(head + 1))
      button.title = `Head ${head + 1}: click turns it on or off, double click shows it alone`
      button.onclick = (event) => (event.shiftKey ? isolate(head) : toggle(head))
      button.ondblclick = () => isolate(head)
      button.onpointerenter = (event) => { if (event.pointerType === "mouse") onPoint(head) }
      button.onpointerleave = () => onPoint(null)
      return button
    })
    line.replaceChildren(...state.buttons, few)
  }
  return { node, few, sync: (/** @type {number[]} */ on, /** @type {number} */ count, /** @type {string[]} */ colours) => {
    if (count !== state.count) build(count)
    state.on = on
    state.buttons.forEach((button, head) => {
      button.style.setProperty("--head", colours[head])
      button.setAttribute("aria-pressed", String(on.includes(head)))
    })
  } }
}
