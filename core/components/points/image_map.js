// The whole image beside the clouds: the patch in focus is marked, with the patches that its lines lead to; below, the patch
// and its strongest partner side by side, enlarged.

import { describe, make, placeOf, sizeCanvas, strokeLine } from "../shared/dom.js"

/** @import { Theme } from "../shared/scales.js" */
/** @import { Grid } from "../shared/photo.js" */
/**
 * @typedef {object} Focus
 * @property {number} query the patch of the query in the strongest pair; -1 where it is none
 * @property {number} key
 * @property {number[]} queries patches of all queries in focus
 * @property {number[]} keys
 * @property {string[]} names of query and key
 * @property {number} weight attention of the pair
 * @property {boolean} isKey whether the point in focus is a key
 */

const PAIR = { height: 92, side: 52, top: 10, letters: 12 } // pixels of the strip below the image
const SHADE = 0.62 // of the paper over patches that are not in focus
const BORDER = { own: 3, other: 1.5 } // pixels

export class ImageMap {
  /** @type {HTMLCanvasElement} */ photo
  /** @type {Grid} */ grid
  /** @type {Theme} */ theme
  width = 0
  height = 0

  /** @param {HTMLElement} before what it stands behind, where there is an image @param {(patch: number) => void} onPoint -1 for none @param {(patch: number) => void} onPress */
  constructor(before, onPoint, onPress) {
    this.before = before
    this.figure = make(null, "figure", "map")
    make(this.figure, "figcaption", "", "In the image")
    this.canvas = describe(make(this.figure, "canvas"), { role: "img" })
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
    describe(this.canvas, {
      "aria-label": `The image in ${rows} rows and ${columns} columns of patches; the one in focus is marked`,
    })
  }

  /** @param {MouseEvent} event */
  patchUnder(event) {
    const { rows, columns } = this.grid
    const { x, y } = placeOf(this.canvas, event)
    const [row, column] = [
      Math.floor((y * rows) / this.height),
      Math.floor((x * columns) / this.width),
    ]
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
      Object.assign(pen, {
        font: `12px ${theme.font}`,
        fillStyle: theme.ink,
        textAlign: "center",
        textBaseline: "middle",
      })
      pen.fillText("Point at a patch, here or in the cloud", width / 2, height + PAIR.height / 2)
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
    for (const patch of [...focus.queries, ...focus.keys]) this.paintPatch(pen, patch)
    for (const patch of focus.queries)
      this.frame(pen, patch, theme.query, focus.isKey ? BORDER.other : BORDER.own)
    for (const patch of focus.keys)
      this.frame(pen, patch, theme.key, focus.isKey ? BORDER.own : BORDER.other)
    if (focus.query >= 0 && focus.key >= 0) {
      const [from, to] = [this.boxOf(focus.query), this.boxOf(focus.key)]
      const [x, y] = [from.width / 2, from.height / 2]
      Object.assign(pen, { strokeStyle: theme.ink, lineWidth: 1.5 })
      strokeLine(pen, from.left + x, from.top + y, to.left + x, to.top + y)
    }
    this.paintPair(pen, focus)
  }

  /** @param {CanvasRenderingContext2D} pen @param {Focus} focus */
  paintPair(pen, { query, key, names, weight }) {
    const { theme, width, height } = this
    const y = height + PAIR.top + PAIR.side / 2
    for (const [kind, patch] of [query, key].entries()) {
      const x = width * (kind ? 0.78 : 0.22)
      if (patch >= 0) this.paintLarge(pen, patch, kind === 1, x, y)
      Object.assign(pen, {
        font: `${PAIR.letters}px ${theme.font}`,
        fillStyle: theme.ink,
        textAlign: "center",
        textBaseline: "alphabetic",
      })
      pen.fillText(`${kind ? "key" : "query"} ${names[kind]}`, x, height + PAIR.height - 8)
    }
    if (!names[0] || !names[1]) return
    pen.fillText(`→ ${weight.toFixed(3)}`, width / 2, y + 4)
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

  /** @param {CanvasRenderingContext2D} pen @param {number} patch @param {string} colour @param {number} border */
  frame(pen, patch, colour, border) {
    const { left, top, width, height } = this.boxOf(patch)
    Object.assign(pen, { strokeStyle: colour, lineWidth: border })
    pen.strokeRect(left, top, width, height)
  }

  /** @param {number} patch */
  boxOf(patch) {
    const { rows, columns } = this.grid
    const [width, height] = [this.width / columns, this.height / rows]
    const [left, top] = [(patch % columns) * width, Math.floor(patch / columns) * height]
    return { left, top, width, height }
  }
}
