// The patches of an image, or of many; and the whole image beside the clouds, in which those are marked that lines lead to.

import { ctx2d, el, placeOf, setAttrs, sizeCanvas, strokeLine } from "../shared/dom.js"
import { photoOf } from "../shared/photo.js"
import { writeText } from "./labels.js"
import { linesOf } from "./lines.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Grid } from "../shared/photo.js" */
/** @import { Clouds } from "./clouds.js" */

const PAIR = { height: 92, side: 52, top: 10, places: [0.22, 0.78] } // pixels of the strip below the image; shares of its width
const SHADE = 0.62 // opacity of the paper over patches that are not in focus
const BORDER = { own: 3, other: 1.5 } // pixels

/**
 * The patches, which are drawn in place of points.
 * @param {{grid: Grid, pixels: Uint8Array, patched: Uint8Array, queries: number}} data patched: whether each is a patch; if empty, all are
 */
export function makePhoto({ grid, pixels, patched, queries }) {
  const canvas = photoOf(pixels, grid)
  const pattern = /** @type {CanvasPattern} */ (ctx2d(canvas).createPattern(canvas, "no-repeat"))
  return {
    grid,
    canvas,
    /** The patch that a point stands for, or -1. @param {number} point */
    patchOf(point) {
      const patch = point < 0 ? -1 : (point % queries) - grid.first
      return patch >= 0 && patch < grid.count && (patched[patch] ?? true) ? patch : -1
    },
    /** A patch in a frame, round or square, around (x, y). @param {Pen} pen @param {number} patch @param {boolean} isRound @param {number} x @param {number} y @param {number} half of its side @param {string} colour @param {number} frame its width */
    paint(pen, patch, isRound, x, y, half, colour, frame) {
      const [row, column] = [Math.floor(patch / grid.columns), patch % grid.columns]
      const [left, top] = [x - half * (1 + 2 * column), y - half * (1 + 2 * row)]
      const scale = (2 * half) / grid.size
      pattern.setTransform(new DOMMatrix([scale, 0, 0, scale, left, top]))
      Object.assign(pen, { fillStyle: pattern, strokeStyle: colour, lineWidth: frame })
      pen.beginPath()
      if (isRound) pen.arc(x, y, half, 0, 7)
      else pen.rect(x - half, y - half, 2 * half, 2 * half)
      pen.fill()
      pen.stroke()
    },
  }
}

export class ImageMap {
  width = 0
  height = 0
  side = 0 // of a patch

  /** @param {Clouds} view @param {ReturnType<typeof makePhoto>} photo */
  constructor(view, photo) {
    this.view = view
    this.photo = photo
    const { rows, columns } = photo.grid
    const label = `The image in ${rows} rows and ${columns} columns of patches; the one in focus is marked`
    this.figure = el(null, "figure", "map")
    el(this.figure, "figcaption", "", "In the image")
    this.canvas = setAttrs(el(this.figure, "canvas"), { role: "img", "aria-label": label })
    this.canvas.onpointermove = (event) => view.point(this.hoverAt(event))
    this.canvas.onpointerleave = () => view.point(null)
    this.canvas.onclick = (event) => view.press(this.hoverAt(event))
    view.grid.after(this.figure)
  }

  /** @param {number} width */
  layOut(width) {
    const { rows, columns } = this.photo.grid
    const side = width / columns
    Object.assign(this, { width, side, height: Math.round(side * rows) })
  }

  /** The query of the patch under the pointer, if it is shown. @param {MouseEvent} event */
  hoverAt(event) {
    const { view } = this
    const { rows, columns, first } = this.photo.grid
    const { x, y } = placeOf(this.canvas, event)
    const [row, column] = [y, x].map((each) => Math.floor(each / this.side))
    const item = first + row * columns + column
    const isInside = row < rows && column < columns && view.items.includes(item)
    return isInside ? { panel: view.panels[0], tile: 0, item } : null
  }

  draw() {
    const { view, photo, width, height, side } = this
    const { theme, focus, data, lines } = view
    const pen = sizeCanvas(this.canvas, width, height + PAIR.height)
    pen.clearRect(0, 0, width, height + PAIR.height)
    pen.drawImage(photo.canvas, 0, 0, width, height)
    Object.assign(pen, { strokeStyle: theme.paper, lineWidth: 1, globalAlpha: 0.35 })
    for (let x = side; x < width - 1; x += side) strokeLine(pen, x, 0, x, height)
    for (let y = side; y < height - 1; y += side) strokeLine(pen, 0, y, width, y)
    pen.globalAlpha = 1
    const own = focus < 0 ? [] : linesOf(lines[0], focus)
    const strongest = own.at(-1)
    const pair = strongest ? [strongest.from, strongest.to] : [focus]
    this.figure.dataset.pair = pair.map((each) => data.names[each] ?? "").join(" ")
    const middle = height + PAIR.top + PAIR.side / 2
    if (focus < 0)
      return writeText(pen, "Point at a patch, here or in the cloud", width / 2, middle, theme)
    Object.assign(pen, { fillStyle: theme.paper, globalAlpha: SHADE })
    pen.fillRect(0, 0, width, height)
    pen.globalAlpha = 1
    // The patch in focus lies on the other ends of its lines.
    const ends = own.flatMap(({ from, to }) => [from, to]).filter((point) => point !== focus)
    for (const point of [...ends, focus]) {
      const [{ x, y }, isKey] = [this.middleOf(point), point >= data.queries]
      const border = isKey === focus >= data.queries ? BORDER.own : BORDER.other
      this.paint(pen, point, false, x, y, side / 2, border)
    }
    const [from, to] = pair.filter((point) => photo.patchOf(point) >= 0).map(this.middleOf, this)
    if (to) {
      Object.assign(pen, { strokeStyle: theme.ink, lineWidth: 1.5 })
      strokeLine(pen, from.x, from.y, to.x, to.y)
    }
    for (const point of pair) {
      const kind = Number(point >= data.queries)
      const x = width * PAIR.places[kind]
      this.paint(pen, point, !kind, x, middle, PAIR.side / 2, BORDER.own)
      const name = `${kind ? "key" : "query"} ${data.names[point]}`
      writeText(pen, name, x, height + PAIR.height - 12, theme)
    }
    if (strongest) writeText(pen, `→ ${strongest.weight.toFixed(3)}`, width / 2, middle, theme)
  }

  /** @param {number} point */
  middleOf(point) {
    const { columns } = this.photo.grid
    const patch = this.photo.patchOf(point)
    const [row, column] = [Math.floor(patch / columns), patch % columns]
    return { x: this.side * (column + 0.5), y: this.side * (row + 0.5) }
  }

  /** The patch of a point, if it has one. @param {Pen} pen @param {number} point @param {boolean} isRound @param {number} x @param {number} y @param {number} half @param {number} border */
  paint(pen, point, isRound, x, y, half, border) {
    const { theme, data } = this.view
    const patch = this.photo.patchOf(point)
    const colour = point < data.queries ? theme.query : theme.key
    if (patch >= 0) this.photo.paint(pen, patch, isRound, x, y, half, colour, border)
  }
}
