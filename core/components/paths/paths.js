// Where a token comes from: tokens as rows, layers as columns, and the flow from the token on the right back to the text on
// the left. Pointing is handled here; following another token needs the server.

import { around, clamp, setAttrs, el, setPx, placeOf, sizeCanvas } from "../shared/dom.js"
import { Focus } from "../shared/focus.js"
import { readTheme } from "../shared/scales.js"
import { bothSides } from "../shared/sentences.js"
import { View, mount } from "../shared/view.js"
import { percent } from "../shared/weight_words.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { SentSides } from "../shared/sentences.js" */
/** @import { Component } from "../shared/view.js" */
/**
 * @typedef {{layer: number, after: number, before: number, flow: number}} Edge of a layer, from 0, from the row after it to the one before
 * @typedef {{layer: number, row: number}} Spot a token before the first layer (0) or after the layer of that number
 * @typedef {{rows: number, row: number, layers: number, column: number, edge: number}} Grid sizes in pixels
 * @typedef {{stamp: string, sides: SentSides, layerLabels: number[], target: number, edges: Uint16Array, flows: Float32Array,
 *   relevance: Float32Array}} Data edges of layer, row after it, row before it; relevance of each token before and after every layer
 */

const ROW = { few: 28, many: 22 } // pixels
const FEW = 16 // tokens
const EDGE = 14 // pixels beside the first and the last column
const MIN_COLUMN = 19 // pixels between layers
const WIDTH = { most: 12, least: 1 } // pixels, at a flow of 1 and of 0
const OPACITY = { most: 0.9, least: 0.45, dimmed: 0.1 }
const RADIUS = { most: 6, least: 1.6 } // pixels

/** @param {Component} component */
export default function (component) {
  return mount(component, PathsView)
}

class PathsView extends View {
  /** @type {Data} */ data
  /** @type {Grid} */ grid
  /** @type {string[]} */ labels = []
  /** @type {Edge[]} */ edges = []
  /** @type {HTMLElement[]} */ sources = []
  /** @type {HTMLElement[]} */ targets = []
  built = ""

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.scroller = el(this.root, "div", "scroller")
    const world = el(this.scroller, "div", "world")
    this.axis = el(world, "div", "axis")
    this.left = setAttrs(el(world, "div", "column sources"), {
      role: "group",
      "aria-label": "What the token comes from; arrow keys move, Enter follows another token",
    })
    this.sheet = setAttrs(el(world, "canvas", "sheet"), { "aria-hidden": true }) // labels and tips say the same
    this.right = el(world, "div", "column")
    /** @type {Focus<Spot>} a label on the right has layer -1: it shows no lines */
    this.focus = new Focus(this, world, {
      idOf: labelOf,
      at: (event) => labelOf(event.target) ?? this.spotUnder(event),
      nodeOf: ({ layer, row }) => (layer ? null : this.sources[row]),
      step: (key, from) => from && this.step(key, from.row),
      point: () => this.draw(),
      read: (spot) => (spot.layer < 0 ? null : ["", [tipWords(this.data, this.labels, spot)]]),
      pin: ({ layer, row }) => {
        if (layer <= 0) this.follow(row)
      },
      release: () => this.focus.point(null),
    })
  }

  /** @param {Data} data */
  update(data) {
    const isNew = this.data?.stamp !== data.stamp || this.data.target !== data.target
    const { labels } = bothSides(data.sides).queries
    const edges = Array.from(data.flows, (flow, i) => {
      const [layer, after, before] = data.edges.subarray(3 * i)
      return { layer, after, before, flow }
    }).sort((a, b) => a.flow - b.flow) // the strongest last, so that it is on top
    Object.assign(this, { data, labels, edges })
    setAttrs(this.root, { "aria-busy": false })
    this.focus.id = null
    this.layOut()
    if (isNew && this.width)
      this.scroller.scrollTop = data.target * this.grid.row - this.scroller.clientHeight / 2
  }

  /** Ask for another token. @param {number} row */
  follow(row) {
    if (row === this.data.target) return
    setAttrs(this.root, { "aria-busy": true })
    this.sendReport("pick", { token: row })
  }

  /** The nearest token after a layer, if lines meet there. @param {MouseEvent} event @returns {Spot | null} */
  spotUnder(event) {
    if (event.target !== this.sheet) return null
    const { x, y } = placeOf(this.sheet, event)
    const { column, row, layers } = this.grid
    const layer = clamp(Math.round((x - EDGE) / column), 0, layers)
    const spot = { layer, row: Math.floor(y / row) }
    return spotsOf(this.edges).has(`${spot.layer} ${spot.row}`) ? spot : null
  }

  /** The lines through what is pointed at, if there are any. */
  get highlighted() {
    const { id } = this.focus
    const highlighted = id && throughSpot(this.edges, id)
    return highlighted?.size ? highlighted : null
  }

  /** @param {string} key @param {number} row */
  step(key, row) {
    const last = this.sources.length - 1
    /** @type {Record<string, number>} */
    const rows = { ArrowUp: row - 1, ArrowDown: row + 1, Home: 0, End: last }
    return key in rows ? { layer: 0, row: clamp(rows[key], 0, last) } : null
  }

  layOut() {
    const { root, data, labels } = this
    this.width = root.clientWidth
    if (!this.width) return
    const row = labels.length > FEW ? ROW.many : ROW.few
    root.style.setProperty("--row", `${row}px`)
    if (this.built !== data.stamp) this.build()
    this.built = data.stamp
    this.fill()
    const layers = data.layerLabels.length
    const room = this.scroller.clientWidth - this.left.offsetWidth - this.right.offsetWidth
    const column = Math.max(MIN_COLUMN, (room - 2 * EDGE) / layers)
    this.grid = { rows: labels.length, row, layers, column, edge: EDGE }
    const names = ["text", ...data.layerLabels.map(String)]
    const numbers = names.map((name, layer) =>
      setPx(el(null, "span", "number", name), {
        left: this.left.offsetWidth + EDGE + layer * column,
      }),
    )
    this.axis.replaceChildren(el(null, "span", "", "after layer"), ...numbers)
    this.draw()
  }

  /** The labels of a text. */
  build() {
    const { special } = bothSides(this.data.sides).queries
    const [sources, targets] = ["source", "target"].map((kind) =>
      this.labels.map((label, row) => {
        const node = el(null, "button", special[row] ? `${kind} special` : kind)
        el(node, "span", "label", label)
        node.title = `Where ${label} comes from · position ${row + 1}`
        const layer = kind === "source" ? 0 : -1
        return setAttrs(node, { "data-layer": layer, "data-row": row, tabindex: -1 })
      }),
    )
    for (const node of sources) {
      el(node, "span", "share")
      el(el(node, "span", "track"), "i")
      node.title = ""
    }
    Object.assign(this, { sources, targets })
    const start = { layer: 0, row: this.data.target }
    this.focus.redraw(() => {
      this.left.replaceChildren(...sources)
      this.right.replaceChildren(...targets)
    }, start)
  }

  /** The share of each token, and which one is followed. */
  fill() {
    const { relevance, target } = this.data
    const most = Math.max(...relevance.subarray(0, this.labels.length)) || 1
    this.sources.forEach((node, row) => {
      const [, share, track] = node.children
      share.textContent = percent(relevance[row])
      const [bar] = /** @type {HTMLCollectionOf<HTMLElement>} */ (track.children)
      bar.style.width = `${(100 * relevance[row]) / most}%`
      setAttrs(this.targets[row], { "aria-pressed": row === target })
    })
  }

  draw() {
    const { layers, column, rows, row } = this.grid
    const [width, height] = [layers * column + 2 * EDGE, rows * row]
    const pen = sizeCanvas(this.sheet, width, height)
    pen.clearRect(0, 0, width, height)
    drawFlows(pen, this.edges, this.grid, readTheme(this.root), this.highlighted, this.data)
    const highlighted = this.highlighted && spotsOf(this.highlighted)
    this.sources.forEach((node, each) =>
      node.classList.toggle("dim", Boolean(highlighted && !highlighted.has(`0 ${each}`))),
    )
  }
}

/** The label that contains a node. @param {EventTarget | null} target @returns {Spot | null} */
function labelOf(target) {
  const node = around(target, "[data-row]")
  return node && { layer: Number(node.dataset.layer), row: Number(node.dataset.row) }
}

/** All edges on paths through a token, in both directions. @param {Edge[]} edges @param {Spot} spot @returns {Set<Edge>} */
function throughSpot(edges, { layer, row }) {
  const [back, on] = [new Set([`${layer} ${row}`]), new Set([`${layer} ${row}`])]
  const rising = [...edges].sort((a, b) => a.layer - b.layer)
  const below = rising.reverse().filter(({ layer: each, after, before }) => {
    return back.has(`${each + 1} ${after}`) && back.add(`${each} ${before}`)
  })
  const above = rising.reverse().filter(({ layer: each, after, before }) => {
    return on.has(`${each} ${before}`) && on.add(`${each + 1} ${after}`)
  })
  return new Set([...below, ...above])
}

/** Where lines begin or end, as "layer row". @param {Iterable<Edge>} edges */
function spotsOf(edges) {
  return new Set(
    [...edges].flatMap(({ layer, after, before }) => [
      `${layer} ${before}`,
      `${layer + 1} ${after}`,
    ]),
  )
}

/** @param {{layerLabels: number[], target: number, relevance: Float32Array}} data @param {string[]} labels @param {Spot} spot */
function tipWords({ layerLabels, target, relevance }, labels, { layer, row }) {
  const share = percent(relevance[layer * labels.length + row])
  if (!layer) return `${share} of “${labels[target]}” comes from “${labels[row]}”`
  return `“${labels[row]}” after layer ${layerLabels[layer - 1]}: ${share} of “${labels[target]}” passes here`
}

/**
 * @param {Pen} pen @param {Edge[]} edges @param {Grid} grid @param {Theme} theme @param {Set<Edge> | null} highlighted edges,
 * if any are @param {{relevance: Float32Array}} data
 */
function drawFlows(pen, edges, grid, theme, highlighted, { relevance }) {
  /** @type {(layer: number, row: number) => [number, number]} */
  const at = (layer, row) => [grid.edge + layer * grid.column, (row + 0.5) * grid.row]
  pen.save()
  pen.lineCap = "round"
  for (const edge of edges) {
    const [left, from] = at(edge.layer, edge.before)
    const [right, to] = at(edge.layer + 1, edge.after)
    const middle = (left + right) / 2
    pen.strokeStyle = edge.before === edge.after ? theme.ink : theme.accent
    const usual = OPACITY.least + (OPACITY.most - OPACITY.least) * Math.sqrt(edge.flow)
    pen.globalAlpha = !highlighted ? usual : highlighted.has(edge) ? OPACITY.most : OPACITY.dimmed
    pen.lineWidth = WIDTH.least + (WIDTH.most - WIDTH.least) * edge.flow
    pen.beginPath()
    pen.moveTo(left, from)
    pen.bezierCurveTo(middle, from, middle, to, right, to)
    pen.stroke()
  }
  const shown = spotsOf(highlighted ?? edges)
  for (const spot of spotsOf(edges)) {
    const [layer, row] = spot.split(" ").map(Number)
    const share = relevance[layer * grid.rows + row]
    pen.fillStyle = layer === grid.layers ? theme.query : layer ? theme.ink : theme.key
    pen.globalAlpha = shown.has(spot) ? 1 : 2 * OPACITY.dimmed
    pen.beginPath()
    pen.arc(...at(layer, row), Math.max(RADIUS.least, RADIUS.most * Math.sqrt(share)), 0, 7)
    pen.fill()
  }
  pen.restore()
}
