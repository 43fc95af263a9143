// All heads as tiles, layers down, heads across.

import { legendEntries, legendEntry, legendMark } from "../points/shades.js"
import { clamp, describe, windowFor } from "../shared/dom.js"
import { drawPair } from "./above.js"
import { CloudView } from "./cloud_view.js"
import { drawFrame, drawNames } from "./frames.js"
import { placement } from "./heads.js"
import { markPoints } from "./marks.js"
import { eachTile, radiusFor } from "./paint.js"
import { ZOOM, clampView, gridFor, middleTile, tileAt, viewOfTile } from "../points/viewport.js"
import { hintFor, noteInTile } from "./words.js"

/** @import { Pen } from "../points/scatter.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Hover } from "./cloud_view.js" */
/** @import { Sent } from "./heads.js" */
/** @import { Spot, Tile } from "../points/viewport.js" */

const GUTTER = { left: 34, top: 20 } // pixels, for the names of rows and columns
const HEIGHT = { max: 620, least: 400, share: 0.58, narrow: 0.64, min: 240, wideFrom: 700 } // pixels; share of the browser's window; `narrow` on screens below `wideFrom`
const FADED = { light: 0.22, dark: 0.3 } // share of its colour that a point keeps when a search did not find it

export class TilesView extends CloudView {
  cursor = -1 // the head with the outline of the keys
  step = ZOOM.step
  reach = { mouse: 12, touch: 22 }

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.root.classList.add("tiles")
    this.whole.textContent = "Whole matrix"
    describe(this.over, { role: "application" })
    this.listen(this.over, "blur", () => {
      this.cursor = -1
      this.paint()
    })
  }

  /** @param {Sent} sent */
  update(sent) {
    const before = this.data
    const isNew = String(before?.numbers) !== String(sent.numbers) || before?.heads !== sent.heads
    if (!before) this.reading.textContent = hintFor(this.component.standalone)
    if (isNew) this.cursor = -1
    this.take(sent, isNew)
  }

  /** @param {number} width */
  makeGrid(width) {
    const { data } = this
    const share = this.isNarrow ? HEIGHT.narrow : HEIGHT.share
    const height = clamp(share * windowFor(this.root).height, HEIGHT.least, HEIGHT.max) // so that the rows are seen without scrolling
    const box = { ...GUTTER, width: width - GUTTER.left - 1, height }
    const grid = gridFor(data, data.heads, box, this.isNarrow ? height : HEIGHT.min)
    this.height = GUTTER.top + grid.box.height + 1
    return grid
  }

  get isNarrow() {
    return this.width < HEIGHT.wideFrom
  }

  /** On a phone the rows fill the window, and a finger moves from head to head. */
  firstView() {
    const { grid, data } = this
    if (!this.isNarrow) return super.firstView()
    const side = grid.box.height / grid.high
    const middle = ((Math.max(0, data.chosen) % data.heads) + 0.5) * side
    return clampView({ zoom: side / grid.pitch, x: middle - grid.box.width / 2, y: 0 }, grid)
  }

  mark() {
    const { data } = this
    this.colour(markPoints(data), ({ isDark }) => (isDark ? FADED.dark : FADED.light))
    this.legend.replaceChildren(...legendEntries(data, this.colours.shades))
    const found = data.found ? "found: larger, with a ring" : "nothing found"
    if (data.searching)
      this.legend.append(legendEntry([legendMark("disc ring", this.colours.paper)], found))
    this.paint(true)
  }

  get isZoomed() {
    return this.view.zoom > 1.001
  }

  get canShrink() {
    return this.isZoomed
  }

  /** Names, frames, and the token under the pointer in every head. @param {Pen} pen */
  drawOver(pen) {
    const { hover, scene, cursor } = this
    const { left, top, width, height } = this.grid.box
    drawNames(pen, scene)
    pen.save()
    pen.beginPath()
    pen.rect(left, top, width, height)
    pen.clip()
    const marked = { hovered: hover?.head ?? -1, cursor }
    eachTile(scene, (head, spot) => drawFrame(pen, scene, marked, head, spot))
    if (hover && hover.point >= 0)
      eachTile(scene, (head, spot) => this.drawToken(pen, hover.point, head, spot))
    pen.restore()
    if (this.view.zoom <= 1) return
    Object.assign(pen, { strokeStyle: this.colours.line, lineWidth: 1 })
    pen.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1)
  }

  /** @param {Pen} pen @param {number} point that is pointed at @param {number} head @param {Spot} spot */
  drawToken(pen, point, head, spot) {
    const tile = placement(this.data, head, spot)
    if (!tile) return
    const least = Math.max(1.6, spot.side * 0.07)
    const radius = Math.min(8, 1.5 * radiusFor(this, spot.side) + 2, least)
    const lineWidth = radius < 3 ? 1 : 1.5
    drawPair(pen, this, tile, point, { radius, pointed: 1.35 * radius, lineWidth })
  }

  /** What tests read, and whether the page scrolls under a finger. */
  report() {
    const { high, pitch, box } = this.grid
    const side = pitch * this.view.zoom
    this.root.dataset.tile = String(Math.round(side))
    this.over.style.touchAction = high * side > box.height + 1 ? "none" : "pan-y"
  }

  /** @param {number} head @returns {Tile} */
  tileOf(head) {
    return { row: Math.floor(head / this.data.heads), column: head % this.data.heads }
  }

  /** @param {number} head */
  nameOf(head) {
    const { row, column } = this.tileOf(head)
    return `L${this.data.numbers[row]} H${1 + column}`
  }

  /** In a saved file, enlarge the head. @param {number} head */
  openHead(head) {
    const { row, column } = this.tileOf(head)
    if (this.component.standalone) this.lookAt(viewOfTile(this.grid, { row, column }))
    else this.tell("open", { layer: this.data.numbers[row], head: 1 + column })
  }

  /** @param {number} x @param {number} y */
  press(x, y) {
    const tile = tileAt(this.view, this.grid, x, y)
    if (tile) this.openHead(this.headOf(tile))
  }

  /** @param {PointerEvent | null} event */
  point(event) {
    const note = super.point(event)
    if (note) this.reading.textContent = note.text
    return note
  }

  /** @param {Hover} hover */
  noteOf(hover) {
    return noteInTile(this, hover, this.nameOf(hover.head))
  }

  /** Enter opens the head in the middle after zooming, else the one with the outline of the keys. @param {KeyboardEvent} event */
  pressKey(event) {
    const middle = this.isZoomed ? middleTile(this.view, this.grid) : null
    if (event.key === "Enter") {
      const head = middle ? this.headOf(middle) : this.cursor
      if (head >= 0) this.openHead(head)
      return true
    }
    if (!super.pressKey(event)) return false
    const now = this.isZoomed && middleTile(this.view, this.grid)
    if (now)
      this.reading.textContent = `${this.nameOf(this.headOf(now))} in the middle, ${this.view.zoom.toFixed(1)} times as large. Enter opens it.`
    return true
  }

  letGo() {
    this.point(null)
  }

  /** @param {number} down @param {number} across */
  pressArrow(down, across) {
    if (this.isZoomed) super.pressArrow(down, across)
    else this.stepTo(down, across)
  }

  /** @param {number} down @param {number} across */
  stepTo(down, across) {
    const { numbers, heads, chosen } = this.data
    const isFirst = this.cursor < 0
    const { row, column } = this.tileOf(isFirst ? Math.max(0, chosen) : this.cursor)
    if (isFirst) this.cursor = this.headOf({ row, column })
    else
      this.cursor = this.headOf({
        row: clamp(row + down, 0, numbers.length - 1),
        column: clamp(column + across, 0, heads - 1),
      })
    this.reading.textContent = `${this.nameOf(this.cursor)}. Enter ${this.component.standalone ? "enlarges" : "opens"} it.`
    this.paint()
  }
}
