// Where points lie on the screen: in the plane, or in space after a turn.

import { fitFrame, outlineText, toScreen } from "../points/scatter.js"
import { strokeLine } from "../shared/dom.js"

/** @import { Frame } from "../points/scatter.js" */
/** @import { Rotation } from "../points/rotation.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @typedef {Frame & {z: number, reach: number}} SpaceFrame and the middle's third coordinate; the farthest point's distance from it */

export const AXES = { height: 18, side: 6, length: 22, opacity: 0.8 } // pixels: of the strip for names, beside them, of a small axis

/**
 * A frame around some points, of two or three coordinates each. One of points in space holds them however they turn.
 * @param {Float32Array} points @param {number} dims @param {number[]} indices @param {number} width @param {number} height
 * @param {{x: number, y: number}} margin @returns {SpaceFrame}
 */
export function fitPoints(points, dims, indices, width, height, margin) {
  if (dims === 2) return { ...fitFrame(points, indices, width, height, margin), z: 0, reach: 1 }
  const [x, y, z] = [0, 1, 2].map(
    (axis) => indices.reduce((sum, i) => sum + points[3 * i + axis], 0) / indices.length,
  )
  const reach = indices.reduce(
    (far, i) =>
      Math.max(far, Math.hypot(points[3 * i] - x, points[3 * i + 1] - y, points[3 * i + 2] - z)),
    1e-9,
  )
  const own = (Math.min(width, height) / 2 - margin.y) / reach
  return { scale: own, own, x, y, z, reach, width, height }
}

/**
 * The place of each of `count` points as [x, y, nearness], null for those that are not in `indices`; nearness is 0 in the
 * plane, else from -1 (far) to 1.
 * @param {SpaceFrame} frame @param {Float32Array} points @param {number} dims @param {number[]} indices @param {Rotation} rotation
 * @param {number} count @returns {(number[] | null)[]}
 */
export function placePoints(frame, points, dims, indices, rotation, count) {
  const places = Array(count).fill(null)
  const [a, b, c, d, e, f, g, h, k] = rotation
  for (const i of indices) {
    if (dims === 2) {
      places[i] = [...toScreen(frame, points[2 * i], points[2 * i + 1]), 0]
      continue
    }
    const [x, y, z] = [
      points[3 * i] - frame.x,
      points[3 * i + 1] - frame.y,
      points[3 * i + 2] - frame.z,
    ]
    const [across, up] = [a * x + b * y + c * z, d * x + e * y + f * z]
    places[i] = [
      frame.width / 2 + across * frame.scale,
      frame.height / 2 - up * frame.scale,
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
  const { side, length, opacity } = AXES
  Object.assign(pen, { globalAlpha: opacity, textBaseline: "alphabetic", strokeStyle: theme.ink })
  if (names.length === 3) {
    const [x, y] = [3 * length, height - 2.2 * length]
    names.forEach((name, axis) => {
      const [across, up] = [rotation[axis] * length, rotation[3 + axis] * length]
      Object.assign(pen, { strokeStyle: theme.ink, lineWidth: 1.2 })
      strokeLine(pen, x, y, x + across, y - up)
      Object.assign(pen, { textAlign: "center", lineWidth: 3 })
      outlineText(pen, name, x + 1.6 * across, y - 1.6 * up + 4, theme.paper, theme.ink)
    })
  } else if (names.length) {
    Object.assign(pen, { textAlign: "right" })
    outlineText(pen, `${names[0]} →`, width - side, height - side, theme.paper, theme.ink)
    Object.assign(pen, { textAlign: "left" })
    outlineText(pen, `↑ ${names[1]}`, side, AXES.height - side / 2, theme.paper, theme.ink)
  }
  Object.assign(pen, { globalAlpha: 1, textAlign: "left" })
}
