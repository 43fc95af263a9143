// Draws the head view on canvas: lines, bars, the small map. What to draw is decided elsewhere.

import { sizeCanvas, strokeLine } from "../shared/dom.js"
import { isPermitted } from "../shared/layer.js"
import { weightText } from "../shared/weight_words.js"
import { headOf, keyOf, pairOf, queryOf } from "./filters.js"
import { GAP, barScale, rowsInView, segmentEnds } from "./layout.js"

/** @import { Size } from "../shared/layer.js" */
/** @import { Shown } from "./filters.js" */
/** @import { HeadView } from "./head_view.js" */
/** @import { Layout } from "./layout.js" */
/**
 * @typedef {CanvasRenderingContext2D} Pen
 * @typedef {{cells: Uint32Array, ends: number[]}} Lines of nearestFirst
 * @typedef {object} Picture
 * @property {Uint8Array} steps
 * @property {Size} size
 * @property {Layout} layout
 * @property {number} scrollTop
 * @property {number} viewHeight
 * @property {string[]} colours one per head
 * @property {string} ink
 */

const STROKE = { thin: 0.7, thick: 2.6 } // pixels at weight 0, and more at weight 1
const FADE = 0.65 // exponent of the opacity: weak lines stay visible
const MAX_CURVED = 3000 // lines; more are drawn straight, which is three times as fast
const OPACITY = [1, 0.5, 0.05] // of lines with both ends in view, one, none
const CROWD_WIDTH = 1 // pixels of a weak line among many: canvas is twice as fast at exactly 1
const WEAK = 0.15 // weight up to which a line among many has that width
const MIN_OPACITY = 0.012 // of a line that only passes; below it even black does not show
const CHECK_EVERY = 128 // lines between looks at the clock
const STYLES = Array.from({ length: 256 }, (_, step) => ({
  alpha: (step / 255) ** FADE,
  width: STROKE.thin + STROKE.thick * (step / 255),
}))

/** Kept in main memory: thousands of single lines are slow on most graphics drivers. @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function penFor(canvas, width, height) {
  return sizeCanvas(canvas, width, height, { willReadFrequently: true })
}

/**
 * Draw lines from `start` on until the deadline, each under those already there: strong lines come first and stay on top.
 * Returns the number of the first line that is not drawn.
 * @param {Pen} pen @param {Picture} picture @param {Lines} lines @param {number} start @param {number} deadline
 */
export function drawCells(pen, picture, { cells, ends }, start, deadline) {
  const isCrowded = cells.length > MAX_CURVED
  pen.globalCompositeOperation = "destination-over"
  let next = start
  for (; next < cells.length; next++) {
    if ((next - start) % CHECK_EVERY === CHECK_EVERY - 1) {
      pen.getImageData(0, 0, 1, 1) // strokes are only noted until someone looks: see how long they take
      if (performance.now() > deadline) break
    }
    drawCell(pen, picture, cells[next], next < ends[0] ? 0 : next < ends[1] ? 1 : 2, isCrowded)
  }
  Object.assign(pen, { globalCompositeOperation: "source-over", globalAlpha: 1 })
  return next
}

/** @param {Pen} pen @param {Picture} picture @param {number} cell @param {number} part 0 with both ends in view, 1 with one, 2 without @param {boolean} isCrowded */
function drawCell(pen, { steps, size, layout, scrollTop, colours }, cell, part, isCrowded) {
  const { linesLeft, linesRight, rowOf, ports, row } = layout
  const head = headOf(cell, size)
  const port = (ports.get(head) ?? 0) - scrollTop
  const from = (rowOf.queries.get(queryOf(cell, size)) ?? 0) * row + port
  const to = (rowOf.keys.get(keyOf(cell, size)) ?? 0) * row + port
  const style = STYLES[steps[cell]]
  const alpha = style.alpha * OPACITY[part]
  if (part === 2 && alpha < MIN_OPACITY) return
  pen.globalAlpha = alpha
  pen.lineWidth = isCrowded && (part === 2 || steps[cell] < 255 * WEAK) ? CROWD_WIDTH : style.width
  pen.strokeStyle = colours[head]
  pen.beginPath()
  pen.moveTo(linesLeft, from)
  if (isCrowded) pen.lineTo(linesRight, to)
  else {
    const bend = (linesRight - linesLeft) * 0.42
    pen.bezierCurveTo(linesLeft + bend, from, linesRight - bend, to, linesRight, to)
  }
  pen.stroke()
}

/** Bars beside the tokens on the other side of the one in focus: stacked by head, with the mean over heads. @param {Pen} pen @param {Picture} picture @param {HeadView} view */
export function drawBars(pen, { layout, scrollTop, viewHeight, colours, ink }, view) {
  const { active, profile, theme, on, shown, layer, top: max } = view
  if (!active || !profile) return
  const { scale, largest } = barScale(profile, layout)
  const isRight = active.side === "queries"
  const others = isRight ? shown.keys : shown.queries
  const [first, last] = rowsInView(layout, scrollTop, viewHeight)
  const token = isRight ? layout.linesRight : layout.linesLeft - layout.token
  const start = isRight ? token + layout.token + GAP : token - GAP
  const thickness = layout.row * 0.52
  const font = `12px ${theme.font}`
  Object.assign(pen, { font, textBaseline: "middle", textAlign: isRight ? "left" : "right" })
  for (let i = Math.max(0, first); i < Math.min(others.length, last); i++) {
    const top = i * layout.row - scrollTop
    const middle = top + layout.row / 2
    const ends = segmentEnds(profile, i, scale)
    const length = ends.at(-1) ?? 0
    const share = largest > 0 ? length / (scale * largest) : 0
    if (share >= 0.02) drawTint(pen, layout, token, top, share, isRight ? theme.key : theme.query)
    ends.forEach((end, place) => {
      const from = ends[place - 1] ?? 0
      pen.fillStyle = colours[on[place]]
      const left = isRight ? start + from : start - end
      pen.fillRect(left, middle - thickness / 2, end - from, thickness)
    })
    const mean = weightText(length / (scale || 1) / on.length, max)
    const text = isPermitted(layer, ...pairOf(active, others[i])) ? mean : "–"
    Object.assign(pen, { fillStyle: ink, globalAlpha: 0.66 + 0.34 * Math.min(1, 2 * share) })
    pen.fillText(text, isRight ? start + length + 6 : start - length - 6, middle + 0.5)
    pen.globalAlpha = 1
  }
}

/** Behind a token on the other side: the more attention, the stronger. @param {Pen} pen @param {Layout} layout @param {number} left @param {number} top @param {number} share @param {string} colour */
function drawTint(pen, { token, row }, left, top, share, colour) {
  Object.assign(pen, { globalAlpha: 0.34 * Math.min(1, share), fillStyle: colour })
  pen.beginPath()
  pen.roundRect(left + 2, top + 2, token - 4, row - 4, 5)
  pen.fill()
  pen.globalAlpha = 1
}

/** The whole text in a narrow strip: each query's strongest line, and the part in view. @param {HTMLCanvasElement} canvas @param {Picture} picture @param {Uint32Array} cells strongest first @param {Shown} shown @param {number} width */
export function drawMap(canvas, picture, cells, shown, width) {
  const { size, layout, colours, ink, scrollTop, viewHeight } = picture
  const pen = penFor(canvas, width, viewHeight)
  const scale = viewHeight / Math.max(layout.height, 1)
  const seen = new Set()
  pen.clearRect(0, 0, width, viewHeight)
  Object.assign(pen, { lineWidth: 1, globalAlpha: 0.75 })
  for (const cell of cells) {
    const query = queryOf(cell, size)
    if (seen.has(query)) continue
    seen.add(query)
    const [from, to] = [layout.rowOf.queries.get(query), layout.rowOf.keys.get(keyOf(cell, size))]
    const [y, end] = [from ?? 0, to ?? 0].map((row) => (row + 0.5) * layout.row * scale)
    pen.strokeStyle = colours[headOf(cell, size)]
    strokeLine(pen, 5, y, width - 5, end)
    if (seen.size === shown.queries.length) break
  }
  Object.assign(pen, { globalAlpha: 0.1, fillStyle: ink })
  pen.fillRect(0, scrollTop * scale, width, viewHeight * scale)
  Object.assign(pen, { globalAlpha: 0.6, strokeStyle: ink })
  pen.strokeRect(0.5, Math.max(0.5, scrollTop * scale), width - 1, viewHeight * scale - 1)
  pen.globalAlpha = 1
}
