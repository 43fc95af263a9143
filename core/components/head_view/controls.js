// Controls that look like the app's own: segments, switches, sliders. Each is {node, sync}.

import { make } from "../shared/dom.js"

/** @typedef {{value: string, label: string, title?: string, disabled?: boolean}} Option */

/** @param {string} label */
export function labelled(label) {
  const node = make(null, "div", "control")
  make(node, "span", "control-label", label)
  return node
}

// One of several: options are {value, label, title, disabled}.
/** @param {string} label @param {Option[]} options @param {(value: string) => void} onPick */
export function makeSegments(label, options, onPick) {
  const node = labelled(label)
  const group = make(node, "div", "segments")
  group.setAttribute("role", "radiogroup")
  group.setAttribute("aria-label", label)
  const inputs = options.map((option) => {
    const part = make(group, "label", option.disabled ? "segment disabled" : "segment")
    if (option.title) part.title = option.title
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
  const input = make(node, "input")
  input.type = "checkbox"
  input.setAttribute("role", "switch")
  make(node, "span", "knob")
  make(node, "span", "", label)
  input.onchange = () => onChange(input.checked)
  return { node, sync: (/** @type {boolean} */ on, disabled = false) => {
    input.checked = on
    input.disabled = disabled
    node.classList.toggle("disabled", disabled)
  } }
}

// A whole number from 0 to `last`, with the words that say what it stands for.
/** @param {string} label @param {number} last @param {(value: number) => void} onInput */
export function makeSlider(label, last, onInput) {
  const node = labelled(label)
  const line = make(node, "div", "slider")
  const input = make(line, "input")
  Object.assign(input, { type: "range", min: "0", max: String(last), step: "1" })
  input.setAttribute("aria-label", label)
  input.oninput = () => onInput(Number(input.value))
  const words = make(line, "span", "slider-value")
  return { node, input, sync: (/** @type {number} */ value, /** @type {string} */ text) => {
    if (input.value !== String(value)) input.value = String(value)
    input.setAttribute("aria-valuetext", text)
    words.textContent = text
  } }
}
