// The whole image beside the clouds: the patch in focus is marked, with the patches that its lines lead to; below, the patch
// and its strongest partner side by side, enlarged.

import { setAttrs, el, newCanvas, placeOf, sizeCanvas, strokeLine } from "../shared/dom.js"
import { photoOf } from "../shared/photo.js"
import { writeText } from "./labels.js"
import { linesOf } from "./lines.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Grid } from "../shared/photo.js" */
/** @import { Clouds } from "./clouds.js" */

const PAIR = { height: 92, side: 52, top: 10 } // pixels of the strip below the image
const ON_LINE = /** @type {const} */ ({ textBaseline: "alphabetic" })
const SHADE = 0.62 // opacity of the paper over patches that are not in focus
const BORDER = { own: 3, other: 1.5 } // pixels

export class ImageMap {
  photo = newCanvas(1, 1)
  /** @type {Grid} */ grid
  width = 0
  height = 0

  /** @param {Clouds} view */
  constructor(view) {
    this.view = view
    this.figure = el(null, "figure", "map")
    el(this.figure, "figcaption", "", "In the image")
    this.canvas = setAttrs(el(this.figure, "canvas"), { role: "img" })
    this.canvas.onpointermove = (event) => view.point(this.hoverAt(event))
    this.canvas.onpointerleave = () => view.point(null)
    this.canvas.onclick = (event) => view.press(this.hoverAt(event))
  }

  /** @param {number} width */
  layOut(width) {
    const { grid, pixels } = this.view.data
    if (!grid) return this.figure.remove()
    const { rows, columns } = grid
    const height = Math.round((width * rows) / columns)
    Object.assign(this, { photo: photoOf(pixels, grid), grid, width, height })
    setAttrs(this.canvas, {
      "aria-label": `The image in ${rows} rows and ${columns} columns of patches; the one in focus is marked`,
    })
    this.view.grid.after(this.figure)
  }

  /** The query of the patch under the pointer, if it is shown. @param {MouseEvent} event */
  hoverAt(event) {
    const { data, panels } = this.view
    const { rows, columns, first } = this.grid
    const { x, y } = placeOf(this.canvas, event)
    const row = Math.floor((y * rows) / this.height)
    const column = Math.floor((x * columns) / this.width)
    const item = first + row * columns + column
    const isInside = row >= 0 && row < rows && column >= 0 && column < columns
    return isInside && data.shown.includes(item) ? { panel: panels[0], tile: 0, item } : null
  }

  draw() {
    const { photo, width, height, grid, view } = this
    if (!view.data.grid) return
    const { theme, focus, data } = view
    const pen = sizeCanvas(this.canvas, width, height + PAIR.height)
    pen.clearRect(0, 0, width, height + PAIR.height)
    pen.drawImage(photo, 0, 0, width, height)
    Object.assign(pen, { strokeStyle: theme.paper, lineWidth: 1, globalAlpha: 0.35 })
    for (let patch = 0; patch < grid.count; patch++) {
      const { left, top } = this.boxOf(patch)
      if (left && !top) strokeLine(pen, left, 0, left, height)
      if (top && !left) strokeLine(pen, 0, top, width, top)
    }
    pen.globalAlpha = 1
    const { partner, weight } = view.partnerOf(focus)
    const pair = focus < data.queries ? [focus, partner] : [partner, focus]
    this.figure.dataset.pair = focus < 0 ? "" : pair.map((each) => data.names[each]).join(" ")
    if (focus >= 0) {
      this.paintFocus(pen, pair)
      this.paintPair(pen, pair, weight)
    } else {
      const hint = "Point at a patch, here or in the cloud"
      writeText(pen, hint, width / 2, height + PAIR.height / 2, theme)
    }
  }

  /** @param {number} point -1: none */
  patchOf(point) {
    return this.view.pictures?.patchOf(point) ?? -1
  }

  /** All patches but those of the pair, and of the other ends of lines, are shaded. @param {Pen} pen @param {number[]} pair of points */
  paintFocus(pen, pair) {
    const { view, width, height } = this
    const { theme, focus, data } = view
    const ends = linesOf(view.lines[0], focus).flatMap(({ from, to }) => [from, to])
    const points = [...new Set([...pair, ...ends])].sort((a, b) => a - b)
    const patches = points.filter((point) => this.patchOf(point) >= 0)
    Object.assign(pen, { fillStyle: theme.paper, globalAlpha: SHADE })
    pen.fillRect(0, 0, width, height)
    pen.globalAlpha = 1
    for (const point of patches) this.paintPatch(pen, this.patchOf(point))
    for (const point of patches) {
      const { left, top, width, height } = this.boxOf(this.patchOf(point))
      const isKey = point >= data.queries
      pen.strokeStyle = isKey ? theme.key : theme.query
      pen.lineWidth = isKey === focus >= data.queries ? BORDER.own : BORDER.other
      pen.strokeRect(left, top, width, height)
    }
    if (!pair.every((point) => patches.includes(point))) return
    const [from, to] = pair.map((point) => this.boxOf(this.patchOf(point)))
    const [x, y] = [from.width / 2, from.height / 2]
    Object.assign(pen, { strokeStyle: theme.ink, lineWidth: 1.5 })
    strokeLine(pen, from.left + x, from.top + y, to.left + x, to.top + y)
  }

  /** @param {Pen} pen @param {number[]} pair @param {number} weight */
  paintPair(pen, pair, weight) {
    const { view, width, height } = this
    const y = height + PAIR.top + PAIR.side / 2
    for (const [kind, point] of pair.entries()) {
      const x = width * (kind ? 0.78 : 0.22)
      const patch = this.patchOf(point)
      if (patch >= 0) this.paintLarge(pen, patch, kind === 1, x, y)
      const name = `${kind ? "key" : "query"} ${view.data.names[point] ?? ""}`
      writeText(pen, name, x, height + PAIR.height - 8, view.theme, ON_LINE)
    }
    if (Math.min(...pair) < 0) return
    writeText(pen, `→ ${weight.toFixed(3)}`, width / 2, y + 4, view.theme, ON_LINE)
  }

  /** A patch in its shape, round for a query, around (x, y). @param {Pen} pen @param {number} patch @param {boolean} isKey @param {number} x @param {number} y */
  paintLarge(pen, patch, isKey, x, y) {
    const { side } = PAIR
    const [left, top] = [x - side / 2, y - side / 2]
    pen.save()
    pen.beginPath()
    if (isKey) pen.rect(left, top, side, side)
    else pen.arc(x, y, side / 2, 0, 7)
    pen.clip()
    this.paintPatch(pen, patch, { left, top, width: side, height: side })
    const strokeStyle = isKey ? this.view.theme.key : this.view.theme.query
    Object.assign(pen, { strokeStyle, lineWidth: 2 * BORDER.own }) // half of it is cut off
    pen.stroke()
    pen.restore()
  }

  /** @param {Pen} pen @param {number} patch @param {ReturnType<ImageMap["boxOf"]>} [box] */
  paintPatch(pen, patch, { left, top, width, height } = this.boxOf(patch)) {
    const { size, columns } = this.grid
    const [x, y] = [(patch % columns) * size, Math.floor(patch / columns) * size]
    pen.drawImage(this.photo, x, y, size, size, left, top, width, height)
  }

  /** @param {number} patch */
  boxOf(patch) {
    const { rows, columns } = this.grid
    const [width, height] = [this.width / columns, this.height / rows]
    const [left, top] = [(patch % columns) * width, Math.floor(patch / columns) * height]
    return { left, top, width, height }
  }
}
