// The image with its grid, and over it the heat of one token's attention, arrows and frames. Draws on canvas and SVG alike.

import { make, penOf } from "../shared/dom.js"
import { photoOf } from "../shared/photo.js"
import { drawArrow, kindOf } from "./arrows.js"
import { isPatch } from "./weights.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { Pen } from "../shared/svg_pen.js" */
/** @import { Arrow } from "./arrows.js" */
/**
 * @typedef {{x: number, y: number}} Place
 * @typedef {object} Scene
 * @property {Grid} grid
 * @property {number} cell side of a patch in pixels of the page
 * @property {HTMLCanvasElement} photo the image at the size of the page
 * @property {Float64Array | null} weights by token, of the heat; null for the image alone
 * @property {number} top the weight at full heat
 * @property {number | null} active the token whose row or column it is
 * @property {number | null} other the token that it is compared with
 * @property {number | null} strongest the patch with the largest weight
 * @property {Arrow[]} arrows
 * @property {number} cls place of CLS, or -1
 * @property {{heat: string, active: string, other: string, arrow: string}} colours
 */

const DARKNESS = "rgba(8, 10, 16, 0.7)" // over the image where there is heat
const GRID_LINE = "rgba(255, 255, 255, 0.16)"
const MIN_CELL = 7 // pixels: below it a grid would hide the image
const MAX_HEAT = 0.94 // opacity: the image shows through
const MANY = 0.1 // opacity of arrows that are not of the token pointed at

/** The image at its size on the page, each of its pixels a square. @param {Uint8Array} pixels (height, width, 3) @param {Grid} grid @param {{width: number, height: number}} shown on the page */
export function enlarge(pixels, grid, shown) {
  const ratio = Math.max(2, window.devicePixelRatio || 1)
  const canvas = make(null, "canvas")
  Object.assign(canvas, {
    width: Math.round(shown.width * ratio),
    height: Math.round(shown.height * ratio),
  })
  const pen = penOf(canvas)
  pen.imageSmoothingEnabled = false
  pen.drawImage(photoOf(pixels, grid), 0, 0, canvas.width, canvas.height)
  return canvas
}

/** @param {Pen} pen @param {Scene} scene */
export function drawScene(pen, scene) {
  const { grid, cell, photo, weights, active, other, strongest, colours } = scene
  const [width, height] = [grid.columns * cell, grid.rows * cell]
  pen.drawImage(photo, 0, 0, width, height)
  if (weights) {
    pen.fillStyle = DARKNESS
    pen.fillRect(0, 0, width, height)
    drawHeat(pen, scene, weights)
  }
  if (cell >= MIN_CELL) drawGrid(pen, grid, cell)
  drawArrows(pen, scene)
  if (strongest !== null) frame(pen, scene, strongest, colours.other, 1.5)
  if (other !== null) frame(pen, scene, other, colours.other, 2.5)
  if (active !== null) frame(pen, scene, active, colours.active, 3)
}

/** @param {Pen} pen @param {Scene} scene @param {Float64Array} weights */
function drawHeat(pen, { grid, cell, top, colours }, weights) {
  pen.fillStyle = colours.heat
  for (let patch = 0; patch < grid.count; patch++) {
    const share = top > 0 ? weights[grid.first + patch] / top : 0
    if (share < 0.004) continue
    pen.globalAlpha = MAX_HEAT * Math.min(1, share)
    pen.fillRect((patch % grid.columns) * cell, Math.floor(patch / grid.columns) * cell, cell, cell)
  }
  pen.globalAlpha = 1
}

/** @param {Pen} pen @param {Grid} grid @param {number} cell */
function drawGrid(pen, { rows, columns }, cell) {
  pen.fillStyle = GRID_LINE
  for (let row = 1; row < rows; row++) pen.fillRect(0, row * cell - 0.5, columns * cell, 1)
  for (let column = 1; column < columns; column++)
    pen.fillRect(column * cell - 0.5, 0, 1, rows * cell)
}

/** Those of the token that is pointed at stand out. @param {Pen} pen @param {Scene} scene */
function drawArrows(pen, scene) {
  const { arrows, active, grid, cls, cell, colours, weights } = scene
  const own = arrows.filter(
    ({ query, key }) =>
      weights !== null && (query === active || (key === active && query !== active)),
  )
  pen.globalAlpha = weights ? MANY : 0.9
  for (const arrow of arrows) draw(arrow)
  pen.globalAlpha = 1
  for (const arrow of own) draw(arrow)

  /** @param {Arrow} arrow */
  function draw(arrow) {
    const [from, to] = [centreOf(arrow.query, grid, cell), centreOf(arrow.key, grid, cell)]
    drawArrow(pen, arrow, kindOf(arrow, grid, cls), from, to, cell, colours.arrow)
  }
}

/** @param {number} token @param {Grid} grid @param {number} cell @returns {Place} */
function centreOf(token, { first, columns }, cell) {
  const patch = token - first
  return { x: ((patch % columns) + 0.5) * cell, y: (Math.floor(patch / columns) + 0.5) * cell }
}

/** A frame around a patch, with a dark line outside so that it reads on any image. @param {Pen} pen @param {Scene} scene @param {number} token @param {string} colour @param {number} width */
function frame(pen, { grid, cell }, token, colour, width) {
  if (!isPatch(token, grid)) return
  const { x, y } = centreOf(token, grid, cell)
  const half = cell / 2
  Object.assign(pen, { strokeStyle: "rgba(8, 10, 16, 0.85)", lineWidth: width + 2 })
  pen.strokeRect(x - half, y - half, cell, cell)
  Object.assign(pen, { strokeStyle: colour, lineWidth: width })
  pen.strokeRect(x - half, y - half, cell, cell)
}
