// The head view's controls: layer, sentences and heads in a row, the others behind a button.

import { labelled, makeSegments, makeStepper, makeSwitch, stepped } from "../shared/controls.js"
import { setAttrs, el } from "../shared/dom.js"
import { offeredPairs } from "../shared/sentences.js"
import { headsOn, headsWritten } from "./filters.js"

/** @import { Step } from "../shared/controls.js" */
/** @import { Data, HeadView, State } from "./head_view.js" */
/** @typedef {ReturnType<typeof buildPanel>} Parts */

/** Returns a function that shows the state in the controls. @param {HTMLElement} root @param {HeadView} view */
export function makePanel(root, view) {
  const node = el(root, "div", "panel")
  let built = ""
  /** @type {Parts} */
  let parts
  return () => {
    const { data, state } = view
    const standalone = view.component.standalone === true
    const wanted = JSON.stringify([data.stamp, data.weigh, data.layerLabels])
    if (built !== wanted) parts = buildPanel(node, view, data, standalone)
    built = wanted
    parts.layer.sync({ layer: state.layer })
    parts.pairs?.sync(state.pairs)
    parts.weigh.sync(state.weigh)
    parts.hide.sync(state.hide)
    parts.heads.sync(headsOn(state.heads, data.heads), view.theme.colours)
  }
}

/** @param {HTMLElement} node @param {HeadView} view @param {Data} data @param {boolean} standalone */
function buildPanel(node, view, data, standalone) {
  node.replaceChildren()
  const row = el(node, "div", "line")
  const rest = setAttrs(el(node, "div", "line rest"), { id: "rest" })
  const layer = makeStepper({ layer: offered(data.layerLabels) }, {}, (picked) =>
    view.change(picked),
  )
  layer.node.inert = isFixed(view)
  const filters = offeredPairs(data.sides)
  const pairs = filters.length
    ? makeSegments("Sentences", filters, (value) => view.change({ pairs: value }))
    : null
  const weighs = data.weightings.filter(({ value }) => !standalone || value === data.weigh)
  const weigh = makeSegments("Weights", weighs, (value) => view.change({ weigh: value }))
  const hide = makeSwitch(
    "Hide special tokens",
    "Tokens the tokenizer added, such as [CLS]",
    (on) => view.change({ hide: on }),
  )
  const heads = makeSwatches(
    data.heads,
    (on) => {
      view.pointAtHead(null)
      view.change({ heads: headsWritten(on, data.heads) })
    },
    (head) => view.pointAtHead(head),
  )
  row.append(layer.node, ...(pairs ? [pairs.node] : []), heads.node)
  addMore(row, rest, view.state.weigh !== "attention" || view.state.hide) // they are not at their defaults
  rest.append(weigh.node, hide.node, heads.few)
  return { layer, pairs, weigh, hide, heads }
}

/** Numbers as options of a stepper. @param {number[]} numbers @returns {[string, string][]} */
function offered(numbers) {
  return numbers.map((number) => [String(number), String(number)])
}

/** Whether this is a saved page that lacks some layers. @param {HeadView} view */
function isFixed({ component, data }) {
  return component.standalone === true && Object.keys(data.layers).length < data.layerLabels.length
}

/** What a key changes: the layer, and the head if only one is on. @param {HeadView} view @param {Step} by @returns {Partial<State>} */
export function afterStep(view, by) {
  const { data, state } = view
  if (data.bare || isFixed(view)) return {}
  const on = headsOn(state.heads, data.heads)
  const heads = Array.from({ length: data.heads }, (_, head) => head + 1)
  const choices = { layer: offered(data.layerLabels), head: offered(heads) }
  const values = { layer: state.layer, head: on.length === 1 ? String(on[0] + 1) : "all" }
  const { head, ...layer } = by.head && on.length !== 1 ? {} : stepped(choices, values, by)
  return head === undefined ? layer : { ...layer, heads: [Number(head)] }
}

/** A button that shows and hides the rest. @param {HTMLElement} row @param {HTMLElement} rest @param {boolean} isOpen at first */
function addMore(row, rest, isOpen) {
  const button = setAttrs(el(row, "button", "plain more", "More"), { "aria-controls": "rest" })
  button.title = "More settings of this picture"
  /** @type {(open: boolean) => void} */
  const show = (open) => {
    rest.hidden = !open
    setAttrs(button, { "aria-expanded": open })
  }
  button.onclick = () => show(rest.hidden)
  show(isOpen)
}

/**
 * A swatch per head, and all; none and invert are in `few`. `onHeads` gets the heads that are on, from 0, `onPoint` the one pointed at.
 * @param {number} count @param {(heads: number[]) => void} onHeads @param {(head: number | null) => void} onPoint
 */
function makeSwatches(count, onHeads, onPoint) {
  const node = labelled("Heads")
  node.classList.add("heads")
  const line = setAttrs(el(node, "div", "swatches"), { role: "group", "aria-label": "Heads" })
  /** @type {number[]} */
  let on = []
  const all = Array.from({ length: count }, (_, head) => head)
  /** @type {(head: number) => void} */
  const isolate = (head) => onHeads(on.length === 1 && on[0] === head ? all : [head])
  /** @type {(head: number) => void} */
  const toggle = (head) =>
    onHeads(on.includes(head) ? on.filter((each) => each !== head) : [...on, head])
  const buttons = all.map((head) => {
    const button = el(line, "button", "swatch", String(head + 1))
    button.title = `Head ${head + 1}: press to turn it on or off, twice to show it alone`
    button.onclick = (event) => (event.shiftKey ? isolate(head) : toggle(head))
    button.ondblclick = () => isolate(head)
    button.onpointerenter = (event) => {
      if (event.pointerType === "mouse") onPoint(head)
    }
    button.onpointerleave = () => onPoint(null)
    return button
  })
  el(line, "button", "plain", "All").onclick = () => onHeads(all)
  const few = el(null, "span", "few")
  const choices = { None: () => [], Invert: () => all.filter((head) => !on.includes(head)) }
  for (const [name, heads] of Object.entries(choices))
    el(few, "button", "plain", name).onclick = () => onHeads(heads())
  return {
    node,
    few,
    sync: (/** @type {number[]} */ heads, /** @type {string[]} */ colours) => {
      on = heads
      buttons.forEach((button, head) => {
        button.style.setProperty("--head", colours[head])
        setAttrs(button, { "aria-pressed": on.includes(head) })
      })
    },
  }
}
