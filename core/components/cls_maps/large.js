// The large map: dragging marks a region, moving names a patch, keys do both.

import { clamp, describe, make, placeOf, sizeCanvas } from "../shared/dom.js"
import { ARROWS } from "../shared/keys.js"
import { between, patchName } from "./numbers.js"
import { paintMap, paintMapSharply, strokeOutline, strokeRegion } from "./drawing.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { View } from "../shared/view.js" */
/** @import { Colours, Pen, Size } from "./drawing.js" */
/** @import { Region, Values } from "./numbers.js" */
/**
 * @typedef {{values: Values, top: Uint8Array, region: Region | null, grid: Grid, colours: Colours, dark: HTMLCanvasElement, size: Size, name: string}} Shown
 * @typedef {object} Heard what the picture tells
 * @property {(patch: number, event?: PointerEvent) => void} onPatch under the pointer or the cursor; -1: none
 * @property {(region: Region | null, isDone: boolean) => void} onRegion marked, or being marked
 */

const LINE = 2 // pixels

export class LargeMap {
  /** @type {Shown} */ shown
  patch = -1 // under the pointer, or where the keys are
  start = -1 // where a region begins, while it is drawn
  isDragging = false

  /** @param {View} view @param {HTMLElement} parent @param {Heard} heard */
  constructor(view, parent, heard) {
    this.heard = heard
    this.node = make(parent, "div", "picture")
    this.base = make(this.node, "canvas", "base")
    this.over = describe(make(this.node, "canvas", "over"), { role: "application", tabindex: 0 })
    const { over } = this
    view.listen(over, "pointerdown", (event) => this.begin(event))
    view.listen(over, "pointermove", (event) => this.move(event))
    view.listen(over, "pointerup", () => this.finish())
    view.listen(over, "pointercancel", () => this.finish())
    view.listen(over, "pointerleave", () => {
      if (!this.isDragging) this.pointAt(-1)
    })
    view.listen(over, "blur", () => this.pointAt(-1))
    view.listen(over, "keydown", (event) => this.step(event))
  }

  /** @param {Shown} shown */
  draw(shown) {
    const { width, height } = shown.size
    this.shown = shown
    describe(this.over, {
      "aria-label": `${shown.name} over the image. Drag to mark a region; arrow keys move, with Shift they mark, Escape removes`,
    })
    const pen = sizeCanvas(this.base, width, height)
    paintMap(pen, shown.dark, shown.values, shown.grid, shown.colours, 0, 0, shown.size)
    this.drawOver()
  }

  /** What changes while a region is dragged. */
  drawOver() {
    const { size } = this.shown
    const pen = sizeCanvas(this.over, size.width, size.height)
    pen.clearRect(0, 0, size.width, size.height)
    this.paintMarks(pen)
    if (this.patch >= 0) this.paintPatch(pen)
  }

  /** @param {Pen} pen */
  paintMarks(pen) {
    const { top, region, grid, size, colours } = this.shown
    strokeOutline(pen, top, grid, size, colours, LINE)
    if (region) strokeRegion(pen, region, grid, size, colours, LINE + 1)
  }

  /** @param {Pen} pen */
  paintPatch(pen) {
    const {
      grid: { rows, columns },
      size: { width, height },
    } = this.shown
    const [wide, high] = [width / columns, height / rows]
    Object.assign(pen, { strokeStyle: "#ffffff", lineWidth: 1 })
    pen.strokeRect(
      (this.patch % columns) * wide + 0.5,
      Math.floor(this.patch / columns) * high + 0.5,
      wide - 1,
      high - 1,
    )
  }

  /** @returns {[Element, (pen: Pen) => void][]} for files */
  get painters() {
    const { dark, values, grid, colours, size } = this.shown
    return [
      [this.base, (pen) => paintMapSharply(pen, dark, values, grid, colours, size)],
      [this.over, (pen) => this.paintMarks(pen)],
    ]
  }

  /** @param {PointerEvent} event */
  patchUnder(event) {
    const {
      grid: { rows, columns },
      size: { width, height },
    } = this.shown
    const { x, y } = placeOf(this.over, event)
    const row = clamp(Math.floor((y / height) * rows), 0, rows - 1)
    return row * columns + clamp(Math.floor((x / width) * columns), 0, columns - 1)
  }

  /** @param {PointerEvent} event */
  begin(event) {
    if (event.button !== 0) return
    this.over.setPointerCapture(event.pointerId)
    this.isDragging = true
    this.start = this.patchUnder(event)
    this.mark(this.start)
  }

  /** @param {PointerEvent} event */
  move(event) {
    const patch = this.patchUnder(event)
    if (this.isDragging && patch !== this.patch) this.mark(patch)
    this.pointAt(patch, event)
  }

  finish() {
    if (!this.isDragging) return
    this.isDragging = false
    this.heard.onRegion(this.shown.region, true)
  }

  /** The region from where it began to this patch. @param {number} patch */
  mark(patch) {
    this.shown.region = between(this.start, patch, this.shown.grid.columns)
    this.heard.onRegion(this.shown.region, false)
    this.drawOver()
  }

  /** @param {number} patch @param {PointerEvent} [event] */
  pointAt(patch, event) {
    const isNew = patch !== this.patch
    this.patch = patch
    if (isNew && this.shown) this.drawOver()
    this.heard.onPatch(patch, event)
  }

  /** @param {KeyboardEvent} event */
  step(event) {
    const {
      grid: { rows, columns },
    } = this.shown
    const by = ARROWS[event.key]
    if (event.key === "Escape") return this.clear()
    if (!by) return
    event.preventDefault()
    const from = this.patch
    const [row, column] =
      from < 0 ? [0, 0] : [Math.floor(from / columns) + by[0], (from % columns) + by[1]]
    const patch = clamp(row, 0, rows - 1) * columns + clamp(column, 0, columns - 1)
    if (!event.shiftKey) this.start = patch
    else if (this.start < 0) this.start = Math.max(0, from)
    this.pointAt(patch)
    if (event.shiftKey) {
      this.mark(patch)
      this.heard.onRegion(this.shown.region, true)
    }
  }

  clear() {
    this.isDragging = false
    this.shown.region = null
    this.drawOver()
    this.heard.onRegion(null, true)
  }

  /** @param {number} patch */
  nameOf(patch) {
    return patchName(patch, this.shown.grid.columns)
  }
}
