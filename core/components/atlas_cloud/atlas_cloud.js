// One head's cloud: up to 20,000 queries (discs) and keys (diamonds), in the plane or in space. State
// and listeners are here; windows in plane_view.js, turning in rotation.js, pixels in paint.js.

import { firstRotation, turnedBy, turnedPlace } from "../points/rotation.js"
import { mount } from "../shared/mount.js"
import { buildCloud, drawControls, drawLegend, showTip } from "./bar.js"
import { makeLabels, makeRoom, mostLabels, placeLabels } from "./labels.js"
import { lassoWith, placesInside, thinned } from "./lasso.js"
import { linesShown, paintLines } from "./lines.js"
import { MARK, markPoints, readCloud, written } from "./marks.js"
import { FARTHEST, cloudInks, cloudTheme, cloudTints, fontOf, paintAxes, paintLasso, paintPair, paintPicked, paintPoints, paintWords, radiusOf } from "./paint.js"
import { ZOOM, fitScale, nearestOf, pannedBy, wholeView, zoomedAt } from "./plane_view.js"
import { makeScene, place, sameNumbers } from "./scene.js"

const STAGE = { most: 600, share: 0.75, margin: 26 } // pixels, and of the width
const REACH = { mouse: 9, touch: 18 } // pixels from a point to the pointer
const STILL = 4 // pixels that a pointer may move and still click
const TURN = 0.0075 // radians a pixel
const KEYS = { pan: 60, turn: 0.12 } // pixels and radians an arrow key

export default function (component) {
  return mount(component, createView, (view, data) => view.update(data, component))
}

function createView(parentElement, standalone) {
  const ui = buildCloud(parentElement)
  const state = {
    data: null, component: null, standalone, mode: "move", only: -1, picked: -1, chosen: new Set(), hovered: -1, path: [],
    view: wholeView(), rotation: firstRotation(), screen: { width: 0, height: 0, ratio: 1 }, pointers: new Map(), moved: 0,
    scene: null, labels: makeLabels(), frame: 0, stale: true, painted: 0, ui,
  }
  const listen = new AbortController()
  const on = (target, type, run, options = {}) => target.addEventListener(type, run, { ...options, signal: listen.signal })
  listenToPointer(state, on)
  listenToControls(state, on)
  on(ui.words, "wheel", (event) => zoomByWheel(state, event), { passive: false })
  on(ui.words, "keydown", (event) => actByKey(state, event))
  on(window.matchMedia("(prefers-color-scheme: dark)"), "change", () => { if (state.data) dress(state) })
  const resize = new ResizeObserver(() => { if (state.data && ui.root.clientWidth !== state.screen.width) fit(state) })
  resize.observe(ui.root)
  return {
    update(data, component) { receive(state, data, component) },
    destroy() {
      cancelAnimationFrame(state.frame)
      resize.disconnect()
      listen.abort()
      ui.root.remove()
    },
  }
}

// New data: the window stays where it was unless the points are others, the choice unless the tokens are.
function receive(state, data, component) {
  const before = state.data
  const samePoints = before && before.dims === data.dims && sameNumbers(before.points, data.points)
  const sameTokens = before && before.labels.length === data.labels.length && sameNumbers(before.sentence, data.sentence)
  Object.assign(state, { data, component, picked: data.picked, hovered: -1, path: [] })
  if (!sameTokens) state.chosen = new Set()
  if (!before || before.colouring !== data.colouring || before.legend.join() !== data.legend.join()) state.only = -1
  if (!samePoints) Object.assign(state, { view: wholeView(), rotation: firstRotation() })
  state.scene = makeScene(data, samePoints ? state.scene : null)
  state.ui.tip.hide()
  state.ui.title.textContent = data.title
  state.ui.words.setAttribute("aria-label", `${data.title}: ${written(data.labels.length)} queries and as many keys in ${data.dims} dimensions`)
  fit(state)
}

// Everything that depends on the width.
function fit(state) {
  const { ui, screen, scene } = state
  const width = ui.root.clientWidth
  if (!width) return
  const height = Math.round(Math.min(STAGE.most, STAGE.share * width))
  const ratio = window.devicePixelRatio || 1
  Object.assign(screen, { width, height, ratio, scale: fitScale(scene.extent, { width, height }, STAGE.margin) })
  ui.stage.style.height = `${height}px`
  for (const canvas of [ui.points, ui.words]) {
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) })
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` })
  }
  screen.room = makeRoom(width, height)
  screen.box = [0, 0, ui.points.width, ui.points.height]
  dress(state)
}

// Everything that depends on colours.
function dress(state) {
  state.theme = cloudTheme(state.ui.root)
  state.pen = state.ui.words.getContext("2d")
  state.scene.widths.fill(-1)
  mark(state)
}

// Everything that depends on what is picked, chosen or found.
function mark(state) {
  const { data, scene, ui, screen } = state
  const faded = markPoints(scene.marks, data, state)
  scene.highest = scene.marks.reduce((most, each) => Math.max(most, each), 0)
  scene.found = scene.marks.reduce((sum, each) => sum + (each === MARK.match || each === MARK.chosen), 0)
  screen.colours = cloudInks(cloudTints(data, state.theme), state.theme, faded, FARTHEST[data.colouring])
  ui.reading.textContent = readCloud(data, state, state.standalone)
  ui.buttons.clear.hidden = state.chosen.size === 0
  Object.assign(ui.root.dataset, {
    matches: data.searching ? data.matches.reduce((sum, each) => sum + each, 0) : 0, chosen: state.chosen.size, picked: state.picked,
  })
  drawLegend(ui, data, state.theme, state.only, (only) => { state.only = only; mark(state) })
  drawControls(state)
  refresh(state, true)
}

// Ask for a frame; `stale` where the points have moved or changed, not only what is above them.
function refresh(state, stale) {
  state.stale ||= stale
  if (!state.frame) state.frame = requestAnimationFrame(() => { state.frame = 0; paint(state) })
}

function paint(state) {
  const { data, scene, screen, view, labels, ui } = state
  if (state.stale) {
    place(state)
    scene.radius = radiusOf(2 * scene.half, screen.width, screen.height, view.zoom)
    paintPoints(ui.raster, scene, screen.colours, screen.ratio, screen.box)
    state.pen.font = fontOf(state.theme)
    if (data.labelled) placeLabels(labels, screen.room, screen, scene, (i) => widthOf(state, i), mostLabels(screen.width, screen.height, view.zoom))
    else labels.count = 0
    state.stale = false
    Object.assign(ui.root.dataset, { painted: ++state.painted, labels: labels.count, zoom: view.zoom.toFixed(2) })
    if (state.picked >= 0) ui.root.dataset.at = `${scene.x[state.picked].toFixed(1)},${scene.y[state.picked].toFixed(1)}`
    else delete ui.root.dataset.at
  }
  paintAbove(state, data)
  ui.root.dataset.lines = screen.lines
}

function paintAbove({ pen, screen, scene, labels, theme, picked, hovered, path, rotation }, data) {
  pen.setTransform(screen.ratio, 0, 0, screen.ratio, 0, 0)
  pen.clearRect(0, 0, screen.width, screen.height)
  if (data.dims === 3) paintAxes(pen, rotation, screen, theme)
  const lines = linesShown(data, picked, hovered)
  paintLines(pen, scene, lines, hovered >= 0 ? hovered : picked, theme)
  screen.lines = lines.length
  if (picked >= 0) paintPicked(pen, scene, picked, theme)
  if (hovered >= 0) paintPair(pen, scene, hovered, theme)
  paintWords(pen, labels, scene.texts, scene.half, theme, (i) => widthOf({ scene, pen }, i))
  if (path.length) paintLasso(pen, path, theme)
}

function widthOf({ scene, pen }, point) {
  const token = point % scene.half
  if (scene.widths[token] < 0) scene.widths[token] = pen.measureText(scene.texts[token]).width
  return scene.widths[token]
}

function listenToPointer(state, on) {
  const { words } = state.ui
  /** @type {(event: PointerEvent) => [number, number]} */
  const inside = (event) => {
    const box = words.getBoundingClientRect()
    return [event.clientX - box.left, event.clientY - box.top]
  }
  on(words, "pointerdown", (event) => {
    if (event.button !== 0) return
    words.setPointerCapture(event.pointerId)
    state.pointers.set(event.pointerId, inside(event))
    if (state.pointers.size === 1) state.moved = 0
    state.path = state.mode === "lasso" && state.pointers.size === 1 ? lassoWith([], ...inside(event)) : []
  })
  on(words, "pointermove", (event) => {
    if (state.pointers.has(event.pointerId)) drag(state, event, inside(event))
    else hover(state, inside(event), event)
  })
  on(words, "pointerup", (event) => {
    if (!state.pointers.delete(event.pointerId) || state.pointers.size) return
    if (state.moved <= STILL) click(state, inside(event), event)
    else if (state.mode === "lasso") closeLasso(state, event.shiftKey)
    state.path = []
    refresh(state, false)
  })
  on(words, "pointercancel", (event) => {
    state.pointers.delete(event.pointerId)
    state.path = []
    refresh(state, false)
  })
  on(words, "pointerleave", () => point(state, -1))
}

function drag(state, event, [x, y]) {
  const [beforeX, beforeY] = state.pointers.get(event.pointerId)
  const other = [...state.pointers].find(([id]) => id !== event.pointerId)?.[1]
  state.pointers.set(event.pointerId, [x, y])
  state.moved += Math.hypot(x - beforeX, y - beforeY)
  if (state.moved <= STILL) return
  point(state, -1)
  if (other) pinch(state, other, [beforeX, beforeY], [x, y])
  else if (state.mode === "lasso") {
    if (state.path.length) state.path = lassoWith(state.path, x, y)
    refresh(state, false)
  } else if (state.data.dims === 3 && !event.shiftKey) turn(state, (x - beforeX) * TURN, (y - beforeY) * TURN)
  else pan(state, x - beforeX, y - beforeY)
}

// Two fingers: the middle between them moves the cloud, their distance enlarges it.
function pinch(state, other, before, now) {
  const gap = (place) => Math.max(10, Math.hypot(place[0] - other[0], place[1] - other[1]))
  pan(state, (now[0] - before[0]) / 2, (now[1] - before[1]) / 2)
  zoom(state, gap(now) / gap(before), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2])
}

function pan(state, dx, dy) {
  state.view = pannedBy(state.view, dx, dy, state.screen.scale)
  refresh(state, true)
}

// The place in the middle of the screen stays there.
function turn(state, across, down) {
  state.rotation = turnedBy(state.rotation, across, down)
  state.view = turnedPlace(state.view, across, down)
  refresh(state, true)
}

function zoom(state, factor, [x, y] = [state.screen.width / 2, state.screen.height / 2]) {
  const { screen } = state
  state.view = zoomedAt(state.view, factor, x - screen.width / 2, y - screen.height / 2, screen.scale)
  point(state, -1)
  refresh(state, true)
}

// The page scrolls on until the cloud was clicked; pinching on a touchpad arrives as Ctrl and wheel.
function zoomByWheel(state, event) {
  const { words } = state.ui
  if (!event.ctrlKey && words.getRootNode().activeElement !== words) return
  event.preventDefault()
  const box = words.getBoundingClientRect()
  const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1)
  const rate = event.ctrlKey ? 0.01 : 0.0018
  zoom(state, Math.exp(-Math.max(-300, Math.min(300, pixels)) * rate), [event.clientX - box.left, event.clientY - box.top])
}

function hover(state, [x, y], event) {
  if (event.pointerType === "touch") return
  const { scene } = state
  point(state, nearestOf(scene.x, scene.y, scene.marks, x, y, REACH.mouse), event)
}

function point(state, index, event) {
  if (index >= 0) showTip(state, index, event)
  else state.ui.tip.hide()
  if (index === state.hovered) return
  state.hovered = index
  state.ui.words.classList.toggle("over", index >= 0)
  refresh(state, false)
}

function click(state, [x, y], event) {
  const { scene } = state
  const reach = event.pointerType === "touch" ? REACH.touch : REACH.mouse
  const index = nearestOf(scene.x, scene.y, scene.marks, x, y, reach)
  if (index >= 0) pick(state, index % scene.half)
  else if (state.mode === "lasso" && state.chosen.size) choose(state, [])
  else pick(state, -1)
}

// A token picked again is let go.
function pick(state, token) {
  const next = token === state.picked ? -1 : token
  if (next === state.picked) return
  state.picked = next
  state.component.setTriggerValue("pick", { token: next < 0 ? null : next })
  mark(state)
}

// What has faded for a search or a category is not chosen; what an earlier lasso has left out may be.
function closeLasso(state, add) {
  const { scene, data, only } = state
  if (state.path.length < 6) return
  const marks = new Uint8Array(scene.marks.length)
  markPoints(marks, data, { picked: -1, chosen: new Set(), only })
  const found = placesInside(state.path, scene.x, scene.y, marks)
  choose(state, add ? [...new Set([...state.chosen, ...found])].sort((a, b) => a - b) : found)
}

function choose(state, points) {
  if (!points.length && !state.chosen.size) return
  state.chosen = new Set(points)
  state.component.setTriggerValue("choose", { points: thinned(points, state.data.most) })
  mark(state)
}

function actByKey(state, event) {
  const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (arrow && state.data.dims === 3 && !event.shiftKey) turn(state, arrow[0] * KEYS.turn, arrow[1] * KEYS.turn)
  else if (arrow) pan(state, -arrow[0] * KEYS.pan, -arrow[1] * KEYS.pan)
  else if (event.key === "+" || event.key === "=") zoom(state, ZOOM.step)
  else if (event.key === "-" || event.key === "_") zoom(state, 1 / ZOOM.step)
  else if (event.key === "0") showWhole(state)
  else if (event.key === "Escape") clear(state)
  else return
  event.preventDefault()
}

function showWhole(state) {
  Object.assign(state, { view: wholeView(), rotation: firstRotation() })
  point(state, -1)
  refresh(state, true)
}

// What was done last goes first: a lasso being drawn, then the choice, then what is picked.
function clear(state) {
  if (state.path.length) {
    state.path = []
    state.pointers.clear()
  } else if (state.chosen.size) return choose(state, [])
  else return pick(state, -1)
  refresh(state, false)
}

function listenToControls(state, on) {
  const { buttons } = state.ui
  const setMode = (mode) => { state.mode = mode; drawControls(state) }
  on(buttons.move, "click", () => setMode("move"))
  on(buttons.lasso, "click", () => setMode("lasso"))
  on(buttons.nearer, "click", () => zoom(state, ZOOM.step))
  on(buttons.further, "click", () => zoom(state, 1 / ZOOM.step))
  on(buttons.whole, "click", () => showWhole(state))
  on(buttons.clear, "click", () => choose(state, []))
}
