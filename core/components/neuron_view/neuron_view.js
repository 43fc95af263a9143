// The neuron view: query tokens, lines to key tokens, and one row per key: its vector and its products with the query as
// coloured cells, then dot product, score and attention. State and events are here; rows out of view are not in the
// page.

import {
  clamp,
  setAttrs,
  el,
  setPx,
  placeOf,
  scrolledTo,
  setParts,
  sizeCanvas,
  spanInView,
} from "../shared/dom.js"
import { Focus, cellAfter } from "../shared/focus.js"
import { readLayer } from "../shared/layer.js"
import { bothSides } from "../shared/sentences.js"
import { View, mount } from "../shared/view.js"
import { drawQueries, drawRows, readColours } from "./drawing.js"
import { MAX_WEIGHT, TOKENS, measure, placeColumns } from "./layout.js"
import { colourLimits, viewOf } from "./numbers.js"
import { drawBar, drawHeads, drawRow, drawStripRow, makeParts } from "./table.js"
import { cellWords, pairWords } from "./words.js"

/** @import { Cell } from "../shared/focus.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Colours, Span } from "./drawing.js" */
/** @import { Layout } from "./layout.js" */
/** @import { Chosen, Facts, Head, View as Choice } from "./numbers.js" */
/** @typedef {Omit<Facts, "limits" | "tokens"> & Chosen} Sent */

const WORK_MS = 10 // of a frame, for drawing lines
const HINT =
  "Point at a query on the left to break it down, press to pin it. Point at a cell to read it, press a row to choose that pair."

/** @param {Component} component */
export default function (component) {
  return mount(component, NeuronView)
}

export class NeuronView extends View {
  /** @type {Head} */ head
  /** @type {Chosen} */ chosen
  /** @type {Choice} */ view
  /** @type {Layout} */ layout
  /** @type {Colours} */ colours
  /** @type {number | null} */ pointed = null // a query
  /** @type {Span | null} */ span = null // rows in the page
  linesFrame = 0

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.ui = makeParts(this.root)
    this.lines = setAttrs(el(null, "canvas", "lines"), { "aria-hidden": true }) // numbers say the same
    this.vectors = setAttrs(el(null, "canvas"), { "aria-hidden": true }) // arrow keys read its cells
    const { scroller } = this.ui
    this.listen(scroller, "scroll", () => this.nextFrame(() => this.drawRows()), { passive: true })
    /** @type {Focus<Cell>} row -1 is the query's; columns as layout.js counts them */
    this.focus = new Focus(this, scroller, {
      idOf: () => null,
      at: (event) => this.cellUnder(event),
      step: (key) => this.cellAfter(key),
      point: (cell, isByKeys) => {
        if (cell && isByKeys) this.reveal(cell)
        this.follow(cell)
        this.read()
      },
      read: (cell) => (cell.column > 0 ? ["", this.wordsOf(cell)] : null),
      leave: () => this.pointAtQuery(null),
      pin: (cell) => this.act(cell),
      release: () => this.release(),
    })
  }

  destroy() {
    super.destroy()
    cancelAnimationFrame(this.linesFrame)
  }

  /** @param {Sent} sent @param {boolean} isFromServer */
  update({ query, pairKey, byContribution, pairs, ...data }, isFromServer) {
    const before = { head: this.head, view: this.view }
    const isSame = before.head && JSON.stringify(before.head.sides) === JSON.stringify(data.sides)
    const layer = readLayer(data, 0)
    const tokens = bothSides(data.sides)
    this.head = { ...data, ...layer, tokens, limits: colourLimits(layer) }
    if (isFromServer) this.chosen = { query, pairKey, byContribution, pairs }
    if (!isSame) this.focus.id = this.pointed = null
    this.view = viewOf(this.head, this.chosen, this.pointed)
    this.layOut()
    const { key, keys } = this.view
    const isNew = before.view?.query !== this.view.query || before.view?.key !== key
    if (key !== null && isNew) this.reveal({ row: keys.indexOf(key), column: 1 }, 1 / 3)
  }

  /** @param {Partial<Chosen>} change that the server learns of; what is only pointed at stays here */
  choose(change) {
    Object.assign(this.chosen, change)
    this.view = viewOf(this.head, this.chosen, this.pointed)
    if (this.view.keptQuery === null) this.chosen.query = null // a query that the pairs leave out is released
    this.layOut()
    this.sendReport("view", this.chosen)
  }

  /** Show another query while it is pointed at; null goes back to the pinned one, or to all. @param {number | null} query */
  pointAtQuery(query) {
    if (this.pointed === query) return
    this.pointed = query
    const before = this.view.query
    this.view = viewOf(this.head, this.chosen, query)
    if (this.view.query !== before) this.fill()
  }

  get facts() {
    const { query, key, byContribution } = this.view
    return {
      query: query === null ? "all" : query + 1,
      key_token: key === null ? "" : key + 1,
      sort: byContribution ? "contribution" : "index",
    }
  }

  get isDrawing() {
    return super.isDrawing || this.lines.dataset.drawn === "no"
  }

  get rowCount() {
    return Math.max(this.view.queries.length, this.view.keys.length)
  }

  layOut() {
    const { ui, root, head, rowCount } = this
    this.width = root.clientWidth
    if (!this.width) return
    this.colours = readColours(root)
    const sizes = measure(root, ui.scroller, head, rowCount)
    const { lead, label, block, gap, row, asking, key, dot, score, numbersFirst } = sizes
    const vectors = [block, block]
    const used = [lead, label, ...vectors, dot, score].reduce((sum, width) => sum + width + gap, 0)
    const weight = numbersFirst
      ? sizes.minWeight
      : clamp(this.width - sizes.edge - used, sizes.minWeight, MAX_WEIGHT)
    this.layout = placeColumns(sizes, weight, head)
    const { start, numbers } = this.layout
    const variables = {
      world: used + weight,
      gap,
      asking,
      key,
      start,
      first: Math.min(start, numbers),
    }
    for (const [name, value] of Object.entries(variables))
      ui.world.style.setProperty(`--${name}`, `${value}px`)
    const shown = numbersFirst ? [dot, score, weight, ...vectors] : [...vectors, dot, score]
    const columns = [lead, label, ...shown].map((width) => `${width}px`).join(" ")
    ui.world.style.setProperty(
      "--columns",
      numbersFirst ? columns : `${columns} minmax(${weight}px, 1fr)`,
    )
    const [k, first] = numbersFirst ? [6, 3] : [3, 5]
    ui.world.style.setProperty("--k", String(k))
    ui.world.style.setProperty("--dot", String(first))
    root.classList.toggle("phone", sizes.isPhone)
    setPx(ui.body, { height: rowCount * row })
    setAttrs(ui.scroller, {
      "aria-rowcount": rowCount + 2,
      "aria-colcount": this.layout.columns.length,
    })
    drawBar(this)
    this.fill()
  }

  /** Everything that depends on the query. */
  fill() {
    const { ui, head, view } = this
    if (!this.layout) return
    const query =
      view.query === null ? "all queries" : `query ${head.tokens.queries.labels[view.query]}`
    setAttrs(ui.scroller, {
      "aria-label": `${head.where}: ${query} and the keys of ${view.keys.length} tokens`,
    })
    drawHeads(this)
    drawStripRow(this)
    setParts(ui.sentence, pairWords(head, view))
    this.span = null
    this.drawRows()
    this.read()
  }

  drawRows() {
    const { ui, layout, rowCount } = this
    const { scrollTop, clientHeight } = ui.scroller
    const span = spanInView(this.span, scrollTop, Math.max(clientHeight, 560), layout.row, rowCount)
    if (span === this.span) return
    this.span = span
    const rows = Array.from({ length: span.last - span.first }, (_, i) =>
      drawRow(this, span.first + i),
    )
    ui.body.replaceChildren(this.lines, this.vectors, ...rows)
    this.drawLines(span)
    drawRows(this.spanCanvas(this.vectors, span, 2 * layout.block + layout.gap), this, span)
    this.mark()
  }

  /** @param {HTMLCanvasElement} canvas @param {Span} span of rows that it covers @param {number} width */
  spanCanvas(canvas, { first, last }, width) {
    const { row } = this.layout
    const pen = sizeCanvas(setPx(canvas, { top: first * row }), width, (last - first) * row)
    pen.clearRect(0, 0, width, (last - first) * row)
    return pen
  }

  /** Draw lines at once if their weights are known or few, else in the frames that follow. @param {Span} span */
  drawLines(span) {
    const { layout, view, lines } = this
    cancelAnimationFrame(this.linesFrame)
    lines.dataset.drawn = "no"
    const pen = this.spanCanvas(lines, span, layout.lead - layout.asking + layout.gap)
    /** @param {number} from */
    const step = (from) => {
      const row = drawQueries(pen, this, span, from, performance.now() + WORK_MS)
      if (row < view.queries.length) this.linesFrame = requestAnimationFrame(() => step(row))
      else lines.dataset.drawn = view.query === null ? "all" : String(view.query + 1)
    }
    step(0)
  }

  /** The cell under the pointer; null between columns. Keys stay in view when the table is scrolled. @param {MouseEvent} event @returns {Cell | null} */
  cellUnder(event) {
    const { ui, layout } = this
    const strip = ui.strip.getBoundingClientRect()
    if (event.clientY < strip.top || event.target === ui.scroller) return null // the scroll bar
    const row =
      event.clientY < strip.bottom ? -1 : Math.floor(placeOf(ui.body, event).y / layout.row)
    const { x } = placeOf(ui.world, event)
    const key = Math.max(layout.key, ui.scroller.scrollLeft)
    const isKey = x >= key && x < key + layout.label
    const column = isKey ? 1 : layout.columns.findIndex(({ from, to }) => x >= from && x < to)
    return column < 0 || row >= this.tokensOf(column).length ? null : { row, column }
  }

  /** @param {number} column */
  tokensOf(column) {
    return column === 0 ? this.view.queries : this.view.keys
  }

  /** @param {Cell} cell */
  wordsOf({ row, column }) {
    return cellWords(this.head, this.view, row, this.layout.columns[column])
  }

  /** Show the query that is pointed at. If none is pinned, it stays until the table is left, so that its cells can be read. @param {Cell | null} cell */
  follow(cell) {
    if (cell?.column === 0 && cell.row >= 0) this.pointAtQuery(this.view.queries[cell.row])
    else if (this.view.keptQuery !== null) this.pointAtQuery(null)
  }

  /** Pin or release a query; any other cell of a row chooses its key for the pair, or undoes that. @param {Cell} cell */
  act({ row, column }) {
    if (row < 0) return
    const { view } = this
    const token = this.tokensOf(column)[row]
    if (column === 0) this.choose({ query: token === view.keptQuery ? null : token })
    else if (view.query !== null) this.choose({ pairKey: token === view.pairKey ? null : token })
  }

  /** Release the chosen pair, else the pinned query. */
  release() {
    const { view } = this
    this.focus.point(null)
    this.pointAtQuery(null)
    if (view.pairKey !== null) this.choose({ pairKey: null })
    else if (view.keptQuery !== null) this.choose({ query: null })
  }

  /** The cell that a key leads to; from nowhere, the pair's. @param {string} key */
  cellAfter(key) {
    const { view, cell, rowCount } = this
    const from = { row: (cell?.row ?? 0) + 1, column: cell?.column ?? 0 } // below the query's row
    const size = { rows: rowCount + 1, columns: this.layout.columns.length }
    const next = cellAfter(key, from, size)
    if (!next) return null
    if (!cell)
      return {
        row: Math.max(0, view.keys.indexOf(view.key ?? -1)),
        column: view.query === null ? 0 : 1,
      }
    const { column } = next
    return { row: Math.min(next.row - 1, this.tokensOf(column).length - 1), column }
  }

  /** Scroll a cell into view; one below the view, to this share of the height from the bottom. @param {Cell} cell @param {number} [share] */
  reveal({ row, column }, share = 0) {
    const { ui, layout } = this
    const { scroller, body } = ui
    if (!layout) return
    const { scrollTop, clientHeight, clientWidth } = scroller
    const y = Math.max(0, row) * layout.row
    const top = scrolledTo(scrollTop, y, layout.row, clientHeight - body.offsetTop)
    scroller.scrollTop = top > scrollTop ? top + share * clientHeight : top
    if (column === 0) scroller.scrollLeft = 0
    if (column < TOKENS) return // keys stay in view
    const { left, width } = layout.columns[column]
    const around = layout.label + 8 // keys on the left, and pixels beside it
    const start = left - layout.label - 4
    scroller.scrollLeft = scrolledTo(scroller.scrollLeft, start, width + around, clientWidth)
  }

  /** The cell pointed at, if it exists. */
  get cell() {
    const { id } = this.focus
    const exists =
      id && id.column < this.layout.columns.length && id.row < this.tokensOf(id.column).length
    return exists ? id : null
  }

  read() {
    const { cell } = this
    this.mark()
    const [kind, words] = cell ? ["", this.wordsOf(cell).join(" · ")] : ["hint", HINT]
    this.ui.reading.replaceChildren(el(null, "span", kind, words))
  }

  /** Bands along the column and the row of the cell that is pointed at, and a frame around it. */
  mark() {
    const { ui, head, layout, cell } = this
    for (const node of ui.world.querySelectorAll(".band, .active")) node.remove()
    for (const node of ui.world.querySelectorAll(".on")) node.classList.remove("on")
    ui.scroller.removeAttribute("aria-activedescendant")
    if (!cell) return
    /** @type {(parent: Element, name: string, column: number) => HTMLElement} */
    const show = (parent, name, column) => {
      const { left, width } = layout.columns[column]
      return setPx(el(parent, "div", name), { left, width })
    }
    const { kind, dim } = layout.columns[cell.column]
    if (dim >= 0) {
      const columns = [TOKENS + dim, TOKENS + head.dim + dim]
      for (const column of columns) show(ui.body, "band", column)
      show(ui.strip, "band", columns[kind === "product" && cell.row < 0 ? 1 : 0])
    }
    const isInRow = cell.row >= 0 && cell.column > 0
    if (isInRow)
      setPx(el(ui.body, "div", "band across"), { top: cell.row * layout.row, height: layout.row })
    const selector = `.row[aria-rowindex="${cell.row + 3}"]`
    const row = cell.row < 0 ? ui.strip : ui.body.querySelector(selector)
    if (!row) return
    row.classList.toggle("on", isInRow)
    const name = cell.column < TOKENS ? "active unseen" : "active" // the token's own colours show it
    setAttrs(setPx(show(row, name, cell.column), { top: 1, bottom: 1 }), {
      id: "active-cell",
      role: "gridcell",
      "aria-colindex": cell.column + 1,
      "aria-label": this.wordsOf(cell).join(", "),
    })
    setAttrs(ui.scroller, { "aria-activedescendant": "active-cell" })
  }
}
