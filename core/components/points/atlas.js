// Queries (discs) and keys (diamonds) of a corpus, in a window that buttons, wheel, fingers and keys move and enlarge:
// what one head and all heads have in common.

import { setAttrs, el, strokeLine } from "../shared/dom.js"
import { readLines } from "./lines.js"
import { MARK, markPoints, shuffled } from "./marks.js"
import { nearestItem } from "./placing.js"
import { PointPanels, completed } from "./point_panels.js"
import { ZOOM, panBy, wholeView, zoomAt } from "./viewport.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Panel } from "./panels.js" */
/** @import { Placement } from "./placing.js" */
/** @import { Derived, Sent } from "./point_panels.js" */
/** @import { View as Window } from "./viewport.js" */
/**
 * @typedef {Sent & {numbers: number[], tops: number[], high: number, gaps: [number, string][], heads: number, unplaced: Uint8Array, texts: string[],
 *   searching: boolean, chosen: number, positions: Uint16Array, sentence: Uint16Array, matches: Uint8Array, spriteSide: number, sprites: Uint8Array,
 *   patched: Uint8Array, picked: number}} AtlasSent `unplaced`: heads without points; `sprites`: RGB of every token, where `patched` says that it is a patch
 * @typedef {AtlasSent & Derived} Data
 */

const PAN_KEY = 60 // pixels

/** @extends {PointPanels<Data>} */
export class AtlasPanels extends PointPanels {
  picked = -1 // a token
  order = new Uint32Array(0) // queries and keys in random order, so that neither kind covers the other
  marks = markPoints({ queries: 0, sentence: [], searching: false, matches: [] })
  /** @type {number[][]} */ marked = [] // points with each mark
  /** @type {number[]} */ clear = [] // points that have not faded
  painted = 0 // how often points were painted
  step = ZOOM.step // factor by which a button or key enlarges

  /** @param {Component} component */
  constructor(component) {
    super(component)
    const tools = el(this.bar, "span", "group")
    setAttrs(tools, { role: "group", "aria-label": "Zoom" })
    for (const [text, label] of [
      ["−", "Smaller"],
      ["+", "Larger"],
    ]) {
      const node = setAttrs(el(tools, "button", "plain", text), { "aria-label": label })
      node.onclick = () => this.zoomMiddle(this.step ** (text === "+" ? 1 : -1))
    }
    this.whole = el(tools, "button", "plain")
    this.whole.onclick = () => this.showAll()
  }

  /** @param {AtlasSent} sent @param {boolean} isNew */
  takeAtlas(sent, isNew) {
    this.picked = sent.picked
    const data = completed(sent)
    this.order = shuffled(data.count)
    this.lines = readLines(data)
    this.take(data, false, isNew)
  }

  /** Marks, colours, and the words about them. @param {number} faded share of its colour that a faded point keeps */
  mark(faded) {
    const { data, picked, order } = this
    this.marks = markPoints(data, picked)
    const { of } = this.marks
    this.marked = Object.values(MARK).map((mark) => [...order].filter((i) => of[i] === mark))
    this.clear = [...order].filter((point) => of[point] > MARK.faded)
    this.colour(faded)
    this.root.dataset.matches = String(2 * this.marks.found)
  }

  /** @param {Panel} panel @param {number} tile */
  placed(panel, tile) {
    return this.data.unplaced[tile] ? null : super.placed(panel, tile)
  }

  /** The nearest point, preferring those that have not faded. @param {Panel} panel @param {number} tile @param {number} x @param {number} y @param {number} reach */
  nearest(panel, tile, x, y, reach) {
    const place = this.placed(panel, tile)
    const nearest = place ? nearestItem(this.clear, place.xOf, place.yOf, x, y, reach) : -1
    return nearest < 0 ? super.nearest(panel, tile, x, y, reach) : nearest
  }

  /** @param {Panel} panel @param {Window} view */
  lookAt(panel, view) {
    panel.view = view
    this.point(null)
    this.draw(true)
  }

  showAll() {
    for (const panel of this.panels) this.lookAt(panel, wholeView(panel.grid))
  }

  /** @param {Panel} panel @param {number} dx @param {number} dy in pixels */
  pan(panel, dx, dy) {
    this.lookAt(panel, panBy(panel.view, panel.grid, dx, dy))
  }

  /** @param {Panel} panel @param {number} factor @param {number} x @param {number} y */
  zoom(panel, factor, x, y) {
    this.lookAt(panel, zoomAt(panel.view, panel.grid, factor, x, y))
  }

  /** @param {number} factor */
  zoomMiddle(factor) {
    for (const panel of this.panels) {
      const { left, top, width, height } = panel.grid.box
      this.zoom(panel, factor, left + width / 2, top + height / 2)
    }
  }

  /** @param {Panel} panel @param {WheelEvent} event */
  mayWheel({ canvas }, event) {
    if (event.ctrlKey || event.metaKey) return true
    return canvas.matches(":focus") && (event.deltaY < 0 || this.canShrink) // else the page scrolls
  }

  /** Whether there is something to see outside the window. */
  get canShrink() {
    return true
  }

  /** @param {Panel} panel @param {string} key */
  pressKey(panel, key) {
    if (key === "+" || key === "=") this.zoomMiddle(this.step)
    else if (key === "-" || key === "_") this.zoomMiddle(1 / this.step)
    else if (key === "0") this.showAll()
    else return super.pressKey(panel, key)
    return true
  }

  /** @param {Panel} panel @param {number} down @param {number} across */
  pressArrow(panel, down, across) {
    this.pan(panel, -PAN_KEY * across, -PAN_KEY * down)
  }

  /** @param {Panel} panel */
  drawPoints(panel) {
    if (this.isStale) this.painted++
    super.drawPoints(panel)
  }

  report() {
    super.report()
    const zoom = this.panels[0].view.zoom.toFixed(2)
    Object.assign(this.root.dataset, { painted: this.painted, zoom })
  }

  /**
   * A token's query and key, joined; the one pointed at is drawn last.
   * @param {Pen} pen @param {Placement} place @param {number} point @param {{radius: number, pointed: number, lineWidth: number}} look in pixels; `pointed`: the radius of that one
   */
  drawPair(pen, { xOf, yOf }, point, { radius, pointed, lineWidth }) {
    const { queries } = this.data
    const { ink, query, key } = this.theme
    const other = point < queries ? point + queries : point - queries
    Object.assign(pen, { strokeStyle: ink, lineWidth: 1 })
    strokeLine(pen, xOf(point), yOf(point), xOf(other), yOf(other))
    pen.lineWidth = lineWidth
    for (const each of [other, point]) {
      pen.fillStyle = each < queries ? query : key
      const size = each === point ? pointed : radius
      tracePoint(pen, each >= queries, xOf(each), yOf(each), size)
      pen.fill()
      pen.stroke()
    }
  }
}

/** Trace a disc for a query, a diamond for a key. @param {Pen} pen @param {boolean} isKey @param {number} x @param {number} y @param {number} radius */
function tracePoint(pen, isKey, x, y, radius) {
  const reach = 1.3 * radius
  pen.beginPath()
  if (!isKey) return pen.arc(x, y, radius, 0, 7)
  for (const [dx, dy] of [
    [0, -reach],
    [reach, 0],
    [0, reach],
    [-reach, 0],
  ])
    pen.lineTo(x + dx, y + dy)
  pen.closePath()
}
