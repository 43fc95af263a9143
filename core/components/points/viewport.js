// A grid of square tiles seen through a window: where each tile is, which tile is at a place, how the view moves. A single
// head is a grid of one tile that may leave the window. Pure.

import { clamp } from "../shared/dom.js"

/**
 * @typedef {{left: number, top: number, width: number, height: number}} Box the window, in pixels
 * @typedef {{tops: number[], high: number}} Rows where rows begin, and where the last one or what follows it ends, in tiles
 * @typedef {Rows & {columns: number, pitch: number, box: Box, isFree?: boolean}} Grid pitch: the side of a tile at zoom 1; isFree: without edges
 * @typedef {{zoom: number, x: number, y: number}} View x, y: pixels of the grid to the left of the window and above it
 * @typedef {{left: number, top: number, side: number}} Spot of a tile
 * @typedef {{row: number, column: number}} Tile
 */

export const ZOOM = { step: 1.6, windows: 4 } // a click's factor; the side of the largest tile, in windows
const FREE = { min: 0.5, max: 80, shift: 1.8 } // zoom; how far the middle of the window may be from the middle of the tile, in halves of its side

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

/** One tile in the middle of a window, sized so that these shares of its side fit. @param {{wide: number, high: number}} shares @param {{width: number, height: number}} window @param {{x: number, y: number}} margin @returns {Grid} */
export function freeGrid({ wide, high }, { width, height }, margin) {
  const pitch = Math.min(
    Math.max(width - 2 * margin.x, 1) / Math.max(wide, 1e-6),
    Math.max(height - 2 * margin.y, 1) / Math.max(high, 1e-6),
  )
  const box = { left: 0, top: 0, width, height }
  return { tops: [0], high: 1, columns: 1, pitch, box, isFree: true }
}

/** @param {Grid} grid */
export function wholeView(grid) {
  const { columns, high, pitch, box } = grid
  const [x, y] = [(columns * pitch - box.width) / 2, (high * pitch - box.height) / 2]
  return clampView({ zoom: 1, x, y }, grid)
}

/** @param {View} view @param {Grid} grid @returns {View} */
function freeView(view, { pitch, box }) {
  const zoom = clamp(view.zoom, FREE.min, FREE.max)
  const half = (pitch * zoom) / 2
  /** @type {(from: number, room: number) => number} */
  const edge = (from, room) =>
    half + clamp(from + room / 2 - half, -FREE.shift * half, FREE.shift * half) - room / 2
  return { ...view, zoom, x: edge(view.x, box.width), y: edge(view.y, box.height) }
}

/** Within the edges of the grid; a grid smaller than the window is centred at its top. @param {View} view @param {Grid} grid @returns {View} */
export function clampView(view, grid) {
  if (grid.isFree) return freeView(view, grid)
  const { zoom, x, y } = view
  const { high, columns, pitch, box } = grid
  const largest = Math.max(1, (ZOOM.windows * Math.min(box.width, box.height)) / pitch)
  const near = clamp(zoom, 1, largest)
  /** @type {(from: number, extent: number, room: number, share: number) => number} */
  const edge = (from, extent, room, share) =>
    extent <= room ? (extent - room) * share : clamp(from, 0, extent - room)
  return {
    zoom: near,
    x: edge(x, columns * pitch * near, box.width, 0.5),
    y: edge(y, high * pitch * near, box.height, 0),
  }
}

/** @param {View} view @param {Grid} grid @param {number} dx @param {number} dy */
export function panBy(view, grid, dx, dy) {
  return clampView({ ...view, x: view.x - dx, y: view.y - dy }, grid)
}

/** Zoomed by a factor around (x, y), which stays in place. @param {View} view @param {Grid} grid @param {number} factor @param {number} x @param {number} y */
export function zoomAt(view, grid, factor, x, y) {
  const { zoom } = clampView({ ...view, zoom: view.zoom * factor }, grid)
  const growth = zoom / view.zoom
  const [across, down] = [x - grid.box.left, y - grid.box.top]
  return clampView(
    { ...view, zoom, x: (view.x + across) * growth - across, y: (view.y + down) * growth - down },
    grid,
  )
}

/** The same view of a grid with another size: the middle stays in the middle. @param {View} view @param {Grid} before @param {Grid} grid */
export function resizedView({ zoom, x, y }, before, grid) {
  const growth = grid.pitch / before.pitch
  const [across, down] = [before.box.width / 2, before.box.height / 2]
  return clampView(
    {
      zoom,
      x: (x + across) * growth - grid.box.width / 2,
      y: (y + down) * growth - grid.box.height / 2,
    },
    grid,
  )
}

/** A tile without the gap to the next one. @param {View} view @param {Grid} grid @param {number} row @param {number} column @returns {Spot} */
export function tileSpot({ zoom, x, y }, { tops, pitch, box, isFree }, row, column) {
  const side = pitch * zoom
  const gap = isFree ? 0 : clamp(side * 0.04, 2, 8)
  return {
    left: box.left + column * side - x + gap / 2,
    top: box.top + tops[row] * side - y + gap / 2,
    side: side - gap,
  }
}

/** The rows and columns in view, from `first` up to `end`. @param {View} view @param {Grid} grid */
export function tilesInView({ zoom, x, y }, { tops, columns, pitch, box, isFree }) {
  if (isFree) return { rows: { first: 0, end: 1 }, columns: { first: 0, end: 1 } } // its points may lie outside it
  const side = pitch * zoom
  const rows = {
    first: tops.filter((top) => (top + 1) * side <= y).length,
    end: tops.filter((top) => top * side < y + box.height).length,
  }
  return {
    rows,
    columns: {
      first: Math.max(0, Math.floor(x / side)),
      end: Math.min(columns, Math.ceil((x + box.width) / side)),
    },
  }
}

/** @param {View} view @param {Grid} grid @param {number} x @param {number} y @returns {Tile | null} */
export function tileAt(view, { tops, columns, pitch, box, isFree }, x, y) {
  if (x < box.left || y < box.top || x >= box.left + box.width || y >= box.top + box.height)
    return null
  if (isFree) return { row: 0, column: 0 }
  const side = pitch * view.zoom
  const [down, column] = [(y - box.top + view.y) / side, Math.floor((x - box.left + view.x) / side)]
  const row = tops.findIndex((top) => down >= top && down < top + 1)
  return row >= 0 && column >= 0 && column < columns ? { row, column } : null
}

/** @param {View} view @param {Grid} grid */
export function middleTile(view, grid) {
  return tileAt(view, grid, grid.box.left + grid.box.width / 2, grid.box.top + grid.box.height / 2)
}

/** The part of a tile that is in the window. @param {Spot} spot @param {Grid} grid */
export function seenPart({ left, top, side }, { box, isFree }) {
  if (isFree) return { left: 0, top: 0, right: box.width, bottom: box.height }
  return {
    left: Math.max(left, box.left),
    top: Math.max(top, box.top),
    right: Math.min(left + side, box.left + box.width),
    bottom: Math.min(top + side, box.top + box.height),
  }
}

/** The view in which a tile fills the window. @param {Grid} grid @param {Tile} tile */
export function viewOfTile(grid, { row, column }) {
  const { pitch, tops, box } = grid
  const side = Math.min(box.width, box.height)
  const [x, y] = [(column + 0.5) * side, (tops[row] + 0.5) * side]
  return clampView({ zoom: side / pitch, x: x - box.width / 2, y: y - box.height / 2 }, grid)
}
