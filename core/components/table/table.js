// The heatmap table: state and events. Elements are drawn in rows.js, only those in view; colours in scale.js.

import { clamp, describe, make, place, textWidths } from "../shared/dom.js"
import { tableSteps } from "../shared/keys.js"
import { readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"
import {
  CELL,
  DIGITS,
  EXACT_DIGITS,
  SUM,
  drawCell,
  drawColumnLabel,
  drawColumnSum,
  format,
  isMasked,
  makeLine,
  nameRow,
  sumRow,
} from "./rows.js"
import { drawLegend, makeScale } from "./scale.js"

/** @import { Component } from "../shared/view.js" */
/** @import { Line } from "./rows.js" */
/**
 * @typedef {{row: number, column: number}} Cell
 * @typedef {{labels: string[], special: boolean[], segments: number[], positions: number[][]}} Side positions: of each one's pieces, from 0
 * @typedef {{colour: (value: number) => {css: string, ink: string}, steps: {css: string}[], marks: number[]}} Scale
 * @typedef {object} Data
 * @property {Side} rows
 * @property {Side} columns
 * @property {string} where
 * @property {"attention" | "scores"} kind
 * @property {number[]} held positions of a query and a key, from 1; none if empty
 * @property {number[]} found likewise
 * @property {Float32Array} values row by row
 * @property {Uint8Array} [permitted] likewise; left out where everything is
 * @property {Float32Array} rowSums
 * @property {Float32Array} columnSums
 */

const PHONE = 560 // pixels; narrower is a phone
const OVERSCAN = 3 // rows and columns drawn beyond the edge
const STEPS = tableSteps(10)

/** @param {Component} component */
export default function (component) {
  return mount(component, TableView)
}

export class TableView extends View {
  /** @type {Data} */ data
  /** @type {ReturnType<typeof makeScale>} */ scale
  /** @type {Cell | null} */ pointed = null // by the pointer or by keys
  /** @type {number[]} */ held = [] // positions, as in links
  /** @type {Line} */ top
  /** @type {Line | null} */ bottom
  /** @type {Map<number, Line>} */ lines = new Map() // rows in view
  /** @type {Map<string, HTMLElement>} */ drawn = new Map() // labels, sums and cells in view, by what they are
  range = "" // rows and columns that are drawn
  sizes = { width: 0, rowHead: 0, head: 0, isTurned: false }

  /** @param {Component} component */
  constructor(component) {
    super(component)
    const readout = make(this.root, "div", "readout")
    this.sentence = describe(make(readout, "div", "sentence"), { "aria-live": "polite" })
    this.legend = make(readout, "div", "legend")
    this.scroller = describe(make(this.root, "div", "scroller"), { tabindex: 0, role: "grid" })
    this.world = describe(make(this.scroller, "div", "world"), { role: "presentation" })
    this.body = make(null, "div", "body")
    this.overlay = make(null, "div", "overlay")
    this.listen(this.scroller, "scroll", () => this.nextFrame(() => this.drawView()), {
      passive: true,
    })
    this.listen(this.scroller, "keydown", (event) => this.moveByKey(event))
    this.listen(this.scroller, "focus", () => {
      if (this.scroller.matches(":focus-visible"))
        this.point(this.pointed ?? this.marked ?? { row: 0, column: 0 })
    })
    this.listen(this.scroller, "blur", () => this.point(null))
    this.listen(this.body, "pointermove", (event) => {
      if (!this.heldCell) this.point(this.cellUnder(event))
    })
    this.listen(this.body, "pointerleave", () => {
      if (!this.heldCell) this.point(null)
    })
    this.listen(this.body, "click", (event) => {
      const cell = this.cellUnder(event)
      if (cell) this.hold(cell)
    })
  }

  /** Rows and columns. */
  get size() {
    const { rows, columns } = this.data
    return { rows: rows.labels.length, columns: columns.labels.length }
  }

  /** Pixels of all cells. */
  get extent() {
    const { rows, columns } = this.size
    return { width: columns * this.sizes.width, height: rows * CELL.height }
  }

  get hasSums() {
    return this.data.kind !== "scores" // scores have no meaningful sum
  }

  /** Where a pair of positions is in this table; null if it is not shown. @param {number[]} pair @returns {Cell | null} */
  cellOf(pair) {
    const [row, column] = [this.data.rows, this.data.columns].map(({ positions }, i) =>
      positions.findIndex((pieces) => pieces.includes(pair[i] - 1)),
    )
    return row < 0 || column < 0 ? null : { row, column }
  }

  get heldCell() {
    return this.cellOf(this.held)
  }

  /** The cell that stands out while none is pointed at. */
  get marked() {
    return this.heldCell ?? this.cellOf(this.data.found)
  }

  /** @param {Data} data @param {boolean} isSent */
  update(data, isSent) {
    const isNewText = !this.data || tokensOf(this.data) !== tokensOf(data)
    if (isNewText) this.pointed = null
    if (isSent) this.held = data.held
    this.data = data
    this.layOut()
    if (isNewText || isSent) this.showMarked()
    this.point(this.pointed)
  }

  layOut() {
    const { data, root, world, size, hasSums } = this
    this.width = root.clientWidth
    readTheme(root)
    this.scale = makeScale(root, data)
    drawLegend(this.legend, this.scale, !hasSums)
    this.sizes = this.measure()
    const { rowHead, head } = this.sizes
    const { width, height } = this.extent
    const [sum, sums] = hasSums ? [SUM.width, 1] : [0, 0]
    world.style.setProperty("--columns", `${rowHead}px ${width}px ${sum}px`)
    place(world, { width: rowHead + width + sum })
    describe(this.scroller, {
      "aria-rowcount": size.rows + 1 + sums,
      "aria-colcount": size.columns + 1 + sums,
      "aria-label": `${data.kind} of ${data.where}, ${size.rows} by ${size.columns} tokens`,
    })
    world.replaceChildren()
    this.top = makeLine(world, "top", 1, hasSums, head)
    world.append(place(this.body, { height }))
    this.body.replaceChildren(place(this.overlay, { left: rowHead, width }))
    this.bottom = hasSums ? makeLine(world, "bottom", size.rows + 2, true, SUM.height) : null
    this.nameCorners()
    this.lines.clear()
    this.drawn.clear()
    this.range = ""
    this.drawView()
    this.drawOverlay()
  }

  /** @returns {import("./rows.js").Sizes} */
  measure() {
    const { data, root, size } = this
    const longest = widestLabel(root, data)
    const rowHead = clamp(Math.ceil(longest) + 16, 64, this.width < PHONE ? 96 : 160)
    const free = this.width - rowHead - (this.hasSums ? SUM.width : 0) - 20
    const width = clamp(
      Math.floor(free / size.columns),
      CELL.minWidth[data.kind] + CELL.digit * DIGITS,
      CELL.maxWidth,
    )
    const isTurned = longest + 8 > width
    const head = isTurned ? clamp(Math.ceil(longest) + 18, 40, 116) : 40
    return { width, rowHead, head, isTurned }
  }

  nameCorners() {
    const { top, bottom } = this
    describe(top.left, {
      role: "columnheader",
      "aria-colindex": 1,
      "aria-label": "from (query), to (key)",
    })
    place(make(top.left, "span", "to", "to →"), { right: 6, top: 5 })
    place(make(top.left, "span", "from", "from ↓"), { left: 8, bottom: 4 })
    if (!bottom || !top.right) return
    const last = this.size.columns + 2
    describe(top.right, {
      role: "columnheader",
      "aria-colindex": last,
      "aria-label": "sum of the row",
    }).textContent = "row Σ"
    describe(bottom.left, {
      role: "rowheader",
      "aria-colindex": 1,
      "aria-label": "sum of the column",
    }).textContent = "column Σ"
    bottom.right?.setAttribute("role", "presentation")
  }

  drawView() {
    const { scroller, sizes, size, lines, drawn } = this
    /** @type {(start: number, extent: number, length: number, count: number) => number[]} */
    const span = (start, extent, length, count) => [
      Math.max(0, Math.floor(start / length) - OVERSCAN),
      Math.min(count, Math.ceil((start + extent) / length) + OVERSCAN),
    ]
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = scroller
    const [left, right] = span(scrollLeft, Math.max(clientWidth, 200), sizes.width, size.columns)
    const [top, bottom] = span(scrollTop, Math.max(clientHeight, 700), CELL.height, size.rows)
    const range = [left, right, top, bottom].join()
    if (range === this.range) return
    this.range = range
    for (const [row, { node }] of lines) {
      if (row >= top && row < bottom) continue
      node.remove()
      lines.delete(row)
    }
    const wanted = new Set()
    /** @type {(key: string, draw: () => HTMLElement) => void} */
    const need = (key, draw) => {
      wanted.add(key)
      if (!drawn.has(key)) drawn.set(key, draw())
    }
    for (let column = left; column < right; column++) this.drawColumn(column, need)
    for (let row = top; row < bottom; row++) this.drawRow(row, [left, right], need)
    for (const [key, node] of drawn) {
      if (wanted.has(key)) continue
      node.remove()
      drawn.delete(key)
    }
    this.mark()
  }

  /** @param {number} column @param {(key: string, draw: () => HTMLElement) => void} need */
  drawColumn(column, need) {
    const { top, bottom, data, sizes } = this
    need(`c${column}`, () => drawColumnLabel(top, data, column, sizes))
    if (bottom) need(`cs${column}`, () => drawColumnSum(bottom, data, column, sizes))
  }

  /** @param {number} row @param {number[]} columns the first, and the one after the last @param {(key: string, draw: () => HTMLElement) => void} need */
  drawRow(row, [left, right], need) {
    const { data, sizes, scale } = this
    const line = this.lines.get(row) ?? this.makeRow(row)
    need(`r${row}`, () => line.left)
    for (let column = left; column < right; column++)
      need(`${row},${column}`, () => drawCell(line, data, row, column, sizes, scale))
  }

  /** @param {number} row */
  makeRow(row) {
    const line = makeLine(this.body, "row", row + 2, this.hasSums, CELL.height)
    place(line.node, { top: row * CELL.height })
    nameRow(line, this.data, row)
    sumRow(line, this.data, row)
    this.lines.set(row, line)
    return line
  }

  /** Bands along the row and the column of the cell that is pointed at, and lines where the second sentence begins. */
  drawOverlay() {
    const { overlay, sizes, extent, data, active } = this
    overlay.replaceChildren()
    /** @type {(name: string, box: Partial<typeof extent> & {left?: number, top?: number}) => void} */
    const add = (name, box) => {
      place(make(overlay, "div", name), { left: 0, top: 0, ...extent, ...box })
    }
    const [across, down] = [data.columns, data.rows].map(({ segments }) => segments.indexOf(1))
    if (across > 0) add("boundary", { left: across * sizes.width - 1, width: 2 })
    if (down > 0) add("boundary", { top: down * CELL.height - 1, height: 2 })
    if (!active) return
    add("band", { top: active.row * CELL.height, height: CELL.height })
    add("band", { left: active.column * sizes.width, width: sizes.width })
  }

  /** The cell that is read: pointed at, or held. */
  get active() {
    return this.pointed ?? this.heldCell
  }

  /** @param {PointerEvent} event @returns {Cell | null} */
  cellUnder(event) {
    const node = event.target instanceof Element ? event.target.closest(".cell") : null
    return node instanceof HTMLElement
      ? { row: Number(node.dataset.row) - 1, column: Number(node.dataset.column) - 1 }
      : null
  }

  /** @param {Cell | null} cell */
  point(cell) {
    this.pointed = cell
    const { active } = this
    if (active)
      describe(this.scroller, { "aria-activedescendant": `cell-${active.row}-${active.column}` })
    else this.scroller.removeAttribute("aria-activedescendant")
    this.drawOverlay()
    this.mark()
    this.readCell()
  }

  /** Hold a cell; again: let it go. The server learns of it for the link. @param {Cell | null} cell */
  hold(cell) {
    const { data, heldCell } = this
    const isSame = heldCell?.row === cell?.row && heldCell?.column === cell?.column
    this.held =
      isSame || !cell
        ? []
        : [data.rows.positions[cell.row][0] + 1, data.columns.positions[cell.column][0] + 1]
    this.tell("view", { held: this.held })
    this.point(cell)
  }

  mark() {
    const { active, marked, drawn } = this
    const on = active
      ? [`r${active.row}`, `c${active.column}`, `${active.row},${active.column}`]
      : []
    for (const [key, node] of drawn) {
      node.classList.toggle("on", on.includes(key))
      node.classList.toggle("marked", marked !== null && key === `${marked.row},${marked.column}`)
    }
  }

  readCell() {
    const { data, sentence, active, marked, heldCell } = this
    sentence.replaceChildren()
    /** @type {(className: string, text: string) => HTMLElement} */
    const part = (className, text) => make(sentence, "span", className, text)
    const cell = active ?? marked
    if (cell) {
      const value = data.values[cell.row * this.size.columns + cell.column]
      part("from", data.rows.labels[cell.row])
      part("", " → ")
      part("to", data.columns.labels[cell.column])
      part(
        "",
        `  ${isMasked(data, cell.row, cell.column) ? "not permitted" : format(value, EXACT_DIGITS)}, ${data.where}`,
      )
    }
    if (!active)
      part(
        "hint",
        `${cell ? "  · the pair shown on Home. " : ""}Point at a cell to read it, press to pin it.`,
      )
    else if (heldCell) part("hint", "  · pinned; press again to unpin")
  }

  /** @param {KeyboardEvent} event */
  moveByKey(event) {
    const step = STEPS[event.key]
    if (event.key === "Escape") {
      if (this.held.length) this.hold(null)
      this.point(null)
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault()
      if (this.active) this.hold(this.active)
    } else if (step) {
      event.preventDefault()
      const from = this.active ?? this.marked ?? { row: -step[0], column: -step[1] } // else the first step leads to the first cell
      const { rows, columns } = this.size
      const cell = {
        row: clamp(from.row + step[0], 0, rows - 1),
        column: clamp(from.column + step[1], 0, columns - 1),
      }
      this.reveal(cell)
      this.point(cell)
    }
  }

  /** Where a cell is in what scrolls, and how much of that can be seen, in pixels. @param {Cell} cell */
  placeOf({ row, column }) {
    const { scroller, sizes } = this
    return {
      x: column * sizes.width,
      wide: scroller.clientWidth - sizes.rowHead - (this.hasSums ? SUM.width : 0),
      y: row * CELL.height,
      high: scroller.clientHeight - sizes.head - (this.hasSums ? SUM.height : 0),
    }
  }

  /** Scroll the cell that is held to the middle of what is visible; likewise the one that is named, where it is out of view. */
  showMarked() {
    const { marked, scroller } = this
    if (!marked) return
    const { x, y, wide, high } = this.placeOf(marked)
    const isOut =
      x < scroller.scrollLeft ||
      x + this.sizes.width > scroller.scrollLeft + wide ||
      y < scroller.scrollTop ||
      y + CELL.height > scroller.scrollTop + high
    if (!this.heldCell && !isOut) return
    Object.assign(this.scroller, {
      scrollLeft: x - (wide - this.sizes.width) / 2,
      scrollTop: y - (high - CELL.height) / 2,
    })
    this.drawView()
  }

  /** Scroll a cell into view. @param {Cell} cell */
  reveal(cell) {
    const {
      scroller,
      sizes: { width },
    } = this
    const { x, y, wide, high } = this.placeOf(cell)
    if (x < scroller.scrollLeft) scroller.scrollLeft = x
    if (x + width > scroller.scrollLeft + wide) scroller.scrollLeft = x + width - wide
    if (y < scroller.scrollTop) scroller.scrollTop = y
    if (y + CELL.height > scroller.scrollTop + high) scroller.scrollTop = y + CELL.height - high
    this.drawView()
  }
}

/** What tells one text's tokens from another's, whichever of them are shown. @param {Data} data */
function tokensOf({ rows, columns }) {
  return [...rows.labels, ...columns.labels].join("\n")
}

/** In pixels, as wide as a label gets when it is pointed at. @param {HTMLElement} root @param {Data} data */
function widestLabel(root, { rows, columns }) {
  const style = getComputedStyle(root)
  const widthOf = textWidths(`650 ${style.fontSize} ${style.fontFamily}`)
  return Math.max(0, ...[...rows.labels, ...columns.labels].map(widthOf))
}
