// Where a token comes from: tokens as rows, layers as columns, and the flow from the token on the right back to the text on
// the left. What is pointed at is worked out here; another token is asked of the server.

import { clamp, describe, make, place, placeOf, sizeCanvas } from "../shared/dom.js"
import { Focus } from "../shared/focus.js"
import { readTheme } from "../shared/scales.js"
import { bothSides } from "../shared/sentences.js"
import { View, mount } from "../shared/view.js"
import { percent } from "../shared/weight_words.js"
import { drawFlows, edgesOf, spotsOf, throughSpot, tipWords } from "./flows.js"

/** @import { SentSides } from "../shared/sentences.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Edge, Grid, Spot } from "./flows.js" */
/**
 * @typedef {{stamp: string, sides: SentSides, layerLabels: number[], target: number, edges: Uint16Array, flows: Float32Array,
 *   relevance: Float32Array}} Data edges of layer, row after it, row before it; relevance of each token before and after every layer
 */

const ROW = { few: 28, many: 22 } // pixels
const FEW = 16 // tokens
const EDGE = 14 // pixels beside the first and the last column
const MIN_COLUMN = 19 // pixels between layers

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
    this.scroller = make(this.root, "div", "scroller")
    const world = make(this.scroller, "div", "world")
    this.axis = make(world, "div", "axis")
    this.left = describe(make(world, "div", "column sources"), {
      role: "group",
      "aria-label": "What the token comes from; arrow keys move, Enter follows another token",
    })
    this.sheet = describe(make(world, "canvas", "sheet"), { "aria-hidden": true }) // labels and tips say the same
    this.right = make(world, "div", "column")
    /** @type {Focus<Spot>} a label on the right is of layer -1: it shows no lines */
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
    Object.assign(this, { data, labels, edges: edgesOf(data) })
    describe(this.root, { "aria-busy": false })
    this.focus.id = null
    this.layOut()
    if (isNew && this.width)
      this.scroller.scrollTop = data.target * this.grid.row - this.scroller.clientHeight / 2
  }

  /** Ask for another token. @param {number} row */
  follow(row) {
    if (row === this.data.target) return
    describe(this.root, { "aria-busy": true })
    this.tell("pick", { token: row })
  }

  /** The token after a layer that stands nearest, if lines meet there. @param {MouseEvent} event @returns {Spot | null} */
  spotUnder(event) {
    if (event.target !== this.sheet) return null
    const { x, y } = placeOf(this.sheet, event)
    const { column, row, layers } = this.grid
    const layer = clamp(Math.round((x - EDGE) / column), 0, layers)
    const spot = { layer, row: Math.floor(y / row) }
    return spotsOf(this.edges).has(`${spot.layer} ${spot.row}`) ? spot : null
  }

  /** The lines through what is pointed at, if any run there. */
  get lit() {
    const { id } = this.focus
    const lit = id && throughSpot(this.edges, id)
    return lit?.size ? lit : null
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
      place(make(null, "span", "number", name), {
        left: this.left.offsetWidth + EDGE + layer * column,
      }),
    )
    this.axis.replaceChildren(make(null, "span", "", "after layer"), ...numbers)
    this.draw()
  }

  /** The labels of a text. */
  build() {
    const { special } = bothSides(this.data.sides).queries
    const [sources, targets] = ["source", "target"].map((kind) =>
      this.labels.map((label, row) => {
        const node = make(null, "button", special[row] ? `${kind} special` : kind)
        make(node, "span", "label", label)
        node.title = `Where ${label} comes from · position ${row + 1}`
        const layer = kind === "source" ? 0 : -1
        return describe(node, { "data-layer": layer, "data-row": row, tabindex: -1 })
      }),
    )
    for (const node of sources) {
      make(node, "span", "share")
      make(make(node, "span", "track"), "i")
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
      describe(this.targets[row], { "aria-pressed": row === target })
    })
  }

  draw() {
    const { layers, column, rows, row } = this.grid
    const [width, height] = [layers * column + 2 * EDGE, rows * row]
    const pen = sizeCanvas(this.sheet, width, height)
    pen.clearRect(0, 0, width, height)
    drawFlows(pen, this.edges, this.grid, readTheme(this.root), this.lit, this.data)
    const lit = this.lit && spotsOf(this.lit)
    this.sources.forEach((node, each) =>
      node.classList.toggle("dim", Boolean(lit && !lit.has(`0 ${each}`))),
    )
  }
}

/** The label that holds a node. @param {EventTarget | null} target @returns {Spot | null} */
function labelOf(target) {
  const node = target instanceof Element ? target.closest("[data-row]") : null
  return node instanceof HTMLElement
    ? { layer: Number(node.dataset.layer), row: Number(node.dataset.row) }
    : null
}
