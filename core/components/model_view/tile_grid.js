// Where the tiles of all heads lie, and how keys move between them. Pure.

import { clamp } from "../shared/dom.js"

/** @import { Data } from "./model_view.js" */
/** @typedef {"over" | "below"} Spot of the enlargement */

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

/** Numbers of the layers that do not attend, before a layer that does; empty for none. @param {Pick<Data, "gaps">} data @param {number} layer */
export function silentBefore({ gaps }, layer) {
  return gaps
    .filter(([before]) => before === layer)
    .map(([, numbers]) => numbers)
    .join(", ")
}

/** Pixels above each layer, which is `pitch` high. @param {Pick<Data, "layers" | "gaps">} data @param {number} pitch */
export function topsOf(data, pitch) {
  let silent = 0
  return Array.from({ length: data.layers }, (_, layer) => {
    if (silentBefore(data, layer)) silent += TILE.silent + TILE.gap
    return layer * pitch + silent
  })
}

/**
 * Pixels of a tile: as wide as there is room, and square unless many layers would reach far below the screen. On a narrow
 * screen tiles stay readable, and the grid is wider than the screen.
 * @param {number} width @param {Pick<Data, "layers" | "heads">} data @param {number} screen its height
 */
export function tileSize(width, { layers, heads }, screen) {
  const wide = Math.floor(clamp((width - TILE.label) / heads - TILE.gap, TILE.min, TILE.max))
  const total = clamp(TILE.maxShare * screen, TILE.minTotalHeight, TILE.maxTotalHeight)
  const high = Math.floor(total / layers) - TILE.gap
  return { wide, high: Math.max(Math.round(wide * 0.5), Math.min(wide, high)) }
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
