// The whole image beside the clouds: the patch in focus is marked, with the patches that its lines lead to; below, the patch
// and its strongest partner side by side, enlarged.

import { setAttrs, el, placeOf, sizeCanvas, strokeLine } from "../shared/dom.js"
import { writeText } from "./labels.js"

/** @import { Theme } from "../shared/scales.js" */
/** @import { Grid } from "../shared/photo.js" */
/**
 * @typedef {object} Focus
 * @property {number[]} pair the patches of query and key in the strongest pair; -1 for no patch
 * @property {{patch: number, isKey: boolean}[]} patches of all queries in focus, then of keys
 * @property {string[]} names of the pair
 * @property {number} weight attention of the pair
 * @property {boolean} isKey whether the point in focus is a key
 */

const PAIR = { height: 92, side: 52, top: 10 } // pixels of the strip below the image
const ON_LINE = /** @type {const} */ ({ textBaseline: "alphabetic" })
const SHADE = 0.62 // opacity of the paper over patches that are not in focus
const BORDER = { own: 3, other: 1.5 } // pixels

export class ImageMap {
  /** @type {HTMLCanvasElement} */ photo
  /** @type {Grid} */ grid
  /** @type {Theme} */ theme
  width = 0
  height = 0

  /** @param {HTMLElement} before the element that it follows, if there is an image @param {(patch: number) => void} onPoint -1 for none @param {(patch: number) => void} onPress */
  constructor(before, onPoint, onPress) {
    this.before = before
    this.figure = el(null, "figure", "map")
    el(this.figure, "figcaption", "", "In the image")
    this.canvas = setAttrs(el(this.figure, "canvas"), { role: "img" })
    this.canvas.onpointermove = (event) => onPoint(this.patchUnder(event))
    this.canvas.onpointerleave = () => onPoint(-1)
    this.canvas.onclick = (event) => onPress(this.patchUnder(event))
  }

  /** @param {HTMLCanvasElement | null} photo none: no map @param {Grid | null} grid @param {Theme} theme @param {number} width */
  layOut(photo, grid, theme, width) {
    if (!photo || !grid) return this.figure.remove()
    this.before.after(this.figure)
    const { rows, columns } = grid
    const height = Math.round((width * rows) / columns)
    Object.assign(this, { photo, grid, theme, width, height })
    setAttrs(this.canvas, {
      "aria-label": `The image in ${rows} rows and ${columns} columns of patches; the one in focus is marked`,
    })
  }

  /** @param {MouseEvent} event */
  patchUnder(event) {
    const { rows, columns } = this.grid
    const { x, y } = placeOf(this.canvas, event)
    const row = Math.floor((y * rows) / this.height)
    const column = Math.floor((x * columns) / this.width)
    return row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column : -1
  }

  /** @param {Focus | null} focus */
  draw(focus) {
    if (!this.figure.isConnected) return
    const { photo, theme, width, height } = this
    const pen = sizeCanvas(this.canvas, width, height + PAIR.height)
    pen.clearRect(0, 0, width, height + PAIR.height)
    this.figure.dataset.pair = focus ? focus.names.join(" ") : ""
    pen.drawImage(photo, 0, 0, width, height)
    this.paintGrid(pen)
    if (focus) this.paintFocus(pen, focus)
    else {
      const hint = "Point at a patch, here or in the cloud"
      writeText(pen, hint, width / 2, height + PAIR.height / 2, theme)
    }
  }

  /** @param {CanvasRenderingContext2D} pen */
  paintGrid(pen) {
    const { width, height, theme, grid } = this
    Object.assign(pen, { strokeStyle: theme.paper, lineWidth: 1, globalAlpha: 0.35 })
    for (let patch = 0; patch < grid.count; patch++) {
      const { left, top } = this.boxOf(patch)
      if (left && !top) strokeLine(pen, left, 0, left, height)
      if (top && !left) strokeLine(pen, 0, top, width, top)
    }
    pen.globalAlpha = 1
  }

  /** @param {CanvasRenderingContext2D} pen @param {Focus} focus */
  paintFocus(pen, focus) {
    const { theme, width, height } = this
    Object.assign(pen, { fillStyle: theme.paper, globalAlpha: SHADE })
    pen.fillRect(0, 0, width, height)
    pen.globalAlpha = 1
    for (const { patch } of focus.patches) this.paintPatch(pen, patch)
    for (const { patch, isKey } of focus.patches) {
      const { left, top, width, height } = this.boxOf(patch)
      pen.strokeStyle = isKey ? theme.key : theme.query
      pen.lineWidth = isKey === focus.isKey ? BORDER.own : BORDER.other
      pen.strokeRect(left, top, width, height)
    }
    if (Math.min(...focus.pair) >= 0) {
      const [from, to] = focus.pair.map((patch) => this.boxOf(patch))
      const [x, y] = [from.width / 2, from.height / 2]
      Object.assign(pen, { strokeStyle: theme.ink, lineWidth: 1.5 })
      strokeLine(pen, from.left + x, from.top + y, to.left + x, to.top + y)
    }
    this.paintPair(pen, focus)
  }

  /** @param {CanvasRenderingContext2D} pen @param {Focus} focus */
  paintPair(pen, { pair, names, weight }) {
    const { theme, width, height } = this
    const y = height + PAIR.top + PAIR.side / 2
    for (const [kind, patch] of pair.entries()) {
      const x = width * (kind ? 0.78 : 0.22)
      if (patch >= 0) this.paintLarge(pen, patch, kind === 1, x, y)
      const name = `${kind ? "key" : "query"} ${names[kind]}`
      writeText(pen, name, x, height + PAIR.height - 8, theme, ON_LINE)
    }
    if (!names[0] || !names[1]) return
    writeText(pen, `→ ${weight.toFixed(3)}`, width / 2, y + 4, theme, ON_LINE)
  }

  /** A patch in its shape, round for a query, around (x, y). @param {CanvasRenderingContext2D} pen @param {number} patch @param {boolean} isKey @param {number} x @param {number} y */
  paintLarge(pen, patch, isKey, x, y) {
    const { side } = PAIR
    const [left, top] = [x - side / 2, y - side / 2]
    pen.save()
    pen.beginPath()
    if (isKey) pen.rect(left, top, side, side)
    else pen.arc(x, y, side / 2, 0, 7)
    pen.clip()
    this.paintPatch(pen, patch, { left, top, width: side, height: side })
    const strokeStyle = isKey ? this.theme.key : this.theme.query
    Object.assign(pen, { strokeStyle, lineWidth: 2 * BORDER.own }) // half of it is cut off
    pen.stroke()
    pen.restore()
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} patch @param {ReturnType<ImageMap["boxOf"]>} [box] */
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
