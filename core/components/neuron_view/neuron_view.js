// The neuron view: tokens that ask, lines to those that are asked, and one row a key: its vector and its
// products with the query as colour cells, then dot product, score and attention. State and events are
// here; rows outside the view are not in the page.

import { make } from "../shared/dom.js"
import { mount } from "../shared/mount.js"
import { drawRows, readColours, sizeCanvas } from "./cells.js"
import { viewOf } from "./choice.js"
import { TOKENS, WIDTH, columnAt, columnCount, columnKind, measure, spanOf, weightLeast } from "./layout.js"
import { WORK_MS, drawQueries } from "./lines.js"
import { colourLimits, sameVectors } from "./numbers.js"
import { drawBar, drawHeads, drawRow, drawStripRow, makeParts } from "./table.js"
import { cellWords, pairWords } from "./words.js"

const OVERSCAN = 4 // rows drawn beyond the edge
const LINES = [[800, 2], [560, 3], [0, 4]] // of the sentence, from so many pixels of width on
const LINE_HEIGHT = 21 // pixels
const HINT = "Point at a query on the left to take it apart, click it to keep it. Point at a cell to read it, click a row to make it the pair. Arrow keys move, Enter chooses."

export default function (component) {
  return mount(component, createView, (view, data) => view.update(data, (choice) => component.setStateValue("choice", choice)))
}

function createView(parentElement) {
  const ui = makeParts(parentElement)
  /** @type {any} */
  const state = { ui, head: null, send: null, chosen: null, pointed: null, view: null, layout: null, at: null, rows: new Map(), window: "", frame: 0, lines: { row: 0, frame: 0 } }
  const removers = []
  const on = (target, type, listener, options) => {
    target.addEventListener(type, listener, options)
    removers.push(() => target.removeEventListener(type, listener, options))
  }
  const redraw = () => { if (state.head) layOut(state) }
  on(ui.scroller, "scroll", () => {
    ui.tip.hidden = true
    if (!state.frame) state.frame = requestAnimationFrame(() => { state.frame = 0; drawWindow(state) })
  }, { passive: true })
  on(ui.world, "pointermove", (event) => hover(state, event))
  on(ui.world, "pointerleave", () => leave(state))
  on(ui.world, "click", (event) => act(state, placeUnder(state, event)))
  on(ui.scroller, "keydown", (event) => moveByKey(state, event))
  on(ui.scroller, "blur", () => leave(state))
  on(ui.byIndex, "click", () => choose(state, { byContribution: false }))
  on(ui.byContribution, "click", () => choose(state, { byContribution: true }))
  on(ui.fold, "click", () => choose(state, { folded: !state.view.folded }))
  for (const button of ui.pairs) on(button, "click", () => choose(state, { pairs: button.value }))
  on(matchMedia("(prefers-color-scheme: dark)"), "change", redraw)
  const resize = new ResizeObserver(() => { if (ui.root.clientWidth !== state.width) redraw() })
  resize.observe(ui.root)
  return {
    update: (data, send) => update(state, data, send),
    destroy() {
      cancelAnimationFrame(state.frame)
      cancelAnimationFrame(state.lines.frame)
      resize.disconnect()
      for (const remove of removers) remove()
      ui.root.remove()
    },
  }
}

function update(state, data, send) {
  const { query, pairKey, byContribution, folded, pairs, turn, ...rest } = data
  const head = { ...rest, tokens: data.labels.length }
  head.limits = state.head && sameVectors(head, state.head) ? state.head.limits : colourLimits(head)
  const before = state.view
  const same = state.head && state.head.labels.join("\n") === head.labels.join("\n")
  // What is older than a choice already made here does not undo it.
  if (!(same && turn < state.turn)) state.chosen = { query, pairKey, byContribution, folded, pairs }
  Object.assign(state, { head, send, turn: same ? Math.max(turn, state.turn) : turn })
  if (!same) Object.assign(state, { at: null, pointed: null })
  state.view = viewOf(head, state.chosen, state.pointed)
  layOut(state)
  const { view } = state
  if (view.key !== null && (before?.query !== view.query || before?.key !== view.key)) reveal(state, { row: view.keys.indexOf(view.key), column: 1 }, 1 / 3)
}

// What is chosen is told to the server; what is pointed at never is.
function choose(state, change) {
  Object.assign(state.chosen, change)
  state.turn += 1
  state.view = viewOf(state.head, state.chosen, state.pointed)
  if (state.view.kept === null) state.chosen.query = null // a query that the pairs leave out is let go
  layOut(state)
  state.send({ ...state.chosen, turn: state.turn })
}

// Another query for as long as it is pointed at; null goes back to the one that is kept, or to all.
function pointAtQuery(state, query) {
  if (state.pointed === query) return
  state.pointed = query
  const before = state.view.query
  state.view = viewOf(state.head, state.chosen, query)
  if (state.view.query !== before) fill(state)
}

function layOut(state) {
  const { ui, head, view } = state
  state.width = ui.root.clientWidth
  if (!state.width) return
  state.colours = readColours(ui.root)
  ui.root.classList.toggle("folded", view.folded)
  const rows = Math.max(view.queries.length, view.keys.length)
  state.layout = measure(ui, head, view.folded, rows)
  const { lead, label, block, gap, row, start } = state.layout
  const columns = view.folded ? [] : [block, block]
  const widths = [lead, label, ...columns, WIDTH.dot, WIDTH.score]
  const used = widths.reduce((sum, width) => sum + width + gap, 0)
  const weight = Math.min(WIDTH.weightMost, Math.max(weightLeast(view.folded), state.width - state.layout.edge - used))
  state.layout.weight = weight
  const set = (name, value) => ui.world.style.setProperty(name, value)
  set("--columns", `${widths.map((width) => `${width}px`).join(" ")} minmax(${weight}px, 1fr)`)
  set("--world", `${used + weight}px`)
  set("--gap", `${gap}px`)
  set("--asking", `${state.layout.asking}px`)
  set("--key", `${state.layout.key}px`)
  set("--start", `${start}px`)
  set("--dot", String(view.folded ? 3 : 5))
  ui.body.style.height = `${rows * row}px`
  ui.scroller.setAttribute("aria-rowcount", String(rows + 2))
  ui.scroller.setAttribute("aria-colcount", String(columnCount(head, view.folded)))
  drawBar(state)
  fill(state)
}

// All that depends on the query.
function fill(state) {
  const { ui, head, view } = state
  if (!state.layout) return
  const query = view.query === null ? "all queries" : `query ${head.labels[view.query]}`
  ui.scroller.setAttribute("aria-label", `${head.where}: ${query} and the keys of ${view.keys.length} tokens`)
  drawHeads(state)
  drawStripRow(state)
  say(state)
  ui.body.replaceChildren()
  state.drawnLines = make(ui.body, "canvas", "lines")
  state.canvas = view.folded ? null : make(ui.body, "canvas")
  state.bands = ["band", "band", "band across"].map((name) => make(ui.body, "div", name))
  state.stripBand = make(ui.strip, "div", "band")
  state.rows.clear()
  state.window = ""
  drawWindow(state)
  point(state, state.at)
}

function drawWindow(state) {
  const { ui, head, layout, view, colours } = state
  const rows = Math.max(view.queries.length, view.keys.length)
  const first = Math.max(0, Math.floor(ui.scroller.scrollTop / layout.row) - OVERSCAN)
  const last = Math.min(rows, first + Math.ceil(Math.max(ui.scroller.clientHeight, 560) / layout.row) + 2 * OVERSCAN)
  if (state.window === `${first},${last}`) return
  state.window = `${first},${last}`
  for (const [row, node] of state.rows) {
    if (row >= first && row < last) continue
    node.remove()
    state.rows.delete(row)
  }
  for (let row = first; row < last; row++) if (!state.rows.has(row)) state.rows.set(row, drawRow(state, row))
  startLines(state, { first, last })
  if (!state.canvas) return
  state.canvas.style.top = `${first * layout.row}px`
  const pen = sizeCanvas(state.canvas, 2 * layout.block + layout.gap, (last - first) * layout.row)
  drawRows(pen, head, view, { first, last }, layout, colours)
}

// Lines are drawn at once where their weights are known or few, and else in the frames that follow.
function startLines(state, span) {
  const { head, layout, view, colours, lines, drawnLines } = state
  cancelAnimationFrame(lines.frame)
  drawnLines.style.top = `${span.first * layout.row}px`
  drawnLines.dataset.drawn = "no"
  const pen = sizeCanvas(drawnLines, layout.lead - layout.asking + layout.gap, (span.last - span.first) * layout.row)
  const step = (from) => {
    const row = drawQueries(pen, head, view, from, span, layout, colours, performance.now() + WORK_MS)
    if (row < view.queries.length) lines.frame = requestAnimationFrame(() => step(row))
    else drawnLines.dataset.drawn = view.query === null ? "all" : String(view.query + 1)
  }
  step(0)
}

// The cell under the pointer, or null between the columns. Keys stay in view when the table is scrolled.
function placeUnder({ ui, head, layout, view }, event) {
  const strip = ui.strip.getBoundingClientRect()
  if (event.clientY < strip.top) return null
  const inStrip = event.clientY < strip.bottom
  const row = inStrip ? -1 : Math.floor((event.clientY - ui.body.getBoundingClientRect().top) / layout.row)
  const x = event.clientX - ui.world.getBoundingClientRect().left
  const key = Math.max(layout.key, ui.scroller.scrollLeft)
  const column = x >= key && x < key + layout.label ? 1 : columnAt(layout, head, view.folded, x)
  return column < 0 || row >= tokensOf(view, column).length ? null : { row, column }
}

function tokensOf(view, column) {
  return column === 0 ? view.queries : view.keys
}

function hover(state, event) {
  const at = placeUnder(state, event)
  follow(state, at)
  point(state, at)
  const { tip } = state.ui
  tip.hidden = true
  if (!at || at.column === 0) return
  tip.hidden = false
  tip.replaceChildren()
  for (const line of cellWords(state.head, state.view, at)) make(tip, "div", "", line)
  const wide = tip.offsetWidth + 14
  tip.style.left = `${event.clientX + wide + 8 > window.innerWidth ? Math.max(4, event.clientX - wide) : event.clientX + 14}px`
  tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 6)}px`
}

// A query that is pointed at is shown. Where none is kept it stays until the table is left, so that its
// cells can be read.
function follow(state, at) {
  if (at?.column === 0 && at.row >= 0) pointAtQuery(state, state.view.queries[at.row])
  else if (state.view.kept !== null) pointAtQuery(state, null)
}

function leave(state) {
  state.ui.tip.hidden = true
  pointAtQuery(state, null)
  point(state, null)
}

// A query is kept, or let go; any other cell of a row makes its key the pair, or no longer.
function act(state, at) {
  if (!at || at.row < 0) return
  const { view } = state
  const token = tokensOf(view, at.column)[at.row]
  if (at.column === 0) choose(state, { query: token === view.kept ? null : token })
  else if (view.query !== null) choose(state, { pairKey: token === view.pairKey ? null : token })
}

function moveByKey(state, event) {
  const { head, view, at, ui, layout } = state
  const last = columnCount(head, view.folded) - 1
  const page = Math.max(1, Math.floor(ui.scroller.clientHeight / layout.row) - 4)
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-page, 0], PageDown: [page, 0], Home: [0, -last], End: [0, last] }
  if (event.key === "Escape") {
    leave(state)
    if (view.pairKey !== null) choose(state, { pairKey: null })
    else if (view.kept !== null) choose(state, { query: null })
  } else if (event.key === "Enter" || event.key === " ") act(state, at)
  else if (event.key in steps) {
    const [down, across] = steps[event.key]
    const clamp = (value, least, most) => Math.max(least, Math.min(most, value))
    const column = at ? clamp(at.column + across, 0, last) : view.query === null ? 0 : 1
    const row = at ? at.row + down : Math.max(0, view.keys.indexOf(view.key))
    const to = { row: clamp(row, -1, tokensOf(view, column).length - 1), column }
    reveal(state, to)
    ui.tip.hidden = true
    follow(state, to)
    point(state, to)
  } else return
  event.preventDefault()
}

// Scrolls a cell into view; one below the view, to this share of its height from the bottom.
function reveal({ ui, layout, head, view }, at, share = 0) {
  const { scroller } = ui
  if (!layout) return
  const y = Math.max(0, at.row) * layout.row
  const below = ui.body.offsetTop + y + layout.row - scroller.clientHeight
  if (y < scroller.scrollTop) scroller.scrollTop = y
  if (below > scroller.scrollTop) scroller.scrollTop = below + share * scroller.clientHeight
  if (at.column === 0) scroller.scrollLeft = 0
  if (at.column < TOKENS) return // keys stay in view
  const [left, width] = spanOf(layout, head, view.folded, at.column)
  if (left - layout.label < scroller.scrollLeft) scroller.scrollLeft = left - layout.label - 4
  if (left + width > scroller.scrollLeft + scroller.clientWidth) scroller.scrollLeft = left + width - scroller.clientWidth + 4
}

function point(state, at) {
  const { ui, head, view } = state
  const there = at && at.column < columnCount(head, view.folded) && at.row < tokensOf(view, at.column).length
  state.at = there ? at : null
  mark(state)
  ui.reading.replaceChildren()
  if (state.at) make(ui.reading, "span", "", cellWords(head, view, state.at).join(" · "))
  else make(ui.reading, "span", "hint", HINT)
}

// Lines along the column and the row of the cell that is pointed at, and a frame around it.
function mark(state) {
  const { ui, head, view, layout, at, bands } = state
  for (const band of [...bands, state.stripBand]) band.hidden = true
  for (const row of state.rows.values()) row.classList.remove("on")
  ui.world.querySelector(".active")?.remove()
  ui.scroller.removeAttribute("aria-activedescendant")
  if (!at) return
  const { kind, place } = columnKind(head, view.folded, at.column)
  if (place >= 0) {
    const columns = [TOKENS + place, TOKENS + head.dim + place]
    columns.forEach((column, i) => show(bands[i], spanOf(layout, head, view.folded, column)))
    show(state.stripBand, spanOf(layout, head, view.folded, columns[kind === "product" && at.row < 0 ? 1 : 0]))
  }
  if (at.row >= 0 && at.column > 0) {
    Object.assign(bands[2].style, { top: `${at.row * layout.row}px`, height: `${layout.row}px` })
    bands[2].hidden = false
  }
  const row = at.row < 0 ? ui.strip : state.rows.get(at.row)
  if (!row) return
  row.classList.toggle("on", at.row >= 0 && at.column > 0)
  const active = make(row, "div", "active")
  const [left, width] = spanOf(layout, head, view.folded, at.column)
  Object.assign(active.style, { left: `${left}px`, width: `${width}px`, top: "1px", bottom: "1px" })
  active.id = "active-cell"
  active.classList.toggle("unseen", at.column < TOKENS) // the token's own colours show it
  active.setAttribute("role", "gridcell")
  active.setAttribute("aria-colindex", String(at.column + 1))
  active.setAttribute("aria-label", cellWords(head, view, at).join(", "))
  ui.scroller.setAttribute("aria-activedescendant", "active-cell")
}

function show(band, [left, width]) {
  Object.assign(band.style, { left: `${left}px`, width: `${width}px` })
  band.hidden = false
}

// The sentence keeps the height of its longest, so that the table stays under the pointer.
function say({ ui, head, view, width }) {
  ui.sentence.replaceChildren()
  for (const [className, text] of pairWords(head, view)) make(ui.sentence, "span", className, text)
  const [, lines] = LINES.find(([least]) => width >= least) ?? LINES[LINES.length - 1]
  const known = ui.sentence.dataset.width === String(width) ? parseFloat(ui.sentence.style.minHeight) : 0
  ui.sentence.dataset.width = String(width)
  ui.sentence.style.minHeight = `${Math.max(known, lines * LINE_HEIGHT, ui.sentence.offsetHeight)}px`
}
