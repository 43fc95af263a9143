// Panels of queries (circles) and keys (diamonds), each query joined to keys by lines. A hovered or
// pinned point shows its lines alone, in every panel. Texts are text nodes, never HTML.

import { fitFrame, nearestPoint, placeTexts, toScreen } from "../points/scatter.js"
import { legendEntries, shadeIndex, shadesOf } from "../points/shades.js"
import { sizeClass, sizeEntries, sizeFactor } from "../points/sizes.js"
import { shortened } from "../points/texts.js"
import { make } from "../shared/dom.js"
import { mount } from "../shared/mount.js"
import { parseColour } from "../shared/scales.js"

const PANEL = { least: 250, small: 212, most: 620, gap: 14, margin: { x: 40, y: 24 } } // pixels
const RADIUS = { few: 5, many: 3, manyFrom: 150 } // of a point; from that many tokens on the small
const REACH = 14 // pixels from a point to the pointer
const LABELS = 150 // most in a panel
const STRONGEST = 4 // of the theme's categories: blue, for each query's strongest line
const WIDTH = { least: 0.7, weight: 6 } // of a line: least, and what a weight of 1 adds
const READING = "Hover a point for its lines; click to keep them; arrow keys step from point to point."

export default function (component) {
  return mount(component, createView, (view, data) => view.update(data, (pinned) => component.setStateValue("pinned", pinned)))
}

function createView(parentElement) {
  const legend = make(parentElement, "div", "legend")
  const root = make(parentElement, "div", "grid")
  const reading = make(parentElement, "p", "reading")
  reading.setAttribute("aria-live", "polite")
  const tip = make(parentElement, "div", "tip")
  tip.hidden = true
  const state = { data: null, send: null, pinned: -1, hovered: -1, panels: [], width: 0, legend, root, reading, tip }
  const redraw = () => { if (state.data) layOut(state) }
  const resize = new ResizeObserver(() => { if (root.clientWidth !== state.width) redraw() })
  resize.observe(root)
  const scheme = matchMedia("(prefers-color-scheme: dark)")
  scheme.addEventListener("change", redraw)
  return {
    update(data, send) {
      Object.assign(state, { data, send, hovered: -1, lines: readLines(data), pinned: pointOf(data, data.pinned) })
      layOut(state)
    },
    destroy() {
      resize.disconnect()
      scheme.removeEventListener("change", redraw)
      for (const node of [legend, root, reading, tip]) node.remove()
    },
  }
}

// "k5" -> the index of the fifth key among all points, queries first; -1 for none.
function pointOf(data, name) {
  if (!name) return -1
  const index = Number(name.slice(1)) - 1
  return data.shown.includes(index) ? index + (name[0] === "k" ? data.labels.length : 0) : -1
}

function nameOf(data, index) {
  const count = data.labels.length
  return index < 0 ? null : index < count ? `q${index + 1}` : `k${index - count + 1}`
}

// For each head its lines between tokens that are shown, as {i, j, weight, red, blue}: strongest last,
// so that the last of a query is its strongest.
function readLines(data) {
  const [sources, targets, shown] = [new Set(data.sources), new Set(data.targets), new Set(data.shown)]
  let at = 0
  return data.lineCounts.map((count) => {
    const lines = []
    const last = new Map()
    for (let end = at + count; at < end; at++) {
      const [i, j, weight] = data.lines.subarray(3 * at, 3 * at + 3)
      const line = { i, j, weight, red: sources.has(i) && targets.has(j), blue: false }
      last.set(i, line)
      if (shown.has(i) && shown.has(j)) lines.push(line)
    }
    for (const line of last.values()) line.blue = !line.red
    return lines
  })
}

function layOut(state) {
  const { data, root } = state
  state.width = root.clientWidth
  if (!state.width) return
  const least = data.columns > 3 ? PANEL.small : PANEL.least
  const fit = Math.max(1, Math.floor((state.width + PANEL.gap) / (least + PANEL.gap)))
  const most = Math.min(data.columns, fit, data.titles.length)
  const columns = most > data.together ? most - (most % data.together) : most
  const width = Math.min(PANEL.most, Math.floor((state.width - PANEL.gap * (columns - 1)) / columns) - 2)
  const height = Math.round(Math.min(width * (columns === 1 ? 0.8 : 0.92), 420))
  root.style.gridTemplateColumns = `repeat(${columns}, minmax(0, ${width + 2}px))`
  state.colours = readColours(root, data)
  const indices = [...data.shown, ...data.shown.map((i) => i + data.labels.length)]
  const frames = data.titles.map((_, p) => fitFrame(pointsOf(data, p), indices, width, height, PANEL.margin))
  if (!data.ownScale) shareScale(frames, (p) => (data.together > 1 ? data.groups[p] : 0))
  const focused = root.contains(document.activeElement) || root.getRootNode().activeElement
  const before = state.panels.findIndex((panel) => panel.canvas === focused)
  state.panels = frames.map((frame, p) => makePanel(state, p, frame, indices))
  root.replaceChildren(...state.panels.map((panel) => panel.figure))
  if (before >= 0) state.panels[before]?.canvas.focus()
  drawLegend(state)
  drawAll(state)
}

// Panels of one group get the scale at which all of them fit.
function shareScale(frames, groupOf) {
  for (const [p, frame] of frames.entries()) {
    frame.scale = Math.min(...frames.filter((_, other) => groupOf(other) === groupOf(p)).map(({ own }) => own))
  }
}

function pointsOf(data, panel) {
  const size = 4 * data.labels.length
  return data.points.subarray(panel * size, (panel + 1) * size)
}

function makePanel(state, index, frame, indices) {
  const { data } = state
  const figure = make(null, "figure")
  make(figure, "figcaption", "", data.titles[index])
  const canvas = make(figure, "canvas")
  const ratio = window.devicePixelRatio || 1
  Object.assign(canvas, { width: frame.width * ratio, height: frame.height * ratio, tabIndex: 0 })
  canvas.style.width = `${frame.width}px`
  canvas.style.height = `${frame.height}px`
  canvas.setAttribute("role", "img")
  canvas.setAttribute("aria-label", `${data.titles[index]}: ${data.shown.length} queries and as many keys`)
  const notes = make(figure, "div", "notes")
  for (const note of data.notes[index]) make(notes, "div", "", note)
  const points = pointsOf(data, index)
  const places = Array(2 * data.labels.length).fill(null)
  for (const i of indices) places[i] = toScreen(frame, points[2 * i], points[2 * i + 1])
  const panel = { figure, canvas, frame, places, index, ratio, lines: state.lines[data.groups[index]] }
  Object.assign(figure.dataset, { scale: frame.scale, x: frame.x, y: frame.y })
  listen(state, panel)
  return panel
}

function listen(state, panel) {
  const { canvas } = panel
  const at = (event) => {
    const box = canvas.getBoundingClientRect()
    return nearestPoint(panel.places, event.clientX - box.left, event.clientY - box.top, REACH)
  }
  canvas.onpointermove = (event) => hover(state, at(event), event)
  canvas.onpointerleave = () => hover(state, -1)
  canvas.onclick = (event) => pin(state, at(event))
  canvas.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (event.key === "Escape") pin(state, -1)
    else if (event.key === "Enter") pin(state, state.hovered)
    else if (step) hover(state, nextPoint(panel.places, state.hovered, step))
    else return
    event.preventDefault()
  }
}

function nextPoint(places, from, step) {
  let index = from
  do index = (index + step + places.length) % places.length
  while (!places[index])
  return index
}

function hover(state, index, event) {
  if (event && index >= 0) showTip(state, index, event)
  else state.tip.hidden = true
  if (index === state.hovered) return
  state.hovered = index
  state.root.style.cursor = index >= 0 ? "pointer" : ""
  drawAll(state)
}

function pin(state, index) {
  const next = index === state.pinned ? -1 : index
  if (next === state.pinned) return
  state.pinned = next
  state.hovered = -1
  state.tip.hidden = true
  state.send(nameOf(state.data, next))
  drawAll(state)
}

function focusOf(state) {
  return state.hovered >= 0 ? state.hovered : state.pinned
}

function linesOf(state, panel, focus) {
  if (focus < 0) return panel.lines
  const count = state.data.labels.length
  return panel.lines.filter(({ i, j }) => (focus < count ? i === focus : j === focus - count))
}

function drawAll(state) {
  for (const panel of state.panels) drawPanel(state, panel)
  state.reading.textContent = readingOf(state)
}

function drawPanel(state, panel) {
  const { canvas, ratio, frame } = panel
  const pen = canvas.getContext("2d")
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.clearRect(0, 0, frame.width, frame.height)
  const focus = focusOf(state)
  const lines = linesOf(state, panel, focus)
  panel.figure.dataset.lines = lines.length
  for (const line of lines) if (!line.red && !line.blue) drawLine(pen, state, panel, line, focus)
  for (const line of lines) if (line.blue) drawLine(pen, state, panel, line, focus)
  for (const line of lines) if (line.red) drawLine(pen, state, panel, line, focus)
  const lit = litPoints(state, lines, focus)
  panel.places.forEach((place, index) => {
    if (place) drawPoint(pen, state, panel, index, lit && !lit.has(index))
  })
  if (state.data.labelled) drawLabels(pen, state, panel, lit)
}

function radiusOf({ data }, panel, index) {
  const count = data.labels.length
  const radius = count > RADIUS.manyFrom ? RADIUS.many : RADIUS.few
  return data.sizes.length ? radius * sizeFactor(sizeClass(data.sizes[panel.index * 2 * count + index])) : radius
}

// The points to be seen while one is looked at; null when all are.
function litPoints(state, lines, focus) {
  if (focus < 0) return null
  const count = state.data.labels.length
  return new Set([focus, ...lines.flatMap(({ i, j }) => [i, j + count])])
}

function drawLine(pen, { colours, data }, { places }, { i, j, weight, red, blue }, focus) {
  const [from, to] = [places[i], places[j + data.labels.length]]
  pen.globalAlpha = focus >= 0 || red ? 0.9 : blue ? 0.6 : 0.42
  pen.strokeStyle = red ? colours.alert : blue ? colours.strongest : colours.ink
  pen.lineWidth = WIDTH.least + WIDTH.weight * weight
  pen.lineCap = "round"
  pen.beginPath()
  pen.moveTo(...from)
  pen.lineTo(...to)
  pen.stroke()
  pen.globalAlpha = 1
}

function drawPoint(pen, state, panel, index, faded) {
  const { colours, data } = state
  const count = data.labels.length
  const [x, y] = panel.places[index]
  const radius = radiusOf(state, panel, index)
  const isKey = index >= count
  pen.globalAlpha = faded ? 0.15 : 1
  pen.fillStyle = colours.fill(data.tones[panel.index * 2 * count + index], isKey)
  pen.strokeStyle = colours.paper
  pen.lineWidth = 1
  if (isChosen(data, index)) {
    Object.assign(pen, { strokeStyle: colours.alert, lineWidth: 2.5 })
    if (data.colouring === "type") pen.fillStyle = colours.alert
  }
  pen.beginPath()
  if (isKey) {
    const r = radius * 1.3
    pen.moveTo(x, y - r)
    for (const [dx, dy] of [[r, 0], [0, r], [-r, 0]]) pen.lineTo(x + dx, y + dy)
    pen.closePath()
  } else pen.arc(x, y, radius, 0, 7)
  pen.fill()
  pen.stroke()
  pen.globalAlpha = 1
}

// Labels of chosen tokens first, then of the ends of strong lines.
function drawLabels(pen, state, panel, lit) {
  const { data, colours } = state
  const count = data.labels.length
  const strength = new Float32Array(2 * count)
  for (const { i, j, weight, red } of panel.lines) {
    strength[i] = Math.max(strength[i], weight + (red ? 2 : 0))
    strength[j + count] = Math.max(strength[j + count], weight + (red ? 2 : 0))
  }
  pen.font = `12px ${colours.font}`
  const order = [...panel.places.keys()].filter((i) => panel.places[i] && (!lit || lit.has(i)))
  order.sort((a, b) => strength[b] - strength[a] || a - b)
  const wanted = order.map((index) => {
    const text = shortened(data.labels[index % count])
    const radius = radiusOf(state, panel, index)
    return { index, text, x: panel.places[index][0], y: panel.places[index][1], radius, textWidth: pen.measureText(text).width + 2 }
  })
  for (const { index, text, box } of placeTexts(wanted, panel.frame.width, panel.frame.height, LABELS)) {
    pen.textBaseline = "top"
    pen.lineWidth = 3
    pen.lineJoin = "round"
    pen.strokeStyle = colours.paper
    pen.strokeText(text, box.x + 1, box.y + 1)
    pen.fillStyle = isChosen(data, index) ? colours.alert : index < count ? colours.query : colours.key
    pen.fillText(text, box.x + 1, box.y + 1)
  }
}

// Whether this is the query of a chosen source or the key of a chosen target.
function isChosen({ sources, targets, labels }, index) {
  return index < labels.length ? sources.includes(index) : targets.includes(index - labels.length)
}

// What the point in focus attends to, or who attends to it, with the weights, for each head.
function readingOf(state) {
  const { data } = state
  const focus = focusOf(state)
  if (focus < 0) return READING
  const count = data.labels.length
  const isKey = focus >= count
  const parts = data.heads.map((head, group) => {
    const lines = linesOf(state, { lines: state.lines[group] }, focus).slice(-8).reverse()
    const ends = lines.map(({ i, j, weight }) => `${data.labels[isKey ? i : j]} ${weight.toFixed(3)}`)
    const what = ends.length ? ends.join(", ") : "no line"
    return data.heads.length > 1 ? `${head}: ${what}` : what
  })
  return `${isKey ? "Key" : "Query"} ${data.labels[focus % count]} ${isKey ? "←" : "→"} ${parts.join(" · ")}`
}

function showTip(state, index, event) {
  const { tip, data } = state
  const count = data.labels.length
  const kind = index < count ? "query" : "key"
  tip.replaceChildren(make(null, "b", "", data.labels[index % count]), make(null, "span", "", `${kind}, position ${(index % count) + 1}`))
  tip.hidden = false
  tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 210)}px`
  tip.style.top = `${event.clientY + 14}px`
}

function readColours(element, data) {
  const style = getComputedStyle(element)
  const value = (name) => style.getPropertyValue(name).trim()
  const series = value("--st-chart-categorical-colors").split(",").map((each) => each.trim())
  const [query, key] = series
  const [paper, alert] = [value("--st-background-color"), value("--st-red-color")]
  const shades = shadesOf(data, { query: parseColour(query), key: parseColour(key), paper: parseColour(paper) })
  const kinds = shades.map((kind) => kind.map((each) => `rgb(${each})`))
  const fill = (tone, isKey) => kinds[Number(isKey)][shadeIndex(data.colouring, tone, kinds[0].length)]
  return { query, key, fill, shades, strongest: series[STRONGEST], ink: value("--st-text-color"), paper, alert, font: value("--st-font") || "sans-serif" }
}

function drawLegend({ legend, data, colours }) {
  const items = [
    ...legendEntries(data, colours.shades), ...sizeEntries(data),
    make(null, "span", "", "— a line's thickness is the attention"),
    entry("each query's strongest", "dash", colours.strongest),
  ]
  if (data.sources.length || data.targets.length) items.push(entry("chosen sources and targets", "dash", colours.alert))
  legend.replaceChildren(...items)
}

function entry(text, shape, colour) {
  const item = make(null, "span", "entry")
  make(item, "i", shape).style.background = colour
  make(item, "span", "", text)
  return item
}
