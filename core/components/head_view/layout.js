// Where things are in the head view's picture, in pixels, and what is at a point. No drawing here.

/** @import { Shown } from "./filters.js" */
/** @typedef {ReturnType<typeof layOut>} Layout */

const ROW = { roomy: 30, close: 25, dense: 22 } // height in pixels: up to 16, 64, and more tokens
const PORTS = { step: 1.7, most: 0.62 } // between the ends of neighbouring heads; share of a row
export const GAP = 8 // between a token and its lines, and between a token and its bars

// Columns from left to right: bars, tokens that attend, lines, tokens attended to, bars.
/** @param {number} width @param {number} widestLabel @param {Shown} shown @param {number[]} heads */
export function layOut(width, widestLabel, shown, heads) {
  const count = Math.max(shown.queries.length, shown.keys.length)
  const row = count <= 16 ? ROW.roomy : count <= 64 ? ROW.close : ROW.dense
  const phone = width < 560
  const token = Math.min(Math.max(44, widestLabel + 16), phone ? width * 0.24 : 170)
  const lines = Math.min(Math.max(width * (phone ? 0.3 : 0.44), 80), 600)
  const bar = Math.min(Math.max(0, (width - lines) / 2 - token), 250)
  const left = (width - lines) / 2
  return {
    width, row, token, bar, phone,
    linesLeft: left, linesRight: left + lines,
    height: count * row,
    rowOf: { queries: rowsOf(shown.queries), keys: rowsOf(shown.keys) },
    ports: portsOf(heads, row),
  }
}

/** @param {number[]} positions */
function rowsOf(positions) {
  return new Map(positions.map((position, row) => [position, row]))
}

// Each head's lines end at a height of their own within the row, so that they lie side by side.
/** @param {number[]} heads @param {number} row */
function portsOf(heads, row) {
  const spread = Math.min(PORTS.step * (heads.length - 1), PORTS.most * row)
  const step = heads.length > 1 ? spread / (heads.length - 1) : 0
  return new Map(heads.map((head, i) => [head, row / 2 - spread / 2 + i * step]))
}

// What is at a point of the picture (y from the top of the first row): the part and the row.
/** @param {Layout} layout @param {Shown} shown @param {number} x @param {number} y */
export function hitAt(layout, shown, x, y) {
  const row = Math.floor(y / layout.row)
  const { linesLeft, linesRight, token } = layout
  const part = x < linesLeft - token ? "queryBar"
    : x < linesLeft ? "query"
    : x <= linesRight ? "lines"
    : x <= linesRight + token ? "key" : "keyBar"
  const side = part.startsWith("query") ? "queries" : part.startsWith("key") ? "keys" : null
  if (!side || row < 0 || row >= shown[side].length) return null
  return { side, bar: part.endsWith("Bar"), row, position: shown[side][row] }
}

// The first and one past the last row that can be seen.
/** @param {Layout} layout @param {number} scrollTop @param {number} viewHeight @returns {[number, number]} */
export function rowsInView(layout, scrollTop, viewHeight) {
  return [Math.floor(scrollTop / layout.row), Math.ceil((scrollTop + viewHeight) / layout.row)]
}

// The longest bar fills its column but for the number at its end.
const NUMBER_WIDTH = 40

// Ends of a stacked bar's segments, in pixels from its start: one a head, then scaled to fit.
/** @param {Float64Array[]} profile @param {number} i @param {number} scale */
export function segmentEnds(profile, i, scale) {
  let sum = 0
  return profile.map((row) => (sum += row[i]) * scale)
}

// The largest sum over heads, and pixels a unit of weight so that it fills the bar.
/** @param {Float64Array[]} profile @param {Layout} layout */
export function barScale(profile, layout) {
  let largest = 0
  for (let i = 0; i < (profile[0]?.length ?? 0); i++) {
    largest = Math.max(largest, profile.reduce((sum, row) => sum + row[i], 0))
  }
  const room = Math.max(12, layout.bar - GAP - NUMBER_WIDTH)
  return { largest, scale: largest > 0 ? room / largest : 0 }
}

// Which head's segment is at `distance` pixels from the bar's start; -1 beyond its end.
/** @param {number[]} ends @param {number} distance */
export function segmentAt(ends, distance) {
  return ends.findIndex((end) => distance <= end)
}
