// Controls that look like the app's own: segments and switches. Each is {node, sync}.

import { describe, make } from "./dom.js"

/** A line for a control after its label. @param {string} label */
export function labelled(label) {
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
    Object.assign(input, {
      type: "radio",
      name: label,
      value: option.value,
      disabled: Boolean(option.disabled),
    })
    input.onchange = () => onPick(option.value)
    make(part, "span", "", option.label)
    return input
  })
  return {
    node,
    sync: (/** @type {string} */ value) => {
      for (const input of inputs) input.checked = input.value === value
    },
  }
}

/** @param {string} label @param {string} title @param {(on: boolean) => void} onChange */
export function makeSwitch(label, title, onChange) {
  const node = make(null, "label", "switch")
  node.title = title
  const input = describe(make(node, "input"), { type: "checkbox", role: "switch" })
  make(node, "span", "knob")
  make(node, "span", "", label)
  input.onchange = () => onChange(input.checked)
  return {
    node,
    sync: (/** @type {boolean} */ on) => {
      input.checked = on
    },
  }
}
