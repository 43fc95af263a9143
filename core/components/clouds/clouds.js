// Panels of queries (discs) and keys (diamonds), with lines from queries to keys. A point that is hovered or pinned
// shows only its own lines, in every panel. Points of an image are drawn as its patches, beside the image itself.

import { writeLabels } from "../points/labels.js"
import { nearestPoint, tracePoint } from "../points/scatter.js"
import { legendEntries, legendEntry, legendMark, shadeIndex, shadesOf } from "../points/shades.js"
import { shortened } from "../points/texts.js"
import {
  describe,
  make,
  makeTip,
  placeOf,
  sizeCanvas,
  strokeLine,
  windowFor,
} from "../shared/dom.js"
import { ARROWS } from "../shared/focus.js"
import { css, parseColour, readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"
import {
  STRONGEST,
  hasSamePoints,
  isChosen,
  LOOKS,
  lookOf,
  nextPoint,
  pointOf,
  pointsOf,
  readLines,
  redEnds,
} from "./data.js"
import { ImageMap } from "./image_map.js"
import { AXES, fitPoints, placePoints, writeAxes } from "./plane.js"
import { drawSprite, makeSprites, spriteSide } from "./sprites.js"

/** @import { Frame } from "./plane.js" */
/** @import { Sprites } from "./sprites.js" */
/** @import { Focus } from "./image_map.js" */
/** @import { Data, Line, Panel } from "./data.js" */
/** @import { Rgb, Theme } from "../shared/scales.js" */
/** @import { Component } from "../shared/view.js" */

const PANEL = { minWidth: 250, narrow: 212, maxWidth: 620, gap: 14, margin: { x: 40, y: 24 } } // pixels
const HEIGHT = { max: 500, least: 300, window: 0.52 } // pixels; share of the window, with notes below it
const WITH_IMAGE = {
  minWidth: 212,
  maxWidth: 900,
  beside: 640,
  map: { one: 290, several: 220 },
  border: { type: 2, tone: 3 },
  larger: 1.5,
}
const RADIUS = { few: 5, many: 3, manyFrom: 150 } // pixels; tokens
const REACH = 14 // pixels from a point to the pointer
const MAX_LABELS = 150 // per panel
const WIDTH = { min: 0.7, weight: 6 } // pixels of a line: at weight 0, and what a weight of 1 adds
const READING = "Point at a dot for its lines, press to pin them."

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
  /** @type {Sprites | null} */ sprites = null // of an image

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.legend = make(this.root, "div", "legend")
    this.grid = make(this.root, "div", "grid")
    this.map = new ImageMap(
      this.grid,
      (patch) => this.hover(this.queryOf(patch)),
      (patch) => this.pin(this.queryOf(patch)),
    )
    this.reading = describe(make(this.root, "p", "reading"), { "aria-live": "polite" })
    this.tip = makeTip(this.root)
  }

  /** @param {Data} data */
  update(data) {
    const hovered = this.data && hasSamePoints(this.data, data) ? this.hovered : -1 // an answer may come while somebody steps
    Object.assign(this, {
      data,
      hovered,
      lines: readLines(data),
      pinned: pointOf(data),
      sprites: makeSprites(data),
    })
    this.layOut()
  }

  layOut() {
    const { data, grid } = this
    this.width = this.root.clientWidth
    if (!this.width) return
    const { columns, width, height } = this.sizePanels()
    grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, ${width + 2}px))`
    this.theme = readTheme(this.root)
    this.shades = shadesOf(data, this.theme)
    const frames = data.titles.map((_, p) =>
      fitPoints(pointsOf(data, p), data.shown, width, height, PANEL.margin),
    )
    const focused = this.panels.findIndex(({ canvas }) => canvas.matches(":focus"))
    this.panels = frames.map((frame, p) => this.makePanel(p, frame))
    grid.replaceChildren(...this.panels.map(({ figure }) => figure))
    if (focused >= 0) this.panels[focused]?.canvas.focus()
    this.drawLegend()
    this.draw()
  }

  /** Columns of panels, and pixels of one; beside or above the image, where there is one. */
  sizePanels() {
    const { data, sprites } = this
    const count = data.titles.length
    const isBeside = Boolean(sprites) && this.width >= WITH_IMAGE.beside
    const map = count > 1 ? WITH_IMAGE.map.several : WITH_IMAGE.map.one
    this.root.classList.toggle("beside", isBeside)
    this.map.layOut(sprites, readTheme(this.root), Math.min(map, this.width - 2))
    const room = isBeside ? this.width - map - PANEL.gap - 2 : this.width
    const minWidth = sprites
      ? WITH_IMAGE.minWidth
      : data.columns > 3
        ? PANEL.narrow
        : PANEL.minWidth
    const fitting = Math.max(1, Math.floor((room + PANEL.gap) / (minWidth + PANEL.gap)))
    const columns = Math.min(data.columns, fitting, count)
    const maxWidth = sprites ? WITH_IMAGE.maxWidth : PANEL.maxWidth
    const width = Math.min(maxWidth, Math.floor((room - PANEL.gap * (columns - 1)) / columns) - 2)
    const inWindow = Math.max(HEIGHT.least, HEIGHT.window * windowFor(this.root).height)
    const height = Math.round(Math.min(width * (columns === 1 ? 0.8 : 0.92), inWindow, HEIGHT.max))
    return { columns, width, height }
  }

  /** @param {number} index @param {Frame} frame @returns {Panel} */
  makePanel(index, frame) {
    const { data } = this
    const figure = make(null, "figure")
    make(figure, "figcaption", "", data.titles[index])
    const canvas = make(figure, "canvas")
    const queries = data.shown.filter((i) => i < data.queries).length
    const label = `${data.titles[index]}: ${queries} queries and ${data.shown.length - queries} keys; arrow keys step from point to point, Enter pins one, Escape unpins`
    describe(canvas, { tabindex: 0, role: "img", "aria-label": label })
    const notes = make(figure, "div", "notes")
    for (const note of data.notes[index]) make(notes, "div", "", note)
    Object.assign(figure.dataset, { scale: frame.scale, x: frame.x, y: frame.y })
    const lines = this.lines[data.groups[index]]
    const places = placePoints(frame, pointsOf(data, index), data.shown, data.labels.length)
    const panel = { figure, canvas, frame, places, index, lines, red: redEnds(data, lines) }
    this.listenTo(panel)
    return panel
  }

  /** @param {Panel} panel */
  listenTo(panel) {
    const { canvas } = panel
    const pointUnder = (/** @type {MouseEvent} */ event) => {
      const { x, y } = placeOf(canvas, event)
      return nearestPoint(panel.places.length, (i) => panel.places[i], x, y, REACH)
    }
    canvas.onpointermove = (event) => this.hover(pointUnder(event), event)
    canvas.onpointerleave = () => this.hover(-1)
    canvas.onclick = (event) => this.pin(pointUnder(event))
    canvas.onkeydown = (event) => {
      const [down, across] = ARROWS[event.key] ?? []
      if (event.key === "Escape") this.pin(-1)
      else if (event.key === "Enter") this.pin(this.hovered)
      else if (across === undefined) return
      else this.hover(nextPoint(panel.places, this.hovered, down + across))
      event.preventDefault()
    }
  }

  /** The query of a patch, if it is shown. @param {number} patch */
  queryOf(patch) {
    const index = patch + (this.data.grid?.first ?? 0)
    return patch >= 0 && this.data.shown.includes(index) ? index : -1
  }

  /** @param {number} index @param {PointerEvent} [event] */
  hover(index, event) {
    if (event && index >= 0) this.tip.show(event, this.data.labels[index], this.tipOf(index))
    else this.tip.hide()
    if (index === this.hovered) return
    this.hovered = index
    this.grid.style.cursor = index >= 0 ? "pointer" : ""
    this.draw()
  }

  /** What a point is, and in an image its strongest partner. @param {number} index */
  tipOf(index) {
    const { queries, labels, grid } = this.data
    const isKey = index >= queries
    const kind = isKey ? "key" : "query"
    const patch = this.sprites?.patchOf(index) ?? -1
    const where =
      grid && patch >= 0
        ? `row ${Math.floor(patch / grid.columns) + 1}, column ${(patch % grid.columns) + 1}`
        : `position ${(index % queries) + 1}`
    const { partner, weight } = this.partnerOf(index)
    const lines = [[`${kind}, ${where}`]]
    if (partner >= 0)
      lines.push([
        `${isKey ? "gets most from" : "attends most to"} ${labels[partner]}: ${weight.toFixed(3)}`,
      ])
    return lines
  }

  /** The key that a query attends to most, or the query that gives a key most; -1 without an image. @param {number} index */
  partnerOf(index) {
    const { partners, queries } = this.data
    const [partner, weight] = partners.length
      ? partners.subarray(2 * index, 2 * index + 2)
      : [-1, 0]
    return { partner: partner < 0 || index >= queries ? partner : partner + queries, weight }
  }

  /** Pin a point; again, or -1: let go. @param {number} index */
  pin(index) {
    const pinned = index === this.pinned ? -1 : index
    if (pinned === this.pinned) return
    Object.assign(this, { pinned, hovered: -1 })
    this.tip.hide()
    const { queries } = this.data
    const name = pinned < queries ? `q${pinned + 1}` : `k${pinned - queries + 1}`
    this.tell("pin", { point: pinned < 0 ? null : name })
    this.draw()
  }

  get focus() {
    return this.hovered >= 0 ? this.hovered : this.pinned
  }

  /** Those of the point in focus, or all. @param {Line[]} lines */
  linesInFocus(lines) {
    const { queries } = this.data
    return this.focus < 0
      ? lines
      : lines.filter(({ i, j }) =>
          this.focus < queries ? i === this.focus : j === this.focus - queries,
        )
  }

  draw() {
    for (const panel of this.panels) this.drawPanel(panel)
    this.map.draw(this.imageFocus())
    this.reading.textContent = this.readFocus()
  }

  /** What the image marks: the point in focus and the other ends of its lines. @returns {Focus | null} */
  imageFocus() {
    const { focus, sprites } = this
    if (focus < 0 || !sprites) return null
    const { queries, labels } = this.data
    const { partner, weight } = this.partnerOf(focus)
    const pair = [focus, partner]
    const [query, key] = focus < queries ? [focus, partner] : [partner, focus]
    const ends = this.linesInFocus(this.lines[0])
    /** @type {(points: number[]) => number[]} */
    const patches = (points) =>
      [...new Set(points.map((point) => sprites.patchOf(point)))].filter((patch) => patch >= 0)
    return {
      query: query < 0 ? -1 : sprites.patchOf(query),
      key: key < 0 ? -1 : sprites.patchOf(key),
      queries: patches([
        ...ends.map(({ i }) => i),
        ...pair.filter((point) => point >= 0 && point < queries),
      ]),
      keys: patches([...ends.map(({ j }) => j), ...pair.filter((point) => point >= queries)]),
      names: [query, key].map((point) => labels[point] ?? ""),
      weight,
      isKey: focus >= queries,
    }
  }

  /** @param {Panel} panel */
  drawPanel(panel) {
    const { places, canvas, frame, figure } = panel
    const pen = sizeCanvas(canvas, frame.width, frame.height)
    pen.clearRect(0, 0, frame.width, frame.height)
    const lines = this.linesInFocus(panel.lines)
    figure.dataset.lines = String(lines.length)
    for (const line of lines.toSorted((a, b) => lookOf(a).layer - lookOf(b).layer))
      this.drawLine(pen, places, line)
    const { queries, axes } = this.data
    const lit = new Set(
      this.focus < 0
        ? places.keys()
        : [this.focus, ...lines.flatMap(({ i, j }) => [i, j + queries])],
    )
    for (const index of this.drawingOrder(places, lit))
      this.drawPoint(pen, panel, places[index] ?? [], index, lit.has(index))
    this.drawLabels(pen, panel, lit)
    Object.assign(pen, { font: `12px ${this.theme.font}`, lineWidth: 3 })
    writeAxes(pen, frame, axes[panel.index] ?? [], this.theme)
  }

  /** Patches in focus after all others. @param {(number[] | null)[]} places @param {Set<number>} lit */
  drawingOrder(places, lit) {
    const shown = [...places.keys()].filter((index) => places[index])
    if (!this.sprites) return shown
    /** @type {(index: number) => number} */
    const layer = (index) => (index === this.focus ? 2 : Number(lit.has(index)))
    return shown.sort((a, b) => layer(a) - layer(b))
  }

  /** @param {CanvasRenderingContext2D} pen @param {(number[] | null)[]} places @param {Line} line */
  drawLine(pen, places, line) {
    const [from, to] = [places[line.i], places[line.j + this.data.queries]]
    if (!from || !to) return
    const { opacity, dash, colour } = lookOf(line)
    pen.globalAlpha = this.focus >= 0 ? 0.9 : opacity
    pen.strokeStyle = colour(this.theme)
    pen.lineWidth = WIDTH.min + WIDTH.weight * line.weight
    pen.lineCap = dash.length ? "butt" : "round"
    pen.setLineDash(dash)
    strokeLine(pen, from[0], from[1], to[0], to[1])
    pen.setLineDash([])
    pen.globalAlpha = 1
  }

  /** @param {CanvasRenderingContext2D} pen @param {Panel} panel @param {number[]} place @param {number} index @param {boolean} isLit */
  drawPoint(pen, panel, [x, y], index, isLit) {
    const { data, theme, sprites } = this
    const kind = Number(index >= data.queries)
    const colour = this.colourOf(panel, index)
    pen.globalAlpha = isLit ? 1 : 0.15
    const patch = sprites?.patchOf(index) ?? -1
    if (sprites && patch >= 0) {
      const border = data.colouring === "type" ? WITH_IMAGE.border.type : WITH_IMAGE.border.tone
      drawSprite(
        pen,
        sprites.pictureOf(patch, kind === 1),
        kind === 1,
        x,
        y,
        2 * this.radiusOf(panel, index),
        colour,
        border,
      )
      pen.globalAlpha = 1
      return
    }
    pen.fillStyle = colour
    Object.assign(pen, { strokeStyle: theme.paper, lineWidth: 1, lineJoin: "round" })
    if (isChosen(data, index))
      Object.assign(pen, {
        strokeStyle: panel.red.has(index) ? theme.alert : theme.ink,
        lineWidth: 2.5,
      })
    tracePoint(pen, kind === 1, x, y, this.radiusOf(panel, index))
    pen.fill()
    pen.stroke()
    pen.globalAlpha = 1
  }

  /** What is no number has the colour of its kind: [CLS] has no hue. @param {Panel} panel @param {number} index */
  colourOf(panel, index) {
    const { data, theme, shades } = this
    const kind = Number(index >= data.queries)
    const tone = data.tones[panel.index * panel.places.length + index]
    if (Number.isNaN(tone)) return css(parseColour(kind ? theme.key : theme.query))
    return css(shades[kind][shadeIndex(data.colouring, tone, shades[kind].length)])
  }

  /** @param {Panel} panel @param {number} index */
  radiusOf({ frame }, index) {
    const { labels, shown } = this.data
    if (!this.sprites) return labels.length > 2 * RADIUS.manyFrom ? RADIUS.many : RADIUS.few
    const side = spriteSide(frame.width, frame.height, shown.length)
    return (side / 2) * (index === this.focus ? WITH_IMAGE.larger : 1)
  }

  /** Labels of chosen tokens first, then of the ends of strong lines. @param {CanvasRenderingContext2D} pen @param {Panel} panel @param {Set<number>} lit */
  drawLabels(pen, panel, lit) {
    const { data, theme } = this
    const { queries } = data
    const strength = new Float32Array(data.labels.length)
    for (const { i, j, weight, isChosen } of panel.lines) {
      for (const point of [i, j + queries])
        strength[point] = Math.max(strength[point], weight + (isChosen ? 2 : 0))
    }
    const named =
      this.sprites && this.focus < 0
        ? [...lit].filter((i) => this.sprites?.patchOf(i) === -1)
        : [...lit]
    const order = named
      .filter((i) => panel.places[i])
      .sort((a, b) => strength[b] - strength[a] || a - b)
    const labels = order.map((index) => {
      const [x, y] = panel.places[index] ?? []
      const colour = panel.red.has(index)
        ? theme.alert
        : isChosen(data, index)
          ? theme.ink
          : index < queries
            ? theme.query
            : theme.key
      return {
        x,
        y,
        radius: this.radiusOf(panel, index),
        text: shortened(data.labels[index]),
        colour,
      }
    })
    Object.assign(pen, { font: `12px ${theme.font}`, lineWidth: 3 })
    writeLabels(
      pen,
      labels,
      { ...panel.frame, height: panel.frame.height - AXES.height },
      MAX_LABELS,
      theme.paper,
    )
  }

  /** What the point in focus attends to, or what attends to it, with the weights of each head. */
  readFocus() {
    const { labels, heads, queries } = this.data
    if (this.focus < 0) return READING
    const isKey = this.focus >= queries
    const parts = heads.map((head, group) => {
      const lines = this.linesInFocus(this.lines[group]).slice(-8).reverse()
      const ends =
        lines
          .map(({ i, j, weight }) => `${labels[isKey ? i : j + queries]} ${weight.toFixed(3)}`)
          .join(", ") || this.partnerInWords()
      return heads.length > 1 ? `${head}: ${ends}` : ends
    })
    return `${isKey ? "Key" : "Query"} ${labels[this.focus]} ${isKey ? "←" : "→"} ${parts.join(" · ")}`
  }

  /** For a point without lines: in an image its strongest partner. */
  partnerInWords() {
    const { partner, weight } = this.partnerOf(this.focus)
    return partner < 0 ? "no line" : `most with ${this.data.labels[partner]} ${weight.toFixed(3)}`
  }

  drawLegend() {
    const { data, theme, shades } = this
    const kinds = legendEntries(data, shades)
    if (this.sprites)
      for (const mark of kinds.flatMap((each) => [...each.querySelectorAll(".diamond")]))
        mark.className = "square"
    const entries = [...kinds, make(null, "span", "", "— thicker lines: more attention")]
    const looks = new Set(this.panels.flatMap(({ lines }) => lines.map(lookOf)))
    if (looks.has(LOOKS.strongest))
      entries.push(
        legendEntry([legendMark("dash", theme.series[STRONGEST])], "each query's strongest"),
      )
    if (data.sources.length || data.targets.length)
      entries.push(legendEntry([legendMark("ring", theme.ink)], "chosen token"))
    if (looks.has(LOOKS.red))
      entries.push(
        legendEntry([legendMark("dash", theme.alert)], "chosen pair, a source's strongest"),
      )
    if (looks.has(LOOKS.chosen))
      entries.push(legendEntry([legendMark("dash dashed", theme.ink)], "other chosen pairs"))
    this.legend.replaceChildren(...entries)
  }
}
