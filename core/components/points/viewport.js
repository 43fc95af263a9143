// A grid of square tiles, numbered row by row, seen through a window: where each tile and its points are, what is at a place, how the view moves.
// A plane is a grid of one tile. Pure.

import { clamp } from "../shared/dom.js"

/**
 * @typedef {{left: number, top: number, width: number, height: number}} Box the window, in pixels
 * @typedef {{tops: number[], high: number}} Rows where rows begin, and where the last one or what follows it ends, in tiles
 * @typedef {Rows & {columns: number, pitch: number, largest: number, box: Box, isFree?: boolean}} Grid pitch, largest: the side of a tile at zoom 1, and at most; isFree: one tile alone
 * @typedef {{zoom: number, x: number, y: number}} View x, y: what is in the middle of the window, in tiles
 * @typedef {{left: number, top: number, side: number}} Spot of a tile
 * @typedef {{x: number, y: number, size: number, wide: number, high: number}} Square its lowest corner and its side, in units of the points, and the shares of it that they take
 * @typedef {ReturnType<typeof placeTile>} Placement
 */

const LARGEST = { tile: 4, alone: 80 } // side of a tile, in sides of the window
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
    largest: LARGEST.tile * Math.min(box.width, box.height),
    box: { ...box, height: Math.max(Math.min(box.height, minHeight), Math.round(pitch * high)) },
  }
}

/** One tile in the middle of a window, sized so that these shares of its side fit. @param {{wide: number, high: number}} shares @param {{width: number, height: number}} window @param {{x: number, y: number}} margin @returns {Grid} */
export function freeGrid({ wide, high }, { width, height }, margin) {
  const pitch = Math.max(1, Math.min((width - 2 * margin.x) / wide, (height - 2 * margin.y) / high))
  const box = { left: 0, top: 0, width, height }
  const largest = LARGEST.alone * Math.min(width, height)
  return { tops: [0], high: 1, columns: 1, pitch, box, largest, isFree: true }
}

/** @param {Grid} grid */
export function wholeView(grid) {
  return clampView({ zoom: 1, x: grid.columns / 2, y: grid.high / 2 }, grid)
}

/** Within the edges of the grid; a grid smaller than the window is in its middle. @param {View} view @param {Grid} grid @returns {View} */
export function clampView(view, { high, columns, pitch, box, largest }) {
  const zoom = clamp(view.zoom, 1, Math.max(1, largest / pitch))
  /** @type {(place: number, room: number, size: number) => number} */
  const within = (place, room, size) =>
    clamp(place, Math.min(room, size / 2), Math.max(size - room, size / 2))
  const [across, down] = [box.width, box.height].map((room) => room / pitch / zoom / 2)
  return { zoom, x: within(view.x, across, columns), y: within(view.y, down, high) }
}

/** @param {View} view @param {Grid} grid @param {number} dx @param {number} dy in pixels */
export function panBy({ zoom, x, y }, grid, dx, dy) {
  const side = grid.pitch * zoom
  return clampView({ zoom, x: x - dx / side, y: y - dy / side }, grid)
}

/** The view moved until a place is so far from the window's edge. @param {View} view @param {Grid} grid @param {number} x @param {number} y @param {number} edge in pixels */
export function viewWith(view, grid, x, y, edge) {
  const { left, top, width, height } = grid.box
  const dx = clamp(x, left + Math.min(edge, width / 2), left + width - edge) - x
  const dy = clamp(y, top + Math.min(edge, height / 2), top + height - edge) - y
  return panBy(view, grid, dx, dy)
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

/** The square around some points, and the shares of its side that they take. @param {ArrayLike<number>} places x and y of each @param {number[]} items @returns {Square} */
export function squareAround(places, items) {
  const [across, down] = [0, 1].map((axis) => {
    let [low, high] = [Infinity, -Infinity]
    for (const item of items) {
      low = Math.min(low, places[2 * item + axis])
      high = Math.max(high, places[2 * item + axis])
    }
    return { middle: (low + high) / 2, extent: high - low }
  })
  const size = Math.max(across.extent, down.extent, 1e-9)
  const [x, y] = [across, down].map(({ middle }) => middle - size / 2)
  const [wide, high] = [across, down].map(({ extent }) => Math.max(extent / size, THINNEST))
  return { x, y, size, wide, high }
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
