// A grid of square tiles, numbered row by row, seen through a window: where each tile and its points are, what is at a place, how the view moves.
// A single head is a grid of one tile that may leave the window. Pure.

import { clamp } from "../shared/dom.js"

/**
 * @typedef {{left: number, top: number, width: number, height: number}} Box the window, in pixels
 * @typedef {{tops: number[], high: number}} Rows where rows begin, and where the last one or what follows it ends, in tiles
 * @typedef {Rows & {columns: number, pitch: number, box: Box, isFree?: boolean}} Grid pitch: the side of a tile at zoom 1; isFree: without edges
 * @typedef {{zoom: number, x: number, y: number}} View x, y: what is in the middle of the window, in tiles
 * @typedef {{left: number, top: number, side: number}} Spot of a tile
 * @typedef {{x: number, y: number, size: number}} Square its lowest corner and its side, in units of the points
 * @typedef {ReturnType<typeof placeTile>} Placement
 */

export const ZOOM = { step: 1.6, windows: 4 } // a click's factor; the side of the largest tile, in windows
const FREE = { min: 0.5, max: 80, shift: 1.8 } // zoom; how far the middle of the window may be from the middle of the tile, in halves of its side
const THINNEST = 0.02 // smallest share of the side that a cloud takes, as for a line
const MARGIN = { share: 0.05, min: 2 } // of a tile's side, around its points; pixels

/** The largest tiles with which all rows and columns fit; a window no taller than they need. @param {Rows} rows @param {number} columns @param {Box} box @param {number} minHeight @returns {Grid} */
export function gridFor({ tops, high }, columns, box, minHeight) {
  const pitch = Math.min(box.width / columns, box.height / high)
  return {
    tops,
    high,
    columns,
    pitch,
    box: { ...box, height: Math.max(Math.min(box.height, minHeight), Math.round(pitch * high)) },
  }
}

/** One tile in the middle of a window, sized so that these shares of its side fit. @param {{wide?: number, high?: number}} shares @param {{width: number, height: number}} window @param {{x: number, y: number}} margin @returns {Grid} */
export function freeGrid({ wide = 1, high = 1 }, { width, height }, margin) {
  const pitch = Math.min(
    Math.max(width - 2 * margin.x, 1) / Math.max(wide, 1e-6),
    Math.max(height - 2 * margin.y, 1) / Math.max(high, 1e-6),
  )
  const box = { left: 0, top: 0, width, height }
  return { tops: [0], high: 1, columns: 1, pitch, box, isFree: true }
}

/** @param {Grid} grid */
export function wholeView(grid) {
  return clampView({ zoom: 1, x: grid.columns / 2, y: grid.high / 2 }, grid)
}

/** Within the edges of the grid; a grid smaller than the window is centred at its top. A free one stays near. @param {View} view @param {Grid} grid @returns {View} */
export function clampView(view, { high, columns, pitch, box, isFree }) {
  if (isFree) {
    /** @type {(place: number) => number} */
    const near = (place) => 0.5 + clamp(place - 0.5, -FREE.shift / 2, FREE.shift / 2)
    return { zoom: clamp(view.zoom, FREE.min, FREE.max), x: near(view.x), y: near(view.y) }
  }
  const largest = Math.max(1, (ZOOM.windows * Math.min(box.width, box.height)) / pitch)
  const zoom = clamp(view.zoom, 1, largest)
  const [across, down] = [box.width, box.height].map((room) => room / pitch / zoom / 2)
  const x = columns <= 2 * across ? columns / 2 : clamp(view.x, across, columns - across)
  return { zoom, x, y: clamp(view.y, down, Math.max(down, high - down)) }
}

/** @param {View} view @param {Grid} grid @param {number} dx @param {number} dy in pixels */
export function panBy({ zoom, x, y }, grid, dx, dy) {
  const side = grid.pitch * zoom
  return clampView({ zoom, x: x - dx / side, y: y - dy / side }, grid)
}

/** Zoomed by a factor around (x, y), which stays in place. @param {View} view @param {Grid} grid @param {number} factor @param {number} x @param {number} y */
export function zoomAt(view, grid, factor, x, y) {
  const { zoom } = clampView({ ...view, zoom: view.zoom * factor }, grid)
  const growth = 1 - view.zoom / zoom
  const [across, down] = inTiles(view, grid, x, y)
  const place = { x: view.x + (across - view.x) * growth, y: view.y + (down - view.y) * growth }
  return clampView({ zoom, ...place }, grid)
}

/** A place of the picture, in tiles. @param {View} view @param {Grid} grid @param {number} left @param {number} top */
function inTiles({ zoom, x, y }, { pitch, box }, left, top) {
  const side = pitch * zoom
  const [across, down] = [left - box.left - box.width / 2, top - box.top - box.height / 2]
  return [x + across / side, y + down / side]
}

/** A place in tiles, in pixels of the picture. @param {View} view @param {Grid} grid @param {number} across @param {number} down */
export function inPixels({ zoom, x, y }, { pitch, box }, across, down) {
  const side = pitch * zoom
  return {
    left: box.left + box.width / 2 + (across - x) * side,
    top: box.top + box.height / 2 + (down - y) * side,
  }
}

/** A tile without the gap to the next one. @param {View} view @param {Grid} grid @param {number} tile @returns {Spot} */
export function tileSpot(view, grid, tile) {
  const { tops, columns, pitch, isFree } = grid
  const side = pitch * view.zoom
  const gap = isFree ? 0 : clamp(side * 0.04, 2, 8)
  const { left, top } = inPixels(view, grid, tile % columns, tops[Math.floor(tile / columns)])
  return { left: left + gap / 2, top: top + gap / 2, side: side - gap }
}

/** The tiles in view, row by row. @param {View} view @param {Grid} grid @returns {number[]} */
export function tilesInView(view, grid) {
  const { tops, columns, box } = grid
  const [left, top] = inTiles(view, grid, box.left, box.top)
  const [right, bottom] = inTiles(view, grid, box.left + box.width, box.top + box.height)
  return [...Array(tops.length * columns).keys()].filter((tile) => {
    const [row, column] = [tops[Math.floor(tile / columns)], tile % columns]
    return row + 1 > top && row < bottom && column + 1 > left && column < right
  })
}

/** The tile at a place, or -1. @param {View} view @param {Grid} grid @param {number} x @param {number} y */
export function tileAt(view, grid, x, y) {
  const { tops, columns, box, isFree } = grid
  if (x < box.left || y < box.top || x >= box.left + box.width || y >= box.top + box.height)
    return -1
  if (isFree) return 0
  const [across, down] = inTiles(view, grid, x, y)
  const row = tops.findIndex((top) => down >= top && down < top + 1)
  return row >= 0 && across >= 0 && across < columns ? row * columns + Math.floor(across) : -1
}

/** The view in which a tile fills the window. @param {Grid} grid @param {number} tile */
export function viewOfTile(grid, tile) {
  const { pitch, tops, columns, box } = grid
  const zoom = Math.min(box.width, box.height) / pitch
  const y = tops[Math.floor(tile / columns)] + 0.5
  return clampView({ zoom, x: (tile % columns) + 0.5, y }, grid)
}

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

/** A tile's points in pixels, starting with number `first` of `places`. @param {View} view @param {Grid} grid @param {number} tile @param {Square} square @param {ArrayLike<number>} places @param {number} first */
export function placeTile(view, grid, tile, square, places, first) {
  const { left, top, side } = tileSpot(view, grid, tile)
  const margin = grid.isFree ? 0 : Math.max(MARGIN.min, side * MARGIN.share)
  const scale = (side - 2 * margin) / square.size
  const [x, y] = [left + margin - square.x * scale, top + side - margin + square.y * scale]
  return {
    x,
    y,
    side,
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
