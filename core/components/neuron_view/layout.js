// Where the neuron view's cells lie. Columns count from 0, the token that asks, and 1, the token that is asked; then,
// unless folded, one per dimension of the key and one per dimension of the product; then dot product, score, attention.

import { clamp, textWidths } from "../shared/dom.js"

/** @import { Head } from "./numbers.js" */
/** @typedef {ReturnType<typeof measure> & {weight: number}} Layout pixels; the attention's column takes what remains */

const ROW = { few: 24, many: 20, manyFrom: 48 } // pixels; tokens
const CELL = { min: 4, minCrowded: 3, crowdedFrom: 96, max: 18 } // pixels; dimensions
const [SCROLLBAR, BORDERS, ABOVE] = [16, 2, 110] // pixels; above the rows, at most
const PHONE = 560 // pixels; narrower is a phone
export const WIDTH = { minLabel: 60, maxLabelPhone: 78, maxLabel: 140, lines: 104, linesPhone: 44, linesFolded: 260, dot: 58, score: 74, maxWeight: 420, gap: 12 } // pixels
export const TOKENS = 2 // columns of tokens, before those of numbers

/** @param {Head} head @param {boolean} folded */
export function columnCount(head, folded) {
  return TOKENS + 3 + (folded ? 0 : 2 * head.dim)
}

/** What a column shows; for vectors and products with the place among the dimensions, else -1. @param {Head} head @param {boolean} folded @param {number} column */
export function columnKind(head, folded, column) {
  const place = column - TOKENS
  const rest = place - (folded ? 0 : 2 * head.dim)
  if (place < 0) return { kind: ["asking", "token"][column], place: -1 }
  if (rest >= 0) return { kind: ["dot", "score", "weight"][rest], place: -1 }
  return { kind: place < head.dim ? "vector" : "product", place: place % head.dim }
}

/** @param {boolean} folded */
export function minWeightWidth(folded) {
  return folded ? 108 : 150
}

/** Sizes in pixels that fit the width of the page. @param {HTMLElement} root @param {HTMLElement} scroller @param {Head} head @param {boolean} folded @param {number} rows */
export function measure(root, scroller, head, folded, rows) {
  const style = getComputedStyle(root)
  const width = root.clientWidth
  const isPhone = width < PHONE
  const longest = Math.max(...[...head.labels.queries, ...head.labels.keys].map(textWidths(`600 ${style.fontSize} ${style.fontFamily}`)))
  const label = clamp(Math.ceil(longest) + 22, WIDTH.minLabel, isPhone ? WIDTH.maxLabelPhone : WIDTH.maxLabel)
  const lead = label + (isPhone ? WIDTH.linesPhone : folded ? WIDTH.linesFolded : WIDTH.lines)
  const row = Math.max(head.labels.queries.length, head.labels.keys.length) >= ROW.manyFrom ? ROW.many : ROW.few
  const scrolls = rows * row + ABOVE > parseFloat(getComputedStyle(scroller).maxHeight)
  const edge = BORDERS + (scrolls ? SCROLLBAR : 0)
  const free = width - edge - lead - label - WIDTH.dot - WIDTH.score - minWeightWidth(folded) - 6 * WIDTH.gap
  const min = head.dim >= CELL.crowdedFrom ? CELL.minCrowded : CELL.min
  const cell = clamp(Math.floor(free / (2 * head.dim)), min, CELL.max)
  const block = folded ? 0 : cell * head.dim
  return { asking: label, lead, label, key: lead + WIDTH.gap, start: lead + label + 2 * WIDTH.gap, cell, edge, block, gap: WIDTH.gap, row }
}

/** Left edge and width of a column, in pixels of the whole table. @param {Layout} layout @param {Head} head @param {boolean} folded @param {number} column @returns {[number, number]} */
export function spanOf({ asking, key, label, start, gap, block, cell, weight }, head, folded, column) {
  const { kind, place } = columnKind(head, folded, column)
  const numbers = start + (folded ? 0 : 2 * (block + gap))
  /** @type {Record<string, [number, number]>} */
  const spans = {
    asking: [0, asking], token: [key, label], vector: [start + place * cell, cell], product: [start + block + gap + place * cell, cell],
    dot: [numbers, WIDTH.dot], score: [numbers + WIDTH.dot + gap, WIDTH.score], weight: [numbers + WIDTH.dot + WIDTH.score + 2 * gap, weight],
  }
  return spans[kind]
}

/** The column at x, in pixels of the whole table; -1 between the blocks of dimensions and on the lines. @param {Layout} layout @param {Head} head @param {boolean} folded @param {number} x */
export function columnAt({ asking, key, start, gap, block, cell }, head, folded, x) {
  if (x < asking) return 0
  if (x < start) return x < key ? -1 : 1
  const numbers = start + (folded ? 0 : 2 * (block + gap))
  const last = columnCount(head, folded) - 1
  if (x >= numbers + WIDTH.dot + WIDTH.score + 1.5 * gap) return last
  if (x >= numbers + WIDTH.dot + gap / 2) return last - 1
  if (x >= numbers - gap / 2) return last - 2
  const isProduct = x >= start + block + gap
  const place = Math.floor((x - start - (isProduct ? block + gap : 0)) / cell)
  return place < 0 || place >= head.dim ? -1 : TOKENS + (isProduct ? head.dim : 0) + place
}

/** Dimensions, from 1, that have room for their number: the first one and regular steps. @param {number} count @param {number} cell */
export function tickedDimensions(count, cell) {
  const step = [1, 2, 4, 8, 16, 32, 64].find((each) => each * cell >= 24) ?? 64
  const regular = Array.from({ length: Math.floor(count / step) }, (_, i) => (i + 1) * step)
  return step === 1 ? regular : [1, ...regular.filter((dim) => (dim - 1) * cell >= 16)]
}
