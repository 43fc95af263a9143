// Where the tiles of all heads stand, which are hidden, and how one moves between them. Pure.

/**
 * @typedef {{layers: number[], heads: number[]}} Hidden
 * @typedef {{layer: number, heads: number[]}} Row
 * @typedef {{row: number, column: number}} Place
 */

export const TILE = { gap: 3, label: 34, head: 22, least: 40, most: 132, tallest: 490 } // pixels

// Layers shown, each with its heads from left to right: `order` holds (layer, head) row by row.
/** @param {{layers: number, heads: number, order: Float32Array}} data @param {Hidden} hidden @returns {Row[]} */
export function shownHeads({ layers, heads, order }, hidden) {
  const rows = []
  for (let layer = 0; layer < layers; layer++) {
    if (hidden.layers.includes(layer)) continue
    const row = Array.from(order.subarray(layer * heads, (layer + 1) * heads))
    rows.push({ layer, heads: row.filter((head) => !hidden.heads.includes(head)) })
  }
  return rows
}

// Pixels of a tile: as wide as the heads leave room for, square unless many layers would then reach
// far below the screen. On a narrow screen tiles stay readable, and the grid is wider than it.
/** @param {number} width @param {Row[]} rows */
export function tileSize(width, rows) {
  const across = Math.max(1, rows[0]?.heads.length ?? 1)
  const free = (width - TILE.label) / across - TILE.gap
  const wide = Math.floor(Math.max(TILE.least, Math.min(TILE.most, free)))
  const high = Math.floor(TILE.tallest / Math.max(1, rows.length)) - TILE.gap
  return { wide, high: Math.max(Math.round(wide * 0.5), Math.min(wide, high)) }
}

// The hidden after one label is clicked: it goes, or with `alone` all others of its kind do (and come
// back when it was alone already). The last one that is shown stays.
/** @param {Hidden} hidden @param {keyof Hidden} kind @param {number} index @param {number} count @param {boolean} alone @returns {Hidden} */
export function hiddenAfter(hidden, kind, index, count, alone) {
  const all = Array.from({ length: count }, (_, each) => each)
  const others = all.filter((each) => each !== index)
  const isAlone = others.every((each) => hidden[kind].includes(each))
  if (alone) return { ...hidden, [kind]: isAlone ? [] : others }
  if (isAlone) return hidden
  return { ...hidden, [kind]: all.filter((each) => each === index || hidden[kind].includes(each)) }
}

// The tile (or label: -1) that an arrow key leads to from {row, column}; null for other keys.
/** @param {string} key @param {Place} at @param {Row[]} rows @returns {Place | null} */
export function stepTo(key, at, rows) {
  const last = { row: rows.length - 1, column: (rows[0]?.heads.length ?? 0) - 1 }
  /** @type {Record<string, number[]>} */
  const steps = {
    ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
    Home: [0, -Infinity], End: [0, Infinity], PageUp: [-Infinity, 0], PageDown: [Infinity, 0],
  }
  if (!(key in steps)) return null
  const [down, across] = steps[key]
  const far = !Number.isFinite(down + across) // Home, End and the like stay among the tiles
  const least = far ? 0 : -1
  const row = down ? Math.max(least, Math.min(last.row, at.row + down)) : at.row
  const column = across ? Math.max(least, Math.min(last.column, at.column + across)) : at.column
  return row < 0 && column < 0 ? at : { row, column }
}

// Left and top of a box beside a point (or a tile), inside the window: to the right if it fits.
/** @param {{left: number, right: number, top: number}} point @param {{width: number, height: number}} box @param {{width: number, height: number}} screen */
export function besidePoint(point, box, screen) {
  const margin = 8
  const right = point.right + 14
  const left = right + box.width + margin <= screen.width ? right : point.left - 14 - box.width
  return {
    left: Math.max(margin, Math.min(left, screen.width - box.width - margin)),
    top: Math.max(margin, Math.min(point.top, screen.height - box.height - margin)),
  }
}
