// The head view's controls: layer, sentences and heads in a row, and behind a button the others.

import { makeSegments, makeSlider, makeSwitch } from "../shared/controls.js"
import { describe, make, pointer } from "../shared/dom.js"
import { SIDES, offeredPairs } from "../shared/sentences.js"
import { makeStepper, stepped } from "../shared/stepper.js"
import { makeSwatches } from "./controls.js"
import { THRESHOLDS, headsOn, headsWritten } from "./filters.js"

/** @import { Layer } from "../shared/layer.js" */
/** @import { Step } from "../shared/stepper.js" */
/** @import { Data, HeadView, State } from "./head_view.js" */
/** @typedef {ReturnType<typeof buildPanel>} Parts */

/** Returns a function that shows the state in the controls. @param {HTMLElement} root @param {HeadView} view */
export function makePanel(root, view) {
  const node = make(root, "div", "panel")
  let built = ""
  /** @type {Parts} */
  let parts
  return () => {
    const { data, state, layer, threshold: share, top } = view
    const standalone = view.component.standalone === true
    const wanted = JSON.stringify([data.stamp, data.weigh, data.layerLabels])
    if (built !== wanted) parts = buildPanel(node, view, data, standalone)
    built = wanted
    const isAuto = state.least === "auto"
    const text = share === 0 ? "any" : String(Number((share * top).toPrecision(3)))
    parts.threshold.sync(
      isAuto ? 0 : 1 + THRESHOLDS.indexOf(share),
      isAuto ? `${text} (auto)` : text,
    )
    parts.layer.sync({ layer: state.layer })
    parts.pairs?.sync(state.pairs)
    parts.weigh.sync(state.weigh)
    parts.hide.sync(state.hide)
    parts.renorm.sync(state.renorm)
    parts.heads.sync(headsOn(state.heads, data.heads), view.theme.colours)
    describe(parts.what, { "aria-expanded": state.what })
    drawHidden(parts.hidden, view)
    drawAbout(parts.about, state, data, layer, view.pointedHead)
  }
}

/** @param {HTMLElement} node @param {HeadView} view @param {Data} data @param {boolean} standalone */
function buildPanel(node, view, data, standalone) {
  node.replaceChildren()
  const row = make(node, "div", "line")
  const rest = describe(make(node, "div", "line rest"), { id: "rest" })
  const layer = makeStepper({ layer: offered(data.layerLabels) }, {}, (picked) =>
    view.change(picked),
  )
  layer.node.inert = isFixed(view)
  const filters = offeredPairs(data.sides)
  const pairs = filters.length
    ? makeSegments("Sentences", filters, (value) => view.change({ pairs: value }))
    : null
  const weighs = data.weighs.filter(({ value }) => !standalone || value === data.weigh)
  const weigh = makeSegments("Weights", weighs, (value) => view.change({ weigh: value }))
  const hide = makeSwitch(
    "Hide special tokens",
    "Tokens the tokenizer added, such as [CLS]",
    (on) => view.change({ hide: on }),
  )
  const renorm = makeSwitch(
    "Renormalise rows",
    "Divide each row by its sum over the tokens shown",
    (on) => view.change({ renorm: on }),
  )
  const heads = makeSwatches(
    data.heads,
    (on) => {
      view.pointAtHead(null)
      view.change({ heads: headsWritten(on, data.heads) })
    },
    (head) => view.pointAtHead(head),
  )
  const threshold = makeSlider("Hide lines below", THRESHOLDS.length, (value) =>
    view.change({ least: value ? String(THRESHOLDS[value - 1]) : "auto" }),
  )
  row.append(layer.node, ...(pairs ? [pairs.node] : []), heads.node)
  addMore(row, rest, hasMore(view.state))
  rest.append(weigh.node, threshold.node, hide.node, renorm.node)
  const what = make(heads.few, "button", "plain", "What does this head do?")
  rest.append(heads.few)
  what.onclick = () => view.change({ what: !view.state.what })
  what.hidden = standalone && !data.scoreNames.length
  const about = describe(make(node, "div", "about"), { id: "about" })
  describe(what, { "aria-controls": "about" })
  return {
    layer,
    pairs,
    weigh,
    threshold,
    hide,
    renorm,
    heads,
    what,
    about,
    hidden: make(node, "div", "away"),
  }
}

/** Numbers, as a stepper offers them. @param {number[]} numbers @returns {[string, string][]} */
function offered(numbers) {
  return numbers.map((number) => [String(number), String(number)])
}

/** Whether a saved page has one layer alone. @param {HeadView} view */
function isFixed({ component, data }) {
  return component.standalone === true && Object.keys(data.layers).length < data.layerLabels.length
}

/** What a key changes: the layer, and the head where one alone is on. @param {HeadView} view @param {Step} by @returns {Partial<State>} */
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

/** Whether one of the controls behind the button is not as it is at first. @param {State} state */
function hasMore({ weigh, least, hide, renorm, what }) {
  return weigh !== "attention" || least !== "auto" || hide || renorm || what
}

/** A button that shows and hides the rest. @param {HTMLElement} row @param {HTMLElement} rest @param {boolean} isOpen at first */
function addMore(row, rest, isOpen) {
  const button = describe(make(row, "button", "plain more", "More"), { "aria-controls": "rest" })
  button.title = "More settings of this picture"
  /** @type {(open: boolean) => void} */
  const show = (open) => {
    rest.hidden = !open
    describe(button, { "aria-expanded": open })
  }
  button.onclick = () => show(rest.hidden)
  show(isOpen)
}

/** The tokens that a person has hidden, each with the way back. @param {HTMLElement} node @param {HeadView} view */
function drawHidden(node, view) {
  const hidden = (view.isCross ? SIDES : SIDES.slice(0, 1)).map((side) => ({
    side,
    positions: view.hiddenOf(side),
  }))
  node.hidden = hidden.every(({ positions }) => positions.length === 0)
  node.replaceChildren()
  if (node.hidden) return
  make(node, "span", "control-label", "Hidden")
  for (const { side, positions } of hidden) {
    for (const position of positions) {
      const button = make(node, "button", "chip", `${view.tokens[side].labels[position]} ×`)
      button.title = "Show this token again"
      button.onclick = () => {
        const others = view.hiddenOf(side).filter((each) => each !== position)
        view.change(view.withHidden(side, others))
      }
    }
  }
  make(node, "button", "plain", "Show all").onclick = () =>
    view.change({ ...view.withHidden("queries", []), ...view.withHidden("keys", []) })
}

/** The scores of the head that is pointed at, else of the only one that is on. @param {HTMLElement} node @param {State} state @param {Data} data @param {Layer} layer @param {number | null} pointed */
function drawAbout(
  node,
  { what, heads },
  { scoreNames, scoreNotes, scores, heads: count },
  layer,
  pointed,
) {
  node.hidden = !what
  node.replaceChildren()
  if (!what) return
  const on = headsOn(heads, count)
  const head = pointed ?? (on.length === 1 ? on[0] : null)
  if (!scoreNames.length) make(node, "span", "hint", "Measuring the heads of all layers …")
  else if (head === null)
    make(
      node,
      "span",
      "hint",
      `${pointer() === "mouse" ? "Point at a head's number, or press it" : "Press a head's number"} twice to see that head alone.`,
    )
  else {
    make(node, "b", "", `L${layer.number} H${head + 1}`)
    scoreNames.forEach((name, i) => {
      const value = scores[(layer.index * count + head) * scoreNames.length + i]
      const part = make(node, "span", "score", `${name} `)
      part.title = scoreNotes[i]
      make(part, "b", "", Number.isNaN(value) ? "–" : value.toFixed(2))
    })
  }
}
