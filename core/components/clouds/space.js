// Where points lie on the screen: in the plane, or in space after a turn.

import { drawAxes, outlineText } from "../points/scatter.js"

/** @import { Rotation } from "../points/rotation.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @typedef {{scale: number, own: number, x: number, y: number, z: number, reach: number, width: number, height: number}} SpaceFrame pixels per unit, as used and on its own; the data point in the middle; in space the farthest point's distance from it; pixels */

export const AXES = { height: 18, side: 6, corner: { x: 66, y: 48 }, opacity: 0.8 } // pixels: of the strip for names, beside them; of small axes
const FLAT = [1, 0, 0, 0, 1, 0, 0, 0, 0] // a look at the plane

/**
 * A frame with equal axes around some points. One of points in space holds them however they turn.
 * @param {Float32Array} points @param {number} dims 2 or 3 coordinates each @param {number[]} indices @param {number} width @param {number} height
 * @param {{x: number, y: number}} margin @returns {SpaceFrame}
 */
export function fitPoints(points, dims, indices, width, height, margin) {
  const axes = Array.from({ length: dims }, (_, axis) =>
    indices.map((i) => points[dims * i + axis]),
  )
  if (dims === 3) {
    const middle = axes.map((values) => values.reduce((sum, each) => sum + each, 0) / values.length)
    const reach = Math.max(
      1e-9,
      ...indices.map((_, i) => Math.hypot(...axes.map((values, axis) => values[i] - middle[axis]))),
    )
    const [x, y, z] = middle
    const own = (Math.min(width, height) / 2 - margin.y) / reach
    return { scale: own, own, x, y, z, reach, width, height }
  }
  const [[left, right], [low, high]] = axes.map((values) => [
    values.reduce((a, b) => Math.min(a, b), Infinity),
    values.reduce((a, b) => Math.max(a, b), -Infinity),
  ])
  const thinnest = 0.02 * Math.max(right - left, high - low, 1e-9) // of a cloud that is a line
  const own = Math.min(
    (width - 2 * margin.x) / Math.max(right - left, thinnest),
    (height - 2 * margin.y) / Math.max(high - low, thinnest),
  )
  const [x, y] = [(left + right) / 2, (low + high) / 2]
  return { scale: own, own, x, y, z: 0, reach: 1, width, height }
}

/**
 * The place of each of `count` points as [x, y, nearness], null for those that are not in `indices`; nearness is 0 in the
 * plane, else from -1 (far) to 1.
 * @param {SpaceFrame} frame @param {Float32Array} points @param {number} dims @param {number[]} indices @param {Rotation} rotation
 * @param {number} count @returns {(number[] | null)[]}
 */
export function placePoints(frame, points, dims, indices, rotation, count) {
  const places = Array(count).fill(null)
  const [a, b, c, d, e, f, g, h, k] = dims === 3 ? rotation : FLAT
  for (const i of indices) {
    const x = points[dims * i] - frame.x
    const y = points[dims * i + 1] - frame.y
    const z = dims === 3 ? points[dims * i + 2] - frame.z : 0
    places[i] = [
      frame.width / 2 + (a * x + b * y + c * z) * frame.scale,
      frame.height / 2 - (d * x + e * y + f * z) * frame.scale,
      (g * x + h * y + k * z) / frame.reach,
    ]
  }
  return places
}

/**
 * The names of the axes: in the plane at their ends, in space on a small cross of axes that turns with the points.
 * @param {CanvasRenderingContext2D} pen with its font @param {SpaceFrame} frame @param {string[]} names @param {Theme} theme @param {Rotation} rotation
 */
export function writeAxes(pen, { width, height }, names, theme, rotation) {
  const { side, corner, opacity } = AXES
  if (names.length === 3)
    return drawAxes(pen, { x: corner.x, y: height - corner.y }, rotation, names, theme)
  if (!names.length) return
  Object.assign(pen, { globalAlpha: opacity, textBaseline: "alphabetic", textAlign: "right" })
  outlineText(pen, `${names[0]} →`, width - side, height - side, theme.paper, theme.ink)
  pen.textAlign = "left"
  outlineText(pen, `↑ ${names[1]}`, side, AXES.height - side / 2, theme.paper, theme.ink)
  pen.globalAlpha = 1
}
