// A map as heat over the darkened image, the outline of its top patches, and the region.

import { make, penOf } from "../shared/dom.js"
import { photoOf } from "../shared/photo.js"
import { along, css, parseColour } from "../shared/scales.js"
import { drawImageOf } from "../shared/svg_pen.js"
import { maxOf } from "./numbers.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { Rgb, Theme } from "../shared/scales.js" */
/** @import { Region, Values } from "./numbers.js" */
/** @typedef {CanvasRenderingContext2D} Pen */
/** @typedef {{heat: Rgb, region: string, outline: string, shadow: string}} Colours of what lies over the dark image */
/** @typedef {{width: number, height: number}} Size */

const NIGHT = { colour: "#0a0d16", share: 0.62 } // over the image, in both themes
const STRENGTH = 0.94 // opacity of the largest weight
const SHARP = 3 // pixels of an image in a file per pixel of the page
const WHITE = [255, 255, 255]

/** Colours light enough for a dark image: the light theme's are mixed with white. @param {Theme} theme @returns {Colours} */
export function coloursOf({ key, series, isDark }) {
  const light = (/** @type {string} */ colour) =>
    along([parseColour(colour), WHITE], isDark ? 0 : 0.4).map(Math.round)
  return {
    heat: light(key),
    region: css(light(series[3])),
    outline: "#ffffff",
    shadow: "rgb(0 0 0 / 0.75)",
  }
}

/** The heat from nothing to the largest weight, for a legend. @param {Colours} colours */
export function rampOf({ heat }) {
  return [0, 0.5, 1].map((share) =>
    css(along([parseColour(NIGHT.colour), heat], share * STRENGTH).map(Math.round)),
  )
}

/** The image as it lies under all maps. @param {Uint8Array} pixels red, green and blue of each @param {Grid} grid @returns {HTMLCanvasElement} */
export function darkened(pixels, grid) {
  const canvas = photoOf(pixels, grid)
  const pen = penOf(canvas)
  Object.assign(pen, { fillStyle: NIGHT.colour, globalAlpha: NIGHT.share })
  pen.fillRect(0, 0, canvas.width, canvas.height)
  return canvas
}

/** A pixel for each patch, the more opaque the larger its share of the map's largest weight. @param {Values} values @param {Grid} grid @param {Rgb} heat */
function heatOf(values, { rows, columns }, heat) {
  const canvas = Object.assign(make(null, "canvas"), { width: columns, height: rows })
  const pen = penOf(canvas)
  const image = pen.createImageData(columns, rows)
  const max = maxOf(values)
  values.forEach((value, patch) =>
    image.data.set([...heat, max > 0 ? Math.round(255 * STRENGTH * (value / max)) : 0], 4 * patch),
  )
  pen.putImageData(image, 0, 0)
  return canvas
}

/** @param {Pen} pen @param {HTMLCanvasElement} dark @param {Values} values @param {Grid} grid @param {Colours} colours @param {number} x @param {number} y @param {Size} size */
export function paintMap(pen, dark, values, grid, { heat }, x, y, { width, height }) {
  pen.imageSmoothingEnabled = true
  pen.drawImage(dark, x, y, width, height)
  pen.imageSmoothingEnabled = false // patches have edges
  pen.drawImage(heatOf(values, grid, heat), x, y, width, height)
}

/** The same for a file. @param {Pen} pen @param {HTMLCanvasElement} dark @param {Values} values @param {Grid} grid @param {Colours} colours @param {Size} size */
export function paintMapSharply(pen, dark, values, grid, colours, size) {
  drawImageOf(pen, size.width, size.height, SHARP, (canvas) => {
    paintMap(penOf(canvas), dark, values, grid, colours, 0, 0, {
      width: canvas.width,
      height: canvas.height,
    })
  })
}

/** The border around chosen patches. @param {Pen} pen @param {Uint8Array} chosen @param {Grid} grid @param {Size} size @param {Colours} colours @param {number} thick in pixels */
export function strokeOutline(
  pen,
  chosen,
  { rows, columns },
  { width, height },
  { outline, shadow },
  thick,
) {
  const [wide, high] = [width / columns, height / rows]
  const isIn = (/** @type {number} */ row, /** @type {number} */ column) =>
    row >= 0 &&
    row < rows &&
    column >= 0 &&
    column < columns &&
    chosen[row * columns + column] === 1
  pen.beginPath()
  /** @type {(fromX: number, fromY: number, toX: number, toY: number) => void} */
  const side = (fromX, fromY, toX, toY) => {
    pen.moveTo(fromX * wide, fromY * high)
    pen.lineTo(toX * wide, toY * high)
  }
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      if (!isIn(row, column)) continue
      if (!isIn(row - 1, column)) side(column, row, column + 1, row)
      if (!isIn(row + 1, column)) side(column, row + 1, column + 1, row + 1)
      if (!isIn(row, column - 1)) side(column, row, column, row + 1)
      if (!isIn(row, column + 1)) side(column + 1, row, column + 1, row + 1)
    }
  }
  pen.lineCap = "square"
  for (const [colour, lineWidth] of /** @type {[string, number][]} */ ([
    [shadow, thick + 2],
    [outline, thick],
  ])) {
    Object.assign(pen, { strokeStyle: colour, lineWidth })
    pen.stroke()
  }
}

/** The marked rectangle, dashed. @param {Pen} pen @param {Region} region @param {Grid} grid @param {Size} size @param {Colours} colours @param {number} thick in pixels */
export function strokeRegion(
  pen,
  [top, left, bottom, right],
  { rows, columns },
  { width, height },
  { region, shadow },
  thick,
) {
  const [wide, high] = [width / columns, height / rows]
  /** @type {[number, number, number, number]} */
  const box = [
    left * wide + 1,
    top * high + 1,
    (right - left + 1) * wide - 2,
    (bottom - top + 1) * high - 2,
  ]
  Object.assign(pen, { strokeStyle: shadow, lineWidth: thick + 2, lineCap: "butt" })
  pen.strokeRect(...box)
  Object.assign(pen, { strokeStyle: region, lineWidth: thick })
  pen.setLineDash([4 * thick, 2 * thick])
  pen.strokeRect(...box)
  pen.setLineDash([])
}
