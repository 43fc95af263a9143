// A matrix drawn from counts: where the cells of a head lie, what is painted, what is read under the pointer, and which part
// of a head is looked at, so that the page can send that part in finer cells or as points.

import { legendEntry, legendMark } from "../points/shades.js"
import { css, parseColour } from "../shared/scales.js"
import { cellAt, levelFor, mixedShades, tintsOf } from "./density.js"
import { MARGIN, STEPS, placement } from "./heads.js"
import { format } from "./marks.js"
import { seenPart } from "./viewport.js"

/** @import { Box, Raster } from "../points/raster.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Painted } from "./paint.js" */
/** @import { Data } from "./heads.js" */
/** @import { Area, Cell, Counts, Level } from "./density.js" */
/** @import { Grid, Spot } from "./viewport.js" */
/** @typedef {{queries: number, keys: number, x: number[], y: number[]}} Read what is counted in a cell, and its sides in units of the points */

const FAR_OUT = 0.75 // of the window: a part larger than this share of the whole head is not asked for again

/** @param {Theme} theme */
export function countShades(theme) {
  return mixedShades(parseColour(theme.paper), parseColour(theme.query), parseColour(theme.key))
}

/** Where bounds lie in a tile, in pixels. @param {Data} data @param {number} head @param {Spot} spot @param {number[]} bounds @returns {Area | null} */
function areaOf(data, head, spot, [x0, x1, y0, y1]) {
  const tile = placement(data, head, spot)
  if (!tile) return null
  const [middleX, middleY, half] = data.frames.slice(3 * head, 3 * head + 3)
  const unit = half > 0 ? (tile.scale * STEPS) / (2 * half) : 0
  return {
    left: tile.left + (x0 - middleX + half) * unit,
    bottom: tile.bottom - (y0 - middleY + half) * unit,
    width: (x1 - x0) * unit,
    height: (y1 - y0) * unit,
  }
}

/** The count with the full colour: the largest in the head, or in all heads. @param {Data} data @param {Counts} counts @param {Level} level */
function topOf(data, { heads }, level) {
  if (data.ownScale) return level.top
  return Math.max(
    ...heads.map(({ levels }) => levels.find(({ columns }) => columns === level.columns)?.top ?? 0),
  )
}

/** @param {Raster} raster @param {Painted} scene @param {Counts} counts @param {number} head @param {Spot} spot @param {Box} box of the tile, in the canvas' pixels */
export function paintCounts(raster, { data, colours, ratio }, counts, head, spot, box) {
  for (const { levels, bounds } of [counts.heads[head], ...(counts.fine ? [counts.fine] : [])]) {
    const area = areaOf(data, head, spot, bounds)
    if (!area) continue
    const level = levelFor(levels, area.width * ratio)
    const tints = tintsOf(colours.tints, level, colours.counts, topOf(data, counts, level))
    raster.cells(
      tints,
      level.columns,
      area.left * ratio,
      area.bottom * ratio,
      area.width * ratio,
      area.height * ratio,
      box,
    )
  }
}

/** What is counted under a place: of the finest cells that are drawn there. @param {Pick<Painted, "data" | "ratio">} scene @param {Counts} counts @param {number} head @param {Spot} spot @param {number} x @param {number} y @returns {Read | null} */
export function countsAt({ data, ratio }, counts, head, spot, x, y) {
  for (const { levels, bounds } of [...(counts.fine ? [counts.fine] : []), counts.heads[head]]) {
    const area = areaOf(data, head, spot, bounds)
    const level = area && levelFor(levels, area.width * ratio)
    const cell = area && level && cellAt(level, area, x, y)
    if (cell)
      return { queries: cell.queries, keys: cell.keys, ...sidesOf(cell, level.columns, bounds) }
  }
  return null
}

/** @param {Cell} cell @param {number} columns @param {number[]} bounds */
function sidesOf({ column, row }, columns, [x0, x1, y0, y1]) {
  const [wide, high] = [(x1 - x0) / columns, (y1 - y0) / columns]
  return {
    x: [x0 + column * wide, x0 + (column + 1) * wide],
    y: [y0 + row * high, y0 + (row + 1) * high],
  }
}

/** @param {Read} read */
export function inWords({ queries, keys }) {
  /** @type {(count: number, one: string, more: string) => string} */
  const counted = (count, one, more) => `${format(count)} ${count === 1 ? one : more}`
  return [counted(queries, "query", "queries"), counted(keys, "key", "keys")]
}

/** The part of the only head that is in the window, in units of the points; null for most of it. @param {Data} data @param {Grid} grid @param {Spot} spot @returns {number[] | null} */
export function lookedAt(data, grid, spot) {
  const tile = placement(data, 0, spot)
  if (!tile) return null
  const part = seenPart(spot, grid)
  if (part.right <= part.left || part.bottom <= part.top) return null
  const [middleX, middleY, half] = data.frames
  const unit = (tile.scale * STEPS) / (2 * half)
  if (part.right - part.left > FAR_OUT * spot.side && part.bottom - part.top > FAR_OUT * spot.side)
    return null
  const across = [part.left, part.right].map((x) => middleX - half + (x - tile.left) / unit)
  const up = [part.bottom, part.top].map((y) => middleY - half + (tile.bottom - y) / unit)
  return [...across, ...up]
}

/** @param {Theme & {counts: Uint32Array}} theme @param {boolean} ownScale */
export function countEntries(theme, ownScale) {
  const [query, key] = [parseColour(theme.query), parseColour(theme.key)]
  const [first, second] = [query, key].map((colour) =>
    legendMark("ramp", `linear-gradient(90deg, ${theme.paper}, ${css(colour)})`),
  )
  const scale = `none to the most in ${ownScale ? "the head" : "any head"}, logarithmic`
  const both = `#${(theme.counts[theme.counts.length - 1] & 0xffffff)
    .toString(16)
    .padStart(6, "0")
    .replace(/(..)(..)(..)/, "$3$2$1")}` // bytes are blue, green, red
  return [
    legendEntry([first], `queries in a cell: ${scale}`),
    legendEntry([second], "keys"),
    legendEntry([legendMark("cell", both)], "both"),
  ]
}

/** Where a part of the only head lies in its tile, as shares of the side from the left and from the top. @param {Data} data @param {number[]} part */
export function partOf({ frames: [middleX, middleY, half] }, [x0, x1, y0, y1]) {
  /** @type {(away: number) => number} */
  const share = (away) => MARGIN + ((1 - 2 * MARGIN) * away) / (2 * Math.max(half, 1e-12))
  return {
    left: share(x0 - middleX + half),
    right: share(x1 - middleX + half),
    top: share(middleY + half - y1),
    bottom: share(middleY + half - y0),
  }
}
