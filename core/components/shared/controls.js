// Controls that look like the app's own: segments, switches, and steppers (Layer < 4 >  Head < 2 >) whose keys work
// wherever nothing else uses them. Each is {node, sync}.

import { setAttrs, el } from "./dom.js"

/** @typedef {"layer" | "head"} Key */
/** @typedef {Partial<Record<Key, string>>} Values numbers from 1, or summaries such as "mean" */
/** @typedef {Partial<Record<Key, [string, string][]>>} Choices each option with its text; summaries come before the numbers */
/** @typedef {Record<Key, number>} Step */

/** A row for a control, with its label. @param {string} label */
export function labelled(label) {
  const node = el(null, "div", "control")
  el(node, "span", "control-label", label)
  return node
}

/** A choice of one option. @param {string} label @param {{value: string, label: string, title: string, disabled?: boolean}[]} options @param {(value: string) => void} onPick */
export function makeSegments(label, options, onPick) {
  const node = labelled(label)
  const group = setAttrs(el(node, "div", "segments"), { role: "radiogroup", "aria-label": label })
  const inputs = options.map((option) => {
    const part = el(group, "label", option.disabled ? "segment disabled" : "segment")
    part.title = option.title
    const input = el(part, "input")
    Object.assign(input, {
      type: "radio",
      name: label,
      value: option.value,
      disabled: Boolean(option.disabled),
    })
    input.onchange = () => onPick(option.value)
    el(part, "span", "", option.label)
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
  const node = el(null, "label", "switch")
  node.title = title
  const input = setAttrs(el(node, "input"), { type: "checkbox", role: "switch" })
  el(node, "span", "knob")
  el(node, "span", "", label)
  input.onchange = () => onChange(input.checked)
  return {
    node,
    sync: (/** @type {boolean} */ on) => {
      input.checked = on
    },
  }
}

/** @type {Key[]} */
const KEYS_OF_PLACE = ["layer", "head"]
// A presentation clicker sends Page Up and Page Down: it steps through all heads.
/** @type {Record<string, Step>} */
const KEYS = {
  ArrowUp: { layer: -1, head: 0 },
  ArrowDown: { layer: 1, head: 0 },
  ArrowLeft: { layer: 0, head: -1 },
  ArrowRight: { layer: 0, head: 1 },
  PageUp: { layer: 0, head: -1 },
  PageDown: { layer: 0, head: 1 },
}
// Elements that use these keys themselves; a click on blank space leaves the focus on Streamlit's <main>.
const TAKEN =
  "input:not([role=switch], [type=checkbox]), textarea, select, [contenteditable], canvas, table, dialog, [tabindex]:not(main, [role=switch]), [role=radiogroup], [role=menu], [role=listbox], [role=dialog], [role=tablist], [role=slider]"

/** The values that a step changes; the last head of a layer is followed by the first of the next. @param {Choices} choices @param {Values} values @param {Step} step @returns {Values} */
export function stepped(choices, values, step) {
  const [layer, head] = [
    beside(choices, values, "layer", step.layer || step.head),
    beside(choices, values, "head", step.head),
  ]
  if (step.layer) return layer === undefined ? {} : { layer }
  if (head !== undefined || !choices.head) return head === undefined ? {} : { head }
  const numbers = choices.head.map(([value]) => value).filter(isNumber)
  const crosses = isNumber(values.layer) && isNumber(layer) && isNumber(values.head)
  return crosses ? { layer, head: numbers.at(step.head > 0 ? 0 : -1) } : {}
}

/** @param {Choices} choices @param {Values} values @param {Key} key @param {number} by @returns {string | undefined} */
function beside(choices, values, key, by) {
  const options = choices[key]
  return options?.[options.findIndex(([value]) => value === values[key]) + by]?.[0]
}

/** @param {string | undefined} value */
function isNumber(value) {
  return /^\d+$/.test(value ?? "")
}

/**
 * For each choice, a menu between arrows to the previous and the next option. `onPick` gets the values that change.
 * @param {Choices} choices @param {Values} start @param {(values: Values) => void} onPick
 */
export function makeStepper(choices, start, onPick) {
  const node = el(null, "div", "steppers")
  /** @type {Values} */
  const values = {}
  /** @type {Partial<Record<Key, HTMLSelectElement>>} */
  const menus = {}
  /** @param {Values} picked */
  function sync(picked) {
    Object.assign(values, picked)
    for (const [key, menu] of Object.entries(menus))
      menu.value = values[/** @type {Key} */ (key)] ?? ""
  }
  /** @param {Values} picked */
  function pick(picked) {
    if (!Object.keys(picked).length) return false
    sync(picked)
    onPick(picked)
    return true
  }
  /** @param {Step} by */
  const step = (by) => pick(stepped(choices, values, by))
  for (const key of KEYS_OF_PLACE) {
    const options = choices[key]
    if (!options) continue
    const name = key === "layer" ? "Layer" : "Head"
    const line = el(el(node, "div", "control"), "div", "stepper")
    /** @param {string} text @param {string} title @param {number} by */
    const arrow = (text, title, by) => {
      const button = setAttrs(el(line, "button", "", text), { "aria-label": title, title })
      button.onclick = () => step({ layer: 0, head: 0, [key]: by })
    }
    arrow("‹", `Previous ${key}`, -1)
    const menu = setAttrs(el(line, "select"), { "aria-label": name })
    for (const [value, text] of options) el(menu, "option", "", text).value = value
    menu.onchange = () => pick({ [key]: menu.value })
    menus[key] = menu
    arrow("›", `Next ${key}`, 1)
    line.before(el(null, "span", "control-label", name))
  }
  sync(start)
  return { node, sync, step }
}

/** The step that a key stands for, unless a field or a picture has the focus; `host` contains the stepper. @param {KeyboardEvent} event @param {HTMLElement} host @returns {Step | null} */
export function stepOf(event, host) {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey)
    return null
  const [target] = event.composedPath()
  if (!(target instanceof Element) || target.closest(TAKEN)) return null
  const root = target.getRootNode()
  return root === document || root === host.getRootNode() ? (KEYS[event.key] ?? null) : null
}
