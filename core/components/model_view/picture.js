// The tiles in a saved picture: pixels in a PNG and where there are very many lines or cells, else one shape for each.

import { strokeLine } from "../shared/dom.js"
import { drawImageOf, isSvg } from "../shared/svg_pen.js"
import { OPACITY, pickLines, tileOf } from "./tiles.js"

/** @import { Pen } from "../shared/svg_pen.js" */
/** @import { Head, ModelView } from "./model_view.js" */

const MAX_SHAPES = 20_000 // in a file; more are pixels
const THICK = 1.1 // pixels of a line, as on the page
const SHARP = 3 // pixels of an image in an SVG for one of the page

/** @param {ModelView} view @returns {(pen: Pen) => void} */
export function sheetPainter(view) {
  return (pen) => {
    if (isSvg(pen) && countShapes(view) <= MAX_SHAPES)
      return view.eachTile((head, left, top) => paintTile(pen, view, head, left, top))
    const { extent } = view.sheetPlan
    const scale = isSvg(pen) ? SHARP : pen.getTransform().a
    drawImageOf(pen, extent.x, extent.y, scale, (canvas) => {
      view.paintTiles(
        /** @type {Pen} */ (canvas.getContext("2d", { willReadFrequently: true })),
        scale,
      )
    })
  }
}

/** @param {ModelView} view @param {Head} head */
function cellsOf({ data }, { index }) {
  const tile = tileOf(data, index)
  if (data.draw === "lines") return pickLines(tile, data.lines.tile)
  return Uint32Array.from(tile.keys()).filter((cell) => tile[cell])
}

/** @param {ModelView} view */
function countShapes(view) {
  let count = 0
  view.eachTile((head) => {
    count += cellsOf(view, head).length
  })
  return count
}

/** @param {Pen} pen @param {ModelView} view @param {Head} head @param {number} left @param {number} top in pixels */
function paintTile(pen, view, head, left, top) {
  const { draw, shape } = view.data
  const { wide, high } = view.size
  const tile = tileOf(view.data, head.index)
  const ramp = view.rampFor(head)
  const [across, down] = [wide / shape.columns, high / shape.rows]
  Object.assign(pen, { fillStyle: colourAt(ramp, 0), lineWidth: THICK })
  pen.fillRect(left, top, wide, high)
  for (const cell of cellsOf(view, head)) {
    const [row, column] = [Math.floor(cell / shape.columns), cell % shape.columns]
    if (draw === "lines") {
      Object.assign(pen, { globalAlpha: OPACITY[tile[cell]], strokeStyle: colourAt(ramp, 255) })
      const end = top + ((column + 0.5) / shape.columns) * high
      strokeLine(pen, left, top + (row + 0.5) * down, left + wide, end)
    } else {
      pen.fillStyle = colourAt(ramp, tile[cell])
      pen.fillRect(left + column * across, top + row * down, across, down)
    }
  }
  pen.globalAlpha = 1
}

/** @param {Uint32Array} ramp @param {number} step */
function colourAt(ramp, step) {
  return `rgb(${[0, 8, 16].map((shift) => (ramp[step] >> shift) & 255)})`
}
