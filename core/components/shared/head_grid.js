// Layers down, heads across: one canvas with every picture, and over it labels and a cell per head, one of them in the
// tab order.

import { around, setAttrs, el } from "./dom.js"
import { Focus, cellAfter } from "./focus.js"

/** @import { Cell, Items } from "./focus.js" */
/** @import { View } from "./view.js" */

export class HeadGrid {
  size = { rows: 1, columns: 1 } // layers and heads
  columns = "" // column widths, in CSS

  /** @param {View} view @param {HTMLElement} parent @param {Pick<Items<Cell>, "point" | "read" | "pin" | "release">} items */
  constructor(view, parent, items) {
    this.node = el(parent, "div", "world")
    this.sheet = el(this.node, "canvas", "sheet")
    /** @type {Focus<Cell>} */
    this.focus = new Focus(view, this.node, {
      idOf: cellOf,
      nodeOf: (cell) => this.nodeAt(cell),
      step: (key, from) => from && cellAfter(key, from, this.size),
      ...items,
    })
  }

  /** Rebuild the grid, keeping the keyboard focus in place. @param {{rows: number, columns: number}} size layers and heads @param {string} press what Enter does @param {string} columns widths @param {() => void} addRows @param {Cell} [start] in the tab order */
  build(size, press, columns, addRows, start) {
    Object.assign(this, { size, columns })
    const label = `${size.rows} layers down, ${size.columns} heads across; arrow keys move, Enter ${press}`
    setAttrs(this.node, { role: "grid", "aria-label": label })
    this.sheet = setAttrs(el(null, "canvas", "sheet"), { "aria-hidden": true })
    this.focus.redraw(() => {
      this.node.replaceChildren(this.sheet)
      addRows()
    }, start)
  }

  /** @param {number} height in pixels */
  addRow(height) {
    const row = setAttrs(el(this.node, "div", "row"), { role: "row" })
    Object.assign(row.style, { gridTemplateColumns: this.columns, height: `${height}px` })
    return row
  }

  /** @param {HTMLElement} parent @param {Cell} cell @param {Record<string, string>} attributes */
  addCell(parent, { row, column }, attributes) {
    const place = { "data-row": row, "data-column": column, tabindex: -1 }
    return setAttrs(el(parent, "div"), { role: "gridcell", ...place, ...attributes })
  }

  /** @param {Cell} cell */
  nodeAt({ row, column }) {
    return /** @type {HTMLElement} */ (
      this.node.querySelector(`[data-row="${row}"][data-column="${column}"]`)
    )
  }
}

/** The cell that a node is in. @param {EventTarget | null} target @returns {Cell | null} */
export function cellOf(target) {
  const node = around(target, "[data-row]")
  return node && { row: Number(node.dataset.row), column: Number(node.dataset.column) }
}
