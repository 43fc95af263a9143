// The image with its grid, and over it frames and the heat of one token's attention; and the sizes of pictures.

import { clamp, newCanvas, ctx2d } from "../shared/dom.js"
import { photoOf } from "../shared/photo.js"
import { isPatch } from "./attention.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Grid } from "../shared/photo.js" */
/** @import { PatchesView } from "./patches.js" */

const DARKNESS = "rgba(8, 10, 16, 0.4)" // over the image where there is heat: 60 % of it shows
const GRID_LINE = "rgba(255, 255, 255, 0.16)"
const MIN_CELL = 7 // pixels: below it a grid would hide the image
const MAX_HEAT = 0.94 // opacity: the image shows through
const MAX_SIDE = 520 // pixels of the large picture
const MIN_STAGE = 300 // pixels: room for its words
const WIDE = 720 // pixels: from here on the small pictures stand beside it
const GAP = 28 // pixels between the two, as in the style sheet
const LARGE_SHARE = { width: 0.52, height: 0.56 } // of the available width, and of the window's height
export const SMALL_SIDE = 78 // pixels of a small picture of the layer, with a number below it
const SMALL = { min: 24, max: 62, gap: 3, names: 34 } // pixels of those of all layers, and of the layers' names

/** The image at its size on the page, each of its pixels a square. @param {Uint8Array} pixels (height, width, 3) @param {Grid} grid @param {number} cell side of a patch on the page */
export function enlarge(pixels, grid, cell) {
  const ratio = Math.max(2, window.devicePixelRatio || 1) * cell
  const canvas = newCanvas(grid.columns * ratio, grid.rows * ratio)
  const pen = ctx2d(canvas)
  pen.imageSmoothingEnabled = false
  pen.drawImage(photoOf(pixels, grid), 0, 0, canvas.width, canvas.height)
  return canvas
}

/** @param {Pen} pen @param {PatchesView} view @param {HTMLCanvasElement} photo */
export function drawScene(pen, view, photo) {
  const { data, cell, best, active, pinned, pointed, colours } = view
  const { grid } = data
  const [width, height] = [grid.columns * cell, grid.rows * cell]
  pen.drawImage(photo, 0, 0, width, height)
  pen.fillStyle = DARKNESS
  pen.fillRect(0, 0, width, height)
  drawHeat(pen, view)
  pen.fillStyle = GRID_LINE
  if (cell >= MIN_CELL) {
    for (let row = 1; row < grid.rows; row++) pen.fillRect(0, row * cell - 0.5, width, 1)
    for (let column = 1; column < grid.columns; column++)
      pen.fillRect(column * cell - 0.5, 0, 1, height)
  }
  if (best.weight > 0) frame(pen, view, best.token, colours.heat, 1.5)
  if (pinned !== null && pointed !== null) frame(pen, view, pointed, colours.heat, 2.5)
  frame(pen, view, active, colours.active, 3)
}

/** @param {Pen} pen @param {PatchesView} view */
function drawHeat(pen, { data, cell, best, colours, weights }) {
  const { first, count, columns } = data.grid
  pen.fillStyle = colours.heat
  for (let patch = 0; patch < count; patch++) {
    const share = best.weight > 0 ? weights[first + patch] / best.weight : 0
    if (share < 0.004) continue
    pen.globalAlpha = MAX_HEAT * Math.min(1, share)
    pen.fillRect((patch % columns) * cell, Math.floor(patch / columns) * cell, cell, cell)
  }
  pen.globalAlpha = 1
}

/** A frame around a patch, with a dark outline so that it is visible on any image. @param {Pen} pen @param {PatchesView} view @param {number} token @param {string} colour @param {number} width */
function frame(pen, { data, cell }, token, colour, width) {
  if (!isPatch(token, data.grid)) return
  const { first, columns } = data.grid
  const [left, top] = [
    ((token - first) % columns) * cell,
    Math.floor((token - first) / columns) * cell,
  ]
  Object.assign(pen, { strokeStyle: "rgba(8, 10, 16, 0.85)", lineWidth: width + 2 })
  pen.strokeRect(left, top, cell, cell)
  Object.assign(pen, { strokeStyle: colour, lineWidth: width })
  pen.strokeRect(left, top, cell, cell)
}

/** @param {number} width in pixels @param {number} height of the window @param {Grid} grid @param {number} heads of a layer */
export function sizesFor(width, height, grid, heads) {
  const isWide = width >= WIDE
  const large = Math.min(width * LARGE_SHARE.width, height * LARGE_SHARE.height)
  const room = Math.min(MAX_SIDE, isWide ? large : width - 2)
  const cell = Math.max(2, Math.floor(room / Math.max(grid.columns, grid.rows))) // whole pixels keep edges sharp
  const stage = isWide ? Math.max(cell * grid.columns, MIN_STAGE) : width
  const beside = isWide ? width - stage - GAP : width
  return {
    isWide,
    cell,
    stage,
    columns: Math.max(3, Math.floor((beside + SMALL.gap) / (SMALL_SIDE + SMALL.gap))),
    small: clamp(Math.floor((beside - SMALL.names) / heads) - SMALL.gap, SMALL.min, SMALL.max),
  }
}
