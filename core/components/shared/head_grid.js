// Layers down, heads across: one canvas with every picture, over it labels and a cell for each. One cell or label is in
// the tab order.

import { clamp, describe, make } from "./dom.js"
import { tableSteps } from "./keys.js"

/** @typedef {{row: number, column: number}} Place of a cell, from 0; a label has -1 for what it is not in */

const STEPS = tableSteps()

export class HeadGrid {
  place = { row: 0, column: 0 } // in the tab order
  size = { rows: 1, columns: 1 }
  columns = "" // their widths, as a style sheet has them

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.node = make(parent, "div", "world")
    this.sheet = make(this.node, "canvas", "sheet")
  }

  /** Build the grid anew; the focus stays in its place. @param {{rows: number, columns: number}} size layers and heads @param {string} press what Enter does @param {string} columns widths @param {() => void} addRows */
  build(size, press, columns, addRows) {
    const hadFocus = this.hasFocus
    Object.assign(this, { size, columns })
    this.place = this.clamped(this.place)
    const label = `${size.rows} layers down, ${size.columns} heads across; arrow keys move, Enter ${press}`
    describe(this.node, { role: "grid", "aria-label": label })
    this.sheet = describe(make(null, "canvas", "sheet"), { "aria-hidden": true })
    this.node.replaceChildren(this.sheet)
    addRows()
    this.nodeAt(this.place).tabIndex = 0
    if (hadFocus) this.nodeAt(this.place).focus({ preventScroll: true })
  }

  get hasFocus() {
    return this.node.matches(":focus-within")
  }

  /** @param {number} height in pixels */
  addRow(height) {
    const row = describe(make(this.node, "div", "row"), { role: "row" })
    Object.assign(row.style, { gridTemplateColumns: this.columns, height: `${height}px` })
    return row
  }

  /** A cell or a label that can be pressed. @param {HTMLElement} parent @param {Place} place @param {Record<string, string>} attributes */
  addCell(parent, { row, column }, attributes) {
    const place = { "data-row": row, "data-column": column, tabindex: -1 }
    return describe(make(parent, "div"), { role: "gridcell", ...place, ...attributes })
  }

  /** @param {Place} place */
  clamped({ row, column }) {
    const { rows, columns } = this.size
    return { row: clamp(row, 0, rows - 1), column: clamp(column, 0, columns - 1) }
  }

  /** Where a key leads; null for keys that do not move. @param {string} key @param {Place} from @returns {Place | null} */
  stepTo(key, { row, column }) {
    if (!STEPS[key]) return null
    const [down, across] = STEPS[key]
    return this.clamped({ row: row + down, column: column + across })
  }

  /** @param {Place} place */
  nodeAt({ row, column }) {
    return /** @type {HTMLElement} */ (
      this.node.querySelector(`[data-row="${row}"][data-column="${column}"]`)
    )
  }

  /** @param {Place} place */
  focusOn(place) {
    this.node.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1")
    this.place = place
    this.nodeAt(place).tabIndex = 0
    this.nodeAt(place).focus({ preventScroll: true })
  }

  /** @param {Place} place */
  moveTo(place) {
    this.focusOn(place)
    this.nodeAt(place).scrollIntoView({ block: "nearest", inline: "nearest" })
  }
}

/** The cell or label that an event is of. @param {EventTarget | null} target @returns {Place | null} */
export function placeIn(target) {
  const node = target instanceof Element ? target.closest("[data-row]") : null
  return node instanceof HTMLElement
    ? { row: Number(node.dataset.row), column: Number(node.dataset.column) }
    : null
}
