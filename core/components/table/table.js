// The heatmap table. Only the cells in view are in the page.

import { clamp, describe, make, place, placeOf, textWidths } from "../shared/dom.js"
import { colourSteps, paletteOf, readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"

/** @import { Component } from "../shared/view.js" */
/**
 * @typedef {{row: number, column: number}} Cell
 * @typedef {{displays: string[], labels: string[], special: boolean[], segments: number[]}} Side
 * @typedef {object} Data
 * @property {Side} rows
 * @property {Side} columns
 * @property {string} where
 * @property {"attention" | "scores"} kind
 * @property {boolean} fullScale
 * @property {Float32Array} values row by row
 * @property {Float32Array} rowSums
 * @property {Float32Array} columnSums
 */

const CELL = { height: 27, minWidth: 50, maxWidth: 92 } // pixels
const SUM = { width: 62, height: 30 }
const PHONE = 560 // pixels; narrower is a phone
const OVERSCAN = 3 // rows and columns drawn beyond the edge
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
const PARTS = {
  corner: "top left corner", columns: "top", rowSumTitle: "top right corner", rows: "left", cells: "cells", rowSums: "right",
  columnSumTitle: "bottom left corner", columnSums: "bottom", last: "bottom right corner",
}

/** @param {Component} component */
export default function (component) {
  return mount(component, TableView)
}

class TableView extends View {
  /** @type {Data} */ data
  /** @type {ReturnType<typeof makeScale>} */ scale
  /** @type {Cell | null} */ pointed = null
  isPinned = false
  /** @type {Map<string, HTMLElement>} */ drawn = new Map() // elements in view, by what they are
  range = "" // rows and columns that are drawn
  sizes = { width: 0, rowHead: 0, head: 0, isTurned: false } // pixels of a cell and of the labels; whether those of columns are turned

  /** @param {Component} component */
  constructor(component) {
    super(component)
    const readout = make(this.root, "div", "readout")
    this.sentence = describe(make(readout, "div", "sentence"), { "aria-live": "polite" })
    this.legend = make(readout, "div", "legend")
    this.scroller = describe(make(this.root, "div", "scroller"), { tabindex: 0, role: "grid" })
    this.world = make(this.scroller, "div", "world")
    const parts = Object.entries(PARTS).map(([name, className]) => [name, make(this.world, "div", className)])
    this.parts = /** @type {Record<keyof typeof PARTS, HTMLElement>} */ (Object.fromEntries(parts))
    const { cells } = this.parts
    this.listen(this.scroller, "scroll", () => this.nextFrame(() => this.drawCells()), { passive: true })
    this.listen(this.scroller, "keydown", (event) => this.moveByKey(event))
    this.listen(cells, "pointermove", (event) => { if (!this.isPinned) this.point(this.cellUnder(event)) })
    this.listen(cells, "pointerleave", () => { if (!this.isPinned) this.point(null) })
    this.listen(cells, "click", (event) => {
      const cell = this.cellUnder(event)
      this.isPinned = cell !== null && !(this.isPinned && this.isPointed(cell))
      this.point(cell)
    })
  }

  /** Rows and columns. */
  get size() {
    const { rows, columns } = this.data
    return { rows: rows.labels.length, columns: columns.labels.length }
  }

  get hasSums() {
    return this.data.kind !== "scores" // scores have no meaningful sum
  }

  /** @param {Data} data */
  update(data) {
    if (!this.data || tokensOf(this.data) !== tokensOf(data)) Object.assign(this, { pointed: null, isPinned: false })
    this.data = data
    this.layOut()
    this.point(this.pointed)
  }

  layOut() {
    const { data, root, scroller, size } = this
    this.width = root.clientWidth
    readTheme(root)
    this.scale = makeScale(root, data)
    this.drawLegend()
    const longest = widestLabel(root, data)
    const rowHead = clamp(Math.ceil(longest) + 16, 64, this.width < PHONE ? 96 : 160)
    const free = this.width - rowHead - SUM.width - 20
    const width = clamp(Math.floor(free / size.columns), CELL.minWidth, CELL.maxWidth)
    const isTurned = longest + 8 > width
    const head = isTurned ? clamp(Math.ceil(longest) + 18, 40, 116) : 40
    this.sizes = { width, rowHead, head, isTurned }
    this.world.classList.toggle("no-sums", !this.hasSums)
    this.world.style.gridTemplateColumns = `${rowHead}px ${size.columns * width}px ${this.hasSums ? SUM.width : 0}px`
    this.world.style.gridTemplateRows = `${head}px ${size.rows * CELL.height}px ${this.hasSums ? SUM.height : 0}px`
    const label = `${data.kind} of ${data.where}, ${size.rows} by ${size.columns} tokens`
    describe(scroller, { "aria-rowcount": size.rows, "aria-colcount": size.columns, "aria-label": label })
    for (const part of Object.values(this.parts)) part.replaceChildren()
    this.drawCorners()
    this.drawn.clear()
    this.range = ""
    this.drawCells()
    this.drawBands()
  }

  drawLegend() {
    const { scale, legend } = this
    const digits = this.hasSums ? (scale.top < 0.01 ? 4 : 2) : 1
    legend.replaceChildren()
    make(legend, "div", "", scale.low.toFixed(scale.low ? digits : 0))
    const stops = [0, 64, 128, 192, 255].map((step) => scale.steps[step].css)
    make(legend, "div", "ramp").style.background = `linear-gradient(to right, ${stops})`
    make(legend, "div", "", scale.top.toFixed(digits))
  }

  drawCorners() {
    const { corner, rowSumTitle, columnSumTitle } = this.parts
    place(make(corner, "span", "to", "to →"), { right: 6, top: 5 })
    place(make(corner, "span", "from", "from ↓"), { left: 8, bottom: 4 })
    if (!this.hasSums) return
    make(rowSumTitle, "div", "label", "row Σ").style.cssText = "inset: auto 0 4px 0; font-size: 11px"
    make(columnSumTitle, "div", "label", "column Σ").style.cssText = "inset: 6px 0 0 0; font-size: 11px; text-align: right"
  }

  drawCells() {
    const { scroller, parts, drawn, sizes, size } = this
    /** @type {(start: number, extent: number, length: number, count: number) => number[]} */
    const span = (start, extent, length, count) => [
      Math.max(0, Math.floor(start / length) - OVERSCAN),
      Math.min(count, Math.ceil((start + extent) / length) + OVERSCAN),
    ]
    const [left, right] = span(scroller.scrollLeft, Math.max(scroller.clientWidth, 200), sizes.width, size.columns)
    const [top, bottom] = span(scroller.scrollTop, Math.max(scroller.clientHeight, 700), CELL.height, size.rows)
    const range = [left, right, top, bottom].join()
    if (range === this.range) return
    this.range = range
    const wanted = new Set()
    /** @type {(key: string, draw: () => HTMLElement) => void} */
    const need = (key, draw) => {
      wanted.add(key)
      if (!drawn.has(key)) drawn.set(key, draw())
    }
    for (let column = left; column < right; column++) {
      need(`c${column}`, () => this.drawLabel(parts.columns, column, true))
      if (this.hasSums) need(`cs${column}`, () => this.drawSum(parts.columnSums, column, true))
    }
    for (let row = top; row < bottom; row++) {
      need(`r${row}`, () => this.drawLabel(parts.rows, row, false))
      if (this.hasSums) need(`rs${row}`, () => this.drawSum(parts.rowSums, row, false))
      for (let column = left; column < right; column++) need(`${row},${column}`, () => this.drawCell(row, column))
    }
    for (const [key, node] of drawn) {
      if (wanted.has(key)) continue
      node.remove()
      drawn.delete(key)
    }
    this.drawBoundary()
    this.mark()
  }

  /** @param {HTMLElement} parent @param {number} index @param {boolean} isColumn */
  drawLabel(parent, index, isColumn) {
    const { displays, labels, special } = isColumn ? this.data.columns : this.data.rows
    const { width, rowHead, head, isTurned } = this.sizes
    const node = make(parent, "div", special[index] ? "label special" : "label", displays[index])
    const number = labels[index].slice(displays[index].length).match(/\d+/) // of a repeated word
    if (number) make(node, "sub", "", number[0])
    describe(node, { title: `${labels[index]} · position ${index + 1}`, role: isColumn ? "columnheader" : "rowheader" })
    if (!isColumn) return place(node, { left: 0, top: index * CELL.height, width: rowHead - 1, height: CELL.height, lineHeight: CELL.height })
    node.classList.toggle("turned", isTurned)
    return place(node, { left: index * width, top: 0, width, height: head - 1, lineHeight: isTurned ? width : head })
  }

  /** @param {HTMLElement} parent @param {number} index @param {boolean} isColumn */
  drawSum(parent, index, isColumn) {
    const { rowSums, columnSums } = this.data
    const node = make(parent, "div", "sum", isColumn ? columnSums[index].toFixed(2) : rowSums[index].toFixed(3))
    const { width } = this.sizes
    if (isColumn) return place(node, { left: index * width, top: 0, width, height: SUM.height - 1, lineHeight: SUM.height - 1 })
    return place(node, { left: 0, top: index * CELL.height, width: SUM.width - 1, height: CELL.height, lineHeight: CELL.height })
  }

  /** @param {number} row @param {number} column */
  drawCell(row, column) {
    const { width } = this.sizes
    const value = this.data.values[row * this.size.columns + column]
    const isMasked = !Number.isFinite(value)
    const node = make(this.parts.cells, "div", isMasked ? "cell masked" : "cell", isMasked ? "–" : format(value, this.hasSums ? 3 : 2))
    describe(node, { role: "gridcell", id: `cell-${row}-${column}`, "aria-rowindex": row + 1, "aria-colindex": column + 1 })
    if (!isMasked) {
      const { css, ink } = this.scale.colour(value)
      Object.assign(node.style, { background: css, color: ink })
    }
    return place(node, { left: column * width, top: row * CELL.height, width, height: CELL.height, lineHeight: CELL.height - 1 })
  }

  /** A line where the second sentence begins. */
  drawBoundary() {
    const { parts: { cells }, sizes: { width }, size } = this
    for (const before of cells.querySelectorAll(".boundary")) before.remove()
    const [across, down] = [this.data.columns, this.data.rows].map(({ segments }) => segments.indexOf(1))
    if (across > 0) place(make(cells, "div", "boundary"), { left: across * width - 1, top: 0, width: 2, height: size.rows * CELL.height })
    if (down > 0) place(make(cells, "div", "boundary"), { left: 0, top: down * CELL.height - 1, width: size.columns * width, height: 2 })
  }

  /** @param {PointerEvent} event @returns {Cell | null} */
  cellUnder(event) {
    const { x, y } = placeOf(this.parts.cells, event)
    const [row, column] = [Math.floor(y / CELL.height), Math.floor(x / this.sizes.width)]
    return row >= 0 && column >= 0 && row < this.size.rows && column < this.size.columns ? { row, column } : null
  }

  /** @param {Cell | null} cell */
  isPointed(cell) {
    return this.pointed !== null && cell !== null && this.pointed.row === cell.row && this.pointed.column === cell.column
  }

  /** @param {Cell | null} cell */
  point(cell) {
    const isSame = this.isPointed(cell)
    this.pointed = cell
    if (!isSame) this.drawBands()
    if (cell) describe(this.scroller, { "aria-activedescendant": `cell-${cell.row}-${cell.column}` })
    else this.scroller.removeAttribute("aria-activedescendant")
    this.mark()
    this.readCell()
  }

  /** Along the row and the column of the cell that is pointed at. */
  drawBands() {
    const { parts: { cells }, sizes: { width }, size, pointed } = this
    for (const band of cells.querySelectorAll(".band")) band.remove()
    if (!pointed) return
    place(make(cells, "div", "band"), { left: 0, top: pointed.row * CELL.height, width: size.columns * width, height: CELL.height })
    place(make(cells, "div", "band"), { left: pointed.column * width, top: 0, width, height: size.rows * CELL.height })
  }

  mark() {
    const { row, column } = this.pointed ?? {}
    for (const [key, node] of this.drawn) node.classList.toggle("on", [`r${row}`, `c${column}`, `${row},${column}`].includes(key))
  }

  readCell() {
    const { data, sentence, pointed } = this
    sentence.replaceChildren()
    /** @type {(className: string, text: string) => HTMLElement} */
    const part = (className, text) => make(sentence, "span", className, text)
    if (!pointed) return part("hint", "Point at a cell to read it; click to hold it; arrow keys move.")
    const value = data.values[pointed.row * this.size.columns + pointed.column]
    part("from", data.rows.labels[pointed.row])
    part("", " → ")
    part("to", data.columns.labels[pointed.column])
    part("", `  ${Number.isFinite(value) ? format(value, 3) : "not permitted"}, ${data.where}`)
    if (this.isPinned) part("hint", "  · held; click it again or press Escape to release")
  }

  /** @param {KeyboardEvent} event */
  moveByKey(event) {
    const step = STEPS[/** @type {keyof typeof STEPS} */ (event.key)]
    if (event.key === "Escape") {
      this.isPinned = false
      this.point(null)
    } else if (step) {
      event.preventDefault()
      const from = this.pointed ?? { row: -step[0], column: -step[1] } // the first step leads to the first cell
      const { rows, columns } = this.size
      const cell = { row: clamp(from.row + step[0], 0, rows - 1), column: clamp(from.column + step[1], 0, columns - 1) }
      this.isPinned = true
      this.reveal(cell)
      this.point(cell)
    }
  }

  /** Scroll a cell into view. @param {Cell} cell */
  reveal({ row, column }) {
    const { scroller, sizes } = this
    const [x, y] = [column * sizes.width, row * CELL.height]
    const wide = scroller.clientWidth - sizes.rowHead - SUM.width
    const high = scroller.clientHeight - sizes.head - SUM.height
    if (x < scroller.scrollLeft) scroller.scrollLeft = x
    if (x + sizes.width > scroller.scrollLeft + wide) scroller.scrollLeft = x + sizes.width - wide
    if (y < scroller.scrollTop) scroller.scrollTop = y
    if (y + CELL.height > scroller.scrollTop + high) scroller.scrollTop = y + CELL.height - high
  }
}

/** Attention: from 0 to the largest value (or 1). Scores: symmetric around 0. @param {HTMLElement} root @param {Data} data */
function makeScale(root, { kind, values, fullScale }) {
  const isSigned = kind === "scores"
  const largest = values.reduce((max, value) => (Number.isFinite(value) ? Math.max(max, Math.abs(value)) : max), 0)
  const top = fullScale && !isSigned ? 1 : largest || 1
  const steps = colourSteps(paletteOf(root, isSigned ? "diverging" : "sequential"))
  /** @type {(value: number) => {css: string, ink: string}} */
  const colour = (value) => steps[clamp(Math.round(255 * (isSigned ? 0.5 + value / (2 * top) : value / top)), 0, 255)]
  return { colour, steps, low: isSigned ? -top : 0, top }
}

/** What tells one table's tokens from another's. @param {Data} data */
function tokensOf({ rows, columns }) {
  return [...rows.labels, ...columns.labels].join("\n")
}

/** In pixels, as wide as a label gets when it is pointed at. @param {HTMLElement} root @param {Data} data */
function widestLabel(root, { rows, columns }) {
  const style = getComputedStyle(root)
  const widthOf = textWidths(`650 ${style.fontSize} ${style.fontFamily}`)
  const number = 8 // room for the number of a repeated word
  const widths = [rows, columns].flatMap(({ displays, labels }) => displays.map((text, i) => widthOf(text) + (text === labels[i] ? 0 : number)))
  return Math.max(0, ...widths)
}

/** Without the minus sign of a number that rounds to zero. @param {number} value @param {number} digits */
function format(value, digits) {
  return value.toFixed(digits).replace(/^-(0\.0+)$/, "$1")
}
