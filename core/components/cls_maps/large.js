// The large map: dragging marks a region, moving names a patch, keys do both.

import { clamp, describe, make, placeOf, sizeCanvas } from "../shared/dom.js"
import { ARROWS } from "../shared/keys.js"
import { between } from "./numbers.js"

/** @import { ClsMapsView } from "./cls_maps.js" */
/** @import { Pen } from "./drawing.js" */

const LINES = { outline: 2, region: 3 } // pixels

export class LargeMap {
  patch = -1 // under the pointer, or where the keys are
  start = -1 // where a region begins, while it is drawn
  isDragging = false

  /** @param {ClsMapsView} view @param {HTMLElement} parent */
  constructor(view, parent) {
    this.view = view
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

  draw() {
    const { view, base } = this
    const name = view.nameOf(view.chosen)
    describe(this.over, {
      "aria-label": `${name} over the image. Drag to mark a region; arrow keys move, with Shift they mark, Escape removes`,
    })
    const pen = sizeCanvas(base, view.size.width, view.size.height)
    view.image.paint(pen, view.valuesOf(view.chosen), view.size)
    this.drawOver()
  }

  /** What changes while a region is dragged. */
  drawOver() {
    const { width, height } = this.view.size
    const pen = sizeCanvas(this.over, width, height)
    pen.clearRect(0, 0, width, height)
    this.paintMarks(pen)
    if (this.patch >= 0) this.paintPatch(pen)
  }

  /** @param {Pen} pen */
  paintMarks(pen) {
    const { view } = this
    view.paintMarks(pen, view.topOf(view.chosen), view.size, LINES)
  }

  /** @param {Pen} pen */
  paintPatch(pen) {
    const { size, data } = this.view
    const { rows, columns } = data.grid
    const [wide, high] = [size.width / columns, size.height / rows]
    const [x, y] = [(this.patch % columns) * wide, Math.floor(this.patch / columns) * high]
    Object.assign(pen, { strokeStyle: "#ffffff", lineWidth: 1 })
    pen.strokeRect(x + 0.5, y + 0.5, wide - 1, high - 1)
  }

  /** @returns {[Element, (pen: Pen) => void][]} for files */
  get painters() {
    const { image, chosen, size } = this.view
    return [
      [this.base, (pen) => image.paintSharply(pen, this.view.valuesOf(chosen), size)],
      [this.over, (pen) => this.paintMarks(pen)],
    ]
  }

  /** @param {PointerEvent} event */
  patchUnder(event) {
    const { size, data } = this.view
    const { rows, columns } = data.grid
    const { x, y } = placeOf(this.over, event)
    const row = clamp(Math.floor((y / size.height) * rows), 0, rows - 1)
    return row * columns + clamp(Math.floor((x / size.width) * columns), 0, columns - 1)
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
    this.view.mark(this.view.region, true)
  }

  /** The region from where it began to this patch. @param {number} patch @param {boolean} [isDone] */
  mark(patch, isDone = false) {
    this.view.mark(between(this.start, patch, this.view.data.grid.columns), isDone)
    this.drawOver()
  }

  /** @param {number} patch @param {PointerEvent} [event] */
  pointAt(patch, event) {
    const isNew = patch !== this.patch
    this.patch = patch
    if (isNew && this.view.data) this.drawOver()
    this.view.namePatch(patch, event)
  }

  /** @param {KeyboardEvent} event */
  step(event) {
    const { rows, columns } = this.view.data.grid
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
    if (event.shiftKey) this.mark(patch, true)
  }

  clear() {
    this.isDragging = false
    this.view.mark(null, true)
    this.drawOver()
  }
}
