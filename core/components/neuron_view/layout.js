// Where the neuron view's cells are. Column 0 is the query token, column 1 the key token; then one per dimension of the
// key and one per dimension of the product; then dot product, score and attention, which may come before the
// dimensions.

import { clamp, textWidths } from "../shared/dom.js"
import { patchWidth } from "../shared/patches.js"

/** @import { Head } from "./numbers.js" */
/**
 * @typedef {ReturnType<typeof placeColumns>} Layout pixels; the attention's column takes what remains
 * @typedef {ReturnType<typeof columnOf>} Column
 */

const ROW = { few: 24, many: 20, manyFrom: 48 } // pixels; tokens
const CELL = { min: 2, comfortable: 4, minScrolled: 3, max: 18 } // pixels; dimensions
const [SCROLLBAR, BORDERS, ABOVE] = [16, 2, 110] // pixels; above the rows, at most
const PHONE = 560 // pixels; narrower is a phone
const LABEL = { min: 60, max: 140, maxTight: 108, maxPhone: 66, tight: 900 } // pixels; tight: the view's width below which they are short
const NUMBERS = { dot: 58, score: 70, minWeight: 98, gap: 12 } // pixels of dot product, score and attention (at least), and between columns
const PHONE_NUMBERS = { dot: 46, score: 46, minWeight: 46, gap: 6 }
const LINES = { wide: 104, narrow: 56, phone: 26 } // pixels of the lines from queries to keys
export const MAX_WEIGHT = 420 // pixels of the attention's column
export const TOKENS = 2 // columns of tokens, before those of numbers

export const PATCH = 14 // pixels of a patch beside its name

/**
 * Sizes in pixels that fit the width of the page. Where vectors and numbers do not fit side by side (a phone, a hundred
 * dimensions), numbers come first and the vectors are scrolled to.
 * @param {HTMLElement} root @param {HTMLElement} scroller @param {Head} head @param {number} rows
 */
export function measure(root, scroller, head, rows) {
  const style = getComputedStyle(root)
  const width = root.clientWidth
  const isPhone = width < PHONE
  const { gap, ...columns } = isPhone ? PHONE_NUMBERS : NUMBERS
  const longest = Math.max(
    ...[...head.tokens.queries.labels, ...head.tokens.keys.labels].map(
      textWidths(`600 ${style.fontSize} ${style.fontFamily}`),
    ),
  )
  const label = clamp(
    Math.ceil(longest) + patchWidth(head.patches, PATCH) + 22,
    LABEL.min,
    isPhone ? LABEL.maxPhone : width < LABEL.tight ? LABEL.maxTight : LABEL.max,
  )
  const row =
    Math.max(head.tokens.queries.labels.length, head.tokens.keys.labels.length) >= ROW.manyFrom
      ? ROW.many
      : ROW.few
  const scrolls = rows * row + ABOVE > parseFloat(getComputedStyle(scroller).maxHeight)
  const edge = BORDERS + (scrolls && !isPhone ? SCROLLBAR : 0) // a phone's takes no room
  const free = width - edge - 2 * label - columns.dot - columns.score - columns.minWeight - 6 * gap
  /** @type {(lines: number) => number} */
  const cellFor = (lines) => Math.floor((free - lines) / (2 * head.dim))
  const numbersFirst = isPhone || cellFor(LINES.narrow) < CELL.min
  const isWide = cellFor(LINES.wide) >= CELL.comfortable
  const lines = isPhone ? LINES.phone : isWide || numbersFirst ? LINES.wide : LINES.narrow
  const cell = clamp(cellFor(lines), numbersFirst ? CELL.minScrolled : CELL.min, CELL.max)
  return {
    asking: label,
    lead: label + lines,
    label,
    key: label + lines + gap,
    cell,
    edge,
    block: cell * head.dim,
    gap,
    row,
    numbersFirst,
    isPhone,
    ...columns,
  }
}

/** Where the columns are, once the attention column has its width. @param {ReturnType<typeof measure>} sizes @param {number} weight @param {Head} head */
export function placeColumns(sizes, weight, head) {
  const { asking, key, label, gap, block, cell, dot, score, numbersFirst } = sizes
  const first = key + label + gap
  const width = dot + score + weight + 3 * gap
  const start = numbersFirst ? first + width : first
  const numbers = numbersFirst ? first : first + 2 * (block + gap)
  /** @type {(kind: string, left: number) => Column[]} */
  const dimensions = (kind, left) =>
    Array.from({ length: head.dim }, (_, place) =>
      columnOf(kind, left + place * cell, cell, 0, 0, place),
    )
  const half = gap / 2
  const columns = [
    columnOf("asking", 0, asking),
    columnOf("token", key, label, 0, gap),
    ...dimensions("vector", start),
    ...dimensions("product", start + block + gap),
    columnOf("dot", numbers, dot, half, half),
    columnOf("score", numbers + dot + gap, score, half, half),
    columnOf(
      "weight",
      numbers + dot + score + 2 * gap,
      weight,
      half,
      numbersFirst ? half : Infinity,
    ),
  ]
  return { ...sizes, weight, start, numbers, columns }
}

/** A column: what it shows, its dimension, its pixels in the whole table, and the range of pixels that points to it. @param {string} kind @param {number} left @param {number} width @param {number} [before] @param {number} [after] pixels beside it that count as its own @param {number} [dim] -1 for none */
function columnOf(kind, left, width, before = 0, after = 0, dim = -1) {
  return { kind, left, width, from: left - before, to: left + width + after, dim }
}

/** Dimensions, from 1, that have room for their number: the first one and regular steps. @param {number} count @param {number} cell */
export function tickedDimensions(count, cell) {
  const step = [1, 2, 4, 8, 16, 32, 64].find((each) => each * cell >= 24) ?? 64
  const regular = Array.from({ length: Math.floor(count / step) }, (_, i) => (i + 1) * step)
  return step === 1 ? regular : [1, ...regular.filter((dim) => (dim - 1) * cell >= 16)]
}
