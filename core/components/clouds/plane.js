// Where points lie on the screen.

import { outlineText } from "../points/scatter.js"

/** @import { Theme } from "../shared/scales.js" */
/** @typedef {{scale: number, x: number, y: number, width: number, height: number}} Frame pixels per unit; the data point in the middle; pixels */

export const AXES = { height: 18, side: 6, opacity: 0.8 } // pixels: of the strip for names, beside them

/**
 * A frame with equal axes around some points.
 * @param {Float32Array} points @param {number[]} indices @param {number} width @param {number} height
 * @param {{x: number, y: number}} margin @returns {Frame}
 */
export function fitPoints(points, indices, width, height, margin) {
  const [[left, right], [low, high]] = [0, 1].map((axis) => {
    const values = indices.map((i) => points[2 * i + axis])
    return [
      values.reduce((a, b) => Math.min(a, b), Infinity),
      values.reduce((a, b) => Math.max(a, b), -Infinity),
    ]
  })
  const thinnest = 0.02 * Math.max(right - left, high - low, 1e-9) // of a cloud that is a line
  const scale = Math.min(
    (width - 2 * margin.x) / Math.max(right - left, thinnest),
    (height - 2 * margin.y) / Math.max(high - low, thinnest),
  )
  return { scale, x: (left + right) / 2, y: (low + high) / 2, width, height }
}

/**
 * The place of each of `count` points as [x, y], null for those that are not in `indices`.
 * @param {Frame} frame @param {Float32Array} points @param {number[]} indices @param {number} count @returns {(number[] | null)[]}
 */
export function placePoints({ scale, x, y, width, height }, points, indices, count) {
  const places = Array(count).fill(null)
  for (const i of indices)
    places[i] = [
      width / 2 + (points[2 * i] - x) * scale,
      height / 2 - (points[2 * i + 1] - y) * scale,
    ]
  return places
}

/** The names of the axes at their ends. @param {CanvasRenderingContext2D} pen with its font @param {Frame} frame @param {string[]} names @param {Theme} theme */
export function writeAxes(pen, { width, height }, names, theme) {
  const { side, opacity } = AXES
  if (!names.length) return
  Object.assign(pen, { globalAlpha: opacity, textBaseline: "alphabetic", textAlign: "right" })
  outlineText(pen, `${names[0]} →`, width - side, height - side, theme.paper, theme.ink)
  pen.textAlign = "left"
  outlineText(pen, `↑ ${names[1]}`, side, AXES.height - side / 2, theme.paper, theme.ink)
  pen.globalAlpha = 1
}
