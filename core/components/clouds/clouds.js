// Panels of queries (discs) and keys (diamonds), with lines from queries to keys. A point that is hovered or pinned
// shows only its own lines, in every panel.

import { fitFrame, nearestPoint, toScreen, tracePoint, writeLabels } from "../points/scatter.js"
import { legendEntries, legendEntry, legendMark, shadeIndex, shadesOf, sizeEntries, sizeFactor } from "../points/shades.js"
import { shortened } from "../points/texts.js"
import { describe, make, makeTip, sizeCanvas, strokeLine } from "../shared/dom.js"
import { css, readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"

/** @import { Coloured } from "../points/shades.js" */
/** @import { Frame } from "../points/scatter.js" */
/** @import { Rgb, Theme } from "../shared/scales.js" */
/** @import { Component } from "../shared/view.js" */
/**
 * @typedef {{i: number, j: number, weight: number, isChosen: boolean, isStrongest: boolean}} Line from query i to key j
 * @typedef {{figure: HTMLElement, canvas: HTMLCanvasElement, frame: Frame, places: (number[] | null)[], index: number, lines: Line[]}} Panel
 * @typedef {Coloured & {
 *   titles: string[], notes: string[][], groups: number[], labels: string[], queries: number, heads: string[], lineCounts: number[], columns: number,
 *   together: number, sizeEnds: number[], labelled: boolean, sources: number[], targets: number[], shown: number[], ownScale: boolean,
 *   pinned: string | null, points: Float32Array, tones: Float32Array, sizes: Uint8Array, lines: Float32Array,
 * }} Data
 */

const PANEL = { minWidth: 250, narrow: 212, maxWidth: 620, gap: 14, margin: { x: 40, y: 24 } } // pixels
const RADIUS = { few: 5, many: 3, manyFrom: 150 } // pixels; tokens
const REACH = 14 // pixels from a point to the pointer
const MAX_LABELS = 150 // per panel
const STRONGEST = 4 // of the theme's categories: blue, for each query's strongest line
const WIDTH = { min: 0.7, weight: 6 } // pixels of a line: at weight 0, and what a weight of 1 adds
const READING = "Hover over a point for its lines; click to keep them; arrow keys step from point to point."

/** @param {Component} component */
export default function (component) {
  return mount(component, CloudsView)
}

class CloudsView extends View {
  /** @type {Data} */ data
  /** @type {Theme} */ theme
  /** @type {Rgb[][]} */ shades // [queries, keys]
  /** @type {Line[][]} */ lines = [] // per head
  /** @type {Panel[]} */ panels = []
  pinned = -1 // a point: queries first
  hovered = -1

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.legend = make(this.root, "div", "legend")
    this.grid = make(this.root, "div", "grid")
    this.reading = describe(make(this.root, "p", "reading"), { "aria-live": "polite" })
    this.tip = makeTip(this.root)
  }

  /** @param {Data} data */
  update(data) {
    const hovered = this.data && hasSamePoints(this.data, data) ? this.hovered : -1 // an answer may come while somebody steps
    Object.assign(this, { data, hovered, lines: readLines(data), pinned: pointOf(data) })
    this.layOut()
  }

  layOut() {
    const { data, grid } = this
    this.width = this.root.clientWidth
    if (!this.width) return
    const minWidth = data.columns > 3 ? PANEL.narrow : PANEL.minWidth
    const fitting = Math.max(1, Math.floor((this.width + PANEL.gap) / (minWidth + PANEL.gap)))
    const max = Math.min(data.columns, fitting, data.titles.length)
    const columns = max > data.together ? max - (max % data.together) : max
    const width = Math.min(PANEL.maxWidth, Math.floor((this.width - PANEL.gap * (columns - 1)) / columns) - 2)
    const height = Math.round(Math.min(width * (columns === 1 ? 0.8 : 0.92), 420))
    grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, ${width + 2}px))`
    this.theme = readTheme(this.root)
    this.shades = shadesOf(data, this.theme)
    const indices = data.shown
    const frames = data.titles.map((_, p) => fitFrame(pointsOf(data, p), indices, width, height, PANEL.margin))
    if (!data.ownScale) shareScale(frames, (p) => (data.together > 1 ? data.groups[p] : 0))
    const focused = this.panels.findIndex(({ canvas }) => canvas.matches(":focus"))
    this.panels = frames.map((frame, p) => this.makePanel(p, frame, indices))
    grid.replaceChildren(...this.panels.map(({ figure }) => figure))
    if (focused >= 0) this.panels[focused]?.canvas.focus()
    this.drawLegend()
    this.draw()
  }

  /** @param {number} index @param {Frame} frame @param {number[]} indices of the points shown @returns {Panel} */
  makePanel(index, frame, indices) {
    const { data } = this
    const figure = make(null, "figure")
    make(figure, "figcaption", "", data.titles[index])
    const canvas = make(figure, "canvas")
    const queries = indices.filter((i) => i < data.queries).length
    const label = `${data.titles[index]}: ${queries} queries and ${indices.length - queries} keys`
    describe(canvas, { tabindex: 0, role: "img", "aria-label": label })
    const notes = make(figure, "div", "notes")
    for (const note of data.notes[index]) make(notes, "div", "", note)
    const points = pointsOf(data, index)
    const places = Array(data.labels.length).fill(null)
    for (const i of indices) places[i] = toScreen(frame, points[2 * i], points[2 * i + 1])
    Object.assign(figure.dataset, { scale: frame.scale, x: frame.x, y: frame.y })
    const panel = { figure, canvas, frame, places, index, lines: this.lines[data.groups[index]] }
    this.listenTo(panel)
    return panel
  }

  /** @param {Panel} panel */
  listenTo({ canvas, places }) {
    /** @type {(event: MouseEvent) => number} */
    const pointUnder = (event) => nearestPoint(places.length, (i) => places[i], event.offsetX, event.offsetY, REACH)
    canvas.onpointermove = (event) => this.hover(pointUnder(event), event)
    canvas.onpointerleave = () => this.hover(-1)
    canvas.onclick = (event) => this.pin(pointUnder(event))
    canvas.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
      if (event.key === "Escape") this.pin(-1)
      else if (event.key === "Enter") this.pin(this.hovered)
      else if (step) this.hover(nextPoint(places, this.hovered, step))
      else return
      event.preventDefault()
    }
  }

  /** @param {number} index @param {PointerEvent} [event] */
  hover(index, event) {
    const { labels, queries } = this.data
    const name = index < queries ? `query, position ${index + 1}` : `key, position ${index - queries + 1}`
    if (event && index >= 0) this.tip.show(event, labels[index], [[name]])
    else this.tip.hide()
    if (index === this.hovered) return
    this.hovered = index
    this.grid.style.cursor = index >= 0 ? "pointer" : ""
    this.draw()
  }

  /** Pin a point; again, or -1: let go. @param {number} index */
  pin(index) {
    const pinned = index === this.pinned ? -1 : index
    if (pinned === this.pinned) return
    Object.assign(this, { pinned, hovered: -1 })
    this.tip.hide()
    const { queries } = this.data
    const name = pinned < queries ? `q${pinned + 1}` : `k${pinned - queries + 1}`
    this.component.setStateValue("pinned", pinned < 0 ? null : name)
    this.draw()
  }

  get focus() {
    return this.hovered >= 0 ? this.hovered : this.pinned
  }

  /** Those of the point in focus, or all. @param {Line[]} lines */
  linesInFocus(lines) {
    const { queries } = this.data
    return this.focus < 0 ? lines : lines.filter(({ i, j }) => (this.focus < queries ? i === this.focus : j === this.focus - queries))
  }

  draw() {
    for (const panel of this.panels) this.drawPanel(panel)
    this.reading.textContent = this.readFocus()
  }

  /** @param {Panel} panel */
  drawPanel(panel) {
    const { canvas, frame, places } = panel
    const pen = sizeCanvas(canvas, frame.width, frame.height)
    pen.clearRect(0, 0, frame.width, frame.height)
    const lines = this.linesInFocus(panel.lines)
    panel.figure.dataset.lines = String(lines.length)
    /** @type {(line: Line) => number} */
    const layer = ({ isChosen, isStrongest }) => (isChosen ? 2 : isStrongest ? 1 : 0)
    for (const line of lines.toSorted((a, b) => layer(a) - layer(b))) this.drawLine(pen, places, line)
    const { queries } = this.data
    const lit = new Set(this.focus < 0 ? places.keys() : [this.focus, ...lines.flatMap(({ i, j }) => [i, j + queries])])
    places.forEach((place, index) => { if (place) this.drawPoint(pen, panel, place, index, lit.has(index)) })
    if (this.data.labelled) this.drawLabels(pen, panel, lit)
  }

  /** @param {CanvasRenderingContext2D} pen @param {(number[] | null)[]} places @param {Line} line */
  drawLine(pen, places, { i, j, weight, isChosen, isStrongest }) {
    const [from, to] = [places[i], places[j + this.data.queries]]
    if (!from || !to) return
    pen.globalAlpha = this.focus >= 0 || isChosen ? 0.9 : isStrongest ? 0.6 : 0.42
    pen.strokeStyle = isChosen ? this.theme.alert : isStrongest ? this.theme.series[STRONGEST] : this.theme.ink
    pen.lineWidth = WIDTH.min + WIDTH.weight * weight
    pen.lineCap = "round"
    strokeLine(pen, from[0], from[1], to[0], to[1])
    pen.globalAlpha = 1
  }

  /** @param {CanvasRenderingContext2D} pen @param {Panel} panel @param {number[]} place @param {number} index @param {boolean} isLit */
  drawPoint(pen, panel, [x, y], index, isLit) {
    const { data, theme, shades } = this
    const kind = Number(index >= data.queries)
    const tone = data.tones[panel.index * panel.places.length + index]
    pen.globalAlpha = isLit ? 1 : 0.15
    pen.fillStyle = css(shades[kind][shadeIndex(data.colouring, tone, shades[kind].length)])
    Object.assign(pen, { strokeStyle: theme.paper, lineWidth: 1, lineJoin: "round" })
    if (isChosen(data, index)) {
      Object.assign(pen, { strokeStyle: theme.alert, lineWidth: 2.5 })
      if (data.colouring === "type") pen.fillStyle = theme.alert
    }
    tracePoint(pen, kind === 1, x, y, this.radiusOf(panel, index))
    pen.fill()
    pen.stroke()
    pen.globalAlpha = 1
  }

  /** @param {Panel} panel @param {number} index */
  radiusOf({ index: panel, places }, index) {
    const { labels, sizes } = this.data
    const radius = labels.length > 2 * RADIUS.manyFrom ? RADIUS.many : RADIUS.few
    return sizes.length ? radius * sizeFactor(sizes[panel * places.length + index]) : radius
  }

  /** Labels of chosen tokens first, then of the ends of strong lines. @param {CanvasRenderingContext2D} pen @param {Panel} panel @param {Set<number>} lit */
  drawLabels(pen, panel, lit) {
    const { data, theme } = this
    const { queries } = data
    const strength = new Float32Array(data.labels.length)
    for (const { i, j, weight, isChosen } of panel.lines) {
      for (const point of [i, j + queries]) strength[point] = Math.max(strength[point], weight + (isChosen ? 2 : 0))
    }
    const order = [...lit].filter((i) => panel.places[i]).sort((a, b) => strength[b] - strength[a] || a - b)
    const labels = order.map((index) => {
      const [x, y] = panel.places[index] ?? []
      const colour = isChosen(data, index) ? theme.alert : index < queries ? theme.query : theme.key
      return { x, y, radius: this.radiusOf(panel, index), text: shortened(data.labels[index]), colour }
    })
    Object.assign(pen, { font: `12px ${theme.font}`, lineWidth: 3 })
    writeLabels(pen, labels, panel.frame, MAX_LABELS, theme.paper)
  }

  /** What the point in focus attends to, or what attends to it, with the weights of each head. */
  readFocus() {
    const { labels, heads, queries } = this.data
    if (this.focus < 0) return READING
    const isKey = this.focus >= queries
    const parts = heads.map((head, group) => {
      const lines = this.linesInFocus(this.lines[group]).slice(-8).reverse()
      const ends = lines.map(({ i, j, weight }) => `${labels[isKey ? i : j + queries]} ${weight.toFixed(3)}`).join(", ") || "no line"
      return heads.length > 1 ? `${head}: ${ends}` : ends
    })
    return `${isKey ? "Key" : "Query"} ${labels[this.focus]} ${isKey ? "←" : "→"} ${parts.join(" · ")}`
  }

  drawLegend() {
    const { data, theme, shades } = this
    const entries = [
      ...legendEntries(data, shades), ...sizeEntries(data),
      make(null, "span", "", "— a line's thickness is the attention"),
      legendEntry([legendMark("dash", theme.series[STRONGEST])], "each query's strongest"),
    ]
    if (data.sources.length || data.targets.length) {
      entries.push(legendEntry([legendMark("dash", theme.alert)], "chosen sources and targets"))
    }
    this.legend.replaceChildren(...entries)
  }
}

/** @param {Data} before @param {Data} after */
function hasSamePoints(before, after) {
  return [before.labels, before.shown].join("\0") === [after.labels, after.shown].join("\0")
}

/** The pinned point's index; "k5" is the fifth key. @param {Data} data */
function pointOf({ pinned, shown, queries }) {
  if (!pinned) return -1
  const index = Number(pinned.slice(1)) - 1 + (pinned[0] === "k" ? queries : 0)
  return shown.includes(index) ? index : -1
}

/** For each head its lines between tokens that are shown, the strongest last. @param {Data} data */
function readLines(data) {
  const [sources, targets, shown] = [new Set(data.sources), new Set(data.targets), new Set(data.shown)]
  let next = 0
  return data.lineCounts.map((count) => {
    const lines = Array.from({ length: count }, () => {
      const [i, j, weight] = data.lines.subarray(3 * next, 3 * ++next)
      return { i, j, weight, isChosen: sources.has(i) && targets.has(j), isStrongest: false }
    })
    const strongest = new Map(lines.map((line) => [line.i, line]))
    for (const line of strongest.values()) line.isStrongest = !line.isChosen
    return lines.filter(({ i, j }) => shown.has(i) && shown.has(j + data.queries))
  })
}

/** Panels of one group get the largest scale at which all of them fit. @param {Frame[]} frames @param {(panel: number) => number} groupOf */
function shareScale(frames, groupOf) {
  for (const [p, frame] of frames.entries()) {
    frame.scale = Math.min(...frames.filter((_, other) => groupOf(other) === groupOf(p)).map(({ own }) => own))
  }
}

/** @param {Data} data @param {number} panel */
function pointsOf({ points, labels }, panel) {
  const size = 2 * labels.length
  return points.subarray(panel * size, (panel + 1) * size)
}

/** @param {(number[] | null)[]} places @param {number} from @param {number} step */
function nextPoint(places, from, step) {
  let index = from
  do index = (index + step + places.length) % places.length
  while (!places[index])
  return index
}

/** Whether this is the query of a chosen source or the key of a chosen target. @param {Data} data @param {number} index */
function isChosen({ sources, targets, queries }, index) {
  return index < queries ? sources.includes(index) : targets.includes(index - queries)
}
