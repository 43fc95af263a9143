// Where things are in the head view's picture, in pixels, and what is at a place.

import { clamp } from "../shared/dom.js"

/** @import { Side } from "../shared/sentences.js" */
/** @import { Shown } from "./filters.js" */
/**
 * @typedef {ReturnType<typeof layOut>} Layout
 * @typedef {{side: Side, bar: boolean, row: number, position: number, head?: number}} Hit a token, or the bar beside it and the head of its segment
 */

const ROW = { roomy: 30, close: 25, dense: 22 } // height in pixels: up to 16, up to 64, and more tokens
const PORTS = { step: 1.7, maxShare: 0.62 } // pixels between the ends of neighbouring heads; share of a row
const NUMBER_WIDTH = 40 // at the end of the longest bar
export const GAP = 8 // between a token and its lines, and between a token and its bars

/** Columns from left to right: bars, tokens that attend, lines, tokens attended to, bars. @param {number} width @param {number} widestLabel @param {Shown} shown @param {number[]} heads @param {boolean} isSmall among other things */
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

/** The largest sum over heads, and the pixels per unit at which its bar fills the column but for its number. @param {Float64Array[]} profile @param {Layout} layout */
export function barScale(profile, { bar }) {
  const sums = Array.from(profile[0] ?? [], (_, i) => segmentEnds(profile, i, 1).at(-1) ?? 0)
  const largest = Math.max(0, ...sums)
  return { largest, scale: largest > 0 ? Math.max(12, bar - GAP - NUMBER_WIDTH) / largest : 0 }
}

/** Which head's segment is `distance` pixels from the bar's start; -1 beyond its end. @param {number[]} ends @param {number} distance */
export function segmentAt(ends, distance) {
  return ends.findIndex((end) => distance <= end)
}
