// The head view: one layer's heads as lines between two columns of tokens. State is here, pictures in
// lines.js, places in layout.js, tokens in columns.js, controls in panel.js,
// words in words.js, talk with the server in sync.js.

import { make, textWidths } from "../shared/dom.js"
import { mount } from "../shared/mount.js"
import { luminance, parseColour } from "../shared/scales.js"
import { makeTip } from "../shared/tooltip.js"
import { makeColumns } from "./columns.js"
import { cellsOf, headsOn, leastOf, nearestFirst, profileOf, shownTokens, strongestFirst } from "./filters.js"
import { GAP, barScale, hitAt, layOut, rowsInView, segmentAt, segmentEnds } from "./layout.js"
import { drawBars, drawCells, drawMap, penOf } from "./lines.js"
import { makePanel } from "./panel.js"
import { askForNear, report, takeData, wanted } from "./sync.js"
import { renormalise } from "./weights.js"
import { countSentence, pairNote, tokenSentence, weightText } from "./words.js"

const FRAME_MS = 14 // of drawing before the screen gets its turn
const MAP_WIDTH = { wide: 60, phone: 30 } // pixels
const SCROLLBAR = 12 // pixels
const VIEW = 0.6 // of the window's height, at most; longer texts scroll

export default function (component) {
  return mount(component, createView, (view, data) => view.update(data, component.setStateValue))
}

function createView(parentElement, standalone) {
  /** @type {any} */
  const state = {
    standalone, data: null, send: null, view: null, serial: null, layers: new Map(), layer: null, memo: {},
    stamp: "", picture: "", drawnLayer: null, shown: null, on: [], rows: null, least: 0, cells: null, lines: null, top: 1, layout: null, built: "", theme: null,
    pointed: null, preview: null, profile: null, drawn: 0, frame: 0, timer: 0, finished: null, asked: "",
  }
  const root = make(parentElement, "div", "root")
  /** @type {Record<string, any>} */
  const ui = { root }
  const change = (changes) => {
    Object.assign(state.view, changes)
    refresh(ui, state)
    report(state)
  }
  const preview = (head) => {
    if (state.preview === head) return
    state.preview = head
    prepare(state)
    redraw(ui, state)
  }
  const readout = make(null, "div", "readout")
  ui.sentence = make(readout, "div", "sentence")
  ui.sentence.setAttribute("aria-live", "polite")
  const foot = make(readout, "div", "least")
  ui.panel = makePanel(root, foot, { change, preview })
  ui.count = make(foot, "div", "count")
  root.append(readout)
  ui.heading = make(root, "div", "heading")
  ui.frame = make(root, "div", "frame")
  ui.scroller = make(ui.frame, "div", "scroller")
  ui.map = make(ui.frame, "canvas", "map")
  ui.world = make(ui.scroller, "div", "world")
  ui.sheet = make(ui.world, "canvas", "sheet")
  ui.bounds = make(ui.world, "div", "bounds")
  ui.columns = makeColumns(ui.world, columnActions(ui, state, change))
  ui.cross = make(ui.world, "button", "cross", "×")
  ui.tip = makeTip(root)
  for (const canvas of [ui.map, ui.sheet]) canvas.setAttribute("aria-hidden", "true")
  ui.cross.tabIndex = -1 // the Delete key does the same
  listen(ui, state, change)
  const resize = new ResizeObserver(() => { if (state.layer && root.clientWidth !== state.layout.whole) place(ui, state) })
  resize.observe(root)
  return {
    update(data, send) {
      state.send = send
      takeData(state, data)
      if (data.serial !== state.serial) {
        state.serial = data.serial
        state.view = structuredClone(data.view)
      }
      refresh(ui, state)
    },
    destroy() {
      cancelAnimationFrame(state.frame)
      clearTimeout(state.timer)
      resize.disconnect()
      root.remove()
    },
  }
}

// ---- what people do -----------------------------------------------------------------------------

const pinTo = (side, position) => ({ from: side === "queries" ? [position + 1] : [], to: side === "keys" ? [position + 1] : [] })

function columnActions(ui, state, change) {
  return {
    pin(side, position) {
      const pinned = pinnedOf(state.view)
      const same = pinned?.side === side && pinned?.position === position
      change(same ? { from: [], to: [] } : pinTo(side, position))
    },
    away(position) {
      const others = (numbers) => numbers.filter((number) => number !== position + 1)
      const without = [...state.view.without, position + 1].sort((a, b) => a - b)
      change({ without, from: others(state.view.from), to: others(state.view.to) })
    },
    // A token reached by arrows takes the pin along.
    point(side, position) {
      if (side && pinnedOf(state.view)) change(pinTo(side, position))
      else pointAt(ui, state, side && { side, position })
    },
    release() { if (pinnedOf(state.view)) change({ from: [], to: [] }) },
  }
}

function listen(ui, state, change) {
  const { root, world, scroller, map, sheet, cross } = ui
  const act = columnActions(ui, state, change)
  const under = (event) => {
    const box = sheet.getBoundingClientRect()
    const x = event.clientX - box.left
    return { x, hit: hitAt(state.layout, state.shown, x, event.clientY - box.top + scroller.scrollTop) }
  }
  world.addEventListener("pointermove", (event) => {
    if (event.target === cross) return
    const at = under(event)
    pointAt(ui, state, at.hit && !at.hit.bar ? at.hit : null)
    explain(ui, state, event, at)
  })
  world.addEventListener("pointerleave", () => {
    pointAt(ui, state, null)
    ui.tip.hide()
  })
  world.addEventListener("click", (event) => {
    if (event.target === cross) return
    const { hit } = under(event)
    if (!hit) act.release()
    else if (!hit.bar) act.pin(hit.side, hit.position)
  })
  cross.onclick = () => act.away(Number(cross.dataset.position))
  root.addEventListener("keydown", (event) => { if (event.key === "Escape") act.release() })
  scroller.addEventListener("scroll", () => {
    ui.tip.hide()
    redraw(ui, state)
  }, { passive: true })
  const glide = (event) => {
    const share = (event.clientY - map.getBoundingClientRect().top) / map.clientHeight
    scroller.scrollTop = share * state.layout.height - scroller.clientHeight / 2
  }
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId)
    glide(event)
  })
  map.addEventListener("pointermove", (event) => { if (event.buttons) glide(event) })
  // The theme's colours are read when drawing; when they change, so does this element's own.
  root.addEventListener("transitionend", (event) => { if (event.target === root && state.layer) refresh(ui, state) })
}

function pointAt(ui, state, next) {
  const before = state.pointed
  if (before?.side === next?.side && before?.position === next?.position) return
  state.pointed = next && { side: next.side, position: next.position }
  redraw(ui, state)
}

// A note beside the mouse: over a bar, and over a token on the other side of a pinned one.
function explain(ui, state, event, { x, hit }) {
  const active = activeOf(state)
  if (!active || !hit || hit.side === active.side) return ui.tip.hide()
  const [query, key] = active.side === "queries" ? [active.position, hit.position] : [hit.position, active.position]
  let pointed = -1
  if (hit.bar) {
    const { linesLeft, linesRight, token } = state.layout
    const distance = hit.side === "keys" ? x - linesRight - token - GAP : linesLeft - token - GAP - x
    const ends = segmentEnds(state.profile, hit.row, barScale(state.profile, state.layout).scale)
    pointed = state.on[segmentAt(ends, distance)] ?? -1
  }
  const words = { ...state, tokens: state.data.tokens, sums: state.rows.sums, colours: state.theme.colours, causal: state.data.causal }
  ui.tip.show(event, ...pairNote(query, key, words, pointed))
}

// ---- from the state to the screen ---------------------------------------------------------------

function pinnedOf(view) {
  if (view.from.length) return { side: "queries", position: view.from[0] - 1 }
  return view.to.length ? { side: "keys", position: view.to[0] - 1 } : null
}

// The pinned token where it is on the screen, else the one pointed at.
function activeOf({ view, shown, pointed }) {
  const seen = (each) => each && shown[each.side].includes(each.position)
  const pinned = pinnedOf(view)
  return seen(pinned) ? pinned : seen(pointed) ? pointed : null
}

// Until the wanted layer is here, the one before stays; nothing is drawn twice.
function refresh(ui, state) {
  const { data, view } = state
  const here = state.layers.get(wanted(view))
  const changed = state.stamp !== data.stamp
  state.stamp = data.stamp
  if (here) state.layer = here
  else if (changed) [state.layer] = state.layers.values()
  ui.frame.setAttribute("aria-busy", String(!here))
  state.theme = readTheme(ui.root, data)
  const picture = JSON.stringify([view.pairs, view.hide, view.renorm, view.heads, view.without, view.from, view.to, view.least, state.preview, state.theme])
  if ((here || changed) && (state.picture !== picture || state.drawnLayer !== state.layer || changed)) {
    Object.assign(state, { picture, drawnLayer: state.layer })
    prepare(state)
    place(ui, state)
  }
  ui.panel.sync(view, { data, layer: state.layer, least: state.least, top: state.top, colours: state.theme.colours, waiting: !here, standalone: state.standalone })
}

function readTheme(root, data) {
  const style = getComputedStyle(root)
  const colour = (name) => style.getPropertyValue(`--st-${name}`).trim()
  const [query, key] = colour("chart-categorical-colors").split(",")
  root.style.setProperty("--atlas-query", query)
  root.style.setProperty("--atlas-key", key)
  const dark = luminance(parseColour(colour("background-color"))) < 0.2
  return { query, key, ink: colour("text-color"), font: `12px ${style.fontFamily}`, colours: dark ? data.colours.dark : data.colours.light }
}

// What is shown: tokens, heads, steps, and the cells that are lines.
function prepare(state) {
  const { data, view, layer } = state
  state.shown = shownTokens(data.tokens, view)
  state.on = state.preview === null ? headsOn(view.heads, data.heads) : [state.preview]
  const key = [view.pairs, view.hide, view.without].join()
  if (view.renorm && (state.memo.key !== key || state.memo.layer !== layer)) {
    state.memo = { key, layer, rows: renormalise(layer, state.shown) }
  }
  state.rows = view.renorm ? state.memo.rows : { steps: layer.steps, sums: null }
  state.top = view.renorm ? 1 : layer.top
  state.least = leastOf(view.least, state.rows.steps, layer.size, state.on, state.shown)
  state.cells = strongestFirst(state.rows.steps, layer.size, state.on, state.shown, Math.max(1, Math.round(255 * state.least)))
  state.finished = null
}

function place(ui, state) {
  const { data, shown, on } = state
  const whole = ui.root.clientWidth
  const widest = widestToken(ui.root, data.tokens)
  let layout = layOut(whole, widest, shown, on)
  const tall = Math.max(240, window.innerHeight * VIEW)
  const mapWidth = layout.height <= tall ? 0 : layout.phone ? MAP_WIDTH.phone : MAP_WIDTH.wide
  if (mapWidth) layout = layOut(whole - mapWidth - SCROLLBAR, widest, shown, on)
  state.layout = { ...layout, whole, mapWidth }
  ui.map.hidden = !mapWidth
  ui.scroller.style.height = `${Math.min(tall, Math.max(layout.height, 30))}px`
  ui.scroller.style.width = `${layout.width + (mapWidth ? SCROLLBAR : 0)}px`
  ui.world.style.height = `${layout.height}px`
  const built = [data.stamp, shown.queries, shown.keys, whole].join("|")
  if (state.built !== built) {
    state.built = built
    ui.columns.build(shown, data.tokens, state.layout)
    drawHeading(ui, state)
  }
  redraw(ui, state)
}

// Width in pixels of the widest token, as the page's font draws it.
function widestToken(root, tokens) {
  const widthOf = textWidths(`600 14px ${getComputedStyle(root).fontFamily}`)
  return tokens.reduce((widest, { display }) => Math.max(widest, widthOf(display)), 0)
}

// Names of the columns, and a line where the second sentence begins.
function drawHeading({ heading, bounds }, { layout, shown, data }) {
  heading.replaceChildren()
  bounds.replaceChildren()
  const { linesLeft, linesRight, token, width } = layout
  make(heading, "span", "query", "from (query)").style.cssText = `right: ${layout.whole - linesLeft}px`
  make(heading, "span", "key", "to (key)").style.cssText = `left: ${linesRight}px`
  for (const [side, left, right] of [["queries", linesLeft - token, linesLeft], ["keys", linesRight, linesRight + token]]) {
    const segments = shown[side].map((position) => data.tokens[position].segment)
    const row = segments.indexOf(1)
    if (row < 1) continue
    const line = make(bounds, "div", "bound")
    line.style.cssText = `top: ${row * layout.row}px; left: ${left}px; width: ${right - left}px`
    for (const [name, className] of [["A", "above"], ["B", "below"]]) {
      const label = make(line, "span", className, name)
      label.style.cssText = side === "queries" ? "right: calc(100% + 4px)" : "left: calc(100% + 4px)"
    }
  }
  if (bounds.children.length === 2 && bounds.children[0].style.top === bounds.children[1].style.top) {
    const line = make(bounds, "div", "bound faint")
    line.style.cssText = `top: ${bounds.children[0].style.top}; left: 0; width: ${width}px`
  }
}

// Draws anew from the next frame on.
function redraw(ui, state) {
  state.drawn = 0
  ui.sheet.dataset.drawn = "no"
  if (!state.frame) state.frame = requestAnimationFrame(() => drawFrame(ui, state))
}

// One frame: everything the first time, then the lines that the frames before had no time for.
function drawFrame(ui, state) {
  state.frame = 0
  const { layout, layer, theme } = state
  const scrollTop = ui.scroller.scrollTop
  const viewHeight = Math.min(ui.scroller.clientHeight, layout.height)
  const pen = penOf(ui.sheet, layout.width, viewHeight)
  const active = activeOf(state)
  const picture = { cells: state.cells, steps: state.rows.steps, size: layer.size, layout, scrollTop, viewHeight, colours: theme.colours }
  if (state.drawn === 0) {
    pen.clearRect(0, 0, layout.width, viewHeight)
    tell(ui, state, active)
    if (layout.mapWidth) drawMap(ui.map, { ...picture, shown: state.shown, ink: theme.ink, width: layout.mapWidth })
    if (active) drawActive(pen, picture, state, active)
    const cells = active ? cellsOf(state.cells, layer.size, active.side, active.position) : state.cells
    state.lines = nearestFirst(cells, layer.size, layout.rowOf, ...rowsInView(layout, scrollTop, viewHeight))
    if (!active && state.finished?.scrollTop === scrollTop) {
      pen.drawImage(state.finished.image, 0, 0, layout.width, viewHeight)
      state.drawn = state.lines.cells.length
    }
  }
  const { lines } = state
  state.drawn = drawCells(pen, { ...picture, lines }, state.drawn, performance.now() + FRAME_MS)
  if (state.drawn < lines.cells.length) {
    state.frame = requestAnimationFrame(() => drawFrame(ui, state))
    return
  }
  if (!active && state.finished?.scrollTop !== scrollTop) state.finished = { scrollTop, image: copyOf(ui.sheet) }
  ui.sheet.dataset.drawn = `${layer.number + 1}`
  askForNear(state)
}

function copyOf(canvas) {
  const copy = document.createElement("canvas")
  Object.assign(copy, { width: canvas.width, height: canvas.height })
  const pen = /** @type {CanvasRenderingContext2D} */ (copy.getContext("2d", { willReadFrequently: true }))
  pen.drawImage(canvas, 0, 0)
  return copy
}

function drawActive(pen, picture, state, { side }) {
  const { theme, top } = state
  const tint = side === "queries" ? theme.key : theme.query
  drawBars(pen, { ...picture, profile: state.profile, heads: state.on, side, ink: theme.ink, font: theme.font, tint, format: (weight) => weightText(weight, top) })
}

// The sentence, the count, the token that stands out and its cross.
function tell(ui, state, active) {
  const { data, shown, on, layer, rows, view, layout } = state
  state.profile = active && profileOf(layer, on, shown, active.side, active.position, rows.sums)
  const pinned = pinnedOf(view) !== null && active !== null
  ui.columns.mark(active, pinned)
  ui.sentence.replaceChildren()
  const parts = active ? tokenSentence(active, { tokens: data.tokens, profile: state.profile, on, shown, top: state.top, pinned }) : [[idleSentence(state), "hint"]]
  for (const [text, className] of parts) make(ui.sentence, "span", className, text)
  ui.count.textContent = countSentence(state)
  ui.cross.hidden = !active
  if (!active) return
  ui.cross.dataset.position = String(active.position)
  ui.cross.title = `Hide ${data.tokens[active.position].label} (Delete)`
  ui.cross.setAttribute("aria-label", ui.cross.title)
  const left = active.side === "queries" ? layout.linesLeft - layout.token - 9 : layout.linesRight + layout.token - 9
  ui.cross.style.cssText = `left: ${left}px; top: ${layout.rowOf[active.side].get(active.position) * layout.row + layout.row / 2 - 9}px`
}

function idleSentence({ shown, on }) {
  if (!on.length) return "No head is on: turn one on above."
  if (!shown.queries.length || !shown.keys.length) return "Every token is hidden: show some again."
  return "Point at a token for its own lines and weights; click keeps it."
}
