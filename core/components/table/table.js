// The heatmap table. Only the cells in view are in the page; tokens are set as text, never as HTML.

import { make, textWidths } from "../shared/dom.js"
import { mount } from "../shared/mount.js"
import { DIVERGING, SEQUENTIAL, colourSteps, paletteOf } from "../shared/scales.js"

const CELL = { height: 27, least: 50, most: 92 } // pixels
const SUM_WIDTH = 62
const OVERSCAN = 3 // rows and columns drawn beyond the edge

export default function (component) {
  return mount(component, createView, (view, data) => view.update({ ...data, size: data.displays.length }))
}

function createView(parentElement) {
  const root = make(parentElement, "div", "root")
  const readout = make(root, "div", "readout")
  const sentence = make(readout, "div", "sentence")
  sentence.setAttribute("aria-live", "polite")
  const legend = make(readout, "div", "legend")
  const scroller = make(root, "div", "scroller")
  scroller.tabIndex = 0
  scroller.setAttribute("role", "grid")
  const world = make(scroller, "div", "world")
  const parts = {}
  for (const [name, classes] of [
    ["corner", "top left corner"], ["columns", "top"], ["rowSumTitle", "top right corner"],
    ["rows", "left"], ["cells", "cells"], ["rowSums", "right"],
    ["columnSumTitle", "bottom left corner"], ["columnSums", "bottom"], ["last", "bottom right corner"],
  ]) parts[name] = make(world, "div", classes)

  /** @type {any} */
  const state = { table: null, scale: null, layout: null, at: null, pinned: false, drawn: new Map(), window: "", frame: 0 }
  const ui = { root, sentence, legend, scroller, world, parts }

  const onScroll = () => {
    if (!state.frame) state.frame = requestAnimationFrame(() => { state.frame = 0; drawWindow(ui, state) })
  }
  const onMove = (event) => {
    if (!state.pinned) point(ui, state, cellUnder(ui, state, event))
  }
  const onLeave = () => { if (!state.pinned) point(ui, state, null) }
  const onClick = (event) => {
    const cell = cellUnder(ui, state, event)
    const same = state.pinned && state.at && cell && state.at.row === cell.row && state.at.column === cell.column
    state.pinned = Boolean(cell) && !same
    point(ui, state, cell)
  }
  const onKey = (event) => moveByKey(ui, state, event)
  scroller.addEventListener("scroll", onScroll, { passive: true })
  parts.cells.addEventListener("pointermove", onMove)
  parts.cells.addEventListener("pointerleave", onLeave)
  parts.cells.addEventListener("click", onClick)
  scroller.addEventListener("keydown", onKey)
  const resize = new ResizeObserver(() => { if (state.table) layOut(ui, state) })
  resize.observe(root)

  return {
    update(table) {
      if (state.table && (state.table.size !== table.size || state.table.labels.join("\n") !== table.labels.join("\n"))) {
        state.at = null
        state.pinned = false
      }
      state.table = table
      state.scale = makeScale(root, table)
      drawLegend(ui, state)
      layOut(ui, state)
      point(ui, state, state.at)
    },
    destroy() {
      cancelAnimationFrame(state.frame)
      resize.disconnect()
      scroller.removeEventListener("scroll", onScroll)
      parts.cells.removeEventListener("pointermove", onMove)
      parts.cells.removeEventListener("pointerleave", onLeave)
      parts.cells.removeEventListener("click", onClick)
      scroller.removeEventListener("keydown", onKey)
      root.remove()
    },
  }
}

// Attention: 0 to the largest value (or 1). Scores: symmetric around 0.
function makeScale(root, table) {
  const signed = table.kind === "scores"
  let largest = 0
  for (const value of table.values) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value))
  const top = table.fullScale && !signed ? 1 : largest || 1
  const steps = colourSteps(paletteOf(root, signed ? DIVERGING : SEQUENTIAL))
  const colour = (value) => {
    const share = signed ? 0.5 + value / (2 * top) : value / top
    return steps[Math.max(0, Math.min(255, Math.round(share * 255)))]
  }
  return { colour, steps, low: signed ? -top : 0, top }
}

function drawLegend({ root, legend }, { scale, table }) {
  const chart = getComputedStyle(root).getPropertyValue("--st-chart-categorical-colors").split(",")
  root.style.setProperty("--atlas-query", chart[0])
  root.style.setProperty("--atlas-key", chart[1])
  legend.replaceChildren()
  const digits = table.kind === "scores" ? 1 : scale.top < 0.01 ? 4 : 2
  make(legend, "div", "", scale.low.toFixed(scale.low ? digits : 0))
  const ramp = make(legend, "div", "ramp")
  const stops = [0, 64, 128, 192, 255].map((step) => scale.steps[step].css)
  ramp.style.background = `linear-gradient(to right, ${stops})`
  make(legend, "div", "", scale.top.toFixed(digits))
}

function layOut(ui, state) {
  const { table } = state
  const { root, world, parts, scroller } = ui
  const phone = root.clientWidth < 560
  const longest = widestLabel(root, table)
  const rowHead = Math.max(64, Math.min(phone ? 96 : 160, Math.ceil(longest) + 16))
  const free = root.clientWidth - rowHead - SUM_WIDTH - 20
  const width = Math.max(CELL.least, Math.min(CELL.most, Math.floor(free / table.size)))
  const turned = longest + 8 > width
  const head = turned ? Math.max(40, Math.min(116, Math.ceil(longest) + 18)) : 40
  state.layout = { width, height: CELL.height, rowHead, head, turned }
  const sums = table.kind !== "scores" // logits have no meaningful sum
  world.classList.toggle("no-sums", !sums)
  world.style.gridTemplateColumns = `${rowHead}px ${table.size * width}px ${sums ? SUM_WIDTH : 0}px`
  world.style.gridTemplateRows = `${head}px ${table.size * CELL.height}px ${sums ? 30 : 0}px`
  scroller.setAttribute("aria-rowcount", String(table.size))
  scroller.setAttribute("aria-colcount", String(table.size))
  scroller.setAttribute("aria-label", `${table.kind} of ${table.where}, ${table.size} by ${table.size} tokens`)
  for (const part of Object.values(parts)) part.replaceChildren()
  drawCorners(ui, state)
  state.drawn.clear()
  state.window = ""
  drawWindow(ui, state)
  if (state.at) point(ui, state, state.at)
}

// Width in pixels of the widest label, as the page's font draws it.
function widestLabel(root, { displays, labels }) {
  const style = getComputedStyle(root)
  const widthOf = textWidths(`650 ${style.fontSize} ${style.fontFamily}`) // as wide as a label gets: pointed at
  const numbered = 8 // room for the number of a repeated word
  return displays.reduce(
    (widest, text, i) => Math.max(widest, widthOf(text) + (text === labels[i] ? 0 : numbered)), 0,
  )
}

function drawCorners({ parts }, { table }) {
  make(parts.corner, "span", "to", "to →").style.cssText = "right: 6px; top: 5px"
  make(parts.corner, "span", "from", "from ↓").style.cssText = "left: 8px; bottom: 4px"
  if (table.kind === "scores") return
  make(parts.rowSumTitle, "div", "label", "row Σ").style.cssText = `inset: auto 0 4px 0; font-size: 11px`
  make(parts.columnSumTitle, "div", "label", "column Σ").style.cssText = `inset: 6px 0 0 0; font-size: 11px; text-align: right`
}

function drawWindow(ui, state) {
  const { table, layout } = state
  const { scroller, parts } = ui
  const span = (start, extent, size) => [
    Math.max(0, Math.floor(start / size) - OVERSCAN),
    Math.min(table.size, Math.ceil((start + extent) / size) + OVERSCAN),
  ]
  const wide = Math.max(scroller.clientWidth, 200)
  const [left, right] = span(scroller.scrollLeft, wide, layout.width)
  const [top, bottom] = span(scroller.scrollTop, Math.max(scroller.clientHeight, 700), layout.height)
  const window = [left, right, top, bottom].join()
  if (window === state.window) return
  state.window = window
  const wanted = new Set()
  const need = (key, draw) => {
    wanted.add(key)
    if (!state.drawn.has(key)) state.drawn.set(key, draw())
  }
  for (let column = left; column < right; column++) {
    need(`c${column}`, () => drawLabel(parts.columns, state, column, true))
    if (table.kind !== "scores") need(`cs${column}`, () => drawSum(parts.columnSums, state, column, true))
  }
  for (let row = top; row < bottom; row++) {
    need(`r${row}`, () => drawLabel(parts.rows, state, row, false))
    if (table.kind !== "scores") need(`rs${row}`, () => drawSum(parts.rowSums, state, row, false))
    for (let column = left; column < right; column++) {
      need(`${row},${column}`, () => drawCell(parts.cells, state, row, column))
    }
  }
  for (const [key, node] of state.drawn) {
    if (!wanted.has(key)) {
      node.remove()
      state.drawn.delete(key)
    }
  }
  drawBoundary(parts.cells, state)
  mark(state)
}

function place(node, left, top, width, height) {
  node.style.left = `${left}px`
  node.style.top = `${top}px`
  node.style.width = `${width}px`
  node.style.height = `${height}px`
  return node
}

function drawLabel(parent, { table, layout }, index, isColumn) {
  const node = make(parent, "div", "label", table.displays[index])
  // Repeated words carry their number, as in the file that is saved.
  const nth = table.labels[index].slice(table.displays[index].length).match(/\d+/)
  if (nth) make(node, "sub", "", nth[0])
  node.title = `${table.labels[index]} · position ${index + 1}`
  node.setAttribute("role", isColumn ? "columnheader" : "rowheader")
  if (table.special[index]) node.classList.add("special")
  if (!isColumn) {
    node.style.lineHeight = `${layout.height}px`
    return place(node, 0, index * layout.height, layout.rowHead - 1, layout.height)
  }
  const height = layout.head
  if (layout.turned) node.classList.add("turned")
  node.style.lineHeight = layout.turned ? `${layout.width}px` : `${height}px`
  return place(node, index * layout.width, 0, layout.width, height - 1)
}

function drawSum(parent, { table, layout }, index, isColumn) {
  const value = isColumn ? table.columnSums[index] : table.rowSums[index]
  const node = make(parent, "div", "sum", value.toFixed(isColumn ? 2 : 3))
  node.style.lineHeight = isColumn ? "29px" : `${layout.height}px`
  return isColumn
    ? place(node, index * layout.width, 0, layout.width, 29)
    : place(node, 0, index * layout.height, SUM_WIDTH - 1, layout.height)
}

function drawCell(parent, { table, layout, scale }, row, column) {
  const value = table.values[row * table.size + column]
  const masked = !Number.isFinite(value)
  const node = make(parent, "div", masked ? "cell masked" : "cell", masked ? "–" : written(value, table.kind === "scores" ? 2 : 3))
  node.setAttribute("role", "gridcell")
  node.id = `cell-${row}-${column}`
  node.setAttribute("aria-rowindex", String(row + 1))
  node.setAttribute("aria-colindex", String(column + 1))
  node.style.lineHeight = `${layout.height - 1}px`
  if (!masked) {
    const { css, ink } = scale.colour(value)
    node.style.background = css
    node.style.color = ink
  }
  return place(node, column * layout.width, row * layout.height, layout.width, layout.height)
}

// Without the minus sign of a number that is rounded to zero.
function written(value, digits) {
  return value.toFixed(digits).replace(/^-(0\.0+)$/, "$1")
}

// A line where the second sentence begins.
function drawBoundary(parent, { table, layout }) {
  for (const old of parent.querySelectorAll(".boundary")) old.remove()
  const start = table.segments.indexOf(1)
  if (start <= 0) return
  const extent = table.size
  place(make(parent, "div", "boundary"), start * layout.width - 1, 0, 2, extent * layout.height)
  place(make(parent, "div", "boundary"), 0, start * layout.height - 1, extent * layout.width, 2)
}

function cellUnder({ parts }, { table, layout }, event) {
  const box = parts.cells.getBoundingClientRect()
  const column = Math.floor((event.clientX - box.left) / layout.width)
  const row = Math.floor((event.clientY - box.top) / layout.height)
  const inside = row >= 0 && column >= 0 && row < table.size && column < table.size
  return inside ? { row, column } : null
}

function point(ui, state, cell) {
  const same = state.at && cell && state.at.row === cell.row && state.at.column === cell.column
  state.at = cell
  if (!same) for (const band of ui.parts.cells.querySelectorAll(".band")) band.remove()
  if (cell && !same) {
    const { layout, table } = state
    place(make(ui.parts.cells, "div", "band"), 0, cell.row * layout.height, table.size * layout.width, layout.height)
    place(make(ui.parts.cells, "div", "band"), cell.column * layout.width, 0, layout.width, table.size * layout.height)
  }
  if (cell) ui.scroller.setAttribute("aria-activedescendant", `cell-${cell.row}-${cell.column}`)
  else ui.scroller.removeAttribute("aria-activedescendant")
  mark(state)
  say(ui, state)
}

function mark(state) {
  for (const [key, node] of state.drawn) {
    const on = state.at && (key === `r${state.at.row}` || key === `c${state.at.column}` || key === `${state.at.row},${state.at.column}`)
    if (on || node.classList.contains("on")) node.classList.toggle("on", Boolean(on))
  }
}

function say({ sentence }, { table, at, pinned }) {
  sentence.replaceChildren()
  const part = (className, text) => make(sentence, "span", className, text)
  if (!at) return part("hint", "Point at a cell to read it; click to hold it; arrow keys move.")
  const value = table.values[at.row * table.size + at.column]
  part("from", table.labels[at.row])
  part("", " → ")
  part("to", table.labels[at.column])
  part("", `  ${Number.isFinite(value) ? written(value, 3) : "not permitted"}, ${table.where}`)
  if (pinned) part("hint", "  · held; click it again or press Escape to release")
}

function moveByKey(ui, state, event) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
  if (event.key === "Escape") {
    state.pinned = false
    point(ui, state, null)
  } else if (event.key in steps) {
    event.preventDefault()
    const [down, across] = steps[event.key]
    const clamp = (index) => Math.max(0, Math.min(state.table.size - 1, index))
    const { at } = state
    const to = at ? { row: clamp(at.row + down), column: clamp(at.column + across) } : { row: 0, column: 0 }
    state.pinned = true
    reveal(ui, state, to)
    point(ui, state, to)
  }
}

function reveal({ scroller }, { layout }, { row, column }) {
  const x = column * layout.width
  const y = row * layout.height
  const wide = scroller.clientWidth - layout.rowHead - SUM_WIDTH
  const high = scroller.clientHeight - layout.head - 30
  if (x < scroller.scrollLeft) scroller.scrollLeft = x
  if (x + layout.width > scroller.scrollLeft + wide) scroller.scrollLeft = x + layout.width - wide
  if (y < scroller.scrollTop) scroller.scrollTop = y
  if (y + layout.height > scroller.scrollTop + high) scroller.scrollTop = y + layout.height - high
}
