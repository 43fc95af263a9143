// The elements of the heatmap table: labels, cells and sums of one row, each in its place.

import { describe, dirOf, make, place } from "../shared/dom.js"

/** @import { Data, Scale, Side } from "./table.js" */
/** @typedef {{width: number, rowHead: number, head: number, isTurned: boolean}} Sizes pixels of a cell and of the labels; whether those of columns are turned */
/** @typedef {{node: HTMLElement, left: HTMLElement, strip: HTMLElement, right: HTMLElement | null}} Line a row of the grid */

/** Pixels. Twenty tokens fit beside the menu at 1280 pixels, and twenty rows on a screen of 768; a score has up to three characters more than a weight. */
export const CELL = { height: 24, minWidth: { attention: 20, scores: 36 }, digit: 7, maxWidth: 92 }
export const DIGITS = 2 // after the point
export const EXACT_DIGITS = 3 // of the cell that is read
export const SUM = { width: 62, height: 30 }

/**
 * A row of the grid: what stays on the left, what scrolls, and the sum, which stays on the right.
 * @param {HTMLElement} parent @param {string} className @param {number} index from 1, of the rows of the grid @param {boolean} hasSum @param {number} height in pixels @returns {Line}
 */
export function makeLine(parent, className, index, hasSum, height) {
  const node = describe(make(parent, "div", `line ${className}`), {
    role: "row",
    "aria-rowindex": index,
  })
  place(node, { height, lineHeight: height - 1 })
  const left = make(node, "div", "left")
  const strip = describe(make(node, "div", "strip"), { role: "presentation" })
  return { node, left, strip, right: hasSum ? make(node, "div", "right") : null }
}

/** @param {HTMLElement} node @param {Side} side @param {number} index */
function nameToken(node, { labels, special, positions }, index) {
  node.textContent = labels[index]
  node.dir = dirOf(labels[index])
  node.classList.toggle("special", special[index])
  node.title = `${labels[index]} · position ${positions[index][0] + 1}`
}

/** @param {Line} line @param {Data} data @param {number} row */
export function nameRow({ left }, { rows }, row) {
  left.classList.add("label")
  describe(left, { role: "rowheader", "aria-colindex": 1 })
  nameToken(left, rows, row)
}

/** @param {Line} line @param {Data} data @param {number} row */
export function sumRow({ right }, { rowSums, columns }, row) {
  if (!right) return
  right.classList.add("sum")
  right.textContent = rowSums[row].toFixed(DIGITS)
  describe(right, { role: "gridcell", "aria-colindex": columns.labels.length + 2 })
}

/** @param {Line} line @param {Data} data @param {number} column @param {Sizes} sizes */
export function drawColumnLabel({ strip }, { columns }, column, { width, head, isTurned }) {
  const node = make(strip, "div", isTurned ? "label turned" : "label")
  nameToken(node, columns, column)
  describe(node, { role: "columnheader", "aria-colindex": column + 2 })
  return place(node, {
    left: column * width,
    width,
    height: head - 1,
    lineHeight: isTurned ? width : head,
  })
}

/** @param {Line} line @param {Data} data @param {number} column @param {Sizes} sizes */
export function drawColumnSum({ strip }, { columnSums }, column, { width }) {
  const node = make(strip, "div", "sum", columnSums[column].toFixed(DIGITS))
  describe(node, { role: "gridcell", "aria-colindex": column + 2 })
  return place(node, {
    left: column * width,
    width,
    height: SUM.height - 1,
    lineHeight: SUM.height - 1,
  })
}

/** A number on its colour, or a dash on hatching. @param {Line} line @param {Data} data @param {number} row @param {number} column @param {Sizes} sizes @param {Scale} scale */
export function drawCell({ strip }, data, row, column, { width }, scale) {
  const value = data.values[row * data.columns.labels.length + column]
  const masked = isMasked(data, row, column)
  const node = make(strip, "div", masked ? "cell masked" : "cell", textOf(data, row, column))
  describe(node, {
    role: "gridcell",
    id: `cell-${row}-${column}`,
    "aria-colindex": column + 2,
    "data-row": row + 1,
    "data-column": column + 1,
  })
  if (masked) node.setAttribute("aria-label", "not permitted")
  else {
    if (!node.textContent) node.setAttribute("aria-label", format(value, EXACT_DIGITS))
    const { css, ink } = scale.colour(value)
    Object.assign(node.style, { background: css, color: ink })
  }
  return place(node, {
    left: column * width,
    width,
    height: CELL.height,
    lineHeight: CELL.height - 1,
  })
}

/** In a cell; nothing where a weight would round to zero. @param {Data} data @param {number} row @param {number} column */
export function textOf(data, row, column) {
  if (isMasked(data, row, column)) return "–"
  const text = format(data.values[row * data.columns.labels.length + column], DIGITS)
  return data.kind === "attention" && Number(text) === 0 ? "" : text
}

/** Whether the model lets no query of the row see the key. @param {Data} data @param {number} row @param {number} column */
export function isMasked({ permitted, columns }, row, column) {
  return permitted !== undefined && !permitted[row * columns.labels.length + column]
}

/** Without the minus sign of a number that rounds to zero. @param {number} value @param {number} digits */
export function format(value, digits) {
  return value.toFixed(digits).replace(/^-(0\.0+)$/, "$1")
}
