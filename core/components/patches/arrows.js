// An arrow from each patch to the key that it attends to most, found a few rows at a time.

import { isPatch, tokenWeights } from "./weights.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { Layer } from "../shared/layer.js" */
/** @import { Pen } from "../shared/svg_pen.js" */
/** @import { Head } from "./weights.js" */
/** @typedef {{query: number, key: number, weight: number}} Arrow tokens */
/** @typedef {"patch" | "itself" | "CLS" | "register"} Kind what the key is to the query */

const WORK_MS = 10 // of a frame
const HEAD = { length: 8, width: 3.2 } // pixels
const HALO = "rgba(8, 10, 16, 0.75)"

/**
 * Find arrows without holding up the page; `onDone` gets them, the strongest first. Returns a function that ends the work.
 * @param {Layer} layer @param {Head} head @param {Grid} grid @param {boolean} onlyPatches @param {(arrows: Arrow[]) => void} onDone
 */
export function findArrows(layer, head, grid, onlyPatches, onDone) {
  /** @type {Arrow[]} */
  const arrows = []
  let query = grid.first
  let frame = 0
  const step = () => {
    const end = performance.now() + WORK_MS
    while (query < grid.first + grid.count && performance.now() < end) {
      const weights = tokenWeights(layer, head, query, { direction: "from", onlyPatches }, grid)
      arrows.push(arrowOf(weights, query))
      query += 1
    }
    if (query < grid.first + grid.count) frame = requestAnimationFrame(step)
    else onDone(arrows.sort((a, b) => b.weight - a.weight))
  }
  step()
  return () => cancelAnimationFrame(frame)
}

/** To the strongest key of a row; of equals the first. @param {Float64Array} weights @param {number} query @returns {Arrow} */
export function arrowOf(weights, query) {
  let key = 0
  for (let other = 1; other < weights.length; other++)
    if (weights[other] > weights[key]) key = other
  return { query, key, weight: weights[key] }
}

/** @param {Arrow} arrow @param {Grid} grid @param {number} cls place of CLS among the tokens, or -1 @returns {Kind} */
export function kindOf({ query, key }, grid, cls) {
  if (key === query) return "itself"
  if (isPatch(key, grid)) return "patch"
  return key === cls ? "CLS" : "register"
}

/**
 * A line with a head to another patch; a loop for itself, a square for CLS, a diamond for a register, on the patch.
 * @param {Pen} pen @param {Arrow} arrow @param {Kind} kind @param {{x: number, y: number}} from @param {{x: number, y: number}} to centres
 * @param {number} cell in pixels @param {string} colour
 */
export function drawArrow(pen, { weight }, kind, from, to, cell, colour) {
  const width = 1 + 2.5 * Math.min(1, weight)
  for (const [stroke, extra] of /** @type {[string, number][]} */ ([
    [HALO, 1.5],
    [colour, 0],
  ])) {
    Object.assign(pen, { strokeStyle: stroke, fillStyle: stroke, lineWidth: width + extra })
    if (kind === "patch") drawLine(pen, from, to, extra)
    else drawMark(pen, kind, from, Math.max(2.5, cell * 0.22))
  }
}

/** @param {Pen} pen @param {{x: number, y: number}} from @param {{x: number, y: number}} to @param {number} extra */
function drawLine(pen, from, to, extra) {
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length]
  const head = Math.min(HEAD.length, length)
  const side = HEAD.width + extra / 2
  pen.beginPath()
  pen.moveTo(from.x, from.y)
  pen.lineTo(to.x - ux * head * 0.8, to.y - uy * head * 0.8)
  pen.stroke()
  pen.beginPath()
  pen.moveTo(to.x + ux * extra, to.y + uy * extra)
  pen.lineTo(to.x - ux * head - uy * side, to.y - uy * head + ux * side)
  pen.lineTo(to.x - ux * head + uy * side, to.y - uy * head - ux * side)
  pen.closePath()
  pen.fill()
}

/** @param {Pen} pen @param {Kind} kind @param {{x: number, y: number}} place @param {number} radius */
function drawMark(pen, kind, { x, y }, radius) {
  pen.beginPath()
  if (kind === "itself") pen.arc(x, y, radius, 0, 2 * Math.PI)
  else if (kind === "CLS") pen.rect(x - radius, y - radius, 2 * radius, 2 * radius)
  else {
    pen.moveTo(x, y - radius * 1.2)
    pen.lineTo(x + radius * 1.2, y)
    pen.lineTo(x, y + radius * 1.2)
    pen.lineTo(x - radius * 1.2, y)
    pen.closePath()
  }
  pen.stroke()
}
