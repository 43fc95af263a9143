// What all clouds of a corpus do: points on one canvas and what is above them on another, in a window that is moved
// and enlarged by pointer, wheel, fingers and keys.

import { listenGestures } from "../points/gestures.js"
import { makeRaster } from "../points/raster.js"
import { nearestPoint } from "../points/scatter.js"
import {
  describe,
  make,
  makeTip,
  penOf,
  place,
  placeOf,
  ratioOf,
  sizeCanvas,
} from "../shared/dom.js"
import { ARROWS } from "../shared/keys.js"
import { View } from "../shared/view.js"
import { completed, placement } from "./heads.js"
import { MARK } from "./marks.js"
import { coloursOf, paintPoints } from "./paint.js"
import { panBy, resizedView, tileAt, tileSpot, wholeView, zoomAt } from "../points/viewport.js"
import { labelOf } from "./words.js"

/** @import { Actions } from "../points/gestures.js" */
/** @import { Pen } from "../points/scatter.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Data, Sent } from "./heads.js" */
/** @import { Marks } from "./marks.js" */
/** @import { Colours, Painted } from "./paint.js" */
/** @import { Grid, Spot, Tile, View as Window } from "../points/viewport.js" */
/** @import { Note } from "./words.js" */
/** @typedef {{head: number, point: number}} Hover point: of the head, queries first, -1 beside all of them */

const MAX_RATIO = 2 // device pixels per pixel: more take time and show nothing
const PAN_KEY = 60 // pixels

export class CloudView extends View {
  /** @type {Data} */ data
  /** @type {Grid} */ grid
  /** @type {Window | null} */ window = null
  /** @type {Hover | null} */ hover = null
  /** @type {Colours} */ colours
  /** @type {Marks} */ marks
  height = 0
  ratio = 1
  painted = 0 // times that points were painted
  isStale = false // points have moved or changed
  step = 1.5 // times that a button or key enlarges
  reach = { mouse: 9, touch: 18 } // pixels from a point to the pointer

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.bar = make(this.root, "div", "bar")
    this.legend = make(this.bar, "div", "legend")
    this.tools = describe(make(this.bar, "span", "group"), { role: "group", "aria-label": "Zoom" })
    this.stage = make(this.root, "div", "stage")
    this.points = describe(make(this.stage, "canvas", "points"), { "aria-hidden": true })
    this.over = describe(make(this.stage, "canvas", "over"), { tabindex: 0 })
    this.reading = describe(make(this.root, "p", "reading"), { "aria-live": "polite" })
    this.tip = makeTip(this.root)
    this.raster = makeRaster(this.points)
    this.pen = penOf(this.over, { willReadFrequently: true })
    describe(
      this.button(this.tools, "−", () => this.zoomMiddle(1 / this.step)),
      { "aria-label": "Smaller" },
    )
    describe(
      this.button(this.tools, "+", () => this.zoomMiddle(this.step)),
      { "aria-label": "Larger" },
    )
    this.whole = this.button(this.tools, "", () => this.showAll())
    this.listen(this.over, "keydown", (event) => {
      if (this.pressKey(event)) event.preventDefault()
    })
    this.cleanUps.push(listenGestures(this.over, this.actions()))
  }

  /** @param {HTMLElement} parent @param {string} text @param {() => void} run */
  button(parent, text, run) {
    const button = make(parent, "button", "plain", text)
    this.listen(button, "click", run)
    return button
  }

  /** New data in the same window; with `isNew`, all of it. @param {Sent} sent @param {boolean} isNew */
  take(sent, isNew) {
    Object.assign(this, { data: completed(sent), hover: null })
    if (isNew) this.window = null
    this.tip.hide()
    describe(this.over, { "aria-label": labelOf(this.data) })
    this.layOut()
  }

  layOut() {
    this.width = this.root.clientWidth
    if (!this.width) return
    const [before, view] = [this.grid, this.window]
    this.grid = this.makeGrid(this.width)
    this.window = view ? resizedView(view, before, this.grid) : this.firstView()
    this.ratio = ratioOf(this.root, MAX_RATIO)
    for (const canvas of [this.points, this.over])
      sizeCanvas(canvas, this.width, this.height, { ratio: this.ratio })
    place(this.stage, { height: this.height })
    this.mark()
  }

  /** The tiles in a picture of that width; sets its height. @abstract @param {number} _width @returns {Grid} */
  makeGrid(_width) {
    throw new Error("not implemented")
  }

  /** What is seen at first. @returns {Window} */
  firstView() {
    return wholeView(this.grid)
  }

  /** Everything that depends on the theme and on what is found, picked or chosen. @abstract */
  mark() {}

  /** @param {Marks} marks @param {(theme: Theme) => number} fadedOf share of its colour that a faded point keeps */
  colour(marks, fadedOf) {
    this.marks = marks
    this.colours = coloursOf(this.root, this.data, fadedOf)
    this.root.dataset.matches = String(2 * this.data.found)
  }

  /** The part of the grid that is seen, once it is laid out. @returns {Window} */
  get view() {
    return this.window ?? wholeView(this.grid)
  }

  /** What painting needs to know. @returns {Painted} */
  get scene() {
    const { data, grid, view, colours, marks, ratio } = this
    return { data, grid, view, colours, marks, ratio }
  }

  /** Draw in the next frame; the points only if they have moved or changed. @param {boolean} [isStale] */
  paint(isStale = false) {
    this.isStale ||= isStale
    this.nextFrame(() => {
      if (!this.grid) return
      if (this.isStale) {
        paintPoints(this.raster, this.scene)
        this.placeTexts()
        Object.assign(this.root.dataset, {
          painted: ++this.painted,
          zoom: this.view.zoom.toFixed(2),
        })
      }
      this.isStale = false
      this.pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0)
      this.pen.clearRect(0, 0, this.width, this.height)
      this.drawOver(this.pen)
      this.report()
    })
  }

  /** Where texts stand, until points move again. */
  placeTexts() {}

  /** What lies above the points. @abstract @param {Pen} _pen */
  drawOver(_pen) {}

  /** What tests read, and what follows the window. */
  report() {}

  /** @param {Tile} tile */
  headOf({ row, column }) {
    return row * this.data.heads + column
  }

  /** @param {Tile} tile @returns {Spot} */
  spotOf({ row, column }) {
    return tileSpot(this.view, this.grid, row, column)
  }

  /** @param {Window} view */
  lookAt(view) {
    Object.assign(this, { window: view })
    this.point(null)
    this.paint(true)
  }

  showAll() {
    this.lookAt(wholeView(this.grid))
  }

  /** @param {number} dx @param {number} dy in pixels */
  pan(dx, dy) {
    this.lookAt(panBy(this.view, this.grid, dx, dy))
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

  /** Whether there is something to see outside the window. */
  get canShrink() {
    return true
  }

  /** @returns {Actions} */
  actions() {
    return {
      zoom: (factor, x, y) => this.zoom(factor, x, y),
      pan: (dx, dy) => this.pan(dx, dy),
      press: (x, y, event) => this.press(x, y, event),
      point: (event) => this.point(event),
      mayWheel: (event) => {
        if (!this.grid) return false
        if (event.ctrlKey || event.metaKey) return true
        return this.over.matches(":focus") && (event.deltaY < 0 || this.canShrink) // else the page scrolls
      },
    }
  }

  /** @abstract @param {number} _x @param {number} _y @param {PointerEvent} _event */
  press(_x, _y, _event) {}

  /** Show what is under the pointer in a note. @param {PointerEvent | null} event @returns {Note | null} */
  point(event) {
    const hover = event && this.grid ? this.hoverAt(event) : null
    const isSame = JSON.stringify(hover) === JSON.stringify(this.hover)
    this.hover = hover
    const note = hover && this.noteOf(hover)
    if (event && note) this.tip.show(event, note.title, note.lines)
    else this.tip.hide()
    this.over.classList.toggle("pointed", Boolean(note))
    if (!isSame) this.paint()
    return note
  }

  /** @abstract @param {Hover} _hover @returns {Note | null} */
  noteOf(_hover) {
    return null
  }

  /** @param {PointerEvent} event @returns {Hover | null} */
  hoverAt(event) {
    const { x, y } = placeOf(this.over, event)
    const tile = tileAt(this.view, this.grid, x, y)
    if (!tile) return null
    return { head: this.headOf(tile), point: this.nearest(tile, x, y, event) }
  }

  /** The nearest point of a head, those that stand out before others; -1 for none within reach. @param {Tile} tile @param {number} x @param {number} y @param {PointerEvent} event */
  nearest(tile, x, y, { pointerType }) {
    const reach = pointerType === "touch" ? this.reach.touch : this.reach.mouse
    return pointAt(this.scene, this.headOf(tile), this.spotOf(tile), x, y, reach)
  }

  /** Whether the key did something. @param {KeyboardEvent} event */
  pressKey({ key, ctrlKey, metaKey, altKey }) {
    const step = ARROWS[key]
    if (ctrlKey || metaKey || altKey) return false
    if (key === "+" || key === "=") this.zoomMiddle(this.step)
    else if (key === "-" || key === "_") this.zoomMiddle(1 / this.step)
    else if (key === "0") this.showAll()
    else if (key === "Escape") this.letGo()
    else if (step) this.pressArrow(step[0], step[1])
    else return false
    return true
  }

  /** @abstract */
  letGo() {}

  /** @param {number} down @param {number} across */
  pressArrow(down, across) {
    this.pan(-PAN_KEY * across, -PAN_KEY * down)
  }
}

/** The nearest point of a head, queries first; -1 for none. What stands out comes first. @param {Pick<Painted, "data" | "marks">} scene @param {number} head @param {Spot} spot @param {number} x @param {number} y @param {number} reach */
export function pointAt({ data, marks }, head, spot, x, y, reach) {
  const tile = placement(data, head, spot)
  if (!tile) return -1
  const count = 2 * data.labels.length
  /** @type {(isWanted: (point: number) => boolean) => number} */
  const nearest = (isWanted) =>
    nearestPoint(count, (i) => (isWanted(i) ? [tile.xOf(i), tile.yOf(i)] : null), x, y, reach)
  const marked = nearest((point) => marks.of[point] > MARK.faded)
  return marked >= 0 ? marked : nearest(() => true)
}
