// Where things are in the head view's picture, in pixels, and how its canvas is drawn: lines, bars, the small map. What to
// draw is decided elsewhere.

import { clamp, sizeCanvas, strokeLine } from "../shared/dom.js"
import { isPermitted } from "../shared/layer.js"
import { weightText } from "../shared/weight_words.js"
import { headOf, keyOf, pairOf, queryOf } from "./filters.js"

/** @import { Size } from "../shared/layer.js" */
/** @import { Shown } from "./filters.js" */
/** @import { HeadView } from "./head_view.js" */
/** @import { Side } from "../shared/sentences.js" */
/**
 * @typedef {CanvasRenderingContext2D} Pen
 * @typedef {ReturnType<typeof layOut>} Layout
 * @typedef {{side: Side, bar: boolean, row: number, position: number, head?: number}} Hit a token, or the bar beside it and the head of its segment
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

const ROW = { roomy: 30, close: 25, dense: 22 } // height in pixels: up to 16, up to 64, and more tokens
const PORTS = { step: 1.7, maxShare: 0.62 } // pixels between the ends of neighbouring heads; share of a row
const NUMBER_WIDTH = 40 // at the end of the longest bar
export const GAP = 8 // between a token and its lines, and between a token and its bars
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

/** Columns from left to right: bars, query tokens, lines, key tokens, bars. @param {number} width @param {number} widestLabel @param {Shown} shown @param {number[]} heads @param {boolean} isSmall among other things */
export function layOut(width, widestLabel, shown, heads, isSmall) {
  const count = Math.max(shown.queries.length, shown.keys.length)
  const phone = width < 560
  const row =
    isSmall && phone ? ROW.dense : count <= 16 ? ROW.roomy : count <= 64 ? ROW.close : ROW.dense
  const token = Math.min(Math.max(44, widestLabel + 16), phone ? width * 0.24 : 170)
  const lines = clamp(width * (phone ? 0.3 : 0.44), 80, 600)
  const linesLeft = (width - lines) / 2
  /** @type {(positions: number[]) => Map<number, number>} */
  const rows = (positions) => new Map(positions.map((position, i) => [position, i]))
  return {
    width,
    row,
    token,
    phone,
    linesLeft,
    linesRight: linesLeft + lines,
    bar: clamp(linesLeft - token, 0, 250),
    height: count * row,
    rowOf: { queries: rows(shown.queries), keys: rows(shown.keys) },
    ports: portsOf(heads, row),
  }
}

/** Where each head's lines end within a row, so that they lie side by side. @param {number[]} heads @param {number} row */
function portsOf(heads, row) {
  const spread = Math.min(PORTS.step * (heads.length - 1), PORTS.maxShare * row)
  const step = heads.length > 1 ? spread / (heads.length - 1) : 0
  return new Map(heads.map((head, i) => [head, row / 2 - spread / 2 + i * step]))
}

/** The token or bar at a place; y counts from the top of the first row. @param {Layout} layout @param {Shown} shown @param {number} x @param {number} y @returns {Hit | null} */
export function hitAt({ linesLeft, linesRight, token, row: height }, shown, x, y) {
  /** @type {Side | null} */
  const side = x < linesLeft ? "queries" : x > linesRight ? "keys" : null
  const row = Math.floor(y / height)
  if (!side || row < 0 || row >= shown[side].length) return null
  return {
    side,
    bar: x < linesLeft - token || x > linesRight + token,
    row,
    position: shown[side][row],
  }
}

/** The first row in view and the one after the last. @param {Layout} layout @param {number} scrollTop @param {number} viewHeight @returns {[number, number]} */
export function rowsInView({ row }, scrollTop, viewHeight) {
  return [Math.floor(scrollTop / row), Math.ceil((scrollTop + viewHeight) / row)]
}

/** Ends of the segments of a stacked bar, one per head, in pixels from its start. @param {Float64Array[]} profile @param {number} i @param {number} scale */
export function segmentEnds(profile, i, scale) {
  let sum = 0
  return profile.map((row) => (sum += row[i]) * scale)
}

/** The largest sum over heads, and the pixels per unit at which its bar and its number fill the column. @param {Float64Array[]} profile @param {Layout} layout */
export function barScale(profile, { bar }) {
  const sums = Array.from(profile[0] ?? [], (_, i) => segmentEnds(profile, i, 1).at(-1) ?? 0)
  const largest = Math.max(0, ...sums)
  return { largest, scale: largest > 0 ? Math.max(12, bar - GAP - NUMBER_WIDTH) / largest : 0 }
}

/** Which head's segment is `distance` pixels from the bar's start; -1 beyond its end. @param {number[]} ends @param {number} distance */
export function segmentAt(ends, distance) {
  return ends.findIndex((end) => distance <= end)
}

/** Kept in main memory: thousands of single lines are slow on most graphics drivers. @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function penFor(canvas, width, height) {
  return sizeCanvas(canvas, width, height, { willReadFrequently: true })
}

/**
 * Draw lines from `start` until the deadline, each beneath the ones already there: strong lines come first, so stay on top.
 * Returns the number of the first line that is not drawn.
 * @param {Pen} pen @param {Picture} picture @param {Lines} lines @param {number} start @param {number} deadline
 */
export function drawCells(pen, picture, { cells, ends }, start, deadline) {
  const isCrowded = cells.length > MAX_CURVED
  pen.globalCompositeOperation = "destination-over"
  let next = start
  for (; next < cells.length; next++) {
    if ((next - start) % CHECK_EVERY === CHECK_EVERY - 1) {
      pen.getImageData(0, 0, 1, 1) // strokes are only queued until pixels are read: see how long they take
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
    if (share >= 0.02) {
      // The background of the token: the more attention, the stronger.
      const fillStyle = isRight ? theme.key : theme.query
      Object.assign(pen, { globalAlpha: 0.34 * Math.min(1, share), fillStyle })
      pen.beginPath()
      pen.roundRect(token + 2, top + 2, layout.token - 4, layout.row - 4, 5)
      pen.fill()
      pen.globalAlpha = 1
    }
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
