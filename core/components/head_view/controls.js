// Controls that look like the app's own: segments, switches, sliders, and a swatch per head. Each is {node, sync}.

import { describe, make } from "../shared/dom.js"

/** @param {string} label */
function labelled(label) {
  const node = make(null, "div", "control")
  make(node, "span", "control-label", label)
  return node
}

/** One of several. @param {string} label @param {{value: string, label: string, title: string, disabled?: boolean}[]} options @param {(value: string) => void} onPick */
export function makeSegments(label, options, onPick) {
  const node = labelled(label)
  const group = describe(make(node, "div", "segments"), { role: "radiogroup", "aria-label": label })
  const inputs = options.map((option) => {
    const part = make(group, "label", option.disabled ? "segment disabled" : "segment")
    part.title = option.title
    const input = make(part, "input")
    Object.assign(input, { type: "radio", name: label, value: option.value, disabled: Boolean(option.disabled) })
    input.onchange = () => onPick(option.value)
    make(part, "span", "", option.label)
    return input
  })
  return { node, sync: (/** @type {string} */ value) => { for (const input of inputs) input.checked = input.value === value } }
}

/** @param {string} label @param {string} title @param {(on: boolean) => void} onChange */
export function makeSwitch(label, title, onChange) {
  const node = make(null, "label", "switch")
  node.title = title
  const input = describe(make(node, "input"), { type: "checkbox", role: "switch" })
  make(node, "span", "knob")
  make(node, "span", "", label)
  input.onchange = () => onChange(input.checked)
  return { node, sync: (/** @type {boolean} */ on) => { input.checked = on } }
}

/** A whole number from 0 to `max`, with words for what it stands for. @param {string} label @param {number} max @param {(value: number) => void} onInput */
export function makeSlider(label, max, onInput) {
  const node = labelled(label)
  const line = make(node, "div", "slider")
  const input = describe(make(line, "input"), { type: "range", min: 0, max, step: 1, "aria-label": label })
  input.oninput = () => onInput(Number(input.value))
  const words = make(line, "span", "slider-value")
  return { node, input, sync: (/** @type {number} */ value, /** @type {string} */ text) => {
    if (input.value !== String(value)) input.value = String(value)
    describe(input, { "aria-valuetext": text })
    words.textContent = text
  } }
}

/**
 * A swatch per head, and all, none, invert; `onHeads` gets the heads that are on, from 0, `onPoint` the one pointed at.
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
  const toggle = (head) => onHeads(on.includes(head) ? on.filter((each) => each !== head) : [...on, head])
  const buttons = all.map((head) => {
    const button = make(line, "button", "swatch", String(head + 1))
    button.title = `Head ${head + 1}: click to turn it on or off, double-click to show it alone`
    button.onclick = (event) => (event.shiftKey ? isolate(head) : toggle(head))
    button.ondblclick = () => isolate(head)
    button.onpointerenter = (event) => { if (event.pointerType === "mouse") onPoint(head) }
    button.onpointerleave = () => onPoint(null)
    return button
  })
  const few = make(line, "span", "few")
  const choices = { All: () => all, None: () => [], Invert: () => all.filter((head) => !on.includes(head)) }
  for (const [name, heads] of Object.entries(choices)) make(few, "button", "plain", name).onclick = () => onHeads(heads())
  return { node, few, sync: (/** @type {number[]} */ heads, /** @type {string[]} */ colours) => {
    on = heads
    buttons.forEach((button, head) => {
      button.style.setProperty("--head", colours[head])
      describe(button, { "aria-pressed": on.includes(head) })
    })
  } }
}
