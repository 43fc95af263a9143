// Draws the neuron view's canvases: rows of colour cells, the running sum of a pair, lines from queries to keys.

import { clamp, strokeLine } from "../shared/dom.js"
import { along, colourSteps, css, paletteOf, readTheme } from "../shared/scales.js"
import { TOLERANCE, isPermitted, productOf, runningSums, scoreRow } from "./numbers.js"

/** @import { NeuronView } from "./neuron_view.js" */
/** @import { Head, Pair } from "./numbers.js" */
/**
 * @typedef {CanvasRenderingContext2D} Pen
 * @typedef {ReturnType<typeof readColours>} Colours
 * @typedef {Pick<NeuronView, "head" | "view" | "layout" | "colours">} Shown
 * @typedef {{left: number, top: number, height: number}} Box
 * @typedef {{first: number, last: number}} Span rows, without the last
 */

const MIN_WEIGHT = 0.01 // of a line: fainter ones do not show
const LINE = { fade: 0.65, thin: 0.7, thick: 2.2 } // exponent of the opacity; pixels at weight 0, and more at 1

/** The theme's colours, with the steps of signed numbers and the colour of lines. @param {HTMLElement} root */
export function readColours(root) {
  const strong = css(along(paletteOf(root, "sequential"), 178 / 255).map(Math.round))
  root.style.setProperty("--strong-colour", strong)
  return { ...readTheme(root), strong, steps: colourSteps(paletteOf(root, "diverging")) }
}

/** A row of cells for the dimensions in their order, on a scale that ends at ±limit. @param {Pen} pen @param {Shown} shown @param {Box} box @param {(dim: number) => number} valueOf @param {number} limit */
export function drawStrip(pen, { view, layout, colours }, { left, top, height }, valueOf, limit) {
  const { cell } = layout
  const width = cell - (cell >= 5 ? 1 : 0)
  view.order.forEach((dim, i) => {
    const share = clamp(Math.round(255 * (0.5 + valueOf(dim) / (2 * limit))), 0, 255)
    pen.fillStyle = colours.steps[share].css
    pen.fillRect(left + i * cell, top, width, height)
  })
}

/** Keys on the left; on the right, if there is a query, its products with them, or a dash for none. @param {Pen} pen @param {Shown} shown @param {Span} span */
export function drawRows(pen, shown, { first, last }) {
  const { head, view, layout, colours } = shown
  const { query } = view
  const right = layout.block + layout.gap
  view.keys.slice(first, last).forEach((key, row) => {
    const box = { left: 0, top: row * layout.row + 1, height: layout.row - 2 }
    const mayAttend = isPermitted(view, key)
    pen.globalAlpha = mayAttend ? 1 : 0.3
    drawStrip(pen, shown, box, (dim) => head.keys[key * head.dim + dim], head.limits.vectors)
    if (query !== null && mayAttend) {
      /** @type {(dim: number) => number} */
      const product = (dim) => productOf(head, query, key, dim)
      drawStrip(pen, shown, { ...box, left: right }, product, head.limits.products)
    } else if (query !== null) {
      Object.assign(pen, { globalAlpha: 0.35, fillStyle: colours.ink })
      pen.fillRect(right + layout.block / 2 - 8, (row + 0.5) * layout.row - 0.5, 16, 1)
    }
    pen.globalAlpha = 1
  })
}

/** The running sum over the dimensions in their order, with the band of 10 % around the whole sum. @param {Pen} pen @param {Shown} shown @param {Pair} pair @param {Box} box */
export function drawRunningSum(pen, { view, layout, colours }, pair, box) {
  const { order, byContribution } = view
  const sums = [0, ...runningSums(pair.values, order)]
  const [low, high] = [Math.min(...sums), Math.max(...sums)]
  const scale = (box.height - 8) / (high - low || 1)
  /** @type {(sum: number) => number} */
  const y = (sum) => box.top + box.height - 4 - (sum - low) * scale
  if (pair.enough !== null) {
    const half = Math.abs(pair.total) * TOLERANCE * scale
    Object.assign(pen, { globalAlpha: 0.16, fillStyle: colours.key })
    pen.fillRect(box.left, y(pair.total) - half, layout.block, Math.max(2, 2 * half))
    pen.globalAlpha = 1
  }
  pen.fillStyle = colours.edge
  pen.fillRect(box.left, y(0) - 0.5, layout.block, 1)
  Object.assign(pen, { strokeStyle: colours.ink, lineWidth: 1.5, lineJoin: "round" })
  pen.beginPath()
  sums.forEach((sum, i) => pen.lineTo(box.left + i * layout.cell, y(sum)))
  pen.stroke()
  if (pair.enough === null || !byContribution) return
  const x = box.left + pair.enough * layout.cell
  Object.assign(pen, { strokeStyle: colours.key, fillStyle: colours.key, lineWidth: 1 })
  pen.setLineDash([3, 3])
  strokeLine(pen, x, box.top, x, box.top + box.height)
  pen.setLineDash([])
  pen.beginPath()
  pen.arc(x, y(sums[pair.enough]), 3, 0, 7)
  pen.fill()
}

/** Softmax of one query over all keys, cached with the head: tokens x tokens x dimensions are slow. @param {Head & {weightsByQuery?: Map<number, Float32Array>}} head @param {number} query @returns {Float32Array} */
function weightsOf(head, query) {
  head.weightsByQuery ??= new Map()
  const weights = head.weightsByQuery.get(query) ?? Float32Array.from(scoreRow(head, query).weights)
  head.weightsByQuery.set(query, weights)
  return weights
}

/**
 * Draw the lines of one query or of all, from a row on until the deadline; returns the next row. Lines without an end in
 * the span are left out.
 * @param {Pen} pen @param {Shown} shown @param {Span} span @param {number} [from] @param {number} [deadline]
 */
export function drawQueries(pen, shown, { first, last }, from = 0, deadline = Infinity) {
  const { head, view } = shown
  const rows = new Map(view.keys.map((key, row) => [key, row]))
  let next = from
  for (; next < view.queries.length && performance.now() <= deadline; next++) {
    const query = view.queries[next]
    if (view.query !== null && view.query !== query) continue
    const isInView = next >= first && next < last
    weightsOf(head, query).forEach((weight, key) => {
      const row = weight >= MIN_WEIGHT ? rows.get(key) : undefined
      if (row === undefined || !(isInView || (row >= first && row < last))) return
      drawLine(pen, shown, next - first, row - first, weight)
    })
  }
  return next
}

/** @param {Pen} pen @param {Shown} shown @param {number} from @param {number} to @param {number} weight */
function drawLine(pen, { layout, colours }, from, to, weight) {
  const { lead, asking, gap, row } = layout
  const [left, right] = [2, lead - asking + gap - 2]
  const [y, end] = [(from + 0.5) * row, (to + 0.5) * row]
  Object.assign(pen, {
    globalAlpha: weight ** LINE.fade,
    lineWidth: LINE.thin + LINE.thick * weight,
    strokeStyle: colours.strong,
  })
  pen.beginPath()
  pen.moveTo(left, y)
  pen.bezierCurveTo((left + right) / 2, y, (left + right) / 2, end, right, end)
  pen.stroke()
  pen.globalAlpha = 1
}
