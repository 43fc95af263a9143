// Where the points of a head lie in its tile. Pure.

import { STEPS } from "./solid.js"

export const MARGIN = 0.05 // of a tile's side, around its points

/** @import { Data } from "./atlas_matrix.js" */
/** @import { Spot } from "./viewport.js" */

/** Where a head's points lie in its tile, with pixels per step; null while it has no points. @param {Data} data @param {number} head @param {Spot} spot */
export function placement(data, head, { left, top, side }) {
  const half = data.frames[3 * head + 2]
  if (half < 0) return null
  const room = side - 2 * Math.max(2, side * MARGIN)
  const extent = data.ownScale ? room : (room * half) / Math.max(data.widest, 1e-12)
  const scale = extent / STEPS
  const [x, y] = [left + (side - extent) / 2, top + (side + extent) / 2]
  const first = 4 * head * data.labels.length
  /** @type {(point: number) => [number, number]} */
  const placeOf = (point) => [
    x + data.places[first + 2 * point] * scale,
    y - data.places[first + 2 * point + 1] * scale,
  ]
  return { left: x, bottom: y, scale, placeOf }
}
