// A line drawn around points by hand: [x, y, x, y, ...] in pixels. Pure.

import { STEPS } from "./heads.js"
import { MARK } from "./marks.js"

/** @import { Placement } from "./heads.js" */

const MIN_STEP = 3 // pixels between two corners

/** The path with one more corner, unless that is hardly away from the last one. @param {number[]} path @param {number} x @param {number} y */
export function lassoWith(path, x, y) {
  const [lastX, lastY] = path.slice(-2)
  return path.length > 0 && Math.hypot(x - lastX, y - lastY) < MIN_STEP ? path : [...path, x, y]
}

/** Whether a place is inside the closed path; where the path crosses itself, even-odd. @param {number[]} path @param {number} x @param {number} y */
function isInside(path, x, y) {
  let inside = false
  for (let i = 0, before = path.length - 2; i < path.length; before = i, i += 2) {
    const [ax, ay, bx, by] = [path[i], path[i + 1], path[before], path[before + 1]]
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
  }
  return inside
}

/** The points inside, in order, without those that have faded. @param {number[]} path @param {Pick<Placement, "xOf" | "yOf">} tile @param {Uint8Array} marks @returns {number[]} */
export function pointsInside(path, { xOf, yOf }, marks) {
  return Array.from(marks.keys()).filter(
    (i) => marks[i] !== MARK.faded && isInside(path, xOf(i), yOf(i)),
  )
}

/** The corners of a path in the plane, in halves of the frame's side from its middle, to seven digits: the server takes short messages. @param {number[]} path @param {Pick<Placement, "left" | "bottom" | "scale">} tile */
export function outlineOf(path, { left, bottom, scale }) {
  const half = (scale * STEPS) / 2
  const corners = path.map((place, i) => (i % 2 ? bottom - place : place - left) / half - 1)
  return corners.map((place) => Number(place.toPrecision(7)))
}
