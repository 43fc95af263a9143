// The neuron view's table as elements of the page: its bar, its head, the query's row, the rows of tokens.

import { makeSegments } from "../shared/controls.js"
import { setAttrs, el, setPx, sizeCanvas } from "../shared/dom.js"
import { addPatch } from "../shared/patches.js"
import { offeredPairs } from "../shared/sentences.js"
import { drawRunningSum, drawStrip } from "./drawing.js"
import { PATCH, tickedDimensions } from "./layout.js"
import { isPermitted, rounded } from "./numbers.js"

/** @import { Side } from "../shared/sentences.js" */
/** @import { Shown } from "./drawing.js" */
/** @import { NeuronView } from "./neuron_view.js" */
/** @import { Chosen } from "./numbers.js" */

const STRIP = { top: 16, height: 40 } // pixels, of the query's cells and the running sum

/** @param {HTMLElement} root */
export function makeParts(root) {
  const bar = el(root, "div", "bar")
  const controls = el(bar, "div", "controls")
  const legends = el(bar, "div", "legends")
  const scroller = setAttrs(el(root, "div", "scroller"), { tabindex: 0, role: "grid" })
  const world = el(scroller, "div", "world")
  const top = el(world, "div", "top")
  const heads = setAttrs(el(top, "div", "line heads"), { role: "row", "aria-rowindex": 1 })
  const strip = setAttrs(el(top, "div", "line strip"), { role: "row", "aria-rowindex": 2 })
  const body = el(world, "div", "body")
  const sentence = el(root, "p", "sentence")
  const reading = setAttrs(el(root, "p", "reading"), { "aria-live": "polite" })
  return { controls, legends, sentence, scroller, world, heads, strip, body, reading }
}

/** @param {NeuronView} shown */
export function drawBar(shown) {
  const { ui, head, view, colours } = shown
  const offered = offeredPairs(head.sides)
  const built = JSON.stringify(offered)
  if (ui.controls.dataset.built !== built) {
    const orders = ["number", "contribution"].map((value) => ({ value, label: value, title: "" }))
    const order = makeSegments("Dimensions by", orders, (value) =>
      shown.choose({ byContribution: value === "contribution" }),
    )
    const pairs = makeSegments("Pairs", offered, (value) =>
      shown.choose({ pairs: /** @type {Chosen["pairs"]} */ (value) }),
    )
    ui.controls.replaceChildren(order.node, ...(offered.length ? [pairs.node] : []))
    ui.controls.dataset.built = built
  }
  for (const input of ui.controls.querySelectorAll("input"))
    input.checked = [view.byContribution ? "contribution" : "number", view.pairs].includes(
      input.value,
    )
  ui.legends.replaceChildren(
    drawLegend("q, k", head.limits.vectors, colours),
    drawLegend("q × k", head.limits.products, colours),
  )
}

/** @param {string} name @param {number} limit @param {Shown["colours"]} colours */
function drawLegend(name, limit, { steps }) {
  const legend = el(null, "span", "legend")
  legend.title = `Colours end at ±${limit}, the 99th percentile of their magnitudes; larger ones share the last colour.`
  el(legend, "b", "", name)
  el(legend, "span", "", `≤ −${limit}`)
  const stops = [0, 50, 100, 127, 154, 204, 255].map((step) => steps[step].css)
  el(legend, "span", "ramp").style.background = `linear-gradient(to right, ${stops})`
  el(legend, "span", "", `≥ ${limit}`)
  return legend
}

/** @param {NeuronView} shown */
export function drawHeads({ ui, head, view, layout: { isPhone } }) {
  ui.heads.replaceChildren()
  const [from, to] = head.sharers
  const shared =
    to > from
      ? `key head ${head.keyHead}, serves query heads ${from}–${to}`
      : `${head.dim} dimensions`
  const isRoot = Math.abs(head.scaling * Math.sqrt(head.dim) - 1) < 1e-6
  const factor = isRoot ? `÷ √${head.dim}` : `× ${Number(head.scaling.toPrecision(4))}`
  const scaled = `qᵢ·kⱼ ${factor}`
  const score = head.softcap ? `${head.softcap} tanh(${scaled} ÷ ${head.softcap})` : scaled
  /** @type {(className: string, name: string, equation: string) => void} */
  const addTitle = (className, name, equation) => {
    const node = setAttrs(el(ui.heads, "div", className), { role: "columnheader" })
    el(node, "b", "", name)
    el(node, "small", "", equation).title = equation
  }
  addTitle("asking", isPhone ? head.where : `${head.where} · query`, "token i; lines: aᵢⱼ")
  addTitle("label", "Key", "token j")
  const running =
    view.query === null
      ? ""
      : `; line: running sum for ${head.tokens.queries.labels[view.query]} → ${head.tokens.keys.labels[view.key ?? 0]}`
  addTitle("k", "Key kⱼ", shared)
  addTitle("products", "Query × key, qᵢ ⊙ kⱼ", `element by element${running}`)
  addTitle("number dot", "qᵢ · kⱼ", "Σ qᵢ ⊙ kⱼ")
  addTitle("number score", isPhone ? "Score" : "Score zᵢⱼ", head.bias ? `${score} + mᵢⱼ` : score)
  addTitle(
    "weight",
    isPhone ? "Att." : "Attention aᵢⱼ",
    `exp zᵢⱼ ÷ Σ exp zᵢⱼ, over all j${head.hasSink ? " and the sink" : ""}`,
  )
}

/** @param {NeuronView} shown */
export function drawStripRow(shown) {
  const { ui, head, view, layout } = shown
  const { query, pair } = view
  ui.strip.replaceChildren()
  const label = setAttrs(el(ui.strip, "div", "asked"), { role: "rowheader" })
  if (query === null) {
    el(label, "small", "", "all queries")
    setAttrs(el(ui.strip, "div", "absent"), { role: "gridcell" }).append(
      "The query's vector, its products with the keys, scores and attention appear here.",
    )
    return
  }
  el(label, "small", "", query === view.keptQuery ? "query i" : "query i, press to pin")
  const name = head.tokens.queries.labels[query]
  el(label, "span", "q", name).title = name
  const drawing = setAttrs(el(ui.strip, "canvas"), {
    role: "gridcell",
    "aria-label":
      "The query's vector, and the running sum of the pair's products; arrow keys read them",
  })
  const width = 2 * layout.block + layout.gap
  const pen = sizeCanvas(drawing, width, STRIP.top + STRIP.height + 4)
  const box = { left: 0, top: STRIP.top, height: STRIP.height - 4 }
  drawStrip(pen, shown, box, (dim) => head.queries[query * head.dim + dim], head.limits.vectors)
  const right = { left: layout.block + layout.gap, top: 3, height: STRIP.top + STRIP.height - 4 }
  if (pair) drawRunningSum(pen, shown, pair, right)
  const ticks = setAttrs(el(ui.strip, "div", "ticks"), { "aria-hidden": true })
  if (view.byContribution) el(ticks, "span", "all", pair ? "largest |q × k| first →" : "")
  else
    for (const dim of tickedDimensions(head.dim, layout.cell))
      setPx(el(ticks, "span", "", String(dim)), { left: (dim - 0.5) * layout.cell })
}

/** A query token, a key token, and the key's numbers. If sentences differ in length, some rows have only one of the two. @param {NeuronView} shown @param {number} row */
export function drawRow({ head, view, layout }, row) {
  const { row: height } = layout
  const node = el(null, "div", "line row")
  setPx(node, { top: row * height, height, lineHeight: height })
  setAttrs(node, { role: "row", "aria-rowindex": row + 3 })
  /** @type {(side: Side) => boolean} whether the second sentence begins in this row */
  const isSecond = (side) => {
    const { segments } = head.tokens[side]
    return row > 0 && segments[view[side][row]] > segments[view[side][row - 1]]
  }
  const [query, { labels }] = [view.queries[row], head.tokens.queries]
  const asking = setAttrs(el(node, "div", "asking", labels[query]), { role: "gridcell" })
  if (query !== undefined) {
    const isKept = query === view.keptQuery
    addPatch(asking, labels[query], head.patches, PATCH, true)
    asking.title = `${labels[query]} · position ${query + 1} · ${isKept ? "press to unpin it" : "press to pin it"}`
    setAttrs(asking, { "aria-selected": isKept })
    asking.classList.toggle("query", query === view.query)
    asking.classList.toggle("second", isSecond("queries"))
  }
  if (row < view.keys.length) drawKey(node, { head, view }, view.keys[row], isSecond("keys"))
  return node
}

/** @param {HTMLElement} node @param {Pick<Shown, "head" | "view">} shown @param {number} key @param {boolean} isSecond */
function drawKey(node, { head, view }, key, isSecond) {
  const mayAttend = isPermitted(view, key)
  node.classList.toggle("pair", key === view.key)
  node.classList.toggle("masked", !mayAttend)
  const name = head.tokens.keys.labels[key]
  const label = el(node, "div", isSecond ? "label second" : "label", name)
  setAttrs(addPatch(label, name, head.patches, PATCH), { role: "rowheader" })
  label.title = `${name} · position ${key + 1}`
  const { dots, scores, weights } = view.row ?? {}
  /** @type {(values: ArrayLike<number> | undefined, digits: number) => string} */
  const format = (values, digits) => (!values ? "" : mayAttend ? rounded(values[key], digits) : "–")
  setAttrs(el(node, "div", "number dot", format(dots, 2)), { role: "gridcell" })
  setAttrs(el(node, "div", "number score", format(scores, 2)), { role: "gridcell" })
  const weight = setAttrs(el(node, "div", "weight"), { role: "gridcell" })
  if (!weights) return
  el(weight, "i").style.setProperty("--weight", String(weights[key]))
  el(weight, "span", "", format(weights, 3))
}
