// The elements of the heatmap table, their colours, and the legend.

import { clamp, setAttrs, dirOf, el, setPx } from "../shared/dom.js"
import { colourSteps, paletteOf } from "../shared/scales.js"

/** @import { Data, Side } from "./table.js" */
/**
 * @typedef {{width: number, rowHead: number, head: number, isTurned: boolean}} Sizes pixels of a cell and of the labels; whether those of columns are turned
 * @typedef {ReturnType<typeof makeScale>} Scale
 * @typedef {ReturnType<typeof makeLine>} Line
 */

/** Pixels. Twenty tokens fit beside the menu at 1280 pixels, and twenty rows on a screen of 768; a score has up to three characters more than a weight. */
export const CELL = { height: 24, minWidth: { attention: 20, scores: 36 }, digit: 7, maxWidth: 92 }
export const DIGITS = 2 // after the point
export const EXACT_DIGITS = 3 // of the cell that is read
export const SUM = { width: 62, height: 30 }

/**
 * A row of the grid: what stays on the left, what scrolls, and the sum, which stays on the right.
 * @param {string} className @param {number} index from 1, of the rows of the grid @param {boolean} hasSum @param {number} height in pixels
 */
export function makeLine(className, index, hasSum, height) {
  const attributes = { role: "row", "aria-rowindex": index }
  const node = setAttrs(el(null, "div", `line ${className}`), attributes)
  setPx(node, { height, lineHeight: height - 1 })
  const left = el(node, "div", "left")
  const strip = setAttrs(el(node, "div", "strip"), { role: "presentation" })
  return { node, left, strip, right: hasSum ? el(node, "div", "right") : null }
}

/** @param {HTMLElement} node @param {Side} side @param {number} index */
function nameToken(node, { labels, special, positions }, index) {
  node.textContent = labels[index]
  node.dir = dirOf(labels[index])
  node.classList.toggle("special", special[index])
  node.title = `${labels[index]} · position ${positions[index][0] + 1}`
}

/** Names of columns, with what rows and columns are. @param {Line} line @param {Data} data @param {number[]} shown columns @param {Sizes} sizes */
export function fillTop({ strip }, { columns }, shown, { width, head, isTurned }) {
  const labels = shown.map((column) => {
    const node = el(null, "div", isTurned ? "label turned" : "label")
    nameToken(node, columns, column)
    setAttrs(node, { role: "columnheader", "aria-colindex": column + 2 })
    const lineHeight = isTurned ? width : head
    return setPx(node, { left: column * width, width, height: head - 1, lineHeight })
  })
  strip.replaceChildren(...labels)
}

/** Sums of columns. @param {Line} line @param {Data} data @param {number[]} shown columns @param {Sizes} sizes */
export function fillBottom({ strip }, { columnSums }, shown, { width }) {
  const height = SUM.height - 1
  const sums = shown.map((column) => {
    const node = el(null, "div", "sum", columnSums[column].toFixed(DIGITS))
    setAttrs(node, { role: "gridcell", "aria-colindex": column + 2 })
    return setPx(node, { left: column * width, width, height, lineHeight: height })
  })
  strip.replaceChildren(...sums)
}

/** A token, its cells, and their sum. @param {Data} data @param {number} row @param {number[]} shown columns @param {Sizes} sizes @param {Scale} scale */
export function drawRow(data, row, shown, { width }, scale) {
  const { rows, rowSums, columns, kind } = data
  const { node, left, strip, right } = makeLine("row", row + 2, kind !== "scores", CELL.height)
  left.classList.add("label")
  nameToken(setAttrs(left, { role: "rowheader", "aria-colindex": 1 }), rows, row)
  strip.append(...shown.map((column) => drawCell(data, row, column, width, scale)))
  if (right) {
    Object.assign(right, { className: "right sum", textContent: rowSums[row].toFixed(DIGITS) })
    setAttrs(right, { role: "gridcell", "aria-colindex": columns.labels.length + 2 })
  }
  return setPx(node, { top: row * CELL.height })
}

/** A number on its colour, or a dash on hatching. @param {Data} data @param {number} row @param {number} column @param {number} width @param {Scale} scale */
function drawCell(data, row, column, width, scale) {
  const value = data.values[row * data.columns.labels.length + column]
  const masked = isMasked(data, row, column)
  const written = masked ? "–" : format(value, DIGITS)
  const isEmpty = data.kind === "attention" && Number(written) === 0 // would round to zero
  const node = el(null, "div", masked ? "cell masked" : "cell", isEmpty ? "" : written)
  setAttrs(node, {
    role: "gridcell",
    id: `cell-${row}-${column}`,
    "aria-colindex": column + 2,
    "data-row": row + 1,
    "data-column": column + 1,
  })
  const spoken = masked ? "not permitted" : isEmpty ? format(value, EXACT_DIGITS) : ""
  if (spoken) setAttrs(node, { "aria-label": spoken })
  if (!masked) Object.assign(node.style, scale.look(value))
  const { height } = CELL
  return setPx(node, { left: column * width, width, height, lineHeight: height - 1 })
}

/** Whether no query of the row may see the key. @param {Data} data @param {number} row @param {number} column */
export function isMasked({ permitted, columns }, row, column) {
  return permitted !== undefined && !permitted[row * columns.labels.length + column]
}

/** In digits, without a minus sign if the number rounds to zero. @param {number} value @param {number} digits */
export function format(value, digits) {
  return value.toFixed(digits).replace(/^-(0\.0+)$/, "$1")
}

/**
 * Scores: symmetric around 0. Attention: from 0 to the largest value, by its square root, so that weak links show
 * beside a column that takes nearly everything.
 * @param {HTMLElement} root @param {Data} data
 */
export function makeScale(root, { kind, values }) {
  const isSigned = kind === "scores"
  const sizes = values.map((value) => (Number.isFinite(value) ? Math.abs(value) : 0))
  const top = sizes.reduce((max, size) => Math.max(max, size), 0) || 1
  const steps = colourSteps(paletteOf(root, isSigned ? "diverging" : "sequential"))
  /** @param {number} value */
  const look = (value) => {
    const share = isSigned ? 0.5 + value / (2 * top) : Math.sqrt(Math.max(0, value) / top)
    const { css, ink } = steps[clamp(Math.round(255 * share), 0, 255)]
    return { background: css, color: ink }
  }
  return { look, steps, marks: isSigned ? [-top, 0, top] : [0, top / 4, top] } // at both ends and the middle of the colour scale
}

/** @param {HTMLElement} legend @param {Scale} scale @param {boolean} isSigned */
export function drawLegend(legend, { steps, marks }, isSigned) {
  const digits = isSigned ? 1 : marks[2] < 0.01 ? 4 : 2
  legend.title = isSigned
    ? ""
    : "Colours follow the square root of attention, so weak links show too."
  const halves = [0, 128].map((start) => {
    const ramp = el(null, "div", "ramp")
    const stops = [0, 32, 64, 96, 127].map((step) => steps[start + step].css)
    ramp.style.background = `linear-gradient(to right, ${stops})`
    return ramp
  })
  const texts = marks.map((mark) => el(null, "div", "", mark === 0 ? "0" : mark.toFixed(digits)))
  legend.replaceChildren(texts[0], halves[0], texts[1], halves[1], texts[2])
}
