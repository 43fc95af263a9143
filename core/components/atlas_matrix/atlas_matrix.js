// The atlas' matrix: every head as a tile, layers down, heads across, on one canvas that pans and zooms.
// State and structure are here; points in points.js, what stands over them in labels.js,
// places in viewport.js, pointers in gestures.js. Texts are text nodes or pixels, never HTML.

import { makeRaster } from "../points/raster.js"
import { firstRotation, turnedBy } from "../points/rotation.js"
import { legendEntries } from "../points/shades.js"
import { make } from "../shared/dom.js"
import { mount } from "../shared/mount.js"
import { makeTip } from "../shared/tooltip.js"
import { listenGestures } from "./gestures.js"
import { cutAround, drawOver } from "./labels.js"
import { matrixColours, paintPoints, pointAt } from "./points.js"
import { TURN, makeSolid, turnSolid } from "./solid.js"
import { ZOOM, clampView, gridFor, mainTile, panBy, seenPart, tileAt, tileSpot, viewOfTile, wholeView, zoomAt } from "./viewport.js"

const GUTTER = { left: 34, top: 20 } // pixels, for the names of rows and columns
const HEIGHT = { most: 620, narrow: 460, least: 240, wide: 700 } // of the window; narrow below that width
const MOST_RATIO = 2 // device pixels a pixel: more cost time and show nothing
const REACH = { mouse: 12, finger: 22 } // pixels from a point to the pointer
const TOUCHABLE = 160 // a tile's side from which on a finger can choose a point
const HINTS = {
  mouse: "Click a head to open it; drag to move; Ctrl and wheel, or + and −, to zoom (once you have clicked or dragged here, the wheel alone); arrow keys step from head to head.",
  finger: "Tap a head for its name, again to open it. Pinch to zoom, then move with a finger.",
  solid: {
    mouse: "Drag to turn all heads (or Shift and arrow keys), Shift and drag to move; Ctrl and wheel, or + and −, to zoom. Click a head to open it; arrow keys step from head to head.",
    finger: "Drag sideways to turn all heads. Tap a head for its name, again to open it. Pinch to zoom.",
    file: "Drag to turn all heads (or Shift and arrow keys), Shift and drag to move; Ctrl and wheel, pinch, or + and − to zoom. Click a head to enlarge it.",
  },
  file: "Click a head to enlarge it; drag to move; Ctrl and wheel, pinch, or + and − to zoom; arrow keys step from head to head.",
}

export default function (component) {
  return mount(component, createView, (view, data) => view.update(data, component))
}

function createView(parentElement, standalone) {
  const root = make(parentElement, "div", "root")
  const bar = make(root, "div", "bar")
  const ui = { root, legend: make(bar, "div", "legend"), tools: make(bar, "div", "tools") }
  const stage = make(root, "div", "stage")
  const points = make(stage, "canvas", "points")
  const over = make(stage, "canvas", "over")
  points.setAttribute("aria-hidden", "true")
  over.setAttribute("role", "application")
  over.tabIndex = 0
  const open = make(stage, "button", "open")
  const reading = make(root, "p", "reading", "")
  reading.setAttribute("aria-live", "polite")
  Object.assign(ui, { stage, points, over, open, reading, tip: makeTip(root), raster: makeRaster(points), pen: over.getContext("2d", { willReadFrequently: true }) })
  /** @type {any} */
  const state = {
    standalone, data: null, component: null, view: null, grid: null, hover: null, cursor: -1, tapped: -1,
    frame: 0, stale: false, painted: 0, drag: null, width: 0, rotation: firstRotation(),
  }
  const clean = [listenGestures(over, actions(ui, state)), listenRest(ui, state)]
  return {
    update(data, component) {
      const same = state.data?.layers === data.layers && state.data?.heads === data.heads
      if (state.data?.dims !== data.dims) reading.textContent = hintFor(standalone, data.dims)
      Object.assign(state, { data: completed(data, state.rotation), component, hover: null })
      if (!same) Object.assign(state, { view: null, cursor: -1, tapped: -1 })
      ui.tip.hide()
      layOut(ui, state)
    },
    destroy() {
      cancelAnimationFrame(state.frame)
      for (const each of clean) each()
      root.remove()
    },
  }
}

function hintFor(standalone, dims) {
  const hints = dims === 3 ? HINTS.solid : HINTS
  if (standalone) return hints.file
  return window.matchMedia("(pointer: coarse)").matches ? hints.finger : hints.mouse
}

// What is worked out once for all frames.
function completed(data, rotation) {
  if (data.dims === 3) {
    const solid = makeSolid(data)
    turnSolid(solid, rotation)
    Object.assign(data, { solid, frames: solid.frames, places: solid.places })
  }
  const count = data.labels.length
  const found = Uint32Array.from(data.matches.keys()).filter((token) => data.searching && data.matches[token])
  const widest = data.frames.reduce((most, value, i) => (i % 3 === 2 ? Math.max(most, value) : most), 0)
  return { ...data, found, widest, tonesShared: data.tones.length === 2 * count }
}

function listenRest(ui, state) {
  const { root, over, tools, open } = ui
  const listen = new AbortController()
  const on = (target, type, run) => target.addEventListener(type, run, { signal: listen.signal })
  const again = () => { if (state.data) layOut(ui, state) }
  for (const { text, name, factor } of [{ text: "−", name: "Smaller", factor: 1 / ZOOM.step }, { text: "+", name: "Larger", factor: ZOOM.step }]) {
    const button = make(tools, "button", "tool", text)
    button.setAttribute("aria-label", name)
    on(button, "click", () => zoomMiddle(ui, state, factor))
  }
  on(make(tools, "button", "tool", "Whole matrix"), "click", () => showWhole(ui, state))
  on(open, "click", () => openHead(ui, state, Number(open.dataset.head)))
  on(over, "keydown", (event) => { if (pressKey(ui, state, event)) event.preventDefault() })
  on(over, "blur", () => { if (state.cursor >= 0) { state.cursor = -1; paint(ui, state, false) } })
  on(window.matchMedia("(prefers-color-scheme: dark)"), "change", again)
  const resize = new ResizeObserver(() => { if (root.clientWidth !== state.width) again() })
  resize.observe(root)
  return () => {
    listen.abort()
    resize.disconnect()
  }
}

// Everything that depends on the width, the theme, or the data.
function layOut(ui, state) {
  const { data } = state
  state.width = ui.root.clientWidth
  if (!state.width) return
  const most = state.width < HEIGHT.wide ? HEIGHT.narrow : HEIGHT.most
  const box = { ...GUTTER, width: state.width - GUTTER.left - 1, height: most }
  const before = state.grid
  state.grid = gridFor(data.layers, data.heads, box, HEIGHT.least)
  const moved = before && state.view && state.grid.pitch / before.pitch
  state.view = moved
    ? clampView({ zoom: state.view.zoom, x: state.view.x * moved, y: state.view.y * moved }, state.grid) : wholeView(state.grid)
  state.ratio = Math.min(MOST_RATIO, window.devicePixelRatio || 1)
  state.height = GUTTER.top + state.grid.box.height + 1
  for (const canvas of [ui.points, ui.over]) {
    Object.assign(canvas, { width: Math.round(state.width * state.ratio), height: Math.round(state.height * state.ratio) })
    Object.assign(canvas.style, { width: `${state.width}px`, height: `${state.height}px` })
  }
  ui.stage.style.height = `${state.height}px`
  ui.over.setAttribute("aria-label", `${data.layers} layers down, ${data.heads} heads across, ${data.labels.length} tokens in each; arrow keys move, Enter opens a head`)
  state.colours = matrixColours(ui.root, data)
  ui.root.dataset.matches = String(2 * data.found.length)
  drawLegend(ui, state)
  paint(ui, state, true)
}

// Drawn once an animation frame, however often it is asked for; points only where they changed.
function paint(ui, state, all) {
  state.stale ||= all
  state.frame ||= requestAnimationFrame(() => {
    state.frame = 0
    if (!state.grid) return
    const scene = { ...state }
    if (state.stale) {
      paintPoints(ui.raster, scene)
      state.painted++
    }
    state.stale = false
    drawOver(ui.pen, scene)
    report(ui, state)
  })
}

function report({ root, over, open }, state) {
  const side = state.grid.pitch * state.view.zoom
  Object.assign(root.dataset, { painted: state.painted, zoom: state.view.zoom.toFixed(2), tile: Math.round(side) })
  over.style.touchAction = isZoomed(state) ? "none" : "pan-y"
  const main = mainTile(state.view, state.grid)
  const head = main ? headOf(state, main) : state.tapped
  open.hidden = head < 0 || state.standalone
  if (open.hidden) return
  const { row, column } = placeOf(state, head)
  const part = seenPart(tileSpot(state.view, state.grid, row, column), state.grid)
  open.hidden = part.right <= part.left || part.bottom <= part.top
  open.textContent = `Open ${nameOf(state, head)}`
  open.dataset.head = String(head)
  open.style.left = `${Math.max(2, Math.min(part.right - open.offsetWidth - 6, state.width - open.offsetWidth - 4))}px`
  open.style.top = `${main ? part.top + 6 : Math.min(part.bottom + 2, state.height - open.offsetHeight - 2)}px`
}

function isZoomed({ view }) {
  return view.zoom > 1.001
}

function headOf({ data }, { row, column }) {
  return row * data.heads + column
}

function placeOf({ data }, head) {
  return { row: Math.floor(head / data.heads), column: head % data.heads }
}

function nameOf(state, head) {
  const { row, column } = placeOf(state, head)
  return `L${row + 1} H${column + 1}`
}

function look(ui, state, view) {
  if (!state.data) return
  Object.assign(state, { view, hover: null })
  ui.tip.hide()
  paint(ui, state, true)
}

function showWhole(ui, state) {
  state.rotation = firstRotation()
  turn(ui, state, 0, 0)
  look(ui, state, wholeView(state.grid))
}

// All clouds of a matrix in space, by radians.
function turn(ui, state, across, down) {
  const { solid } = state.data
  if (!solid) return
  state.rotation = turnedBy(state.rotation, across, down)
  turnSolid(solid, state.rotation)
  look(ui, state, state.view)
}

function zoomMiddle(ui, state, factor) {
  const { box } = state.grid
  look(ui, state, zoomAt(state.view, state.grid, factor, box.left + box.width / 2, box.top + box.height / 2))
}

function openHead(ui, state, head) {
  state.tapped = -1
  paint(ui, state, false)
  if (state.standalone) return look(ui, state, viewOfTile(state.grid, placeOf(state, head)))
  const { row, column } = placeOf(state, head)
  state.component.setTriggerValue("open", { layer: row, head: column })
}

function actions(ui, state) {
  const zoom = (factor, x, y) => look(ui, state, zoomAt(state.view, state.grid, factor, x, y))
  return {
    zoom,
    pan(dx, dy, event) {
      if (state.data.solid && event && !event.shiftKey) turn(ui, state, dx * TURN.pixel, dy * TURN.pixel)
      else look(ui, state, panBy(state.view, state.grid, dx, dy))
    },
    twice: (x, y) => zoom(ZOOM.step ** 2, x, y),
    point: (event) => point(ui, state, event),
    press(x, y, touch) {
      const tile = tileAt(state.view, state.grid, x, y)
      if (!tile) return tap(ui, state, -1)
      const head = headOf(state, tile)
      // A finger cannot point without pressing: it chooses a point of a large tile, which a button opens;
      // on a small one its first tap names the head, the second opens it.
      if (touch && state.grid.pitch * state.view.zoom >= TOUCHABLE) touchPoint(ui, state, head, x, y)
      else if (touch && state.tapped !== head) tap(ui, state, head)
      else openHead(ui, state, head)
    },
    start() {
      state.drag = { since: performance.now(), painted: state.painted }
      ui.root.classList.add("dragging")
    },
    stop() {
      const seconds = (performance.now() - state.drag.since) / 1000
      ui.root.dataset.frames = ((state.painted - state.drag.painted) / seconds).toFixed(1)
      ui.root.classList.remove("dragging")
    },
    mayWheel(event) {
      if (!state.grid) return false
      if (event.ctrlKey || event.metaKey) return true
      const focused = ui.root.getRootNode().activeElement === ui.over
      return focused && (event.deltaY < 0 || isZoomed(state)) // nothing left to shrink: the page scrolls
    },
  }
}

function tap(ui, state, head) {
  state.tapped = head
  if (head >= 0) ui.reading.textContent = `${nameOf(state, head)}: tap again to ${state.standalone ? "enlarge" : "open"} it.`
  paint(ui, state, false)
}

function touchPoint(ui, state, head, x, y) {
  const edge = ui.over.getBoundingClientRect()
  tap(ui, state, head)
  point(ui, state, { clientX: edge.left + x, clientY: edge.top + y, pointerType: "touch" })
}

// The head and the token under the pointer, told by a note, a line to read, and in every head.
function point(ui, state, event) {
  if (!state.grid) return
  const hover = event && seenAt(ui, state, event)
  const before = state.hover
  state.hover = hover
  if (hover && hover.token >= 0) showNote(ui, state, hover, event)
  else ui.tip.hide()
  if (before?.head === hover?.head && before?.token === hover?.token && before?.kind === hover?.kind) return
  paint(ui, state, false)
}

function seenAt({ over }, state, event) {
  const edge = over.getBoundingClientRect()
  const [x, y] = [event.clientX - edge.left, event.clientY - edge.top]
  const tile = tileAt(state.view, state.grid, x, y)
  if (!tile) return null
  const head = headOf(state, tile)
  const reach = event.pointerType === "touch" ? REACH.finger : REACH.mouse
  const found = pointAt(state, head, tileSpot(state.view, state.grid, tile.row, tile.column), x, y, reach)
  const count = state.data.labels.length
  return { head, token: found < 0 ? -1 : found % count, kind: found < count ? 0 : 1 }
}

function showNote({ tip, reading }, state, { head, token, kind }, event) {
  const { data, colours } = state
  const [label, position] = [data.labels[token], data.positions[token]]
  const what = `${kind ? "key" : "query"} of “${label}”`
  const sentence = cutAround(data.texts[data.sentence[token]] ?? "", label, position)
  const lines = [[what, kind ? colours.key : colours.query], [`position ${position + 1}`], [sentence]]
  if (data.searching && data.matches[token]) lines.splice(2, 0, ["found by the search"])
  tip.show(event, nameOf(state, head), lines)
  reading.textContent = `${nameOf(state, head)}, ${what}, position ${position + 1}: ${sentence}`
}

function pressKey(ui, state, { key, shiftKey }) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key]
  if (key === "+" || key === "=") zoomMiddle(ui, state, ZOOM.step)
  else if (key === "-") zoomMiddle(ui, state, 1 / ZOOM.step)
  else if (key === "0") showWhole(ui, state)
  else if (step && shiftKey && state.data.solid) turn(ui, state, step[1] * TURN.key, step[0] * TURN.key)
  else if (step && isZoomed(state)) look(ui, state, panBy(state.view, state.grid, -60 * step[1], -60 * step[0]))
  else if (step) stepTo(ui, state, step)
  else if (key === "Enter") enter(ui, state)
  else if (key === "Escape") {
    point(ui, state, null)
    tap(ui, state, -1)
  } else return false
  if (key !== "Enter" && isZoomed(state)) readMiddle(ui, state)
  return true
}

function middleTile({ view, grid }) {
  return tileAt(view, grid, grid.box.left + grid.box.width / 2, grid.box.top + grid.box.height / 2)
}

function readMiddle({ reading }, state) {
  const middle = middleTile(state)
  if (middle) reading.textContent = `${nameOf(state, headOf(state, middle))} in the middle, ${state.view.zoom.toFixed(1)} times as large. Enter opens it.`
}

function stepTo(ui, state, [down, across]) {
  const { layers, heads, chosen } = state.data
  const { row, column } = state.cursor < 0 ? placeOf(state, Math.max(0, chosen)) : placeOf(state, state.cursor)
  const move = state.cursor < 0 ? [0, 0] : [down, across]
  const to = { row: Math.min(layers - 1, Math.max(0, row + move[0])), column: Math.min(heads - 1, Math.max(0, column + move[1])) }
  state.cursor = headOf(state, to)
  ui.reading.textContent = `${nameOf(state, state.cursor)}. Enter ${state.standalone ? "enlarges" : "opens"} it.`
  paint(ui, state, false)
}

// The head with the outline of the keys; where one zoomed, the one in the middle.
function enter(ui, state) {
  const middle = middleTile(state)
  if (isZoomed(state) && middle) openHead(ui, state, headOf(state, middle))
  else if (state.cursor >= 0) openHead(ui, state, state.cursor)
}

function drawLegend({ legend }, { data, colours }) {
  legend.replaceChildren(...legendEntries(data, colours.shades))
  if (data.searching) addEntry(legend, data.found.length ? "found: larger, with a ring" : "nothing found", "disc ring", colours.back)
}

function addEntry(parent, text, className, colour) {
  const item = make(parent, "span", "entry")
  make(item, "i", className).style.background = colour
  make(item, "span", "", text)
}
