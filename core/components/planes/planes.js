// Small planes with arrows from the origin, as SVG.

import { boxesMeet } from "../points/scatter.js"
import { describe, make, makeTip, textWidths } from "../shared/dom.js"
import { View, mount } from "../shared/view.js"

/** @import { Box } from "../points/scatter.js" */
/** @import { Component } from "../shared/view.js" */
/**
 * @typedef {{x: number, y: number}} Place in pixels from the origin, downwards
 * @typedef {object} Data
 * @property {string[]} titles
 * @property {string[]} notes
 * @property {{label: string, colour: string, name: string}[]} arrows
 * @property {number[]} picked
 * @property {boolean} ownScale
 * @property {boolean} rightAngle
 * @property {boolean} canPick
 * @property {Float32Array} points (plane, arrow, 2)
 */

const TILE = { minWidth: 210, maxWidth: 420, height: 212, gap: 12 } // pixels, without the title
const MARGIN = { x: 46, y: 20 } // room for labels beyond the longest arrow
const HEAD = { length: 8, width: 3.4 }
const LABEL = { height: 14, gap: 2 }
const FEW = 3 // arrows that all get their label

/** @param {Component} component */
export default function (component) {
  return mount(component, PlanesView)
}

class PlanesView extends View {
  /** @type {Data} */ data

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.grid = make(this.root, "div", "grid")
    this.tip = makeTip(this.root)
  }

  /** @param {Data} data */
  update(data) {
    this.data = data
    this.layOut()
  }

  layOut() {
    this.width = this.root.clientWidth
    // As many columns as fit, then as few as keep the number of rows: no ragged last row.
    const count = this.data.titles.length
    const fitting = Math.max(1, Math.floor((this.width + TILE.gap) / (TILE.minWidth + TILE.gap)))
    const columns = Math.ceil(count / Math.ceil(count / fitting))
    const width = Math.min(TILE.maxWidth, Math.floor((this.width - TILE.gap * (columns - 1)) / columns) - 2)
    this.grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`
    this.grid.replaceChildren(...this.data.titles.map((_, plane) => this.drawTile(plane, width)))
  }

  /** @param {number} plane @param {number} width */
  drawTile(plane, width) {
    const { data } = this
    const tile = make(null, "figure")
    const title = make(tile, "figcaption")
    make(title, "b", "", data.titles[plane])
    make(title, "span", "", data.notes[plane])
    const half = { x: width / 2, y: Math.min(width, TILE.height) / 2 }
    const size = { width: 2 * half.x, height: 2 * half.y, viewBox: `${-half.x} ${-half.y} ${2 * half.x} ${2 * half.y}` }
    const svg = shape("svg", { ...size, role: "img", "aria-label": `${data.titles[plane]}: ${data.arrows.length} arrows` })
    svg.append(
      shape("line", { class: "axis", x1: -half.x, x2: half.x, y1: 0, y2: 0 }),
      shape("line", { class: "axis", y1: -half.y, y2: half.y, x1: 0, x2: 0 }),
    )
    const tips = tipsOf(data, plane, { x: half.x - MARGIN.x, y: half.y - MARGIN.y })
    const order = [...tips.keys()].sort((a, b) => Number(isFaded(data, b)) - Number(isFaded(data, a)))
    for (const i of order) svg.append(this.drawArrow(tips[i], i, plane))
    if (data.rightAngle) svg.append(...drawFoot(tips))
    svg.append(...drawLabels(data, tips, half))
    tile.append(svg)
    return tile
  }

  /** @param {Place & {values: number[]}} tip @param {number} index @param {number} plane */
  drawArrow({ x, y, values }, index, plane) {
    const { data } = this
    const group = shape("g", { class: isFaded(data, index) ? "arrow faded" : "arrow", "data-index": index })
    group.style.color = data.arrows[index].colour
    const length = Math.hypot(x, y)
    if (length < 0.5) group.append(shape("circle", { r: 2.6, class: "dot" }))
    else group.append(...drawShaft(x, y, length))
    group.append(shape("line", { x1: 0, y1: 0, x2: x, y2: y, class: "hit" }))
    const note = `(${values.map((value) => value.toFixed(3)).join(", ")})`
    group.onpointerenter = (event) => this.tip.show(event, `${data.arrows[index].name} · ${data.titles[plane]}`, [[note]])
    group.onpointerleave = () => this.tip.hide()
    if (data.canPick) group.onclick = () => {
      const others = data.picked.filter((i) => i !== index)
      const picked = others.length < data.picked.length ? others : [...others, index].sort((a, b) => a - b)
      this.component.setStateValue("picked", picked)
    }
    return group
  }
}

/** The tips in pixels, with the values they show; data grows upwards. @param {Data} data @param {number} plane @param {Place} reach */
function tipsOf({ arrows, ownScale, points }, plane, reach) {
  const own = points.subarray(2 * plane * arrows.length, 2 * (plane + 1) * arrows.length)
  /** @type {(axis: number) => number} */
  const widest = (axis) => (ownScale ? own : points).reduce((max, value, i) => (i % 2 === axis ? Math.max(max, Math.abs(value)) : max), 1e-12)
  const [x, y] = [widest(0), widest(1)]
  const scale = x + y < 1e-9 ? 0 : Math.min(reach.x / x, reach.y / y) // equal axes
  return arrows.map((_, i) => ({ x: own[2 * i] * scale, y: -own[2 * i + 1] * scale, values: [own[2 * i], own[2 * i + 1]] }))
}

/** @param {Data} data @param {number} index */
function isFaded({ picked }, index) {
  return picked.length > 0 && !picked.includes(index)
}

/** @param {number} x @param {number} y @param {number} length */
function drawShaft(x, y, length) {
  const stop = Math.max(0, 1 - HEAD.length / length)
  const [ux, uy] = [x / length, y / length]
  const size = Math.min(HEAD.length, length)
  /** @type {(side: number) => string} */
  const corner = (side) => pathOf([[x - ux * size - side * uy * HEAD.width, y - uy * size + side * ux * HEAD.width]]).slice(1)
  return [
    shape("path", { d: pathOf([[0, 0], [x * stop, y * stop]]), class: "shaft" }),
    shape("path", { d: `${pathOf([[x, y]])}L${corner(1)}L${corner(-1)}Z`, class: "head" }),
  ]
}

/** @param {number[][]} places */
function pathOf(places) {
  return `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`
}

/** The dashed line from the tip of A to its foot on B, and the small square of the right angle. @param {Place[]} tips */
function drawFoot([b, a, foot]) {
  const plumb = shape("line", { class: "plumb", x1: a.x, y1: a.y, x2: foot.x, y2: foot.y })
  const height = Math.hypot(a.x - foot.x, a.y - foot.y)
  const length = Math.hypot(b.x, b.y)
  if (length < 1e-9 || height < 12) return [plumb]
  const side = 8 * (foot.x * b.x + foot.y * b.y > 0 ? -1 : 1) / length
  const [along, up] = [{ x: b.x * side, y: b.y * side }, { x: 8 * (a.x - foot.x) / height, y: 8 * (a.y - foot.y) / height }]
  const corners = [[foot.x + along.x, foot.y + along.y], [foot.x + along.x + up.x, foot.y + along.y + up.y], [foot.x + up.x, foot.y + up.y]]
  return [plumb, shape("path", { class: "square", d: pathOf(corners) })]
}

/** Labels beside the tips, longest arrows first; one that would overlap another is left out. @param {Data} data @param {Place[]} tips @param {Place} half */
function drawLabels(data, tips, half) {
  const widthOf = textWidths("12px sans-serif")
  const order = [...tips.keys()].filter((i) => !isFaded(data, i))
  order.sort((a, b) => Math.hypot(tips[b].x, tips[b].y) - Math.hypot(tips[a].x, tips[a].y))
  /** @type {Box[]} */
  const taken = []
  return order.flatMap((i) => {
    const { label, colour } = data.arrows[i]
    const box = freeBox(tips[i], widthOf(label) * 1.08 + 2, half, taken, tips.length <= FEW)
    if (!box) return []
    taken.push(box)
    const text = shape("text", { x: box.x + box.width / 2, y: box.y + 11, class: "label" })
    text.textContent = label
    text.style.fill = colour
    return [text]
  })
}

/** Beside the tip; among few arrows also farther away, where a label cannot be mistaken for another's. @param {Place} tip @param {number} width @param {Place} half @param {Box[]} taken @param {boolean} isFew */
function freeBox({ x, y }, width, half, taken, isFew) {
  const { height, gap } = LABEL
  const turns = isFew ? [0, 0.6, -0.6, 1.2, -1.2, 1.9, -1.9, 2.6, -2.6] : [0, 0.6, -0.6, 1.2, -1.2]
  for (const distance of isFew ? [4, 12, 24] : [4, 12]) {
    for (const turn of turns) {
      const angle = Math.atan2(y, x) + turn
      const centre = { x: x + Math.cos(angle) * (width / 2 + distance), y: y + Math.sin(angle) * (height / 2 + distance) }
      const box = { x: centre.x - width / 2, y: centre.y - height / 2, width, height }
      const isInside = box.x >= -half.x && box.x + width <= half.x && box.y >= -half.y && box.y + height <= half.y
      if (isInside && !taken.some((other) => boxesMeet(box, other, gap))) return box
    }
  }
  return null
}

/** @template {keyof SVGElementTagNameMap} Tag @param {Tag} tag @param {Record<string, string | number>} attributes */
function shape(tag, attributes) {
  return describe(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes)
}
