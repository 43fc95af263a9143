// The neuron view's table as elements of the page: its bar, its head, the query's row, the rows of
// tokens. Texts are text nodes.

import { make } from "../shared/dom.js"
import { drawRunningSum, drawStrip, sizeCanvas } from "./cells.js"
import { isPermitted } from "./choice.js"
import { tickedDimensions } from "./layout.js"
import { rounded, scalingText } from "./numbers.js"

const STRIP = { top: 16, height: 40 } // pixels, of the query's cells and the running sum
const PAIRS = [["all", "All"], ["aa", "A→A"], ["ab", "A→B"], ["ba", "B→A"], ["bb", "B→B"]]

export function makeParts(parentElement) {
  const root = make(parentElement, "div", "root")
  const bar = make(root, "div", "bar")
  const fold = make(make(bar, "span", "buttons"), "button", "fold")
  const order = make(bar, "span", "choice")
  make(order, "span", "", "Dimensions by")
  const buttons = make(order, "span", "buttons")
  const ui = { root, fold, order, byIndex: make(buttons, "button", "", "number"), byContribution: make(buttons, "button", "", "contribution") }
  ui.filter = make(bar, "span", "choice")
  make(ui.filter, "span", "", "Pairs")
  const group = make(ui.filter, "span", "buttons")
  ui.pairs = PAIRS.map(([value, text]) => Object.assign(make(group, "button", "", text), { value }))
  ui.legends = make(bar, "div", "legends")
  ui.sentence = make(root, "p", "sentence")
  ui.scroller = make(root, "div", "scroller")
  ui.world = make(ui.scroller, "div", "world")
  const top = make(ui.world, "div", "top")
  ui.heads = make(top, "div", "line heads")
  ui.strip = make(top, "div", "line strip")
  ui.body = make(ui.world, "div", "body")
  ui.reading = make(root, "p", "reading")
  ui.reading.setAttribute("aria-live", "polite")
  ui.tip = Object.assign(make(root, "div", "tip"), { hidden: true })
  ui.tip.setAttribute("aria-hidden", "true")
  ui.scroller.tabIndex = 0
  ui.scroller.setAttribute("role", "grid")
  ui.heads.setAttribute("role", "row")
  return ui
}

export function drawBar({ ui, head, view, colours }) {
  ui.fold.textContent = view.folded ? "Unfold q, k and q × k" : "Fold q, k and q × k"
  ui.fold.setAttribute("aria-expanded", String(!view.folded))
  ui.order.style.display = view.folded ? "none" : ""
  ui.byIndex.setAttribute("aria-pressed", String(!view.byContribution))
  ui.byContribution.setAttribute("aria-pressed", String(view.byContribution))
  ui.filter.style.display = head.segments.includes(1) ? "" : "none"
  for (const button of ui.pairs) button.setAttribute("aria-pressed", String(button.value === view.pairs))
  ui.legends.replaceChildren()
  if (view.folded) return
  for (const [name, limit] of [["q, k", head.limits.vectors], ["q × k", head.limits.products]]) {
    const legend = make(ui.legends, "span", "legend")
    legend.title = `Colours end at ±${limit}, the 99th percentile of the sizes; what is beyond has the last colour.`
    make(legend, "b", "", name)
    make(legend, "span", "", `≤ −${limit}`)
    const stops = [0, 50, 100, 127, 154, 204, 255].map((step) => colours.steps[step].css)
    make(legend, "span", "ramp").style.background = `linear-gradient(to right, ${stops})`
    make(legend, "span", "", `≥ ${limit}`)
  }
}

export function drawHeads({ ui, head, view }) {
  ui.heads.replaceChildren()
  const [from, to] = head.sharers
  const shared = to > from ? `key head ${head.keyHead}, serves query heads ${from}–${to}` : `${head.dim} dimensions`
  const capped = head.softcap ? `${head.softcap} tanh(qᵢ·kⱼ ${scalingText(head)} ÷ ${head.softcap})` : `qᵢ·kⱼ ${scalingText(head)}`
  const masked = head.mask ? " + mᵢⱼ" : ""
  const title = (className, name, equation, role = "columnheader") => {
    const node = make(ui.heads, "div", className)
    node.setAttribute("role", role)
    make(node, "b", "", name)
    make(node, "small", "", equation).title = equation
    return node
  }
  title("asking", `${head.where} · query`, "token i; lines: aᵢⱼ")
  title("label", "Key", "token j")
  if (!view.folded) {
    const running = view.query === null ? "" : `; line: running sum for ${head.labels[view.query]} → ${head.labels[view.key]}`
    title("k", "Key kⱼ", shared)
    title("products", "Query × key, qᵢ ⊙ kⱼ", `element by element${running}`)
  }
  title("number dot", "qᵢ · kⱼ", "Σ qᵢ ⊙ kⱼ")
  title("number score", "Score zᵢⱼ", capped + masked)
  title("weight", "Attention aᵢⱼ", "exp zᵢⱼ ÷ Σ exp zᵢⱼ, over all j")
}

export function drawStripRow(state) {
  const { ui, head, view, layout, colours } = state
  ui.strip.replaceChildren()
  ui.strip.style.height = view.folded ? "34px" : ""
  const label = make(ui.strip, "div", "asked")
  if (view.query === null) make(label, "small", "", "all queries")
  else {
    make(label, "small", "", view.query === view.kept ? "query i" : "query i, click to keep")
    make(label, "span", "q", head.labels[view.query]).title = head.labels[view.query]
  }
  if (view.query === null) make(ui.strip, "div", "absent", "Here the query's vector, its products with the keys, scores and attention appear.")
  if (view.folded || view.query === null) return
  const canvas = make(ui.strip, "canvas")
  const pen = sizeCanvas(canvas, 2 * layout.block + layout.gap, STRIP.top + STRIP.height + 4)
  const box = { left: 0, top: STRIP.top, height: STRIP.height - 4 }
  const value = (dim) => head.q[view.query * head.dim + dim]
  drawStrip(pen, box, view.order, value, head.limits.vectors, layout, colours.steps)
  drawTicks(state)
  if (!view.pair) return
  const right = { left: layout.block + layout.gap, top: 3, height: STRIP.top + STRIP.height - 4 }
  drawRunningSum(pen, view.pair.values, view, right, layout, colours)
}

// Numbers of dimensions above the query's cells, as many as have room.
function drawTicks({ ui, head, view, layout }) {
  const ticks = make(ui.strip, "div", "ticks")
  if (view.byContribution) {
    make(ticks, "span", "all", view.pair ? "largest |q × k| first →" : "")
    return
  }
  for (const dim of tickedDimensions(head.dim, layout.cell)) {
    make(ticks, "span", "", String(dim)).style.left = `${(dim - 0.5) * layout.cell}px`
  }
}

// One row: a token that asks, one that is asked, and the numbers of that one. Sentences may differ in
// length, so that a row has one of the two tokens only.
export function drawRow({ ui, head, view, layout }, row) {
  const node = make(ui.body, "div", "line row")
  node.style.top = `${row * layout.row}px`
  node.style.height = node.style.lineHeight = `${layout.row}px`
  node.setAttribute("role", "row")
  node.setAttribute("aria-rowindex", String(row + 3))
  const second = (tokens) => row > 0 && head.segments[tokens[row]] > head.segments[tokens[row - 1]]
  const query = view.queries[row]
  const asking = make(node, "div", "asking", query === undefined ? undefined : head.labels[query])
  asking.setAttribute("role", "gridcell")
  if (query !== undefined) {
    asking.title = `${head.labels[query]} · position ${query + 1} · ${query === view.kept ? "click to let go" : "click to keep it as the query"}`
    asking.setAttribute("aria-selected", String(query === view.kept))
    asking.classList.toggle("query", query === view.query)
    asking.classList.toggle("second", second(view.queries))
  }
  if (row < view.keys.length) drawKey(node, head, view, row, second(view.keys))
  return node
}

function drawKey(node, head, view, row, second) {
  const key = view.keys[row]
  const numbers = view.query !== null
  const permitted = isPermitted(view, key)
  node.classList.toggle("pair", key === view.key)
  node.classList.toggle("masked", !permitted)
  const label = make(node, "div", "label", head.labels[key])
  label.classList.toggle("second", second)
  label.title = `${head.labels[key]} · position ${key + 1}`
  label.setAttribute("role", "rowheader")
  const cell = (className, text) => make(node, "div", className, text).setAttribute("role", "gridcell")
  const written = (value, digits) => (!numbers ? "" : permitted ? rounded(value[key], digits) : "–")
  cell("number dot", written(view.row?.dots, 2))
  cell("number score", written(view.row?.scores, 2))
  const weight = make(node, "div", "weight")
  weight.setAttribute("role", "gridcell")
  if (!numbers) return
  make(weight, "i").style.setProperty("--weight", String(view.row.weights[key]))
  make(weight, "span", "", written(view.row.weights, 3))
}
