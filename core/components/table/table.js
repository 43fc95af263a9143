// The heatmap table: state and events. Elements are drawn in rows.js, only those near the view.

import {
  around,
  clamp,
  setAttrs,
  el,
  setPx,
  scrolledTo,
  spanInView,
  textWidths,
} from "../shared/dom.js"
import { Focus, cellAfter } from "../shared/focus.js"
import { readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"
import {
  CELL,
  DIGITS,
  EXACT_DIGITS,
  SUM,
  drawLegend,
  drawRow,
  fillBottom,
  fillTop,
  format,
  isMasked,
  makeLine,
  makeScale,
} from "./rows.js"

/** @import { Cell } from "../shared/focus.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Line, Scale, Sizes } from "./rows.js" */
/**
 * @typedef {{labels: string[], special: boolean[], segments: number[], positions: number[][]}} Side positions: of each one's pieces, from 0
 * @typedef {object} Data
 * @property {Side} rows
 * @property {Side} columns
 * @property {string} where
 * @property {"attention" | "scores"} kind
 * @property {number[]} held positions of a query and a key, from 1; none if empty
 * @property {number[]} found likewise
 * @property {Float32Array} values row by row
 * @property {Uint8Array} [permitted] likewise; absent if everything is
 * @property {Float32Array} rowSums
 * @property {Float32Array} columnSums
 */

const PHONE = 560 // pixels; narrower is a phone

/** @param {Component} component */
export default function (component) {
  return mount(component, TableView)
}

export class TableView extends View {
  /** @type {Data} */ data
  /** @type {Scale} */ scale
  /** @type {number[]} */ held = [] // positions, as in links
  /** @type {Line} */ top
  /** @type {Line | null} */ bottom
  /** @type {ReturnType<typeof spanInView> | null} */ across = null // columns that are drawn
  /** @type {ReturnType<typeof spanInView> | null} */ down = null // rows
  /** @type {Sizes} */ sizes

  /** @param {Component} component */
  constructor(component) {
    super(component)
    const readout = el(this.root, "div", "readout")
    this.sentence = setAttrs(el(readout, "div", "sentence"), { "aria-live": "polite" })
    this.legend = el(readout, "div", "legend")
    this.scroller = setAttrs(el(this.root, "div", "scroller"), { tabindex: 0, role: "grid" })
    this.world = setAttrs(el(this.scroller, "div", "world"), { role: "presentation" })
    this.body = el(null, "div", "body")
    this.overlay = el(null, "div", "overlay")
    this.listen(this.scroller, "scroll", () => this.nextFrame(() => this.drawView()), {
      passive: true,
    })
    /** @type {Focus<Cell>} */
    this.focus = new Focus(this, this.scroller, {
      idOf: cellOfNode,
      // Without a cell to start from, the first step leads to the first cell.
      step: (key) =>
        cellAfter(key, this.active ?? this.marked ?? { row: -1, column: -1 }, this.size),
      point: (cell, isByKeys) => {
        if (cell && isByKeys) this.reveal(cell)
        this.readCell()
      },
      enter: () => this.focus.point(this.marked ?? { row: 0, column: 0 }),
      pin: (cell) => this.hold(cell),
      release: () => {
        this.focus.id = null
        if (this.held.length) this.hold(null)
        else this.readCell()
      },
      isPinned: () => this.heldCell !== null,
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

  /** The cell that is highlighted while none is pointed at. */
  get marked() {
    return this.heldCell ?? this.cellOf(this.data.found)
  }

  /** The cell that is read: the one pointed at, or the pinned one. */
  get active() {
    return this.focus.id ?? this.heldCell
  }

  /** @param {Data} data @param {boolean} isFromServer */
  update(data, isFromServer) {
    const isNewText = !this.data || tokensOf(this.data) !== tokensOf(data)
    if (isNewText) this.focus.id = null
    if (isFromServer) this.held = data.held
    this.data = data
    this.layOut()
    if ((isNewText || isFromServer) && this.marked) this.reveal(this.marked, true)
    this.readCell()
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
    setPx(world, { width: rowHead + width + sum })
    setAttrs(this.scroller, {
      "aria-rowcount": size.rows + 1 + sums,
      "aria-colcount": size.columns + 1 + sums,
      "aria-label": `${data.kind} of ${data.where}, ${size.rows} by ${size.columns} tokens`,
    })
    this.top = makeLine("top", 1, hasSums, head)
    this.bottom = hasSums ? makeLine("bottom", size.rows + 2, true, SUM.height) : null
    world.replaceChildren(this.top.node, setPx(this.body, { height }))
    if (this.bottom) world.append(this.bottom.node)
    setPx(this.overlay, { left: rowHead, width })
    this.nameCorners()
    this.across = this.down = null
    this.drawView()
  }

  /** @returns {Sizes} */
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
    const { top, bottom, size } = this
    /** @type {(node: HTMLElement | null, role: string, column: number, label: string) => void} */
    const name = (node, role, column, label) => {
      if (node) setAttrs(node, { role, "aria-colindex": column, "aria-label": label })
    }
    name(top.left, "columnheader", 1, "from (query), to (key)")
    setPx(el(top.left, "span", "to", "to →"), { right: 6, top: 5 })
    setPx(el(top.left, "span", "from", "from ↓"), { left: 8, bottom: 4 })
    if (!bottom || !top.right) return
    name(top.right, "columnheader", size.columns + 2, "sum of the row")
    name(bottom.left, "rowheader", 1, "sum of the column")
    top.right.textContent = "row Σ"
    bottom.left.textContent = "column Σ"
    bottom.right?.setAttribute("role", "presentation")
  }

  drawView() {
    const { scroller, sizes, size, data, scale, top, bottom, body, overlay } = this
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = scroller
    const [wide, high] = [Math.max(clientWidth, 200), Math.max(clientHeight, 700)]
    const across = spanInView(this.across, scrollLeft, wide, sizes.width, size.columns)
    const down = spanInView(this.down, scrollTop, high, CELL.height, size.rows)
    if (across === this.across && down === this.down) return
    Object.assign(this, { across, down })
    const [columns, rows] = [across, down].map(({ first, last }) =>
      Array.from({ length: last - first }, (_, i) => first + i),
    )
    fillTop(top, data, columns, sizes)
    if (bottom) fillBottom(bottom, data, columns, sizes)
    body.replaceChildren(overlay, ...rows.map((row) => drawRow(data, row, columns, sizes, scale)))
    this.mark()
  }

  /** Mark the cell that is read, with its tokens, row and column, the pinned cell, and where the second sentence begins. */
  mark() {
    const { overlay, sizes, extent, data, active, marked, scroller, world } = this
    for (const node of world.querySelectorAll(".on, .marked")) node.classList.remove("on", "marked")
    /** @type {(name: string, selector: string) => void} */
    const mark = (name, selector) => world.querySelector(selector)?.classList.add(name)
    if (marked) mark("marked", `#cell-${marked.row}-${marked.column}`)
    overlay.replaceChildren()
    /** @type {(name: string, box: Partial<typeof extent> & {left?: number, top?: number}) => void} */
    const add = (name, box) => {
      setPx(el(overlay, "div", name), { left: 0, top: 0, ...extent, ...box })
    }
    const [across, down] = [data.columns, data.rows].map(({ segments }) => segments.indexOf(1))
    if (across > 0) add("boundary", { left: across * sizes.width - 1, width: 2 })
    if (down > 0) add("boundary", { top: down * CELL.height - 1, height: 2 })
    scroller.removeAttribute("aria-activedescendant")
    if (!active) return
    const { row, column } = active
    setAttrs(scroller, { "aria-activedescendant": `cell-${row}-${column}` })
    mark("on", `#cell-${row}-${column}`)
    mark("on", `.row[aria-rowindex="${row + 2}"] > .left`)
    mark("on", `.top .label[aria-colindex="${column + 2}"]`)
    add("band", { top: row * CELL.height, height: CELL.height })
    add("band", { left: column * sizes.width, width: sizes.width })
  }

  /** Pin a cell; again: release it. The server is told, for the link. @param {Cell | null} cell */
  hold(cell) {
    const { data, heldCell } = this
    const isSame = heldCell?.row === cell?.row && heldCell?.column === cell?.column
    this.held =
      isSame || !cell
        ? []
        : [data.rows.positions[cell.row][0] + 1, data.columns.positions[cell.column][0] + 1]
    this.sendReport("view", { held: this.held })
    this.focus.id = cell
    this.readCell()
  }

  readCell() {
    const { data, sentence, active, marked, heldCell } = this
    this.mark()
    sentence.replaceChildren()
    /** @type {(className: string, text: string) => HTMLElement} */
    const part = (className, text) => el(sentence, "span", className, text)
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

  /** Scroll a cell into view; to its middle if it is pinned or was out of view, and `isCentred`. @param {Cell} cell @param {boolean} [isCentred] */
  reveal({ row, column }, isCentred = false) {
    const { scroller, sizes, hasSums, heldCell } = this
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = scroller
    const [x, y, { width }, { height }] = [column * sizes.width, row * CELL.height, sizes, CELL]
    const wide = clientWidth - sizes.rowHead - (hasSums ? SUM.width : 0)
    const high = clientHeight - sizes.head - (hasSums ? SUM.height : 0)
    const left = scrolledTo(scrollLeft, x, width, wide)
    const top = scrolledTo(scrollTop, y, height, high)
    const moves = heldCell !== null || left !== scrollLeft || top !== scrollTop
    if (!isCentred) scroller.scrollTo(left, top)
    else if (moves) scroller.scrollTo(x - (wide - width) / 2, y - (high - height) / 2)
    this.drawView()
  }
}

/** @param {EventTarget | null} target @returns {Cell | null} */
function cellOfNode(target) {
  const node = around(target, ".cell")
  return node && { row: Number(node.dataset.row) - 1, column: Number(node.dataset.column) - 1 }
}

/** Identifies a text's tokens, whichever of them are shown. @param {Data} data */
function tokensOf({ rows, columns }) {
  return [...rows.labels, ...columns.labels].join("\n")
}

/** In pixels, as wide as a label gets when it is pointed at. @param {HTMLElement} root @param {Data} data */
function widestLabel(root, { rows, columns }) {
  const style = getComputedStyle(root)
  const widthOf = textWidths(`650 ${style.fontSize} ${style.fontFamily}`)
  return Math.max(0, ...[...rows.labels, ...columns.labels].map(widthOf))
}
