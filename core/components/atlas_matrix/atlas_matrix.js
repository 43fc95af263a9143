// The atlas' matrix: every head as a tile, layers down, heads across, on one canvas that pans and zooms.
// State and structure are here; points in points.js, what is above them in labels.js, places in viewport.js.

import { listenGestures } from "../points/gestures.js"
import { makeRaster } from "../points/raster.js"
import { firstRotation, turnedBy } from "../points/rotation.js"
import { legendEntries, legendEntry, legendMark } from "../points/shades.js"
import { clamp, describe, make, makeTip, penOf, place, placeOf, sizeCanvas } from "../shared/dom.js"
import { ARROWS } from "../shared/keys.js"
import { drawImageOf, isSvg } from "../shared/svg_pen.js"
import { View, mount } from "../shared/view.js"
import { countEntries, countsAt, countsOf, forgetTints, lookedAt, partOf } from "./counts.js"
import { drawOver } from "./labels.js"
import { matrixColours, paintPoints, pointAt } from "./points.js"
import { makeSolid, turnSolid } from "./solid.js"
import { hintFor, labelOf, noteOf } from "./words.js"
import {
  ZOOM,
  clampView,
  gridFor,
  mainTile,
  middleTile,
  panBy,
  seenPart,
  tileAt,
  tileSpot,
  viewOfPart,
  viewOfTile,
  wholeView,
  zoomAt,
} from "./viewport.js"

/** @import { Actions } from "../points/gestures.js" */
/** @import { Coloured } from "../points/shades.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Counts, Read } from "./counts.js" */
/** @import { Solid } from "./solid.js" */
/** @import { Grid, Tile, View as Window } from "./viewport.js" */
/**
 * @typedef {MatrixView} Scene
 * @typedef {{head: number, token: number, kind: number, cell?: Read | null}} Hover token: -1 beside all points; kind: 0 for a query, 1 for a key; cell: what is counted there
 * @typedef {Coloured & {
 *   numbers: number[], tops: number[], high: number, gaps: [number, string][], heads: number, firstHead: number, dims: 2 | 3, labelled: boolean, labels: string[], texts: string[], searching: boolean, ownScale: boolean,
 *   chosen: number, places: ArrayLike<number>, frames: Float32Array, tones: Uint8Array, positions: Uint16Array, sentence: Uint16Array,
 *   matches: Uint8Array, found: Uint32Array, widest: number, solid?: Solid, spriteSide: number, sprites: Uint8Array, patched: Uint8Array,
 *   cells: number, counts: Float32Array, areas: Float32Array, fineCells: number, fineCounts: Float32Array, fineArea: number[], single: boolean, part: number[], serial: number, counted: Counts | null,
 * }} Data as sent, and what is worked out once: the tokens found, the half side of the widest cloud, the clouds in space, the cells; part: of the only head, to begin with
 */

const GUTTER = { left: 34, top: 20 } // pixels, for the names of rows and columns
const HEIGHT = { max: 620, least: 400, share: 0.58, narrow: 460, min: 240, wideFrom: 700 } // pixels; share of the browser's window; `narrow` on screens below `wideFrom`
const SHARP = 3 // pixels of the image in an SVG for one of the page
const MAX_RATIO = 2 // device pixels per pixel: more take time and show nothing
const REACH = { mouse: 12, touch: 22 } // pixels from a point to the pointer
const TOUCHABLE = 160 // side of a tile from which on a finger can choose a point
const TELL_AFTER = 300 // milliseconds without a move
const TURN = { pixel: 0.0075, key: 0.12 } // radians

/** @param {Component} component */
export default function (component) {
  return mount(component, MatrixView)
}

class MatrixView extends View {
  /** @type {Data} */ data
  /** @type {Grid} */ grid
  /** @type {Window | null} */ window = null
  /** @type {Hover | null} */ hover = null
  /** @type {ReturnType<typeof matrixColours>} */ colours
  cursor = -1 // the head with the outline of the keys
  tapped = -1 // the head that a finger has named
  rotation = firstRotation()
  height = 0
  ratio = 1
  painted = 0 // times that points were painted
  isStale = false // points have moved or changed
  timer = 0 // after which the page is told what is looked at
  dragBegan = { time: 0, painted: 0 }

  /** @param {Component} component */
  constructor(component) {
    super(component)
    const bar = make(this.root, "div", "bar")
    this.legend = make(bar, "div", "legend")
    const tools = make(bar, "div", "tools")
    this.stage = make(this.root, "div", "stage")
    this.points = describe(make(this.stage, "canvas", "points"), { "aria-hidden": true })
    this.over = describe(make(this.stage, "canvas", "over"), { role: "application", tabindex: 0 })
    this.opener = make(this.stage, "button", "open")
    this.reading = describe(make(this.root, "p", "reading"), { "aria-live": "polite" })
    this.tip = makeTip(this.root)
    this.raster = makeRaster(this.points)
    this.pen = penOf(this.over, { willReadFrequently: true })
    /** @type {(text: string, run: () => void) => HTMLElement} */
    const button = (text, run) => {
      const node = make(tools, "button", "tool", text)
      this.listen(node, "click", run)
      return node
    }
    describe(
      button("−", () => this.zoomMiddle(1 / ZOOM.step)),
      { "aria-label": "Smaller" },
    )
    describe(
      button("+", () => this.zoomMiddle(ZOOM.step)),
      { "aria-label": "Larger" },
    )
    this.whole = button("Whole matrix", () => this.showWhole())
    this.listen(this.opener, "click", () => this.openHead(Number(this.opener.dataset.head)))
    this.listen(this.over, "keydown", (event) => {
      if (this.pressKey(event)) event.preventDefault()
    })
    this.listen(this.over, "blur", () => {
      this.cursor = -1
      this.paint()
    })
    this.cleanUps.push(listenGestures(this.over, this.actions()))
  }

  /** @param {Data} data */
  update(data) {
    const before = this.data
    const isSameModel =
      String(before?.numbers) === String(data.numbers) &&
      before?.heads === data.heads &&
      before?.single === data.single
    const isNewPart = data.single && data.serial !== before?.serial
    if (before?.dims !== data.dims || before?.single !== data.single)
      this.reading.textContent = hintFor(data, this.component.standalone)
    Object.assign(this, { data: completed(data), hover: null })
    if (!isSameModel || isNewPart) Object.assign(this, { window: null, cursor: -1, tapped: -1 })
    if (data.solid) turnSolid(data.solid, this.rotation)
    this.tip.hide()
    this.whole.textContent = data.single ? "Whole head" : "Whole matrix"
    this.layOut()
    if (isNewPart && data.part.length && this.grid)
      this.lookAt(viewOfPart(this.grid, { row: 0, column: 0 }, partOf(data, data.part)))
  }

  layOut() {
    const { data, root, window: view } = this
    this.width = root.clientWidth
    if (!this.width) return
    const fitting = clamp(HEIGHT.share * window.innerHeight, HEIGHT.least, HEIGHT.max) // so that the rows are seen without scrolling
    const box = {
      ...GUTTER,
      width: this.width - GUTTER.left - 1,
      height: this.width < HEIGHT.wideFrom ? HEIGHT.narrow : fitting,
    }
    const growth = view ? 1 / this.grid.pitch : 0
    this.grid = gridFor(data, data.heads, box, HEIGHT.min, data.single ? ZOOM.alone : ZOOM.windows)
    const scale = growth * this.grid.pitch
    this.window = view
      ? clampView({ zoom: view.zoom, x: view.x * scale, y: view.y * scale }, this.grid)
      : wholeView(this.grid)
    this.ratio = Math.min(MAX_RATIO, window.devicePixelRatio || 1)
    this.height = GUTTER.top + this.grid.box.height + 1
    for (const canvas of [this.points, this.over])
      sizeCanvas(canvas, this.width, this.height, { ratio: this.ratio })
    place(this.stage, { height: this.height })
    describe(this.over, { "aria-label": labelOf(data) })
    forgetTints(data.counted)
    this.colours = matrixColours(root, data)
    root.dataset.matches = String(2 * data.found.length)
    this.legend.replaceChildren(
      ...(data.counted ? countEntries(this.colours, data.ownScale) : []),
      ...(data.labels.length || !data.counted ? legendEntries(data, this.colours.shades) : []),
    )
    const found = data.found.length ? "found: larger, with a ring" : "nothing found"
    if (data.searching)
      this.legend.append(legendEntry([legendMark("disc ring", this.colours.paper)], found))
    this.paint(true)
  }

  /** The part of the grid that is seen, once it is laid out. @returns {Window} */
  get view() {
    return this.window ?? wholeView(this.grid)
  }

  get isZoomed() {
    return this.view.zoom > 1.001
  }

  /** Draw in the next frame; the points only if they have moved or changed. @param {boolean} [isStale] */
  paint(isStale = false) {
    this.isStale ||= isStale
    this.nextFrame(() => {
      if (!this.grid) return
      if (this.isStale) {
        paintPoints(this.raster, this)
        this.painted++
      }
      this.isStale = false
      this.pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0)
      this.pen.clearRect(0, 0, this.width, this.height)
      drawOver(this.pen, this)
      this.report()
    })
  }

  /** The window as it is: points as pixels, in an SVG as an image; frames, names and labels as shapes. */
  pictureParts() {
    const { opener, reading } = this
    const tools = /** @type {HTMLElement[]} */ ([...this.root.querySelectorAll(".tools")])
    const painters = new Map([
      [this.points, (/** @type {CanvasRenderingContext2D} */ pen) => this.paintPicture(pen)],
      [this.over, (/** @type {CanvasRenderingContext2D} */ pen) => drawOver(pen, this)],
    ])
    return {
      without: [...tools, opener, reading],
      painters,
      facts: { points: "an image; frames, names and labels are vectors in SVG" },
    }
  }

  /** @param {CanvasRenderingContext2D} pen */
  paintPicture(pen) {
    const ratio = isSvg(pen) ? SHARP : pen.getTransform().a
    drawImageOf(pen, this.width, this.height, ratio, (canvas) => {
      const { data, grid, view, colours } = this
      paintPoints(makeRaster(canvas), { data, grid, view, colours, ratio })
    })
  }

  /** What tests read, and the button that opens the head in the middle or the one a finger has named. */
  report() {
    const { grid, view, opener } = this
    const side = grid.pitch * view.zoom
    Object.assign(this.root.dataset, {
      painted: this.painted,
      zoom: view.zoom.toFixed(2),
      tile: Math.round(side),
    })
    this.over.style.touchAction = this.isZoomed ? "none" : "pan-y"
    const main = mainTile(view, grid)
    const head = main ? this.headOf(main) : this.tapped
    opener.hidden = head < 0 || this.component.standalone === true || this.data.single
    if (opener.hidden) return
    const { row, column } = this.tileOf(head)
    const part = seenPart(tileSpot(view, grid, row, column), grid)
    opener.hidden = part.right <= part.left || part.bottom <= part.top
    opener.textContent = `Open ${this.nameOf(head)}`
    opener.dataset.head = String(head)
    place(opener, {
      left: Math.max(
        2,
        Math.min(part.right - opener.offsetWidth - 6, this.width - opener.offsetWidth - 4),
      ),
      top: main ? part.top + 6 : Math.min(part.bottom + 2, this.height - opener.offsetHeight - 2),
    })
  }

  /** @param {Tile} tile */
  headOf({ row, column }) {
    return row * this.data.heads + column
  }

  /** @param {number} head @returns {Tile} */
  tileOf(head) {
    return { row: Math.floor(head / this.data.heads), column: head % this.data.heads }
  }

  /** @param {number} head */
  nameOf(head) {
    const { row, column } = this.tileOf(head)
    return `L${this.data.numbers[row]} H${this.data.firstHead + column}`
  }

  /** @param {Window} view */
  lookAt(view) {
    Object.assign(this, { window: view, hover: null })
    this.tip.hide()
    this.paint(true)
    if (this.data.single) this.tellPart()
  }

  /** Tell the page, a moment after the last move, which part of the only head is looked at. */
  tellPart() {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      const part = lookedAt(this.data, this.grid, tileSpot(this.view, this.grid, 0, 0))
      this.component.setStateValue("part", { corners: part ?? [], serial: this.data.serial })
    }, TELL_AFTER)
  }

  destroy() {
    clearTimeout(this.timer)
    super.destroy()
  }

  showWhole() {
    this.rotation = firstRotation()
    if (this.data.solid) turnSolid(this.data.solid, this.rotation)
    this.lookAt(wholeView(this.grid))
  }

  /** Turn all clouds of a matrix in space, by radians. @param {Solid} solid @param {number} across @param {number} down */
  turn(solid, across, down) {
    this.rotation = turnedBy(this.rotation, across, down)
    turnSolid(solid, this.rotation)
    this.lookAt(this.view)
  }

  /** @param {number} factor @param {number} x @param {number} y */
  zoom(factor, x, y) {
    this.lookAt(zoomAt(this.view, this.grid, factor, x, y))
  }

  /** @param {number} factor */
  zoomMiddle(factor) {
    const { box } = this.grid
    this.zoom(factor, box.left + box.width / 2, box.top + box.height / 2)
  }

  /** In a saved file, enlarge the head. @param {number} head */
  openHead(head) {
    this.tapped = -1
    this.paint()
    if (this.data.single) return
    const { row, column } = this.tileOf(head)
    if (this.component.standalone) this.lookAt(viewOfTile(this.grid, { row, column }))
    else
      this.component.setTriggerValue("open", {
        layer: this.data.numbers[row],
        head: this.data.firstHead + column,
      })
  }

  /** @returns {Actions} */
  actions() {
    return {
      zoom: (factor, x, y) => this.zoom(factor, x, y),
      pan: (dx, dy, event) => {
        const { solid } = this.data
        if (solid && event && !event.shiftKey) this.turn(solid, dx * TURN.pixel, dy * TURN.pixel)
        else this.lookAt(panBy(this.view, this.grid, dx, dy))
      },
      press: (x, y, event) => this.press(x, y, event),
      pressTwice: (x, y) => this.zoom(ZOOM.step ** 2, x, y),
      point: (event) => this.point(event),
      start: () => {
        this.dragBegan = { time: performance.now(), painted: this.painted }
        this.root.classList.add("dragging")
      },
      stop: () => {
        const seconds = (performance.now() - this.dragBegan.time) / 1000
        this.root.dataset.frames = ((this.painted - this.dragBegan.painted) / seconds).toFixed(1)
        this.root.classList.remove("dragging")
      },
      mayWheel: (event) => {
        if (!this.grid) return false
        if (event.ctrlKey || event.metaKey) return true
        return this.over.matches(":focus") && (event.deltaY < 0 || this.isZoomed) // nothing to shrink: the page scrolls
      },
    }
  }

  /**
   * A finger cannot point without pressing: on a large tile it chooses a point, and a button opens the head; on a small
   * one the first tap names the head, the second opens it.
   * @param {number} x @param {number} y @param {PointerEvent} event
   */
  press(x, y, event) {
    const tile = tileAt(this.view, this.grid, x, y)
    if (!tile) return this.tap(-1)
    const head = this.headOf(tile)
    const isTouch = event.pointerType === "touch"
    const isLarge = this.grid.pitch * this.view.zoom >= TOUCHABLE
    if (!isTouch || (!isLarge && this.tapped === head)) return this.openHead(head)
    this.tap(head)
    if (isLarge) this.point(event)
  }

  /** @param {number} head @param {string} [text] */
  tap(head, text = `: tap again to ${this.component.standalone ? "enlarge" : "open"} it.`) {
    this.tapped = head
    if (head >= 0) this.reading.textContent = this.nameOf(head) + text
    this.paint()
  }

  /** Show the token under the pointer in a note, in a line to read, and in every head. @param {PointerEvent | null} event */
  point(event) {
    if (!this.grid) return
    const hover = event && this.hoverAt(event)
    const isSame = JSON.stringify(hover) === JSON.stringify(this.hover)
    this.hover = hover
    const note = event && hover && noteOf(this, hover)
    if (note) {
      this.tip.show(event, this.nameOf(hover.head), note.lines)
      this.reading.textContent = note.text
    } else this.tip.hide()
    if (!isSame) this.paint()
  }

  /** @param {PointerEvent} event @returns {Hover | null} */
  hoverAt(event) {
    const { x, y } = placeOf(this.over, event)
    const tile = tileAt(this.view, this.grid, x, y)
    if (!tile) return null
    const head = this.headOf(tile)
    const reach = event.pointerType === "touch" ? REACH.touch : REACH.mouse
    const spot = tileSpot(this.view, this.grid, tile.row, tile.column)
    const point = pointAt(this.data, head, spot, x, y, reach)
    const count = this.data.labels.length
    const cell =
      point < 0 && this.data.counted ? countsAt(this, this.data.counted, head, spot, x, y) : null
    return { head, token: point < 0 ? -1 : point % count, kind: point < count ? 0 : 1, cell }
  }

  /** Whether the key did something. @param {KeyboardEvent} event */
  pressKey({ key, shiftKey }) {
    const step = ARROWS[key]
    const { solid } = this.data
    if (key === "+" || key === "=") this.zoomMiddle(ZOOM.step)
    else if (key === "-") this.zoomMiddle(1 / ZOOM.step)
    else if (key === "0") this.showWhole()
    else if (step && shiftKey && solid) this.turn(solid, step[1] * TURN.key, step[0] * TURN.key)
    else if (step && this.isZoomed)
      this.lookAt(panBy(this.view, this.grid, -60 * step[1], -60 * step[0]))
    else if (step) this.stepTo(step[0], step[1])
    else if (key === "Enter") this.enter()
    else if (key === "Escape") {
      this.point(null)
      this.tap(-1)
    } else return false
    const middle = middleTile(this.view, this.grid)
    if (key !== "Enter" && this.isZoomed && middle) {
      const name = this.nameOf(this.headOf(middle))
      this.reading.textContent = `${name} in the middle, ${this.view.zoom.toFixed(1)} times as large. Enter opens it.`
    }
    return true
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

  /** Open the head in the middle after zooming, else the one with the outline of the keys. */
  enter() {
    const middle = middleTile(this.view, this.grid)
    if (this.isZoomed && middle) this.openHead(this.headOf(middle))
    else if (this.cursor >= 0) this.openHead(this.cursor)
  }
}

/** @param {Data} data */
function completed(data) {
  if (data.dims === 3) {
    data.solid = makeSolid(data)
    Object.assign(data, { frames: data.solid.frames, places: data.solid.places })
  }
  const found = Uint32Array.from(data.matches.keys()).filter(
    (token) => data.searching && data.matches[token] > 0,
  )
  const widest = data.frames.reduce(
    (max, value, i) => (i % 3 === 2 ? Math.max(max, value) : max),
    0,
  )
  return Object.assign(data, { found, widest, counted: countsOf(data) })
}
