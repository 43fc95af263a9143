// Drawing the neuron view's canvases: rows of colour cells, and the running sum of a pair.
// Pure in what they are given: a pen, numbers, a layout {cell, gap, width, row}, colours.

import { DIVERGING, SEQUENTIAL, colourSteps, paletteOf } from "../shared/scales.js"
import { isPermitted } from "./choice.js"
import { TOLERANCE, productOf, runningSums } from "./numbers.js"

// A canvas of that many CSS pixels, sharp on this screen; returns its pen, in CSS pixels.
export function sizeCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1
  const [wide, high] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))]
  if (canvas.width !== wide) canvas.width = wide
  if (canvas.height !== high) canvas.height = high
  canvas.style.width = `${width}px`
  canvas.style.height = `${height}px`
  const pen = canvas.getContext("2d")
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.clearRect(0, 0, width, height)
  return pen
}

// The colour of a signed number on a scale that ends at ±limit.
function signedColour(steps, value, limit) {
  const share = 0.5 + value / (2 * limit)
  return steps[Math.max(0, Math.min(255, Math.round(share * 255)))].css
}

// One row of cells in the order given; valueOf(dim) is what a cell shows.
export function drawStrip(pen, { left, top, height }, order, valueOf, limit, layout, steps) {
  const width = layout.cell - (layout.cell >= 5 ? 1 : 0)
  for (let place = 0; place < order.length; place++) {
    pen.fillStyle = signedColour(steps, valueOf(order[place]), limit)
    pen.fillRect(left + place * layout.cell, top, width, height)
  }
}

// A dash in the middle of a block: here is nothing, and that is not zero.
function drawDash(pen, left, middle, width, colours) {
  pen.globalAlpha = 0.35
  pen.fillStyle = colours.ink
  pen.fillRect(left + width / 2 - 8, middle - 0.5, 16, 1)
  pen.globalAlpha = 1
}

// The rows from `first` to `last` (exclusive), keys on the left, products on the right where there is
// a query.
export function drawRows(pen, head, view, { first, last }, layout, colours) {
  const right = layout.block + layout.gap
  for (let row = first; row < Math.min(last, view.keys.length); row++) {
    const key = view.keys[row]
    const top = (row - first) * layout.row
    const box = { top: top + 1, height: layout.row - 2 }
    const permitted = isPermitted(view, key)
    pen.globalAlpha = permitted ? 1 : 0.3
    const keyValue = (dim) => head.k[key * head.dim + dim]
    drawStrip(pen, { left: 0, ...box }, view.order, keyValue, head.limits.vectors, layout, colours.steps)
    pen.globalAlpha = 1
    if (view.query === null) continue
    if (!permitted) drawDash(pen, right, top + layout.row / 2, layout.block, colours)
    else {
      const product = (dim) => productOf(head, view.query, key, dim)
      drawStrip(pen, { left: right, ...box }, view.order, product, head.limits.products, layout, colours.steps)
    }
  }
}

// The running sum over the dimensions as they stand, with the band of 10 % around the whole.
export function drawRunningSum(pen, values, view, box, layout, colours) {
  const { pair } = view
  const sums = [0, ...runningSums(values, view.order)]
  const [low, high] = [Math.min(...sums), Math.max(...sums)]
  const scale = (box.height - 8) / (high - low || 1)
  const y = (sum) => box.top + box.height - 4 - (sum - low) * scale
  const x = (place) => box.left + place * layout.cell
  if (pair.enough !== null) {
    const half = Math.abs(pair.total) * TOLERANCE * scale
    pen.globalAlpha = 0.16
    pen.fillStyle = colours.accent
    pen.fillRect(box.left, y(pair.total) - half, layout.block, Math.max(2, 2 * half))
    pen.globalAlpha = 1
  }
  pen.fillStyle = colours.line
  pen.fillRect(box.left, y(0) - 0.5, layout.block, 1)
  pen.strokeStyle = colours.ink
  pen.lineWidth = 1.5
  pen.lineJoin = "round"
  pen.beginPath()
  sums.forEach((sum, place) => pen.lineTo(x(place), y(sum)))
  pen.stroke()
  if (pair.enough !== null && view.byContribution) drawEnough(pen, x(pair.enough), y(sums[pair.enough]), box, colours)
}

function drawEnough(pen, x, y, box, colours) {
  pen.strokeStyle = colours.accent
  pen.lineWidth = 1
  pen.setLineDash([3, 3])
  pen.beginPath()
  pen.moveTo(x, box.top)
  pen.lineTo(x, box.top + box.height)
  pen.stroke()
  pen.setLineDash([])
  pen.fillStyle = colours.accent
  pen.beginPath()
  pen.arc(x, y, 3, 0, 7)
  pen.fill()
}

// The theme's colours; those that the style sheet needs too are set as variables on the root.
export function readColours(root) {
  const style = getComputedStyle(root)
  const value = (name) => style.getPropertyValue(name).trim()
  const [query, key] = value("--st-chart-categorical-colors").split(",").map((each) => each.trim())
  const strong = colourSteps(paletteOf(root, SEQUENTIAL))[178].css
  for (const [name, colour] of [["query", query], ["key", key], ["strong", strong]]) root.style.setProperty(`--atlas-${name}`, colour)
  return {
    steps: colourSteps(paletteOf(root, DIVERGING)), strong, ink: value("--st-text-color"), line: value("--st-border-color"), accent: key,
  }
}
