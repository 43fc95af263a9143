// Small planes with arrows from the origin, as SVG. Labels are text nodes, never HTML.

import { make, textWidths } from "../shared/dom.js"
import { mount } from "../shared/mount.js"

/** @import { Component } from "../shared/mount.js" */
/**
 * @typedef {{label: string, colour: string, name: string}} Arrow
 * @typedef {{x: number, y: number}} Place
 * @typedef {Place & {raw: number[]}} Tip in pixels, and as it was given
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 * @typedef {object} Data
 * @property {string[]} titles
 * @property {string[]} notes
 * @property {Arrow[]} arrows
 * @property {number[]} picked
 * @property {boolean} ownScale
 * @property {boolean} rightAngle
 * @property {boolean} canPick
 * @property {Float32Array} points
 * @typedef {{data: Data, send: (picked: number[]) => void, width: number}} State
 */

const SVG = "http://www.w3.org/2000/svg"
const TILE = { least: 210, height: 212, gap: 12 } // pixels, without the title
const MARGIN = { x: 46, y: 20 } // room for labels beyond the longest arrow
const HEAD = { length: 8, width: 3.4 }
const GAP = 2 // between labels
const FEW = 3 // arrows, all of which get their label

/** @param {Component} component */
export default function (component) {
  return mount(component, createView, (view, data) => view.update(data, (picked) => component.setStateValue("picked", picked)))
}

/** @param {HTMLElement} parentElement */
function createView(parentElement) {
  const root = make(parentElement, "div", "grid")
  const tip = make(parentElement, "div", "tip")
  tip.hidden = true
  /** @type {State | null} */
  let state = null
  const draw = () => { if (state) drawGrid(root, tip, state) }
  const resize = new ResizeObserver(() => {
    if (root.clientWidth !== state?.width) draw()
  })
  resize.observe(root)
  return {
    update(/** @type {Data} */ data, /** @type {State["send"]} */ send) {
      state = { data, send, width: 0 }
      draw()
    },
    destroy() {
      resize.disconnect()
      root.remove()
      tip.remove()
    },
  }
}

/** @param {HTMLElement} root @param {HTMLElement} tip @param {State} state */
function drawGrid(root, tip, state) {
  const { data } = state
  state.width = root.clientWidth
  // As many columns as fit, then as few as keep the number of rows: no ragged last row.
  const fit = Math.max(1, Math.floor((root.clientWidth + TILE.gap) / (TILE.least + TILE.gap)))
  const columns = Math.ceil(data.titles.length / Math.ceil(data.titles.length / fit))
  const width = Math.min(420, Math.floor((root.clientWidth - TILE.gap * (columns - 1)) / columns) - 2)
  root.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`
  root.replaceChildren(...data.titles.map((_, plane) => drawTile(plane, width, tip, state)))
}

/** @param {number} plane @param {number} width @param {HTMLElement} tip @param {State} state */
function drawTile(plane, width, tip, state) {
  const { data } = state
  const tile = make(null, "figure")
  const title = make(tile, "figcaption")
  make(title, "b", "", data.titles[plane])
  make(title, "span", "", data.notes[plane])
  const half = { x: width / 2, y: Math.min(width, TILE.height) / 2 }
  const viewBox = `${-half.x} ${-half.y} ${2 * half.x} ${2 * half.y}`
  const svg = shape("svg", { width: 2 * half.x, height: 2 * half.y, viewBox, role: "img" })
  svg.setAttribute("aria-label", `${data.titles[plane]}: ${data.arrows.length} arrows`)
  svg.append(
    shape("line", { class: "axis", x1: -half.x, x2: half.x, y1: 0, y2: 0 }),
    shape("line", { class: "axis", y1: -half.y, y2: half.y, x1: 0, x2: 0 }),
  )
  const points = pointsOf(data, plane, { x: half.x - MARGIN.x, y: half.y - MARGIN.y })
  const order = data.arrows.map((_, i) => i).sort((a, b) => Number(faded(data, b)) - Number(faded(data, a)))
  for (const i of order) svg.append(drawArrow(data, points, i, plane, tip, state))
  if (data.rightAngle) drawFoot(svg, points)
  for (const label of placeLabels(data, points, half)) svg.append(label)
  tile.append(svg)
  return tile
}

// Pixel coordinates of the tips; y grows upwards in the data and downwards on the screen.
/** @param {Data} data @param {number} plane @param {Place} reach @returns {Tip[]} */
function pointsOf(data, plane, reach) {
  const count = data.arrows.length
  const start = data.ownScale ? plane * count * 2 : 0
  const end = data.ownScale ? start + count * 2 : data.points.length
  const widest = { x: 1e-12, y: 1e-12 }
  for (let i = start; i < end; i += 2) {
    widest.x = Math.max(widest.x, Math.abs(data.points[i]))
    widest.y = Math.max(widest.y, Math.abs(data.points[i + 1]))
  }
  const scale = widest.x + widest.y < 1e-9 ? 0 : Math.min(reach.x / widest.x, reach.y / widest.y) // equal axes
  return data.arrows.map((_, i) => {
    const at = (plane * count + i) * 2
    const [x, y] = [data.points[at], data.points[at + 1]]
    return { x: x * scale, y: -y * scale, raw: [x, y] }
  })
}

/** @param {Data} data @param {number} index */
function faded(data, index) {
  return data.picked.length > 0 && !data.picked.includes(index)
}

/** @param {Data} data @param {Tip[]} points @param {number} index @param {number} plane @param {HTMLElement} tip @param {State} state */
function drawArrow(data, points, index, plane, tip, state) {
  const { x, y, raw } = points[index]
  const group = shape("g", { class: faded(data, index) ? "arrow faded" : "arrow" })
  group.dataset.index = String(index)
  group.style.color = data.arrows[index].colour
  const length = Math.hypot(x, y)
  if (length < 0.5) group.append(shape("circle", { r: 2.6, class: "dot" }))
  else group.append(shape("path", { d: arrowPath(x, y, length), class: "shaft" }), shape("path", { d: headPath(x, y, length), class: "head" }))
  group.append(shape("line", { x1: 0, y1: 0, x2: x, y2: y, class: "hit" }))
  group.onpointerenter = (event) => showTip(tip, event, `${data.arrows[index].name} · ${data.titles[plane]}`, `(${raw[0].toFixed(3)}, ${raw[1].toFixed(3)})`)
  group.onpointerleave = () => { tip.hidden = true }
  if (data.canPick) {
    group.onclick = () => {
      const picked = data.picked.includes(index) ? data.picked.filter((i) => i !== index) : [...data.picked, index]
      state.send(picked.sort((a, b) => a - b))
    }
  }
  return group
}

/** @param {number} x @param {number} y @param {number} length */
function arrowPath(x, y, length) {
  const stop = Math.max(0, 1 - HEAD.length / length)
  return `M0 0L${(x * stop).toFixed(1)} ${(y * stop).toFixed(1)}`
}

/** @param {number} x @param {number} y @param {number} length */
function headPath(x, y, length) {
  const [ux, uy] = [x / length, y / length]
  const size = Math.min(HEAD.length, length)
  const [bx, by] = [x - ux * size, y - uy * size]
  /** @type {(side: number) => string} */
  const corner = (side) => `${(bx - side * uy * HEAD.width).toFixed(1)} ${(by + side * ux * HEAD.width).toFixed(1)}`
  return `M${x.toFixed(1)} ${y.toFixed(1)}L${corner(1)}L${corner(-1)}Z`
}

// The dashed line from the tip of A to its foot on B, and the small square of the right angle.
/** @param {SVGElement} svg @param {Place[]} points */
function drawFoot(svg, points) {
  const [b, a, foot] = points
  svg.append(shape("line", { class: "plumb", x1: a.x, y1: a.y, x2: foot.x, y2: foot.y }))
  const along = unit(b.x, b.y)
  const up = unit(a.x - foot.x, a.y - foot.y)
  if (!along || !up || Math.hypot(a.x - foot.x, a.y - foot.y) < 12) return
  const inward = foot.x * along.x + foot.y * along.y > 0 ? -1 : 1
  const s = 8
  const p1 = [foot.x + inward * along.x * s, foot.y + inward * along.y * s]
  const p2 = [p1[0] + up.x * s, p1[1] + up.y * s]
  const p3 = [foot.x + up.x * s, foot.y + up.y * s]
  svg.append(shape("path", { class: "square", d: `M${p1.join(" ")}L${p2.join(" ")}L${p3.join(" ")}` }))
}

/** @param {number} x @param {number} y */
function unit(x, y) {
  const length = Math.hypot(x, y)
  return length < 1e-9 ? null : { x: x / length, y: y / length }
}

// Labels beside the tips, longest arrows first; one that would overlap another is left out.
/** @param {Data} data @param {Place[]} points @param {Place} half */
function placeLabels(data, points, half) {
  const widthOf = textWidths("12px sans-serif")
  const order = data.arrows.map((_, i) => i).filter((i) => !faded(data, i))
  order.sort((a, b) => Math.hypot(points[b].x, points[b].y) - Math.hypot(points[a].x, points[a].y))
  /** @type {Box[]} */
  const taken = []
  const labels = []
  for (const i of order) {
    const width = widthOf(data.arrows[i].label) * 1.08 + 2
    const box = freeBox(points[i], width, 14, half, taken, data.arrows.length <= FEW)
    if (!box) continue
    taken.push(box)
    const label = shape("text", { x: box.x + width / 2, y: box.y + 11, class: "label" })
    label.textContent = data.arrows[i].label
    label.style.fill = data.arrows[i].colour
    labels.push(label)
  }
  return labels
}

// Beside the tip; among few arrows also farther off, where a label cannot be taken for another's.
/** @param {Place} place @param {number} width @param {number} height @param {Place} half @param {Box[]} taken @param {boolean} few */
function freeBox({ x, y }, width, height, half, taken, few) {
  const direction = Math.atan2(y, x)
  for (const distance of few ? [4, 12, 24] : [4, 12]) {
    for (const turn of few ? [0, 0.6, -0.6, 1.2, -1.2, 1.9, -1.9, 2.6, -2.6] : [0, 0.6, -0.6, 1.2, -1.2]) {
      const angle = direction + turn
      const centre = [x + Math.cos(angle) * (width / 2 + distance), y + Math.sin(angle) * (height / 2 + distance)]
      const box = { x: centre[0] - width / 2, y: centre[1] - height / 2, width, height }
      const inside = box.x >= -half.x && box.x + width <= half.x && box.y >= -half.y && box.y + height <= half.y
      if (inside && !taken.some((other) => overlap(box, other))) return box
    }
  }
  return null
}

/** @param {Box} a @param {Box} b */
function overlap(a, b) {
  return a.x < b.x + b.width + GAP && b.x < a.x + a.width + GAP && a.y < b.y + b.height + GAP && b.y < a.y + a.height + GAP
}

/** @param {HTMLElement} tip @param {PointerEvent} event @param {string} first @param {string} second */
function showTip(tip, event, first, second) {
  tip.replaceChildren(make(null, "b", "", first), make(null, "span", "", second))
  tip.hidden = false
  const wide = window.innerWidth
  tip.style.left = `${Math.min(event.clientX + 14, wide - 220)}px`
  tip.style.top = `${event.clientY + 14}px`
}

/** @param {keyof SVGElementTagNameMap} tag @param {Record<string, string | number>} attributes */
function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value))
  return node
}
