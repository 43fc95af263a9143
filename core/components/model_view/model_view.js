// The model view: every head of a model as a tile, layers down, heads across. State and structure are
// here, pixels in tiles.js, places in tile_grid.js, the enlargement in enlargement.js.

import { make } from "../shared/dom.js"
import { mount } from "../shared/mount.js"
import { SEQUENTIAL, luminance, paletteOf, parseColour } from "../shared/scales.js"
import { createPanel, written } from "./enlargement.js"
import { TILE, hiddenAfter, shownHeads, stepTo, tileSize } from "./tile_grid.js"
import { OPACITY, drawHeat, drawLines, fillImage, hueOf, pickLines, pictureOf, rampOf } from "./tiles.js"

const MOST_PIXELS = 16e6 // of one canvas: phones refuse larger ones
const DIMMED = 0.2 // how much is left of a head that is not among those highlighted
const SCALE = [0, 0.01, 0.1, 0.25, 0.5, 1] // weights marked on the legend
const LEAST_APART = 0.09 // of the legend's length, between two numbers
const REST = { ms: 300, pixels: 4 } // that a pointer stays for an enlargement to stay as well
const GRACE_MS = 250 // to cross other tiles on the way into an enlargement that stays

export default function (component) {
  return mount(component, createView, (view, data) => view.update(data, component))
}

function createView(parentElement, standalone) {
  const root = make(parentElement, "div", "root")
  const bar = make(root, "div", "bar")
  const hint = make(bar, "span", "hint", standalone
    ? "Point at a tile to enlarge it, rest to enter it; arrow keys move. Click a label to hide it, Shift-click to keep only it."
    : "Point at a tile to enlarge it, rest to enter it, click to open its head. Click a label to hide it, Shift-click to keep only it.")
  const restore = make(bar, "button", "restore")
  const legend = make(bar, "span", "legend")
  const scroller = make(root, "div", "scroller")
  const world = make(scroller, "div", "world")
  const panel = createPanel(root)
  const ui = { root, hint, restore, legend, scroller, world, panel, sheet: null }
  /** @type {any} */
  const state = { data: null, hidden: null, rows: [], size: null, at: { row: 0, column: 0 }, width: 0, touch: false, rest: { x: 0, y: 0, timer: 0 }, grace: 0, over: null, frame: 0, component: null }
  const listen = new AbortController()
  const on = (target, type, run, options = {}) => target.addEventListener(type, run, { ...options, signal: listen.signal })

  on(world, "pointerdown", (event) => { state.touch = event.pointerType === "touch" })
  on(world, "pointerover", (event) => {
    if (event.pointerType === "touch") return // the press that follows enlarges
    const place = placeOf(event.target)
    state.over = place && headAt(state, place) ? { place, event } : null
    pass(ui, state)
  })
  on(world, "pointermove", (event) => { if (event.pointerType !== "touch") rest(ui, state, event) })
  on(world, "pointerleave", (event) => {
    if (event.pointerType === "touch") return // a finger that was lifted: what it enlarged stays
    state.over = null
    pass(ui, state)
  })
  on(panel.node, "pointerenter", () => clearTimeout(state.grace))
  on(panel.node, "pointerleave", (event) => { if (event.pointerType !== "touch") pass(ui, state) })
  on(world, "click", (event) => {
    const place = placeOf(event.target)
    if (place) press(ui, state, place, event)
  })
  on(world, "keydown", (event) => moveByKey(ui, state, event))
  on(world, "focusout", () => panel.hide())
  on(restore, "click", () => hide(ui, state, { layers: [], heads: [] }))
  on(scroller, "scroll", () => panel.hide(), { passive: true })
  // A file follows the system's theme by itself; in the app a change of theme arrives as an update.
  if (standalone) on(window.matchMedia("(prefers-color-scheme: dark)"), "change", () => layOut(ui, state))
  const resize = new ResizeObserver(() => {
    if (!state.data || root.clientWidth === state.width || state.frame) return
    state.frame = requestAnimationFrame(() => { state.frame = 0; layOut(ui, state) })
  })
  resize.observe(root)

  return {
    update(data, from) {
      Object.assign(state, { data, component: from, hidden: data.hidden })
      panel.hide()
      layOut(ui, state)
    },
    destroy() {
      cancelAnimationFrame(state.frame)
      clearTimeout(state.grace)
      clearTimeout(state.rest.timer)
      resize.disconnect()
      listen.abort()
      root.remove()
    },
  }
}

// Everything that depends on the width, on what is hidden, or on the data.
function layOut(ui, state) {
  const { data, hidden } = state
  state.width = ui.root.clientWidth
  state.rows = shownHeads(data, hidden)
  state.size = tileSize(state.width, state.rows)
  state.at = {
    row: Math.min(Math.max(state.at.row, 0), state.rows.length - 1),
    column: Math.min(Math.max(state.at.column, 0), state.rows[0].heads.length - 1),
  }
  readTheme(ui, state)
  buildGrid(ui, state)
  drawTiles(ui, state)
  drawBar(ui, state)
}

function readTheme({ root }, state) {
  const read = (name) => getComputedStyle(root).getPropertyValue(name).trim()
  const chart = read("--st-chart-categorical-colors").split(",")
  root.style.setProperty("--atlas-query", chart[0])
  root.style.setProperty("--atlas-key", chart[1])
  const paper = parseColour(read("--st-background-color"))
  state.theme = { paper, ink: read("--st-text-color"), dark: luminance(paper) < 0.3, strength: paletteOf(root, SEQUENTIAL), ramps: new Map() }
}

// The grid's structure: labels and one transparent cell a head, over one canvas for all of them.
function buildGrid(ui, state) {
  const { world } = ui
  const { data, rows, size } = state
  const within = world.contains(world.getRootNode().activeElement)
  const across = rows[0].heads.length
  world.replaceChildren()
  world.setAttribute("role", "grid")
  world.setAttribute("aria-label", `${rows.length} layers down, ${across} heads across; arrow keys move, Enter opens a head`)
  world.style.width = `${TILE.label + across * (size.wide + TILE.gap)}px` // a gap after the label, none at the end
  ui.sheet = make(world, "canvas", "sheet")
  ui.sheet.setAttribute("aria-hidden", "true")
  const template = `${TILE.label}px repeat(${across}, ${size.wide}px)`
  const head = addRow(world, template, `${TILE.head}px`)
  make(head, "span", "corner")
  if (data.sorted) make(head, "span", "sorted", data.sorted)
  else rows[0].heads.forEach((each, column) => addLabel(head, "columnheader", `H${each + 1}`, -1, column, `head ${each + 1}`))
  rows.forEach(({ layer, heads }, row) => {
    const line = addRow(world, template, `${size.high}px`)
    addLabel(line, "rowheader", `L${layer + 1}`, row, -1, `layer ${layer + 1}`)
    heads.forEach((each, column) => addCell(line, state, layer, each, row, column))
  })
  const stop = cellAt(world, state.at)
  stop.tabIndex = 0
  if (within) stop.focus({ preventScroll: true })
}

function addRow(world, template, height) {
  const row = make(world, "div", "row")
  row.setAttribute("role", "row")
  row.style.gridTemplateColumns = template
  row.style.height = height
  return row
}

function addLabel(parent, role, text, row, column, name) {
  const node = make(parent, "div", `label ${role}`, text)
  node.setAttribute("role", role)
  node.setAttribute("aria-label", `${name}: Enter hides it, Shift and Enter keep only it`)
  node.title = `Click: hide ${name}. Shift-click: only ${name}.`
  return placed(node, row, column)
}

function addCell(parent, { data }, layer, head, row, column) {
  const node = make(parent, "div", "cell")
  const index = layer * data.heads + head
  const best = pairsOf(data, index)[0]
  node.setAttribute("role", "gridcell")
  node.setAttribute("aria-label", `Layer ${layer + 1}, head ${head + 1}. ${
    best ? `Strongest pair: ${best.from} to ${best.to}, ${written(best.weight)}` : "No pair is shown"}`)
  if (data.sorted) make(node, "span", "number", String(head + 1))
  const closest = data.lit.length === 0 && data.closest === index
  if (data.lit[index] || closest) {
    node.classList.add(closest ? "closest" : "lit")
    make(node, "span", "score", data.score[index].toFixed(2))
  }
  return placed(node, row, column)
}

function placed(node, row, column) {
  node.dataset.row = String(row)
  node.dataset.column = String(column)
  node.tabIndex = -1
  return node
}

function placeOf(target) {
  const node = target.closest?.("[data-row]")
  return node ? { row: Number(node.dataset.row), column: Number(node.dataset.column) } : null
}

function cellAt(world, { row, column }) {
  return world.querySelector(`[data-row="${row}"][data-column="${column}"]`)
}

// {layer, head, index} of a tile; null for a label.
function headAt(state, { row, column }) {
  return row < 0 || column < 0 ? null : tileAt(state, row, column)
}

function tileAt({ rows, data }, row, column) {
  const { layer, heads } = rows[row]
  return { layer, head: heads[column], index: layer * data.heads + heads[column] }
}

// The strongest pairs of a head: {from, to, row, column, weight}, at most three.
function pairsOf(data, index) {
  return [0, 1, 2].flatMap((nth) => {
    const weight = data.strongest[index * 3 + nth]
    const [row, column] = [0, 1].map((side) => data.pairs[(index * 3 + nth) * 2 + side])
    return row < 0 ? [] : [{ from: data.rows[row], to: data.columns[column], row, column, weight }]
  })
}

function tileOf(data, index) {
  const cells = data.shape.rows * data.shape.columns
  return data.tiles.subarray(index * cells, (index + 1) * cells)
}

// The colours of a head's picture: from the paper to its own colour, or the scale of strengths.
function rampFor({ data, theme }, { layer, head }, dimmed) {
  const [nth, count] = { layer: [layer, data.layers], head: [head, data.heads], strength: [0, 1] }[data.colour]
  const key = `${nth} ${dimmed}`
  if (!theme.ramps.has(key)) {
    const palette = data.colour === "strength"
      ? theme.strength : [theme.paper, hueOf(nth, count, data.colour === "layer", theme.dark)]
    theme.ramps.set(key, rampOf(palette, dimmed ? DIMMED : 1))
  }
  return theme.ramps.get(key)
}

function drawTiles({ sheet }, state) {
  const { data, rows, size } = state
  const step = { x: size.wide + TILE.gap, y: size.high + TILE.gap }
  const extent = { x: rows[0].heads.length * step.x, y: rows.length * step.y }
  const ratio = Math.min(window.devicePixelRatio || 1, Math.sqrt(MOST_PIXELS / (extent.x * extent.y)))
  Object.assign(sheet, { width: Math.round(extent.x * ratio), height: Math.round(extent.y * ratio) })
  sheet.style.cssText = `left:${TILE.label + TILE.gap}px;top:${TILE.head}px;width:${extent.x}px;height:${extent.y}px`
  // Kept in main memory: the pixels are worked out there.
  const pen = sheet.getContext("2d", { willReadFrequently: true })
  const picture = pictureOf(size.wide * ratio, size.high * ratio)
  const image = pen.createImageData(picture.width, picture.height)
  rows.forEach((line, row) => line.heads.forEach((_, column) => {
    const at = tileAt(state, row, column)
    const dimmed = data.lit.length > 0 && !data.lit[at.index]
    drawHead(picture, data, tileOf(data, at.index), data.lines.tile, Math.max(1, ratio * 1.1))
    fillImage(image, picture, rampFor(state, at, dimmed))
    pen.putImageData(image, Math.round(column * step.x * ratio), Math.round(row * step.y * ratio))
  }))
}

function drawHead(picture, data, tile, most, thick) {
  if (data.draw === "lines") drawLines(picture, tile, pickLines(tile, most), data.shape, thick)
  else drawHeat(picture, tile, data.shape)
}

function drawBar({ restore, legend }, state) {
  const { data, hidden, theme } = state
  const counts = [[hidden.layers.length, "layer"], [hidden.heads.length, "head"]].filter(([count]) => count)
  restore.hidden = counts.length === 0
  restore.textContent = `Show all (${counts.map(([count, name]) => `${count} ${name}${count > 1 ? "s" : ""}`).join(", ")} hidden)`
  legend.replaceChildren()
  make(legend, "span", "", data.draw === "lines" ? "a line's weight" : "a cell's weight")
  const ramp = make(legend, "span", "ramp")
  const colours = data.colour === "strength" ? theme.strength : [theme.paper, parseColour(theme.ink)]
  ramp.style.background = `linear-gradient(to right, ${colours.map((rgb) => `rgb(${rgb})`)})`
  let last = -1
  for (const weight of SCALE) {
    const share = data.draw === "lines" ? OPACITY[Math.round(255 * Math.sqrt(weight))] : Math.sqrt(weight)
    if (share - last < LEAST_APART) continue
    make(ramp, "i", "", String(weight)).style.left = `${100 * share}%`
    last = share
  }
}

function enlarge(ui, state, place, pointer) {
  const at = tileAt(state, place.row, place.column)
  const box = cellAt(ui.world, place).getBoundingClientRect()
  const { data } = state
  const score = data.score.length && Number.isFinite(data.score[at.index]) ? `${data.scoreName} ${data.score[at.index].toFixed(2)}` : ""
  ui.panel.show({
    title: nameOf(at), score, pairs: pairsOf(data, at.index), data, theme: state.theme, tile: tileOf(data, at.index),
    ramp: rampFor(state, at, false), draw: (picture, tile, thick) => drawHead(picture, data, tile, data.lines.enlarged, thick),
  })
  if (pointer) ui.panel.follow(pointer.clientX, pointer.clientY)
  else ui.panel.beside(box)
}

// The pointer went to another tile, or off them: at once, unless the enlargement stays to be entered.
function pass(ui, state) {
  const { panel } = ui
  const go = () => {
    const { over } = state
    if (!over) return panel.hide()
    if (!state.size || !headAt(state, over.place)) return panel.hide()
    enlarge(ui, state, over.place, over.event)
  }
  clearTimeout(state.grace)
  clearTimeout(state.rest.timer)
  if (panel.isSettled()) {
    const back = state.over && panel.isShown(nameOf(tileAt(state, state.over.place.row, state.over.place.column)))
    if (!back) state.grace = setTimeout(go, GRACE_MS)
  } else go()
}

// An enlargement follows the pointer until it rests.
function rest({ panel }, { rest, over }, { clientX, clientY }) {
  panel.follow(clientX, clientY)
  if (!over || (rest.timer && Math.hypot(clientX - rest.x, clientY - rest.y) <= REST.pixels)) return
  clearTimeout(rest.timer)
  Object.assign(rest, { x: clientX, y: clientY, timer: setTimeout(() => { rest.timer = 0; panel.settle() }, REST.ms) })
}

function nameOf({ layer, head }) {
  return `L${layer + 1} H${head + 1}`
}

function press(ui, state, place, event) {
  const at = headAt(state, place)
  focusOn(ui, state, place)
  if (!at) return toggle(ui, state, place, event.shiftKey)
  // A finger cannot point without pressing: its first tap enlarges, the second opens.
  if (state.touch && !ui.panel.isShown(nameOf(at))) {
    enlarge(ui, state, place)
    return ui.panel.settle()
  }
  open(state, at)
}

function open({ component }, { layer, head }) {
  component.setTriggerValue("open", { layer, head })
}

function toggle(ui, state, { row, column }, alone) {
  const { data, rows, hidden } = state
  hide(ui, state, row < 0
    ? hiddenAfter(hidden, "heads", rows[0].heads[column], data.heads, alone)
    : hiddenAfter(hidden, "layers", rows[row].layer, data.layers, alone))
}

function hide(ui, state, hidden) {
  state.hidden = hidden
  ui.panel.hide()
  layOut(ui, state)
  state.component.setStateValue("hidden", hidden)
}

function focusOn({ world }, state, place) {
  const before = world.querySelector('[tabindex="0"]')
  if (before) before.tabIndex = -1
  const node = cellAt(world, place)
  node.tabIndex = 0
  node.focus({ preventScroll: true })
  state.at = place
}

function moveByKey(ui, state, event) {
  const from = placeOf(event.target)
  if (!from) return
  if (event.key === "Escape") return ui.panel.hide()
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault()
    const at = headAt(state, from)
    return at ? open(state, at) : toggle(ui, state, from, event.shiftKey)
  }
  let to = stepTo(event.key, from, state.rows)
  if (!to) return
  event.preventDefault()
  if (state.data.sorted && to.row < 0) to = from // sorted columns are no heads: there are no labels
  focusOn(ui, state, to)
  cellAt(ui.world, to).scrollIntoView({ block: "nearest", inline: "nearest" })
  if (!headAt(state, to)) return
  enlarge(ui, state, to)
  ui.panel.settle()
}
