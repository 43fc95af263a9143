// Where the tiles of all heads lie, which are hidden, and how keys move between them. Pure.

import { clamp } from "../shared/dom.js"
import { tableSteps } from "../shared/keys.js"

/** @import { Place } from "../shared/head_grid.js" */
/**
 * @typedef {{layers: number[], heads: number[]}} Hidden
 * @typedef {{layer: number, heads: number[], silent: string}} Row silent: numbers of the layers before it that do not attend
 * @typedef {"over" | "below"} Spot of the enlargement
 */

export const PANEL = { max: 430, margin: 8, phone: 560 } // pixels
export const TILE = {
  gap: 3,
  label: 34,
  head: 22,
  silent: 13,
  min: 40,
  max: 132,
  minTotalHeight: 240,
  maxTotalHeight: 490,
  maxShare: 0.57,
} // pixels
const STEPS = tableSteps()

/** The layers shown, each with its heads from left to right; `order` is (layer, head). @param {{layers: number, heads: number, order: Float32Array, gaps: [number, string][]}} data @param {Hidden} hidden @returns {Row[]} */
export function shownHeads({ layers, heads, order, gaps }, hidden) {
  const all = Array.from({ length: layers }, (_, layer) => ({
    layer,
    heads: [...order.subarray(layer * heads, (layer + 1) * heads)],
  }))
  const shown = all.filter(({ layer }) => !hidden.layers.includes(layer))
  return shown.map((row, place) => ({
    ...row,
    heads: row.heads.filter((head) => !hidden.heads.includes(head)),
    silent: silentFrom(gaps, place ? shown[place - 1].layer + 1 : 0, row.layer),
  }))
}

/** Numbers of the layers that do not attend, before the layers `first` to `last`; `gaps` say which layer follows them. @param {[number, string][]} gaps @param {number} first @param {number} last */
export function silentFrom(gaps, first, last) {
  return gaps
    .filter(([before]) => before >= first && before <= last)
    .map(([, numbers]) => numbers)
    .join(", ")
}

/** Pixels above each row, which is `pitch` high. @param {Row[]} rows @param {number} pitch */
export function topsOf(rows, pitch) {
  let silent = 0
  return rows.map((row, place) => {
    if (row.silent) silent += TILE.silent + TILE.gap
    return place * pitch + silent
  })
}

/**
 * Pixels of a tile: as wide as there is room, and square unless many layers would reach far below the screen. On a narrow
 * screen tiles stay readable, and the grid is wider than the screen.
 * @param {number} width @param {Row[]} rows @param {number} screen its height
 */
export function tileSize(width, rows, screen) {
  const across = Math.max(1, rows[0]?.heads.length ?? 1)
  const wide = Math.floor(clamp((width - TILE.label) / across - TILE.gap, TILE.min, TILE.max))
  const high =
    Math.floor(
      clamp(TILE.maxShare * screen, TILE.minTotalHeight, TILE.maxTotalHeight) /
        Math.max(1, rows.length),
    ) - TILE.gap
  return { wide, high: Math.max(Math.round(wide * 0.5), Math.min(wide, high)) }
}

/**
 * What is hidden after a label is clicked: it, or with `isAlone` all others of its kind (which come back if it was alone
 * already). The last one that is shown stays.
 * @param {Hidden} hidden @param {keyof Hidden} kind @param {number} index @param {number} count @param {boolean} isAlone @returns {Hidden}
 */
export function hiddenAfter(hidden, kind, index, count, isAlone) {
  const all = Array.from({ length: count }, (_, each) => each)
  const others = all.filter((each) => each !== index)
  const wasAlone = others.every((each) => hidden[kind].includes(each))
  if (isAlone) return { ...hidden, [kind]: wasAlone ? [] : others }
  return wasAlone
    ? hidden
    : { ...hidden, [kind]: all.filter((each) => each === index || hidden[kind].includes(each)) }
}

/** Where an arrow key leads; null for other keys. @param {string} key @param {Place} from @param {Row[]} rows @returns {Place | null} */
export function stepTo(key, from, rows) {
  const step = STEPS[key]
  if (!step) return null
  const [down, across] = step
  const min = Number.isFinite(down + across) ? -1 : 0 // Home, End and the like stay among the tiles
  const row = down ? clamp(from.row + down, min, rows.length - 1) : from.row
  const column = across
    ? clamp(from.column + across, min, (rows[0]?.heads.length ?? 0) - 1)
    : from.column
  return row < 0 && column < 0 ? from : { row, column }
}

/** The most pixels that an enlargement over the grid may take, so that the tile and its neighbours stay visible. @param {number} width of the view @param {number} pitch of tiles */
export function widestOver(width, pitch) {
  return Math.min(PANEL.max, Math.floor(width / 2 - 1.5 * pitch))
}

/**
 * Left and top of an enlargement over the grid, both from the stage's own corner: to the right of the tile, or to the left
 * where there is no room, with one neighbour between them; as high as the tile, but on the screen.
 * @param {{left: number, right: number, top: number}} tile on the screen @param {{left: number, top: number, width: number}} stage likewise @param {{width: number, height: number}} box @param {number} screen its height
 */
export function besideTile(tile, stage, box, screen, zoom = 1) {
  const pitch = tile.right - tile.left + 2 * TILE.gap * zoom
  const right = tile.right + pitch - stage.left
  const left = right + box.width <= stage.width ? right : tile.left - pitch - box.width - stage.left
  const lowest = screen - PANEL.margin - box.height
  const top = Math.max(PANEL.margin, Math.min(tile.top, lowest)) - stage.top
  return { left: Math.max(0, left) / zoom, top: top / zoom }
}
