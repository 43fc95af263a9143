// Where the points of a tile are on the screen. Pure.

import { tileSpot } from "./viewport.js"

/** @import { Grid, Tile, View } from "./viewport.js" */
/**
 * @typedef {{x: number, y: number, size: number}} Square its lowest corner and its side, in units of the points
 * @typedef {ReturnType<typeof placeTile>} Placement
 */

const THINNEST = 0.02 // smallest share of the side that a cloud takes, as for a line
const MARGIN = { share: 0.05, min: 2 } // of a tile's side, around its points; pixels

/** The square around some points, and the shares of its side that they take. @param {ArrayLike<number>} places x and y of each @param {Iterable<number>} items @returns {Square & {wide: number, high: number}} */
export function squareAround(places, items) {
  const [low, high] = [
    [Infinity, Infinity],
    [-Infinity, -Infinity],
  ]
  for (const item of items)
    for (const axis of [0, 1]) {
      low[axis] = Math.min(low[axis], places[2 * item + axis])
      high[axis] = Math.max(high[axis], places[2 * item + axis])
    }
  const size = Math.max(high[0] - low[0], high[1] - low[1], 1e-9)
  const [x, y] = [0, 1].map((axis) => (low[axis] + high[axis] - size) / 2)
  const [wide, tall] = [0, 1].map((axis) => Math.max((high[axis] - low[axis]) / size, THINNEST))
  return { x, y, size, wide, high: tall }
}

/** A tile's points in pixels, starting with number `first` of `places`. @param {View} view @param {Grid} grid @param {Tile} tile @param {Square} square @param {ArrayLike<number>} places @param {number} first */
export function placeTile(view, grid, { row, column }, square, places, first) {
  const { left, top, side } = tileSpot(view, grid, row, column)
  const margin = grid.isFree ? 0 : Math.max(MARGIN.min, side * MARGIN.share)
  const scale = (side - 2 * margin) / square.size
  const [x, y] = [left + margin - square.x * scale, top + side - margin + square.y * scale]
  return {
    x,
    y,
    scale,
    first,
    /** @param {number} point */
    xOf: (point) => x + places[2 * (first + point)] * scale,
    /** @param {number} point */
    yOf: (point) => y - places[2 * (first + point) + 1] * scale,
  }
}

/** The nearest of some items within reach of (x, y), the first of equals, or -1. @param {Iterable<number>} items @param {(item: number) => number} xOf @param {(item: number) => number} yOf @param {number} x @param {number} y @param {number} reach */
export function nearestItem(items, xOf, yOf, x, y, reach) {
  let [shortest, nearest] = [reach * reach, -1]
  for (const item of items) {
    const distance = (xOf(item) - x) ** 2 + (yOf(item) - y) ** 2
    if (distance < shortest) [shortest, nearest] = [distance, item]
  }
  return nearest
}
