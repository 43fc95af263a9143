// The neuron view: tokens that ask, lines to those that are asked, and one row per key: its vector and its products with
// the query as colour cells, then dot product, score and attention. State and events are here; rows out of view are not
// in the page.

import { clamp, describe, make, place, placeOf, setParts, sizeCanvas } from "../shared/dom.js"
import { tableSteps } from "../shared/keys.js"
import { readLayer } from "../shared/layer.js"
import { bothSides } from "../shared/sentences.js"
import { View, mount } from "../shared/view.js"
import { viewOf } from "./choice.js"
import { drawQueries, drawRows, readColours } from "./drawing.js"
import { MAX_WEIGHT, TOKENS, columnAt, measure, placeColumns } from "./layout.js"
import { colourLimits, sameVectors } from "./numbers.js"
import { drawBar, drawHeads, drawRow, drawStripRow, makeParts } from "./table.js"
import { cellWords, pairWords } from "./words.js"

/** @import { Component } from "../shared/view.js" */
/** @import { Chosen, View as Choice } from "./choice.js" */
/** @import { Colours, Span } from "./drawing.js" */
/** @import { Layout } from "./layout.js" */
/** @import { Facts, Head } from "./numbers.js" */
/** @typedef {Omit<Facts, "limits" | "tokens"> & Chosen} Sent */
/** @typedef {{row: number, column: number}} Cell row -1 is the query's; columns as layout.js counts them */

const OVERSCAN = 4 // rows drawn beyond the edge
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
  /** @type {Cell | null} */ cell = null // that is pointed at
  /** @type {Map<number, HTMLElement>} */ rows = new Map() // in the page
  /** @type {HTMLElement[]} */ bands = [] // over two columns and a row
  range = "" // of rows in the page
  linesFrame = 0

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.ui = makeParts(this.root)
    this.lines = describe(make(null, "canvas", "lines"), { "aria-hidden": true }) // numbers say the same
    this.vectors = describe(make(null, "canvas"), { "aria-hidden": true }) // arrow keys read its cells
    this.stripBand = make(null, "div", "band")
    const { scroller, world, byIndex, byContribution, pairs, tip } = this.ui
    this.listen(
      scroller,
      "scroll",
      () => {
        tip.hide()
        this.nextFrame(() => this.drawRows())
      },
      { passive: true },
    )
    this.listen(world, "pointermove", (event) => this.hover(event))
    this.listen(world, "pointerleave", () => this.leave())
    this.listen(world, "click", (event) => this.act(this.cellUnder(event)))
    this.listen(scroller, "keydown", (event) => this.moveByKey(event))
    this.listen(scroller, "blur", () => this.leave())
    this.listen(byIndex, "click", () => this.choose({ byContribution: false }))
    this.listen(byContribution, "click", () => this.choose({ byContribution: true }))
    for (const button of pairs)
      this.listen(button, "click", () =>
        this.choose({ pairs: /** @type {Chosen["pairs"]} */ (button.value) }),
      )
  }

  destroy() {
    super.destroy()
    cancelAnimationFrame(this.linesFrame)
  }

  /** @param {Sent} sent @param {boolean} isSent */
  update({ query, pairKey, byContribution, pairs, ...data }, isSent) {
    const before = { head: this.head, view: this.view }
    const isSame = before.head && JSON.stringify(before.head.sides) === JSON.stringify(data.sides)
    const layer = readLayer(data, 0)
    const isSameHead = before.head && sameVectors(layer, before.head)
    this.head = {
      ...data,
      ...layer,
      tokens: bothSides(data.sides),
      limits: isSameHead ? before.head.limits : colourLimits(layer),
    }
    if (isSent) this.chosen = { query, pairKey, byContribution, pairs }
    if (!isSame) Object.assign(this, { cell: null, pointed: null })
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
    this.tell("view", this.chosen)
  }

  /** Show another query while it is pointed at; null goes back to the one that is kept, or to all. @param {number | null} query */
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
    place(ui.body, { height: rowCount * row })
    describe(ui.scroller, {
      "aria-rowcount": rowCount + 2,
      "aria-colcount": this.layout.columns.length,
    })
    drawBar(this)
    this.fill()
  }

  /** All that depends on the query. */
  fill() {
    const { ui, head, view } = this
    if (!this.layout) return
    const query =
      view.query === null ? "all queries" : `query ${head.tokens.queries.labels[view.query]}`
    describe(ui.scroller, {
      "aria-label": `${head.where}: ${query} and the keys of ${view.keys.length} tokens`,
    })
    drawHeads(this)
    drawStripRow(this)
    setParts(ui.sentence, pairWords(head, view))
    ui.body.replaceChildren(this.lines, this.vectors)
    this.bands = ["band", "band", "band across"].map((name) => make(ui.body, "div", name))
    ui.strip.append(this.stripBand)
    this.rows.clear()
    this.range = ""
    this.drawRows()
    this.point(this.cell)
  }

  drawRows() {
    const { ui, layout, rows } = this
    const first = Math.max(0, Math.floor(ui.scroller.scrollTop / layout.row) - OVERSCAN)
    const count = Math.ceil(Math.max(ui.scroller.clientHeight, 560) / layout.row) + 2 * OVERSCAN
    const span = { first, last: Math.min(this.rowCount, first + count) }
    if (this.range === Object.values(span).join()) return
    this.range = Object.values(span).join()
    for (const [row, node] of rows) {
      if (row >= span.first && row < span.last) continue
      node.remove()
      rows.delete(row)
    }
    for (let row = span.first; row < span.last; row++)
      if (!rows.has(row)) rows.set(row, drawRow(this, row))
    this.drawLines(span)
    drawRows(this.spanCanvas(this.vectors, span, 2 * layout.block + layout.gap), this, span)
  }

  /** @param {HTMLCanvasElement} canvas @param {Span} span of rows that it covers @param {number} width */
  spanCanvas(canvas, { first, last }, width) {
    const { row } = this.layout
    const pen = sizeCanvas(place(canvas, { top: first * row }), width, (last - first) * row)
    pen.clearRect(0, 0, width, (last - first) * row)
    return pen
  }

  /** At once where their weights are known or few, else in the frames that follow. @param {Span} span */
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

  /** The cell under the pointer; null between columns. Keys stay in view when the table is scrolled. @param {PointerEvent} event @returns {Cell | null} */
  cellUnder(event) {
    const { ui, layout } = this
    const strip = ui.strip.getBoundingClientRect()
    if (event.clientY < strip.top) return null
    const row =
      event.clientY < strip.bottom ? -1 : Math.floor(placeOf(ui.body, event).y / layout.row)
    const { x } = placeOf(ui.world, event)
    const key = Math.max(layout.key, ui.scroller.scrollLeft)
    const column = x >= key && x < key + layout.label ? 1 : columnAt(layout, x)
    return column < 0 || row >= this.tokensOf(column).length ? null : { row, column }
  }

  /** @param {number} column */
  tokensOf(column) {
    return column === 0 ? this.view.queries : this.view.keys
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const cell = this.cellUnder(event)
    this.follow(cell)
    this.point(cell)
    const { tip } = this.ui
    if (cell && cell.column > 0) tip.show(event, "", this.wordsOf(cell))
    else tip.hide()
  }

  /** @param {Cell} cell */
  wordsOf({ row, column }) {
    return cellWords(this.head, this.view, row, this.layout.columns[column])
  }

  /** Show the query that is pointed at. Where none is kept, it stays until the table is left, so that its cells can be read. @param {Cell | null} cell */
  follow(cell) {
    if (cell?.column === 0 && cell.row >= 0) this.pointAtQuery(this.view.queries[cell.row])
    else if (this.view.keptQuery !== null) this.pointAtQuery(null)
  }

  leave() {
    this.ui.tip.hide()
    this.pointAtQuery(null)
    this.point(null)
  }

  /** Keep or release a query; any other cell of a row makes its key the pair, or no longer. @param {Cell | null} cell */
  act(cell) {
    if (!cell || cell.row < 0) return
    const { view } = this
    const token = this.tokensOf(cell.column)[cell.row]
    if (cell.column === 0) this.choose({ query: token === view.keptQuery ? null : token })
    else if (view.query !== null) this.choose({ pairKey: token === view.pairKey ? null : token })
  }

  /** @param {KeyboardEvent} event */
  moveByKey(event) {
    const { view, cell, ui, layout } = this
    const last = layout.columns.length - 1
    const page = Math.max(1, Math.floor(ui.scroller.clientHeight / layout.row) - 4)
    const steps = tableSteps(page, last)
    if (event.key === "Escape") {
      this.leave()
      if (view.pairKey !== null) this.choose({ pairKey: null })
      else if (view.keptQuery !== null) this.choose({ query: null })
    } else if (event.key === "Enter" || event.key === " ") this.act(cell)
    else if (event.key in steps) {
      const [down, across] = steps[event.key]
      const column = cell ? clamp(cell.column + across, 0, last) : view.query === null ? 0 : 1
      const row = cell ? cell.row + down : Math.max(0, view.keys.indexOf(view.key ?? -1))
      const next = { row: clamp(row, -1, this.tokensOf(column).length - 1), column }
      this.reveal(next)
      ui.tip.hide()
      this.follow(next)
      this.point(next)
    } else return
    event.preventDefault()
  }

  /** Scroll a cell into view; one below the view, to this share of the height from the bottom. @param {Cell} cell @param {number} [share] */
  reveal(cell, share = 0) {
    const { ui, layout } = this
    const { scroller, body } = ui
    if (!layout) return
    const y = Math.max(0, cell.row) * layout.row
    const below = body.offsetTop + y + layout.row - scroller.clientHeight
    if (y < scroller.scrollTop) scroller.scrollTop = y
    if (below > scroller.scrollTop) scroller.scrollTop = below + share * scroller.clientHeight
    if (cell.column === 0) scroller.scrollLeft = 0
    if (cell.column < TOKENS) return // keys stay in view
    const { left, width } = layout.columns[cell.column]
    if (left - layout.label < scroller.scrollLeft) scroller.scrollLeft = left - layout.label - 4
    if (left + width > scroller.scrollLeft + scroller.clientWidth)
      scroller.scrollLeft = left + width - scroller.clientWidth + 4
  }

  /** @param {Cell | null} cell */
  point(cell) {
    const { ui, layout } = this
    const exists =
      cell && cell.column < layout.columns.length && cell.row < this.tokensOf(cell.column).length
    this.cell = exists ? cell : null
    this.mark()
    const [kind, words] = exists ? ["", this.wordsOf(cell).join(" · ")] : ["hint", HINT]
    ui.reading.replaceChildren(make(null, "span", kind, words))
  }

  /** Bands along the column and the row of the cell that is pointed at, and a frame around it. */
  mark() {
    const { ui, head, layout, cell, bands, stripBand } = this
    for (const band of [...bands, stripBand]) band.hidden = true
    for (const row of this.rows.values()) row.classList.remove("on")
    ui.world.querySelector(".active")?.remove()
    ui.scroller.removeAttribute("aria-activedescendant")
    if (!cell) return
    /** @type {(band: HTMLElement, column: number) => void} */
    const show = (band, column) => {
      const { left, width } = layout.columns[column]
      place(band, { left, width }).hidden = false
    }
    const { kind, dim } = layout.columns[cell.column]
    if (dim >= 0) {
      const columns = [TOKENS + dim, TOKENS + head.dim + dim]
      columns.forEach((column, i) => show(bands[i], column))
      show(stripBand, columns[kind === "product" && cell.row < 0 ? 1 : 0])
    }
    const isInRow = cell.row >= 0 && cell.column > 0
    if (isInRow) place(bands[2], { top: cell.row * layout.row, height: layout.row }).hidden = false
    const row = cell.row < 0 ? ui.strip : this.rows.get(cell.row)
    if (!row) return
    row.classList.toggle("on", isInRow)
    const active = place(make(row, "div", "active"), { top: 1, bottom: 1 })
    show(active, cell.column)
    active.classList.toggle("unseen", cell.column < TOKENS) // the token's own colours show it
    const label = this.wordsOf(cell).join(", ")
    describe(active, {
      id: "active-cell",
      role: "gridcell",
      "aria-colindex": cell.column + 1,
      "aria-label": label,
    })
    describe(ui.scroller, { "aria-activedescendant": "active-cell" })
  }
}
