// A grid of square tiles seen through a window: where each tile lies, which one is at a place, how the
// view moves. Pure. `grid` is {rows, columns, pitch, box}: a tile's side at zoom 1, and the window
// {left, top, width, height}, in pixels. `view` is {zoom, x, y}: what lies left of the window and above.

/**
 * @typedef {{left: number, top: number, width: number, height: number}} Box
 * @typedef {{rows: number, columns: number, pitch: number, box: Box}} Grid
 * @typedef {{zoom: number, x: number, y: number}} View
 * @typedef {{left: number, top: number, side: number}} Spot
 * @typedef {{row: number, column: number}} Tile
 */

export const ZOOM = { step: 1.6, windows: 4 } // a click's factor; the largest tile, in windows

// The largest tiles with which all rows and columns fit; a window no taller than they need.
/** @param {number} rows @param {number} columns @param {Box} box @param {number} least @returns {Grid} */
export function gridFor(rows, columns, box, least) {
  const pitch = Math.min(box.width / columns, box.height / rows)
  const height = Math.max(Math.min(box.height, least), Math.round(pitch * rows))
  return { rows, columns, pitch, box: { ...box, height } }
}

/** @param {Grid} grid */
export function wholeView(grid) {
  return clampView({ zoom: 1, x: 0, y: 0 }, grid)
}

// Within the grid's edges; a grid smaller than the window stands at its top, in its middle.
/** @param {View} view @param {Grid} grid @returns {View} */
export function clampView({ zoom, x, y }, { rows, columns, pitch, box }) {
  const largest = Math.max(1, (ZOOM.windows * Math.min(box.width, box.height)) / pitch)
  const near = Math.min(largest, Math.max(1, zoom))
  const side = pitch * near
  return { zoom: near, x: clampEdge(x, columns * side, box.width, 0.5), y: clampEdge(y, rows * side, box.height, 0) }
}

/** @param {number} from @param {number} extent @param {number} room @param {number} share */
function clampEdge(from, extent, room, share) {
  return extent <= room ? (extent - room) * share : Math.min(extent - room, Math.max(0, from))
}

/** @param {View} view @param {Grid} grid @param {number} dx @param {number} dy */
export function panBy(view, grid, dx, dy) {
  return clampView({ ...view, x: view.x - dx, y: view.y - dy }, grid)
}

// Larger by a factor; what is at (x, y) stays there.
/** @param {View} view @param {Grid} grid @param {number} factor @param {number} x @param {number} y */
export function zoomAt(view, grid, factor, x, y) {
  const { zoom } = clampView({ ...view, zoom: view.zoom * factor }, grid)
  const share = zoom / view.zoom
  const [across, down] = [x - grid.box.left, y - grid.box.top]
  return clampView({ zoom, x: (view.x + across) * share - across, y: (view.y + down) * share - down }, grid)
}

// One tile as large as the window lets it be, in its middle.
/** @param {Grid} grid @param {Tile} tile */
export function viewOfTile(grid, { row, column }) {
  const { pitch, box } = grid
  const side = Math.min(box.width, box.height)
  const zoom = Math.max(1, side / pitch)
  /** @type {(index: number, room: number) => number} */
  const middle = (index, room) => (index + 0.5) * pitch * zoom - room / 2
  return clampView({ zoom, x: middle(column, box.width), y: middle(row, box.height) }, grid)
}

/** @param {number} side */
function gapOf(side) {
  return Math.min(8, Math.max(2, side * 0.04))
}

// A tile's left, top and side, without the gap to the next.
/** @param {View} view @param {Grid} grid @param {number} row @param {number} column @returns {Spot} */
export function tileSpot({ zoom, x, y }, { pitch, box }, row, column) {
  const side = pitch * zoom
  const gap = gapOf(side)
  return { left: box.left + column * side - x + gap / 2, top: box.top + row * side - y + gap / 2, side: side - gap }
}

// Rows and columns of which something is seen: from `first` up to `end`.
/** @param {View} view @param {Grid} grid */
export function tilesInView({ zoom, x, y }, { rows, columns, pitch, box }) {
  const side = pitch * zoom
  /** @type {(from: number, room: number, count: number) => {first: number, end: number}} */
  const span = (from, room, count) => ({
    first: Math.max(0, Math.floor(from / side)), end: Math.min(count, Math.ceil((from + room) / side)),
  })
  return { rows: span(y, box.height, rows), columns: span(x, box.width, columns) }
}

// {row, column} of the tile at a place, or null.
/** @param {View} view @param {Grid} grid @param {number} x @param {number} y @returns {Tile | null} */
export function tileAt(view, grid, x, y) {
  const { box, pitch } = grid
  if (x < box.left || y < box.top || x >= box.left + box.width || y >= box.top + box.height) return null
  const side = pitch * view.zoom
  const [row, column] = [Math.floor((y - box.top + view.y) / side), Math.floor((x - box.left + view.x) / side)]
  return row >= 0 && column >= 0 && row < grid.rows && column < grid.columns ? { row, column } : null
}

// What of a tile's spot lies in the window: {left, top, right, bottom}.
/** @param {Spot} spot @param {Grid} grid */
export function seenPart({ left, top, side }, { box }) {
  return {
    left: Math.max(left, box.left), top: Math.max(top, box.top),
    right: Math.min(left + side, box.left + box.width), bottom: Math.min(top + side, box.top + box.height),
  }
}

// The tile in the middle if it fills most of the window, or as much as a tile can; else null.
/** @param {View} view @param {Grid} grid */
export function mainTile(view, grid) {
  const { box } = grid
  const place = tileAt(view, grid, box.left + box.width / 2, box.top + box.height / 2)
  if (!place || view.zoom <= 1) return null
  const part = seenPart(tileSpot(view, grid, place.row, place.column), grid)
  const shorter = Math.min(box.width, box.height)
  return (part.right - part.left) * (part.bottom - part.top) > 0.6 * shorter * shorter ? place : null
}
