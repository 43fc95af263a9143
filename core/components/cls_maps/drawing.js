// Maps of an image as heat over it, the outline of their top patches, and the region.

import { newCanvas, penOf } from "../shared/dom.js"
import { photoOf } from "../shared/photo.js"
import { along, css, parseColour } from "../shared/scales.js"
import { drawImageOf } from "../shared/svg_pen.js"
import { maxOf } from "./numbers.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Region, Values } from "./numbers.js" */
/** @typedef {CanvasRenderingContext2D} Pen */
/** @typedef {{width: number, height: number}} Size */

const NIGHT = { colour: "#0a0d16", share: 0.62 } // over the image, in both themes
const STRENGTH = 0.94 // opacity of the largest weight
const SHARP = 3 // pixels of an image in a file per pixel of the page
const OUTLINE = "#ffffff"
const SHADOW = "rgb(0 0 0 / 0.75)"
const WHITE = [255, 255, 255]

/** The darkened image under all maps. Colours over it are light: the light theme's are mixed with white. */
export class DarkImage {
  /** @param {Uint8Array} pixels red, green and blue of each @param {Grid} grid @param {Theme} theme */
  constructor(pixels, grid, { key, series, isDark }) {
    const light = (/** @type {string} */ colour) =>
      along([parseColour(colour), WHITE], isDark ? 0 : 0.4).map(Math.round)
    this.grid = grid
    this.heat = light(key)
    this.regionColour = css(light(series[3]))
    this.dark = photoOf(pixels, grid)
    const pen = penOf(this.dark)
    Object.assign(pen, { fillStyle: NIGHT.colour, globalAlpha: NIGHT.share })
    pen.fillRect(0, 0, this.dark.width, this.dark.height)
  }

  /** The heat from nothing to the largest weight, for a legend. */
  get ramp() {
    return [0, 0.5, 1].map((share) =>
      css(along([parseColour(NIGHT.colour), this.heat], share * STRENGTH).map(Math.round)),
    )
  }

  /** A pixel for each patch, the more opaque the larger its share of the map's largest weight. @param {Values} values */
  heatOf(values) {
    const { rows, columns } = this.grid
    const canvas = newCanvas(columns, rows)
    const image = new ImageData(columns, rows)
    const max = maxOf(values)
    values.forEach((value, patch) => {
      const opacity = max > 0 ? Math.round(255 * STRENGTH * (value / max)) : 0
      image.data.set([...this.heat, opacity], 4 * patch)
    })
    penOf(canvas).putImageData(image, 0, 0)
    return canvas
  }

  /** @param {Pen} pen @param {Values} values @param {Size} size @param {number} [x] @param {number} [y] */
  paint(pen, values, { width, height }, x = 0, y = 0) {
    pen.imageSmoothingEnabled = true
    pen.drawImage(this.dark, x, y, width, height)
    pen.imageSmoothingEnabled = false // patches have edges
    pen.drawImage(this.heatOf(values), x, y, width, height)
  }

  /** The same for a file. @param {Pen} pen @param {Values} values @param {Size} size */
  paintSharply(pen, values, { width, height }) {
    drawImageOf(pen, width, height, SHARP, (canvas) => this.paint(penOf(canvas), values, canvas))
  }

  /** The border around chosen patches. @param {Pen} pen @param {Uint8Array} chosen @param {Size} size @param {number} thick in pixels */
  strokeOutline(pen, chosen, { width, height }, thick) {
    const { rows, columns } = this.grid
    const [wide, high] = [width / columns, height / rows]
    /** @type {(row: number, column: number) => boolean} */
    const isIn = (row, column) =>
      column >= 0 && column < columns && chosen[row * columns + column] === 1
    /** @type {(fromX: number, fromY: number, toX: number, toY: number) => void} */
    const side = (fromX, fromY, toX, toY) => {
      pen.moveTo(fromX * wide, fromY * high)
      pen.lineTo(toX * wide, toY * high)
    }
    pen.beginPath()
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        if (!isIn(row, column)) continue
        if (!isIn(row - 1, column)) side(column, row, column + 1, row)
        if (!isIn(row + 1, column)) side(column, row + 1, column + 1, row + 1)
        if (!isIn(row, column - 1)) side(column, row, column, row + 1)
        if (!isIn(row, column + 1)) side(column + 1, row, column + 1, row + 1)
      }
    }
    Object.assign(pen, { strokeStyle: SHADOW, lineWidth: thick + 2, lineCap: "square" })
    pen.stroke()
    Object.assign(pen, { strokeStyle: OUTLINE, lineWidth: thick })
    pen.stroke()
  }

  /** The marked rectangle, dashed. @param {Pen} pen @param {Region} region @param {Size} size @param {number} thick in pixels */
  strokeRegion(pen, [top, left, bottom, right], { width, height }, thick) {
    const [wide, high] = [width / this.grid.columns, height / this.grid.rows]
    const [x, y] = [left * wide + 1, top * high + 1]
    const [across, down] = [(right - left + 1) * wide - 2, (bottom - top + 1) * high - 2]
    Object.assign(pen, { strokeStyle: SHADOW, lineWidth: thick + 2, lineCap: "butt" })
    pen.strokeRect(x, y, across, down)
    Object.assign(pen, { strokeStyle: this.regionColour, lineWidth: thick })
    pen.setLineDash([4 * thick, 2 * thick])
    pen.strokeRect(x, y, across, down)
    pen.setLineDash([])
  }
}
