// Where the neuron view's cells lie. A cell is {row, column}; row -1 is the query's. Columns count
// from 0, the token that asks, and 1, the token that is asked; then, unless folded, one a dimension of
// the key and one a dimension of the product; then dot product, score, attention. Between the two
// tokens are the lines.

import { textWidths } from "../shared/dom.js"

/** @import { Head } from "./numbers.js" */
/** @typedef {ReturnType<typeof measure> & {weight: number}} Layout with the width of the attention, which takes what is left */

const ROW = { few: 24, many: 20, manyFrom: 48 } // pixels, and from how many tokens on the lower
const CELL = { least: 4, crowded: 3, crowdedFrom: 96, most: 18 } // pixels; dimensions
const [SCROLLBAR, BORDERS, ABOVE] = [16, 2, 110] // pixels; above the rows, at most
const PHONE = 560 // pixels; what is narrower
export const WIDTH = { label: [60, 78, 140], lines: 104, linesPhone: 44, linesFolded: 260, dot: 58, score: 74, weight: 150, weightFolded: 108, weightMost: 420, gap: 12 } // pixels; label: least, most on phones, most
export const TOKENS = 2 // columns of tokens, before those of numbers

/** @param {Head} head @param {boolean} folded */
export function columnCount(head, folded) {
  return TOKENS + 3 + (folded ? 0 : 2 * head.dim)
}

// What a column shows: its kind, and for vectors and products the place among the dimensions, else -1.
/** @param {Head} head @param {boolean} folded @param {number} column @returns {{kind: string, place: number}} */
export function columnKind(head, folded, column) {
  if (column < TOKENS) return { kind: ["asking", "token"][column], place: -1 }
  const rest = column - TOKENS - (folded ? 0 : 2 * head.dim)
  if (rest >= 0) return { kind: ["dot", "score", "weight"][rest], place: -1 }
  const place = (column - TOKENS) % head.dim
  return { kind: column - TOKENS < head.dim ? "vector" : "product", place }
}

/** @param {boolean} folded */
export function weightLeast(folded) {
  return folded ? WIDTH.weightFolded : WIDTH.weight
}

// Sizes in pixels that fit the width of the page, for so many rows.
/** @param {{root: HTMLElement, scroller: HTMLElement}} ui @param {Head} head @param {boolean} folded @param {number} rows */
export function measure({ root, scroller }, head, folded, rows) {
  const style = getComputedStyle(root)
  const width = root.clientWidth
  const phone = width < PHONE
  const [least, narrow, most] = WIDTH.label
  const longest = Math.max(...head.labels.map(textWidths(`600 ${style.fontSize} ${style.fontFamily}`)))
  const label = Math.max(least, Math.min(phone ? narrow : most, Math.ceil(longest) + 22))
  const lead = label + (phone ? WIDTH.linesPhone : folded ? WIDTH.linesFolded : WIDTH.lines)
  const row = head.tokens >= ROW.manyFrom ? ROW.many : ROW.few
  const scrolls = rows * row + ABOVE > parseFloat(getComputedStyle(scroller).maxHeight)
  const edge = BORDERS + (scrolls ? SCROLLBAR : 0)
  const free = width - edge - lead - label - WIDTH.dot - WIDTH.score - weightLeast(folded) - 6 * WIDTH.gap
  const smallest = head.dim >= CELL.crowdedFrom ? CELL.crowded : CELL.least
  const cell = Math.max(smallest, Math.min(CELL.most, Math.floor(free / (2 * head.dim))))
  const block = folded ? 0 : cell * head.dim
  return { asking: label, lead, label, key: lead + WIDTH.gap, start: lead + label + 2 * WIDTH.gap, cell, edge, block, gap: WIDTH.gap, row }
}

// Left edge and width of a column, in pixels of the whole table.
/** @param {Layout} layout @param {Head} head @param {boolean} folded @param {number} column @returns {[number, number]} */
export function spanOf(layout, head, folded, column) {
  const { asking, key, label, start, gap, block, cell } = layout
  const { kind, place } = columnKind(head, folded, column)
  if (kind === "asking") return [0, asking]
  if (kind === "token") return [key, label]
  if (kind === "vector") return [start + place * cell, cell]
  if (kind === "product") return [start + block + gap + place * cell, cell]
  const numbers = start + (folded ? 0 : 2 * (block + gap))
  if (kind === "dot") return [numbers, WIDTH.dot]
  if (kind === "score") return [numbers + WIDTH.dot + gap, WIDTH.score]
  return [numbers + WIDTH.dot + WIDTH.score + 2 * gap, layout.weight]
}

// The column at x, in pixels of the whole table; -1 between the dimensions' blocks and on the lines.
/** @param {Layout} layout @param {Head} head @param {boolean} folded @param {number} x */
export function columnAt(layout, head, folded, x) {
  const { asking, key, start, gap, block, cell } = layout
  if (x < asking) return 0
  if (x < start) return x < key ? -1 : 1
  const numbers = start + (folded ? 0 : 2 * (block + gap))
  const last = columnCount(head, folded) - 1
  if (x >= numbers + WIDTH.dot + WIDTH.score + 1.5 * gap) return last
  if (x >= numbers + WIDTH.dot + gap / 2) return last - 1
  if (x >= numbers - gap / 2) return last - 2
  const right = x >= start + block + gap
  const place = Math.floor((x - start - (right ? block + gap : 0)) / cell)
  return place < 0 || place >= head.dim ? -1 : TOKENS + (right ? head.dim : 0) + place
}

// Dimensions, from 1, whose numbers have room above their cells: the first, and every so many.
/** @param {number} count @param {number} cell */
export function tickedDimensions(count, cell) {
  const step = [1, 2, 4, 8, 16, 32, 64].find((each) => each * cell >= 24) ?? 64
  const regular = Array.from({ length: Math.floor(count / step) }, (_, i) => (i + 1) * step)
  return step === 1 ? regular : [1, ...regular.filter((dim) => (dim - 1) * cell >= 16)]
}
